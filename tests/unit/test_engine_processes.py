"""Programs of the machine: found, run within a limit, ended with all that they started."""

from __future__ import annotations

import os
import subprocess
import time
from typing import TYPE_CHECKING

import psutil
import pytest

from crossmatrix.engine import base
from crossmatrix.engine.processes import kill_family, program, run_told, runs, search_path
from crossmatrix.errors import InfrastructureError, NoSpaceError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.programs
PATIENCE_S = 30


def _run(script: str, on_line: Callable[[str], None] = lambda _: None, limit_s: float = PATIENCE_S) -> None:
    run_told(["sh", "-c", script], os.environ, on_line, limit_s=limit_s)


def _ends(pid: int) -> bool:
    """Whether a process ends before the test loses its patience."""
    deadline = time.monotonic() + PATIENCE_S
    while runs(pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    return not runs(pid)


def test_lines_come_as_they_are_printed() -> None:
    """Output and errors in one, in their order."""
    lines: list[str] = []
    _run("echo a; echo b >&2; echo c", lines.append)
    assert lines == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("script", "kind", "words"),
    [
        ("echo why; exit 7", InfrastructureError, r"sh failed \(exit code 7\); its last lines:\n  why"),
        ("kill -9 $$", InfrastructureError, r"exit code -9"),
        ("echo 'tar: No space left on device'; exit 2", NoSpaceError, "No space left"),
    ],
)
def test_a_command_that_fails_shows_its_last_lines(script: str, kind: type[Exception], words: str) -> None:
    """With its exit code, and a full disk as what it is."""
    with pytest.raises(InfrastructureError, match=words) as caught:
        _run(script)
    assert type(caught.value) is kind


def _starts_another(started: list[int]) -> tuple[str, Callable[[str], None]]:
    """Give a script whose child holds its output open, and what notes that child's number."""
    return "sleep 600 & echo $!; wait", lambda line: started.append(int(line))


def test_past_its_limit_a_command_ends_with_all_that_it_started() -> None:
    """And the message says that it took too long: it did not fail by itself."""
    started: list[int] = []
    script, note = _starts_another(started)
    with pytest.raises(InfrastructureError, match=r"sh took over 0 s"):
        _run(script, note, limit_s=0.3)
    assert all(_ends(pid) for pid in started)


def test_an_interrupted_command_ends_with_all_that_it_started() -> None:
    """What debootstrap had begun must not write into a tree that is being removed."""
    started: list[int] = []
    script, note = _starts_another(started)

    def interrupt(line: str) -> None:
        note(line)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        _run(script, interrupt)
    assert started
    assert all(_ends(pid) for pid in started)


def test_a_process_that_nobody_waited_for_does_not_run() -> None:
    """In a container without an init, a daemon that died at its start stays a zombie for ever."""
    with subprocess.Popen(["sh", "-c", "exit 3"]) as process:
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert psutil.pid_exists(process.pid)
        assert not runs(process.pid)
    assert process.returncode == 3


def test_killing_takes_nobodys_exit_code() -> None:
    """Whoever started a process still learns that it was killed; that it is gone is no error."""
    with subprocess.Popen(["sh", "-c", "sleep 600"]) as process:
        assert kill_family(process.pid)
    assert process.returncode == -9
    assert kill_family(process.pid) == []


def test_the_systems_programs_are_found_whatever_the_path() -> None:
    """That of cron lacks sbin, and an empty PATH is not the current folder."""
    assert "/usr/sbin" in search_path({"PATH": "/usr/bin"}).split(os.pathsep)
    assert "" not in search_path({}).split(os.pathsep)
    assert program("sh", {}) is not None
    assert program("there-is-no-such-program", {}) is None


def test_one_at_a_time_installs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bases of two suites are made side by side, and apt takes one caller; the second finds it installed."""
    keys, commands = tmp_path / "keys", []

    def install(command: list[str], _variables: object, _on_line: object) -> None:
        assert base._INSTALLING.locked()
        commands.append(command)
        if "install" in command:
            keys.write_text("")

    monkeypatch.setattr(base, "_run", install)
    monkeypatch.setattr(base, "_DEBIAN_KEYS", (tmp_path / "none", keys))
    monkeypatch.setattr(base, "program", lambda name, _environ: f"/usr/sbin/{name}")
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    for _ in range(2):
        base._check_possible({}, lambda _: None)
    assert [("update" in command, "install" in command) for command in commands] == [(True, False), (False, True)]


def test_bootstrap_can_be_interrupted_at_any_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """Packages are not named one by one, but each gives whoever listens the chance to end it."""
    printed = (
        "I: Retrieving InRelease",
        "I: Retrieving libc6 2.36",
        "I: Retrieving tar 1.34",
        "I: Base system installed",
    )

    def play(_command: object, _variables: object, on_line: Callable[[str], None], *, limit_s: float) -> None:
        assert limit_s == base.BOOTSTRAP_S
        for line in printed:
            on_line(line)

    monkeypatch.setattr(base, "run_told", play)
    heard: list[str] = []
    base._run(["debootstrap"], {}, heard.append)
    assert heard == [printed[0], "I: Retrieving packages", "I: Retrieving packages", printed[-1]]
