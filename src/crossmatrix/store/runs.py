"""Runs: one folder each, with records that are valid at any moment."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import ValidationError

from crossmatrix.disk import disk_faults
from crossmatrix.errors import StoreError, UsageError, nearest
from crossmatrix.records import SCHEMA_VERSION, Artifact, CellRecord, RunRecord
from crossmatrix.store.atomic import link_or_copy, write_text

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

RESERVED_BYTES = 4 << 20
"""Room for the last record of a run: that of a whole matrix has some hundred kilobytes."""


@dataclass(frozen=True, slots=True)
class Runs:
    """The folder ``runs/``; run ids sort by time."""

    root: Path

    def folder(self, run_id: str) -> Path:
        """Give a run's folder."""
        return self.root / run_id

    def begin(self, record: RunRecord) -> Path:
        """Make a run's folder and its first record, and let ``latest`` point to it.

        Raises:
            StoreError: a run of this id exists.
        """
        folder = self.folder(record.run_id)
        with disk_faults(folder):
            folder.parent.mkdir(parents=True, exist_ok=True)
            try:
                folder.mkdir()
            except FileExistsError as error:
                raise StoreError(f"a run {record.run_id} exists already", hint="call again") from error
        self.write(record)
        self._point_latest(record.run_id)
        return folder

    def write(self, record: RunRecord) -> None:
        """Write ``run.json``, atomically, over the one before.

        The outputs by input length stay in the cells' own records: they are long, and findings have been made of them.
        """
        lengths = {"cells": {"__all__": {"vectors": {"families": {"__all__": {"lengths"}}}}}}
        text = record.model_dump_json(by_alias=True, indent=1, exclude=lengths)
        write_text(self.folder(record.run_id) / "run.json", text + "\n")

    def reserve(self, run_id: str) -> None:
        """Keep some space for a run's last record, which says how it ended also where a full disk ended it."""
        file = self._reserve(run_id)
        with disk_faults(file):
            # Not of zeros: a file system that compresses would keep no space for them.
            file.write_bytes(os.urandom(RESERVED_BYTES))

    def release(self, run_id: str) -> None:
        """Give that space back."""
        with contextlib.suppress(OSError):
            self._reserve(run_id).unlink(missing_ok=True)

    def _reserve(self, run_id: str) -> Path:
        return self.folder(run_id) / ".reserve"

    def write_cell(self, run_id: str, record: CellRecord) -> None:
        """Write one cell's record, as soon as it is known."""
        write_text(self.cell_folder(run_id, record.id) / "cell.json", record.model_dump_json(indent=1) + "\n")

    def cell_folder(self, run_id: str, cell_id: str) -> Path:
        """Give the folder of a cell in a run: its id is its path."""
        return self.folder(run_id) / "cells" / cell_id

    def add_files(
        self,
        run_id: str,
        cell_id: str,
        kind: str,
        source: Path,
        files: Iterable[tuple[str, Artifact]],
    ) -> tuple[Artifact, ...]:
        """Give a cell files of a result, under ``<kind>/`` of its own folder.

        Args:
            run_id: of the run.
            cell_id: of the cell.
            kind: ``artifacts`` or ``logs``.
            source: the result's folder; its files are linked, or copied where links are not possible.
            files: each with the name that it gets.

        Returns:
            The files, with paths relative to the run's folder; without those in whose place another run has meanwhile
            put a result of its own.
        """
        added = []
        for name, file in files:
            target = self.cell_folder(run_id, cell_id) / kind / name
            if not (source / file.path).is_file() or not link_or_copy(source / file.path, target):
                continue
            path = target.relative_to(self.folder(run_id)).as_posix()
            added.append(file.model_copy(update={"name": name, "path": path}))
        return tuple(added)

    def ids(self) -> tuple[str, ...]:
        """Give the ids of all runs, oldest first."""
        if not self.root.is_dir():
            return ()
        return tuple(sorted(path.parent.name for path in self.root.glob("*/run.json") if not path.parent.is_symlink()))

    def resolve(self, name: str) -> str:
        """Give the id that a user meant: an id, its unique beginning, or ``latest``.

        Raises:
            UsageError: there is no such run.
        """
        ids = self.ids()
        if not ids:
            raise UsageError(f"there is no run in {self.root}", hint="make one: `invoke matrix`")
        if name in {"", "latest"}:
            return ids[-1]
        matching = [run_id for run_id in ids if run_id.startswith(name)]
        if name in ids:
            return name
        if len(matching) == 1:
            return matching[0]
        if matching:
            raise UsageError(f"{name!r} begins the ids of {len(matching)} runs: {', '.join(matching[-5:])}")
        raise UsageError(f"there is no run {name!r}", hint=nearest(name, ("latest", *ids[-20:])))

    def load(self, run_id: str) -> RunRecord:
        """Read a run with all its cells; those of a run without an end are as they stood when it began or ended each.

        Raises:
            StoreError: the record is of a newer version, or damaged.
        """
        file = self.folder(run_id) / "run.json"
        try:
            data = file.read_bytes()
            _check_schema(file, data)
            record = RunRecord.model_validate_json(data)
        except OSError as error:
            raise StoreError(f"{file}: cannot be read: {error.strerror}") from error
        except ValidationError as error:
            raise StoreError(f"{file}: not a record of a run: {error.errors()[0]['msg']}") from error
        return record if record.finished and record.cells else self._with_own(record)

    def _with_own(self, record: RunRecord) -> RunRecord:
        """Give each cell its own record, where it has one."""
        own = {cell.id: cell for cell in self.cells(record.run_id)}
        cells = tuple(own.pop(cell.id, cell) for cell in record.cells)
        return record.model_copy(update={"cells": (*cells, *own.values())})

    def cells(self, run_id: str) -> tuple[CellRecord, ...]:
        """Read the cells' own records: of a run that was killed, all that had finished."""
        found = []
        for file in sorted((self.folder(run_id) / "cells").rglob("cell.json")):
            with contextlib.suppress(OSError, ValidationError):
                found.append(CellRecord.model_validate_json(file.read_bytes()))
        return tuple(found)

    def remove(self, run_id: str) -> None:
        """Remove a run; ``latest`` points to the newest that is left."""
        shutil.rmtree(self.folder(run_id), ignore_errors=True)
        left = self.ids()
        if left:
            self._point_latest(left[-1])
        else:
            (self.root / "latest").unlink(missing_ok=True)

    def _point_latest(self, run_id: str) -> None:
        link = self.root / "latest"
        # Of a name that no other run uses, of this process or another's.
        fresh = self.root / f".latest-{os.getpid()}-{threading.get_ident()}"
        with disk_faults(link):
            fresh.unlink(missing_ok=True)
            fresh.symlink_to(run_id)
            fresh.replace(link)


def _check_schema(file: Path, data: bytes) -> None:
    """Refuse a record of a newer version, whatever else stands in it."""
    try:
        value = json.loads(data)
    except ValueError as error:
        raise StoreError(f"{file}: not a record of a run: {error}") from error
    schema = value.get("schema") if isinstance(value, dict) else None
    if isinstance(schema, int) and schema > SCHEMA_VERSION:
        raise StoreError(
            f"{file}: schema {schema}, but this Crossmatrix knows {SCHEMA_VERSION}",
            hint="update Crossmatrix",
        )


def size_bytes(paths: Iterable[Path]) -> int:
    """Add up the sizes of files below folders, each file once however many names it has."""
    seen: dict[tuple[int, int], int] = {}
    for root in paths:
        for path in root.rglob("*"):
            with contextlib.suppress(OSError):
                status = path.lstat()
                seen[status.st_dev, status.st_ino] = status.st_size
    return sum(seen.values())
