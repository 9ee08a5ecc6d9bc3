"""`invoke matrix` again when nothing has changed: wall time, and the containers that were started.

Measured: the whole command, from the start of the interpreter, several times in a row, after one run that makes the
results where they are missing. Printed: least, median and most, the ratio to starting `invoke --list` (the price of
Python, invoke and our imports), and how many containers the engine saw start meanwhile, which must be none.

    python benchmarks/no_change.py [--matrix quick] [--times 5]

Exit code 1 when a container was started, or a run was not as expected.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path
from statistics import median

from crossmatrix.api.workspace import Workspace

ROOT = Path(__file__).resolve().parents[1]


def timed(arguments: list[str]) -> tuple[float, int]:
    """Run invoke in the checkout, its output dropped; gives seconds and the exit code."""
    start = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "invoke", *arguments],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        check=False,
    )
    return time.monotonic() - start, done.returncode


def containers_started(since: int, until: int) -> int:
    """Count the containers that the engine started between two times, in whole seconds since the epoch."""
    workspace = Workspace.at(ROOT, os.environ)
    fetcher = workspace.fetcher(tell=lambda _text: None)
    with workspace.engine(fetcher, start=False) as engine:
        events = engine.client.ask(
            "list what happened",
            lambda api: list(
                api.events(since=since, until=until, filters={"event": "start", "type": "container"}, decode=True),
            ),
        )
    return len(events)


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--matrix", default="quick")
    parser.add_argument("--times", type=int, default=5)
    options = parser.parse_args()
    command = ["matrix", "--matrix", options.matrix]
    _, code = timed(command)
    if code:
        print(f"`invoke {' '.join(command)}` ends with {code}; nothing was measured")
        return 1
    since = int(time.time())
    runs = [timed(command) for _ in range(options.times)]
    until = int(time.time()) + 1
    bare = [timed(["--list"])[0] for _ in range(options.times)]
    seconds = [wall for wall, _ in runs]
    started = containers_started(since, until)
    print(f"invoke matrix --matrix {options.matrix}, nothing changed, {options.times} times:")
    print(f"  {min(seconds):.2f} s least, {median(seconds):.2f} s median, {max(seconds):.2f} s most")
    print(f"  {median(seconds) / median(bare):.1f} times `invoke --list` ({median(bare):.2f} s)")
    print(f"  {started} containers started")
    return 1 if started or any(code for _, code in runs) else 0


if __name__ == "__main__":
    sys.exit(main())
