"""The records of a run under way: written as they come, valid at any moment."""

from __future__ import annotations

import contextlib
from threading import Lock
from typing import TYPE_CHECKING

from crossmatrix import __version__
from crossmatrix.analysis import findings
from crossmatrix.errors import ExitCode, NoSpaceError
from crossmatrix.events import Note
from crossmatrix.evidence import vacuous_by_neighbours
from crossmatrix.records import CellRecord, RunRecord, Verdict
from crossmatrix.report.conclusion import conclude
from crossmatrix.runner.judging import exclusions_of

if TYPE_CHECKING:
    from datetime import datetime

    from crossmatrix.runner.request import Request, Surroundings


class Book:
    """The record of a run and those of its cells."""

    def __init__(self, request: Request, world: Surroundings) -> None:
        self._request = request
        self._world = world
        self._cells: dict[str, CellRecord] = {}
        self._full: NoSpaceError | None = None
        self._guard = Lock()
        self._record = _first_record(request, world, world.now())

    @property
    def id(self) -> str:
        """The run's id."""
        return self._record.run_id

    @property
    def full(self) -> NoSpaceError | None:
        """The first word of a disk that is full."""
        return self._full

    def begin(self, pending: tuple[CellRecord, ...]) -> None:
        """Make the run's folder and its first record, with what is to be said of each cell until it has its own."""
        runs = self._world.state.runs
        runs.begin(self._record.model_copy(update={"cells": pending}))
        with contextlib.suppress(NoSpaceError):
            runs.reserve(self.id)
        for note in self._request.notes:
            self._world.listen(Note(message=note))

    def keep(self, record: CellRecord) -> None:
        """Keep a cell's record at once, so that a run that is killed leaves it; a full disk does not lose it."""
        with self._guard:
            self._cells[record.id] = record
        try:
            self._world.state.runs.write_cell(self.id, record)
        except NoSpaceError as error:
            self.no_space(error)

    def has(self, cell_id: str) -> bool:
        """Whether a cell has its record."""
        return cell_id in self._cells

    def note(self, message: str) -> None:
        """Say something to whoever listens and to whoever reads the record."""
        with self._guard:
            self._record = self._record.model_copy(update={"notes": (*self._record.notes, message)})
        self._world.listen(Note(message=message))

    def no_space(self, error: NoSpaceError) -> None:
        """Stop for a full disk: everything else that has to be written would fail alike."""
        with self._guard:
            known, self._full = self._full, self._full or error
        self._world.stop.set()
        if known is None:
            self.note(f"stopped: {error}")

    def conclude(self) -> RunRecord:
        """Compare the cells with each other, draw the conclusion and write it."""
        judged = self._compared()
        found = findings(judged, excluded={cell.id: exclusions_of(cell) for cell in self._request.cells})
        code = conclude(judged, found, interrupted=self._world.interrupted.is_set())
        self._record = self._record.model_copy(
            update={
                "cells": judged,
                "findings": found,
                "finished": self._world.now().isoformat(),
                "state": "interrupted" if code is ExitCode.INTERRUPTED else "finished",
                "exit_code": int(code),
            },
        )
        self._close()
        return self._record

    def _close(self) -> None:
        """Write the last record, on a full disk in the space that was kept for it; where it is too long, its head."""
        runs = self._world.state.runs
        runs.release(self.id)
        try:
            runs.write(self._record)
        except NoSpaceError as error:
            self.no_space(error)
            with contextlib.suppress(NoSpaceError):
                # The cells have records of their own, as far as those could be written.
                runs.write(self._record.model_copy(update={"cells": ()}))

    def _compared(self) -> tuple[CellRecord, ...]:
        """Give the cells in the order of the report, vacuous where only their neighbours can show it."""
        order = [cell.id for cell in self._request.cells] + [item.id for item in self._request.left_out]
        cells = [self._cells[cell_id] for cell_id in order if cell_id in self._cells]
        reasons = vacuous_by_neighbours(cells)
        judged = tuple(_with_neighbours(record, reasons.get(record.id, "")) for record in cells)
        for before, after in zip(cells, judged, strict=True):
            if before is not after:
                self.keep(after)
        return judged


def _first_record(request: Request, world: Surroundings, now: datetime) -> RunRecord:
    info = world.engine.info
    return RunRecord(
        schema=1,
        run_id=now.strftime("%Y%m%d-%H%M%S-%f"),
        matrix=request.matrix,
        tool=f"crossmatrix {__version__}",
        host=dict(world.host),
        engine={
            "url": info.url,
            "kind": info.kind,
            "version": info.version,
            "cpus": str(info.cpus),
            "memory_bytes": str(info.memory_bytes),
            "rootless": str(info.rootless).lower(),
        },
        command=request.command,
        started=now.isoformat(),
        notes=request.notes,
    )


def _with_neighbours(record: CellRecord, reason: str) -> CellRecord:
    if not reason or record.verdict is not Verdict.PASSED:
        return record
    return record.model_copy(update={"verdict": Verdict.VACUOUS, "reason": reason})
