"""Results of jobs, by key: what a job left, kept once however many runs use it."""

from __future__ import annotations

import os
import re
import secrets
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import ValidationError

from crossmatrix.checksums import sha256_bytes, sha256_file
from crossmatrix.disk import disk_faults
from crossmatrix.plan import JobKind
from crossmatrix.records.cells import Artifact, CellRecord, ImageRecord, StageRecord
from crossmatrix.records.model import Record
from crossmatrix.store.atomic import write_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

_KEY = re.compile(r"[0-9a-f]{64}")


class JobResult(Record):
    """What one job left.

    Attributes:
        ok: all stages that had to succeed did, so that what hangs on the job can run.
        sound: the result says something of the library, so that it may be used again. Infrastructure faults,
            interruptions and time-outs are not sound: they may end otherwise next time.
        fault: why it is not sound or not ok, for a person.
        hint: what to do about it.
        tree: of a build: its tree is whole, as far as the engine has it; False from the moment on in which a later
            build of the same key takes it away, until that has ended, and where a kept container can change it.
        files: all that was kept, with paths relative to the result's folder.
    """

    schema_version: int = 1
    key: str
    kind: JobKind
    id: str
    run_id: str
    inputs: dict[str, str]
    ok: bool
    sound: bool
    fault: str = ""
    hint: str = ""
    tree: bool = True
    stages: tuple[StageRecord, ...] = ()
    image: ImageRecord | None = None
    source_origin: str = ""
    started: str = ""
    finished: str = ""
    duration_s: float = 0.0
    notes: tuple[str, ...] = ()
    files: tuple[Artifact, ...] = ()


@dataclass(frozen=True, slots=True)
class Results:
    """The folder ``results/``: ``<key>/result.json``, ``<key>/logs/``, ``<key>/out/``."""

    root: Path

    def folder(self, key: str) -> Path:
        """Give the folder of a kept result."""
        return self.root / key

    def new_folder(self) -> Path:
        """Make a folder in which a job collects its files before they are kept."""
        with disk_faults(self.root):
            self.root.mkdir(parents=True, exist_ok=True)
            # Not mkdtemp: what is kept may be read by whoever may read the rest, as the user's umask says.
            folder = self.root / f".new-{secrets.token_hex(8)}"
            folder.mkdir()
            return folder

    def keep(self, folder: Path, result: JobResult) -> JobResult:
        """Put a collected folder in its place; a result of the same key gives way.

        Returns:
            The result with the list of its files.
        """
        result = result.model_copy(update={"files": _files(folder)})
        write_text(folder / "result.json", result.model_dump_json(indent=1) + "\n")
        place = self.folder(result.key)
        with disk_faults(place):
            if place.exists():
                old = self.new_folder()
                os.replace(place, old / "old")  # noqa: PTH105 - pathlib's twin says less
                os.replace(folder, place)  # noqa: PTH105 - as above
                shutil.rmtree(old, ignore_errors=True)
            else:
                os.replace(folder, place)  # noqa: PTH105 - as above
        write_text(self._last(result.kind, result.id), result.model_dump_json(include={"key", "inputs"}))
        return result

    def load(self, key: str) -> JobResult | None:
        """Read a kept result; None where there is none, its record is damaged, or a file of it is gone or cut.

        A machine that lost power can have written the record and not yet all that it speaks of.
        """
        folder = self.folder(key)
        try:
            result = JobResult.model_validate_json((folder / "result.json").read_bytes())
            whole = all((folder / file.path).stat().st_size == file.size_bytes for file in result.files)
        except (OSError, ValidationError):
            return None
        return result if whole else None

    def doubt(self, result: JobResult) -> None:
        """Note that a kept result is not to be used again; one that took its place meanwhile is left alone."""
        if self.load(result.key) == result:
            self._write(result.model_copy(update={"sound": False}))

    def tree_goes(self, key: str) -> None:
        """Note that a build's tree is taken away now or may be changed, so that such a tree is never tested."""
        result = self.load(key)
        if result is not None and result.tree:
            self._write(result.model_copy(update={"tree": False}))

    def last_inputs(self, kind: JobKind, job_id: str) -> Mapping[str, str] | None:
        """Give the inputs with which a job of this id last left a result."""
        try:
            last = _Last.model_validate_json(self._last(kind, job_id).read_bytes())
        except (OSError, ValidationError):
            return None
        return last.inputs

    def judged(self, key: str, judging: str) -> CellRecord | None:
        """Read the cell record made of this result by the same judging code; None where there is none."""
        try:
            return CellRecord.model_validate_json((self.folder(key) / f"judged-{judging[:16]}.json").read_bytes())
        except (OSError, ValidationError):
            return None

    def keep_judged(self, key: str, judging: str, record: CellRecord) -> None:
        """Keep the cell record made of a result."""
        write_text(self.folder(key) / f"judged-{judging[:16]}.json", record.model_dump_json() + "\n")

    def kept_keys(self) -> tuple[str, ...]:
        """Give the keys of all kept results, damaged ones too; a folder of another name is none of ours."""
        names = (path.name for path in self.root.glob("[0-9a-f]*")) if self.root.is_dir() else ()
        return tuple(sorted(name for name in names if _KEY.fullmatch(name)))

    def all(self) -> Iterator[JobResult]:
        """Give all kept results."""
        for key in self.kept_keys():
            result = self.load(key)
            if result is not None:
                yield result

    def remove(self, key: str) -> None:
        """Remove a kept result."""
        shutil.rmtree(self.folder(key), ignore_errors=True)

    def sweep(self) -> None:
        """Remove what an interrupted job had begun to collect; only while no run works."""
        for folder in self.root.glob(".new-*") if self.root.is_dir() else ():
            shutil.rmtree(folder, ignore_errors=True)

    def _write(self, result: JobResult) -> None:
        write_text(self.folder(result.key) / "result.json", result.model_dump_json(indent=1) + "\n")

    def _last(self, kind: JobKind, job_id: str) -> Path:
        return self.root / "last" / kind / f"{sha256_bytes(job_id.encode())[:32]}.json"


def _files(folder: Path) -> tuple[Artifact, ...]:
    return tuple(
        Artifact(
            name=path.name,
            path=path.relative_to(folder).as_posix(),
            size_bytes=path.stat().st_size,
            sha256=sha256_file(path),
        )
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    )


class _Last(Record):
    key: str
    inputs: dict[str, str]
