"""Programs of this machine: where they are, run within a time limit, ended with all that they started."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import threading
import time
from typing import TYPE_CHECKING

import psutil

from crossmatrix.errors import InfrastructureError, NoSpaceError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_SYSTEM = ("/usr/local/sbin", "/usr/sbin", "/sbin", "/usr/bin", "/bin")
_SHOWN = 20
_HALTED = frozenset({psutil.STATUS_STOPPED, psutil.STATUS_TRACING_STOP, psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD})
_HALT_S, _HALT_POLL_S = 1.0, 0.001


def search_path(environ: Mapping[str, str]) -> str:
    """Give the PATH of an environment with the system's own folders, which that of cron or of ``su`` may lack."""
    # An empty part would be the current folder.
    return os.pathsep.join(part for part in (environ.get("PATH", ""), *_SYSTEM) if part)


def program(name: str, environ: Mapping[str, str]) -> str | None:
    """Find a program of the system's, also where sbin is not on the PATH; None where there is none."""
    return shutil.which(name, path=search_path(environ))


def run_told(
    command: Sequence[str],
    environ: Mapping[str, str],
    on_line: Callable[[str], None],
    *,
    limit_s: float,
) -> None:
    """Run a command, its lines as they come; on any exception it is killed with all that it started.

    Args:
        command: name and words.
        environ: its environment.
        on_line: gets each line of its output and errors.
        limit_s: from start to end.

    Raises:
        InfrastructureError: it fails, or takes too long; its last lines are in the message.
        NoSpaceError: it fails for a full disk.
    """
    lines: list[str] = []
    late = threading.Event()
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
        errors="replace",
        env={**environ, "LC_ALL": "C.UTF-8"},
    ) as process:

        def give_up() -> None:
            late.set()
            kill_family(process.pid)

        timer = threading.Timer(limit_s, give_up)
        timer.start()
        try:
            for line in process.stdout or ():
                lines.append(line.rstrip())
                on_line(line.rstrip())
        except BaseException:
            kill_family(process.pid)
            raise
        finally:
            timer.cancel()
    if late.is_set() or process.returncode != 0:
        why = f"took over {limit_s:.0f} s" if late.is_set() else f"failed (exit code {process.returncode})"
        tail = "\n".join(f"  {line}" for line in lines[-_SHOWN:])
        kind = NoSpaceError if "No space left on device" in tail else InfrastructureError
        raise kind(f"{command[0]} {why}; its last lines:\n{tail}")


def kill_family(pid: int) -> list[psutil.Process]:
    """Kill a process and all that it started; gives them, for a caller that waits for them.

    Each is stopped before its children are listed, until nobody new is found: who still runs may start another
    meanwhile, which nobody would find once its parent is dead. No end is waited for here: that would take a child's
    exit code away from whoever started it.
    """
    try:
        family = [psutil.Process(pid)]
    except psutil.Error:
        return []
    new = list(family)
    while new:
        for member in new:
            _halt(member)
        new = [member for member in _children(family[0]) if member not in family]
        family += new
    for member in family:
        with contextlib.suppress(psutil.Error):
            member.kill()
    return family


def _halt(process: psutil.Process) -> None:
    """Stop a process, and see that it is: a call that it is in the middle of, such as fork, it may first end."""
    deadline = time.monotonic() + _HALT_S
    with contextlib.suppress(psutil.Error):
        process.suspend()
        while process.status() not in _HALTED and time.monotonic() < deadline:
            time.sleep(_HALT_POLL_S)


def _children(process: psutil.Process) -> list[psutil.Process]:
    """List all that a process started; one that is gone has none."""
    try:
        return process.children(recursive=True)
    except psutil.Error:
        return []


def runs(pid: int) -> bool:
    """Whether a process runs; one that has ended and that nobody has waited for does not."""
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.Error:
        return False


def end(pid: int, patience_s: float) -> None:
    """Ask a process to end, and kill it where it does not."""
    try:
        process = psutil.Process(pid)
        process.send_signal(signal.SIGTERM)
        process.wait(patience_s)
    except psutil.TimeoutExpired:
        process.kill()
    except psutil.Error:
        return
