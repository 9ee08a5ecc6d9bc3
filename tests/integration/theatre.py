"""Where real cells are carried out as every run does it, with or without a lie."""

from __future__ import annotations

import shutil
from concurrent.futures import Future
from dataclasses import replace
from threading import Event as Flag
from threading import Lock
from typing import TYPE_CHECKING

from tests.integration.lying import LyingSteps, puts
from tests.integration.probe_image import CHECKOUT
from tests.integration.real_cells import nettle

from crossmatrix.api.world import surroundings
from crossmatrix.engine.belongings import belongings, remove_belonging
from crossmatrix.runner.request import Request
from crossmatrix.runner.run import carry_out
from crossmatrix.store import State

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from tests.integration.lying import Brought, Lie

    from crossmatrix.api.workspace import Workspace
    from crossmatrix.catalog import Cell, SourceSpec
    from crossmatrix.engine import DockerEngine
    from crossmatrix.events import Event
    from crossmatrix.records import CellRecord
    from crossmatrix.steps.sources import Fetcher


class Theatre:
    """A state directory of its own, on the engine and with the images of every run; used from several threads."""

    def __init__(self, home: Path, workspace: Workspace, engine: DockerEngine, fetcher: Fetcher) -> None:
        self._workspace = workspace
        self._engine = engine
        self._fetcher = fetcher
        self._state = State.open(home)
        self._stop = Flag()
        self._guard = Lock()
        self._sound: dict[str, Future[CellRecord]] = {}

    def sound(self, cell: Cell) -> CellRecord:
        """Carry a cell out without a lie; once, whoever asks."""
        with self._guard:
            first = cell.id not in self._sound
            future = self._sound.setdefault(cell.id, Future())
        if first:
            try:
                future.set_result(self._carry_out((cell,), LyingSteps(recipes=CHECKOUT / "recipes")))
            except BaseException as error:
                future.set_exception(error)
                raise
        return future.result()

    def tell(self, lie: Lie) -> CellRecord:
        """Carry a cell out with a lie; what it takes from sound cells is made first."""
        cell = lie.cell()
        beside = (lie.beside(),) if lie.beside is not None else ()
        for one in beside:
            self.sound(one)
        steps = LyingSteps(
            recipes=CHECKOUT / "recipes",
            liar=cell.id,
            really=lie.really() if lie.really is not None else None,
            build_changes=(*lie.build, puts("/work", self._files(lie.into_build))),
            run_changes=(*lie.run, puts("/scratch", self._files(lie.into_run))),
        )
        return self._carry_out((cell, *beside), steps)

    def stop(self) -> None:
        """Start nothing more, and end what works."""
        self._stop.set()

    def clear(self) -> None:
        """Leave nothing, here or on the engine."""
        home = self._state.home
        for item in belongings(self._engine.client):
            if item.home == str(home):
                remove_belonging(self._engine.client, item)
        shutil.rmtree(home, ignore_errors=True)

    def _files(self, brought: Iterable[Brought]) -> list[tuple[str, bytes]]:
        return [(one.artifact, self._artifact(one.of(), one.artifact)) for one in brought]

    def _artifact(self, cell: Cell, name: str) -> bytes:
        key = self.sound(cell).keys["build"]
        return (self._state.results.folder(key) / "out" / "artifacts" / name).read_bytes()

    def _carry_out(self, cells: tuple[Cell, ...], steps: LyingSteps) -> CellRecord:
        world = surroundings(
            self._workspace,
            engine=self._engine,
            state=self._state,
            fetcher=self._fetcher,
            listen=_tell,
        )
        world = replace(world, steps=steps, fetch=self._fetch, stop=self._stop)
        return carry_out(Request(matrix="sabotage", cells=cells, jobs=1), world).cells[0]

    def _fetch(self, _spec: SourceSpec) -> tuple[Path, str]:
        """Fetch the one source, whatever a lie calls it."""
        packed = self._fetcher.packed(nettle().build.source)
        return packed.path, packed.origin


def _tell(_event: Event) -> None:
    """Nobody watches: a record says all, with the end of the log."""
