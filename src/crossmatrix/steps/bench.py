"""The stages of a measuring job: executed instructions under emulation, time on native cells."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

from crossmatrix.steps.builds import check_library
from crossmatrix.steps.runs import OUTPUTS, clean_stage, emulator_stage
from crossmatrix.steps.scripts_text import script_text, with_values
from crossmatrix.steps.stage import InputFile, Stage, Steps
from crossmatrix.steps.surroundings import PLAIN, emulator_of, profile_environment

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crossmatrix.catalog import Cell

_WORDS_S = 120
_SPEED_S = 300


def bench_steps(cell: Cell, *, processes: int, algorithms: Sequence[str] = ()) -> Steps:
    """Give all that a measuring job does.

    Args:
        cell: what is measured; its tier's time limit counts.
        processes: measurements side by side; counts do not depend on it, times do, so native cells get one.
        algorithms: names to measure; empty for all that the workload lists.

    Raises:
        UsageError: there are no scripts for the library.
    """
    library, emulator = cell.build.library.name, emulator_of(cell)
    check_library(library)
    bench = Stage(
        name="bench",
        script=with_values(
            "bench.sh",
            algorithms,
            emulator=emulator,
            plugin=cell.emulator.plugin if emulator else "",
            jobs=str(max(1, processes) if emulator else 1),
            variables="\n".join(f"{name}={value}" for name, value in profile_environment(cell)),
        ),
        timeout_s=cell.tier.timeout_s,
        environment=PLAIN,
        directory="/scratch",
    )
    # The library's own program measures time, which means nothing under emulation.
    speed = () if emulator else (clean_stage(cell, "speed", f"{library}-speed.sh", _SPEED_S),)
    scripts = [InputFile(path="/scratch/bench.pl", data=(files("crossmatrix.steps") / "bench.pl").read_bytes())]
    if speed:
        scripts.append(InputFile(path="/scratch/speed.pl", data=script_text("speed.pl").encode()))
    return Steps(
        inputs=tuple(scripts),
        stages=(
            emulator_stage(cell),
            clean_stage(cell, "words", f"{library}-words.sh", _WORDS_S),
            bench,
            *speed,
        ),
        outputs=OUTPUTS,
    )
