"""The script that repeats a library's own speed program, run on a program whose times are known."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.programs

SCRIPT = Path(__file__).parents[2] / "src" / "crossmatrix" / "steps" / "scripts" / "speed.pl"

SPEED = """#!/bin/sh
cd "$(dirname "$0")" || exit 9
echo run >> runs
set -- $(sed -n "$(grep -c run runs)p" times)
[ "$1" != fail ] || exit 3
echo "Doing sha256 ops for 1s: $1$1 in 0.9$1s"
echo "version: 3.0.20"
echo "type       16 bytes  64 bytes"
echo "sha256     $1.00k  $2.50k"
echo "aes  CBC   $2.50"
"""


def speed(folder: Path, times: int, said: str) -> subprocess.CompletedProcess[str]:
    """Run the script on a program that gives these numbers, a pair a run."""
    (folder / "times").write_text(said, encoding="utf-8")
    program = folder / "speed"
    program.write_text(SPEED, encoding="utf-8")
    program.chmod(0o755)
    command = ["perl", str(SCRIPT), str(times), str(program), "sha256"]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_numbers_are_medians_with_their_spread(tmp_path: Path) -> None:
    """Each line comes once, with the middle of its runs and how far they lie apart; the runs stand whole below it."""
    done = speed(tmp_path, 3, "110 900\n100 1000\n90 2000\n")
    assert done.returncode == 0, done.stderr
    summary, *runs = done.stdout.split("\nrun ")
    head, *lines = summary.splitlines()
    assert head.startswith("time, by ")
    assert "median of 3 runs" in head
    assert lines == [
        "version: 3.0.20",
        "type       16 bytes  64 bytes",
        "sha256     100.00k (20.0 %)  1000.50k (109.9 %)",
        "aes  CBC   1000.50 (109.9 %)",
    ]
    assert len(runs) == 3
    assert "Doing sha256 ops for 1s: 9090 in" in runs[2]


def test_a_run_that_fails_is_told_by_its_exit_code(tmp_path: Path) -> None:
    """Nothing is summed up from the runs before it."""
    done = speed(tmp_path, 3, "110 900\nfail\n90 2000\n")
    assert (done.returncode, done.stdout) == (3, "")


@pytest.mark.parametrize("arguments", [(), ("3",), ("0", "true"), ("x", "true")])
def test_wrong_usage_is_told(arguments: tuple[str, ...]) -> None:
    """A number of runs and a command are wanted."""
    done = subprocess.run(["perl", str(SCRIPT), *arguments], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode != 0
    assert "usage: speed.pl TIMES COMMAND..." in done.stderr
