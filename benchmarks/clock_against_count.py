"""The same cell measured ten times by the clock under emulation, and ten times by count; both spreads.

Measured: one call of the workload program of an earlier run's build (`workload bench ALGORITHM SIZE COUNT`) under that
cell's emulator and CPU. By the clock: nanoseconds of the whole process, without the plugin. By count: guest
instructions that the counting plugin saw, and how long that took. The two take turns, so that whatever else the machine
does meets both. Printed for each: least, median, most, and the spread, (most - least) / median; then the ratio of the
two spreads, and what counting costs: the median time with the plugin over that without.

    python benchmarks/clock_against_count.py CELL [--algorithm aes-256-ctr] [--size 1024] [--calls 2000] [--times 10]

CELL is the id of a cell that some run of the state directory tested and whose build tree is still kept.
"""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from crossmatrix.api.comparing import find_cell
from crossmatrix.api.workspace import Workspace
from crossmatrix.engine.types import LABEL, ContainerSpec, VolumeMount
from crossmatrix.errors import CrossmatrixError, UsageError
from crossmatrix.runner.workshop import build_volume

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from crossmatrix.engine.types import Engine
    from crossmatrix.records import CellRecord

TIME_LIMIT_S = 1800
MEMORY_BYTES = 2 << 30
WORKLOAD = "/work/out/artifacts/workload"


@dataclass(frozen=True, kw_only=True, slots=True)
class Spread:
    """Repeated measurements of one thing."""

    least: float
    middle: float
    most: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """Give the spread of some measurements, at least one."""
        return cls(least=min(values), middle=median(values), most=max(values))

    @property
    def share(self) -> float:
        """The spread as a share of the median."""
        return (self.most - self.least) / self.middle


def measuring_script(command: Sequence[str], plugin: str, variables: Mapping[str, str], times: int) -> str:
    """Give a shell script that prints ``clock NANOSECONDS``, ``counting NANOSECONDS`` and ``count INSTRUCTIONS``.

    The measured program gets the variables and nothing else, since the environment's size shifts counts.
    """
    emulator, *program = command
    pairs = " ".join(shlex.quote(f"{name}={value}") for name, value in sorted(variables.items()))
    words = shlex.join(program)
    counting = shlex.quote(f"{plugin},out=/scratch/count.json")
    return f"""
emulator=$(command -v {shlex.quote(emulator)})
for turn in $(seq {times}); do
    before=$(date +%s%N)
    env -i {pairs} "$emulator" {words} >/dev/null
    after=$(date +%s%N)
    echo "clock $((after - before))"
    rm -f /scratch/count.json
    before=$(date +%s%N)
    env -i {pairs} "$emulator" -plugin {counting} {words} >/dev/null
    after=$(date +%s%N)
    echo "counting $((after - before))"
    perl -MJSON::PP -0777 -ne 'print "count ", decode_json($_)->{{instructions}}, "\\n"' /scratch/count.json
done
"""


def parse_measurements(text: str) -> dict[str, tuple[float, ...]]:
    """Read the script's lines.

    Raises:
        ValueError: a line is none of the script's; the workload or emulator said something.
    """
    found: dict[str, list[float]] = {"clock": [], "counting": [], "count": []}
    for line in text.split("\n"):
        word, _, number = line.partition(" ")
        if line and (word not in found or not number.isdecimal()):
            raise ValueError(f"unexpected output: {line!r}")
        if line:
            found[word].append(float(number))
    return {word: tuple(values) for word, values in found.items()}


def report(measured: Mapping[str, Sequence[float]]) -> str:
    """Write the spreads, their ratio, and what counting costs."""
    clock, counting, count = (Spread.of(measured[word]) for word in ("clock", "counting", "count"))
    lines = [
        f"{'':14}{'least':>18}{'median':>18}{'most':>18}{'spread':>12}",
        *(
            f"{name:14}{s.least:18,.0f}{s.middle:18,.0f}{s.most:18,.0f}{s.share:12.4%}"
            for name, s in (("time, ns", clock), ("counted, ns", counting), ("instructions", count))
        ),
    ]
    if count.share:
        lines.append(f"the clock's spread is {clock.share / count.share:,.0f} times the count's")
    else:
        lines.append(f"the count repeats exactly; the clock's spread is {clock.share:.2%}")
    lines.append(f"counting takes {counting.middle / clock.middle:.2f} times the time")
    return "\n".join(lines)


def measure(workspace: Workspace, engine: Engine, record: CellRecord, arguments: argparse.Namespace) -> str:
    """Run the script in a container of the cell's emulator image, over its build's tree.

    Raises:
        UsageError: the tree or the image is gone, or the cell is native.
        CrossmatrixError: the script failed; its output is in the message.
    """
    catalog, home = workspace.catalog, str(workspace.home)
    target = next(target for target in catalog.targets if target.name == record.target)
    profile = next(profile for profile in catalog.profiles if profile.name == record.profile)
    emulator = next(emulator for emulator in catalog.emulators if emulator.name == profile.emulator)
    tree = build_volume(record.keys.get("build", ""), home)
    image = engine.image(workspace.image_specs()[emulator.image])
    if target.native or image is None or not engine.has_volume(tree):
        raise UsageError(
            f"{record.id} cannot be measured: it is native, or its image or build tree is gone",
            hint="run it again: invoke matrix " + shlex.quote(record.id),
        )
    variables = {name: value for name, value in profile.environment if value is not None}
    variables |= {"QEMU_CPU": profile.cpu} if profile.cpu else {}
    program = [WORKLOAD, "bench", arguments.algorithm, str(arguments.size), str(arguments.calls)]
    script = measuring_script([f"qemu-{target.arch}", *program], emulator.plugin, variables, arguments.times)
    spec = ContainerSpec(
        image=image,
        name=f"crossmatrix-clock-{os.getpid()}",
        labels={f"{LABEL}.kind": "run", f"{LABEL}.home": home, f"{LABEL}.pid": str(os.getpid())},
        mounts=(VolumeMount(volume=tree, path="/work", read_only=True),),
        memory_bytes=MEMORY_BYTES,
        cpus=1.0,
    )
    output = bytearray()
    with engine.container(spec) as container:
        ended = container.run(
            script, environment={}, directory="/scratch", timeout_s=TIME_LIMIT_S, on_output=output.extend
        )
    text = output.decode(errors="replace")
    if ended.code != 0:
        raise CrossmatrixError(f"the measurement ended with {ended.code}:\n{text}")
    return text


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Compare the spread of the clock with that of the count.")
    parser.add_argument("cell", help="id of a cell that was run")
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent, help="a checkout")
    parser.add_argument("--algorithm", default="aes-256-ctr", help="as `openssl speed` names it")
    parser.add_argument("--size", type=int, default=1024, help="bytes a call; 0 for operations")
    parser.add_argument("--calls", type=int, default=2000, help="calls in one measurement")
    parser.add_argument("--times", type=int, default=10, help="measurements of each kind")
    arguments = parser.parse_args()
    workspace = Workspace.at(arguments.root, os.environ)
    try:
        record = find_cell(workspace.state(writable=False).runs, arguments.cell).record
        engine = workspace.engine(workspace.fetcher(tell=print))
        measured = parse_measurements(measure(workspace, engine, record, arguments))
    except CrossmatrixError as error:
        print(error, file=sys.stderr)
        return int(error.exit_code)
    print(f"{record.id}: {arguments.algorithm}, {arguments.calls} calls of {arguments.size} bytes")
    print(report(measured))
    return 0


if __name__ == "__main__":
    sys.exit(main())
