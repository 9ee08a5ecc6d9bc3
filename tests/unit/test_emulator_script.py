"""The stage that tries the emulator: what it blames on the emulator, and what it leaves to the stages that follow."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from crossmatrix.steps.scripts_text import script_text

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.programs

_NO_MODEL = "qemu-test: unable to find CPU model 'maxx'"
_NO_PROPERTY = "qemu-test: can't apply global max-arm-cpu.foo=on: Property 'max-arm-cpu.foo' not found"
_SIGNAL = "qemu: uncaught target signal 4 (Illegal instruction) - core dumped"


def _tried(folder: Path, *, said: str, code: int, listed: str = "") -> tuple[int, str]:
    """Run the stage with an emulator that says and lists this and ends so; gives the exit code and what was said."""
    emulator = folder / "qemu-test"
    emulator.write_text(
        f"""#!/bin/sh
case $* in
--version) echo 'qemu-test version 7.2'; exit 0 ;;
'-cpu help') printf 'Available CPUs:\\n  max\\n  a53\\n'; exit 0 ;;
esac
printf %s '{listed}'
cat >&2 <<'SAID'
{said}
SAID
exit {code}
""",
    )
    emulator.chmod(0o755)
    script = script_text("emulator.sh").replace("/scratch", str(folder)).replace("/work/out", str(folder / "work"))
    done = subprocess.run(
        ["sh", "-eu", "-c", 'clean() { "$@"; }\nEMULATOR=qemu-test\n' + script],
        env={"PATH": f"{folder}:/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("said", [_NO_MODEL, _NO_PROPERTY, f"qemu-test: warning: slow\n{_NO_MODEL}"])
def test_an_emulator_that_refuses_the_profile_is_infrastructure(tmp_path: Path, said: str) -> None:
    """Its own words stand in the reason, and nothing of the library is judged."""
    code, told = _tried(tmp_path, said=said, code=1)
    assert code == 126
    assert (
        f"crossmatrix: infrastructure: the emulator refuses to start with this profile: {said.splitlines()[-1]}" in told
    )


def test_an_unknown_cpu_model_is_answered_with_those_there_are(tmp_path: Path) -> None:
    """The log lists the emulator's own."""
    assert "crossmatrix: its CPU models: max a53" in _tried(tmp_path, said=_NO_MODEL, code=1)[1]
    assert "CPU models" not in _tried(tmp_path, said=_NO_PROPERTY, code=1)[1]


@pytest.mark.parametrize(
    ("said", "code", "listed"),
    [
        ("", 0, "[]"),
        ("qemu-test: warning: TCG does not support a requested feature", 0, "[]"),
        ("qemu-test: warning: TCG does not support a requested feature", 1, ""),
        (f"qemu-test: warning: slow\n{_SIGNAL}", 132, ""),
        ("workload: cannot list", 1, ""),
    ],
)
def test_what_a_program_does_is_left_to_the_stages_that_follow(
    tmp_path: Path,
    said: str,
    code: int,
    listed: str,
) -> None:
    """A program that died or failed under an emulator that did its work, and warnings, stop nothing."""
    assert _tried(tmp_path, said=said, code=code, listed=listed)[0] == 0


@pytest.mark.parametrize("code", [126, 127])
def test_a_program_that_cannot_be_started_is_infrastructure(tmp_path: Path, code: int) -> None:
    """Codes of a shell for what is no program."""
    assert _tried(tmp_path, said="x", code=code)[0] == 126
