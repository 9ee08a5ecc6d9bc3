"""Programs of the machine: found, run within a limit, ended with all that they started."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from typing import TYPE_CHECKING

import psutil
import pytest

from crossmatrix.engine import base, processes
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


def test_past_its_limit_a_command_ends_with_all_that_it_started(monkeypatch: pytest.MonkeyPatch) -> None:
    """And the message says that it took too long: it did not fail by itself. The limit is past when a child runs."""
    started: list[int] = []
    script, note = _starts_another(started)
    begun = threading.Event()

    class Late(threading.Timer):
        def run(self) -> None:
            if begun.wait(PATIENCE_S):
                self.function()

    def tell(line: str) -> None:
        note(line)
        begun.set()

    monkeypatch.setattr(threading, "Timer", Late)
    with pytest.raises(InfrastructureError, match=r"sh took over 30 s"):
        _run(script, tell)
    assert len(started) == 1
    assert _ends(started[0])


def test_a_limit_is_one_also_for_a_command_that_says_nothing() -> None:
    """The time decides, whatever comes of the output."""
    with pytest.raises(InfrastructureError, match=r"sh took over 0 s"):
        _run("exec sleep 600", limit_s=0.2)


class PlayedProcess:
    """A process that starts another whenever somebody lists its children while it runs."""

    def __init__(self, pid: int, born: int) -> None:
        self.pid = pid
        self.own: list[PlayedProcess] = []
        self.state = "running"
        self._born = born
        self._ending = False

    def suspend(self) -> None:
        """Stop, once the call that it is in the middle of has ended."""
        self._ending = True

    def status(self) -> str:
        """Say whether it runs; asked, it comes to the end of that call."""
        if self._ending and self.state == "running":
            self._fork()
            self.state = psutil.STATUS_STOPPED
        return self.state

    def children(self, *, recursive: bool) -> list[PlayedProcess]:
        """List all that live, and start one more."""
        assert recursive
        found = [*self.own, *(one for child in self.own for one in child.children(recursive=True))]
        if self.state == "running":
            self._fork()
        return found

    def kill(self) -> None:
        """End."""
        self.state = "dead"

    def everybody(self) -> list[PlayedProcess]:
        """Give it and all that it ever started."""
        return [self, *(one for child in self.own for one in child.everybody())]

    def _fork(self) -> None:
        if self._born > 0:
            self._born -= 1
            self.own.append(PlayedProcess(self.pid + len(self.own) + 1, self._born))


@pytest.mark.parametrize("born", range(5))
def test_no_child_that_is_started_meanwhile_gets_away(monkeypatch: pytest.MonkeyPatch, born: int) -> None:
    """It would live on with the output of the command open, so that whoever reads that waits for it."""
    root = PlayedProcess(1, born)
    root.children(recursive=True)
    monkeypatch.setattr(psutil, "Process", lambda _pid: root)
    killed = kill_family(1)
    assert {one.state for one in root.everybody()} == {"dead"}
    assert len(killed) == len(root.everybody())


def test_a_process_that_cannot_be_stopped_is_killed_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """One in the middle of a call that does not end is waited for no longer than a moment."""
    monkeypatch.setattr(processes, "_HALT_S", 0.01)
    root = PlayedProcess(1, 0)
    monkeypatch.setattr(root, "status", lambda: psutil.STATUS_DISK_SLEEP)
    monkeypatch.setattr(psutil, "Process", lambda _pid: root)
    kill_family(1)
    assert root.state == "dead"


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
