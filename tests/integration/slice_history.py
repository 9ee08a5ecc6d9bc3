"""One cell for real, in a state directory of its own: interrupted, killed, finished, and asked for once more.

All of it takes as long as one cold run of the cell (some minutes on two cores), and is done once for all tests.
"""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.integration.probe_image import CHECKOUT

from crossmatrix.api.options import Choice, Manner
from crossmatrix.api.running import run_matrix
from crossmatrix.api.workspace import Workspace
from crossmatrix.engine.belongings import IMAGE, belongings, remove_belonging
from crossmatrix.engine.owners import HOME_LABEL

if TYPE_CHECKING:
    from pathlib import Path

    from crossmatrix.api.running import Done
    from crossmatrix.engine import DockerEngine
    from crossmatrix.events import Event

CELL = "nettle-*/asm/gcc-12/aarch64_be-linux-musl"
MATRIX = "ci"
PATIENCE_S = 1800.0
"""For a loaded machine; nothing passes by waiting this long."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Ended:
    """A process that was ended: its exit code (negative for a signal), what it printed, and what was there before.

    ``containers`` are those of the state directory just before the signal, as the engine describes them; ``left``
    are the ids of those that were there after the end.
    """

    code: int
    output: str
    containers: tuple[dict[str, Any], ...]
    left: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class History:
    """What happened to the cell, in this order."""

    workspace: Workspace
    interrupted: Ended
    killed: Ended
    finished: Done
    finished_events: tuple[Event, ...]
    again: Done
    again_events: tuple[Event, ...]


_KNOWN: dict[str, History] = {}


def history(engine: DockerEngine, home: Path, state_home: Path) -> History:
    """Give the history of the cell, made where it has not been made yet.

    Args:
        engine: that all of it happens on; its images are there.
        home: a new state directory.
        state_home: where sources may be kept already.
    """
    if engine.info.url not in _KNOWN:
        _KNOWN[engine.info.url] = _made(engine, home, state_home)
    return _KNOWN[engine.info.url]


def _made(engine: DockerEngine, home: Path, state_home: Path) -> History:
    workspace = Workspace.at(CHECKOUT, _environment(engine, home, state_home))
    interrupted = _ended(engine, workspace, "stage   build", ": configure", signal.SIGINT)
    killed = _ended(engine, workspace, "stage   run", ": emulator", signal.SIGKILL)
    choice = Choice(matrix=MATRIX, cells=(CELL,))
    events: list[list[Event]] = [[], []]
    finished, again = (run_matrix(workspace, choice, Manner(), told.append) for told in events)
    _clean(engine, home)
    return History(
        workspace=workspace,
        interrupted=interrupted,
        killed=killed,
        finished=finished,
        finished_events=tuple(events[0]),
        again=again,
        again_events=tuple(events[1]),
    )


def _clean(engine: DockerEngine, home: Path) -> None:
    """Take the volumes of the state directory away again; its images are everyone's."""
    for item in belongings(engine.client):
        if item.home == str(home) and item.kind != IMAGE:
            remove_belonging(engine.client, item)


def of_home(engine: DockerEngine, home: Path) -> tuple[str, ...]:
    """Give the ids of all containers of a state directory."""
    filters = {"label": [f"{HOME_LABEL}={home}"]}
    rows = engine.client.ask("list containers", lambda api: api.containers(all=True, filters=filters))
    return tuple(str(row["Id"]) for row in rows)


def _environment(engine: DockerEngine, home: Path, state_home: Path) -> dict[str, str]:
    """Give the environment of commands: this engine, that state directory, and the sources that are here already."""
    mirror = home.parent / "mirror"
    mirror.mkdir(exist_ok=True)
    for kept in state_home.glob("sources/*-nettle-*.tar.gz"):
        (mirror / kept.name.partition("-")[2]).write_bytes(kept.read_bytes())
    ours = {"DOCKER_HOST": engine.info.url, "CROSSMATRIX_HOME": str(home), "CROSSMATRIX_MIRROR": str(mirror)}
    foreign = {"CROSSMATRIX_ENGINE", "DOCKER_CONTEXT"}
    return {name: value for name, value in os.environ.items() if name not in foreign} | ours


def _ended(engine: DockerEngine, workspace: Workspace, begins: str, ends: str, number: signal.Signals) -> Ended:
    """Run the cell in a process of its own and end it when it has printed a line."""
    command = [sys.executable, "-m", "invoke", "matrix", "--matrix", MATRIX, "--cells", CELL]
    with subprocess.Popen(
        command,
        cwd=CHECKOUT,
        env=workspace.environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    ) as process:
        try:
            lines = _Lines(process)
            lines.wait_for(begins, ends)
            ids = of_home(engine, workspace.home)
            containers = tuple(_described(engine, one) for one in ids)
            process.send_signal(number)
            code = process.wait(timeout=PATIENCE_S)
        finally:
            if process.poll() is None:
                process.kill()
        return Ended(code=code, output=lines.all(), containers=containers, left=of_home(engine, workspace.home))


def _described(engine: DockerEngine, container: str) -> dict[str, Any]:
    return dict(engine.client.ask("look at a container", lambda api: api.inspect_container(container)))


class _Lines:
    """What a process prints, line by line, read in a thread so that waiting for a line has an end."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._seen: list[str] = []
        self._new: queue.Queue[str | None] = queue.Queue()
        self._thread = threading.Thread(target=self._read, args=(process,), daemon=True)
        self._thread.start()

    def wait_for(self, begins: str, ends: str) -> None:
        """Wait for a line that has both texts."""
        deadline = time.monotonic() + PATIENCE_S
        while True:
            line = self._new.get(timeout=max(0.0, deadline - time.monotonic()))
            if line is None:
                raise AssertionError(f"the run ended before it printed {begins!r}:\n{''.join(self._seen)}")
            if begins in line and ends in line:
                return

    def all(self) -> str:
        """Give all that was printed, once the process has ended."""
        self._thread.join(PATIENCE_S)
        return "".join(self._seen)

    def _read(self, process: subprocess.Popen[str]) -> None:
        if process.stdout is not None:
            for line in process.stdout:
                self._seen.append(line)
                self._new.put(line)
        self._new.put(None)
