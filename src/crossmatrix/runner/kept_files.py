"""Files of kept results, as judging wants them."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from crossmatrix.records import StageRecord

_LOG_BYTES = 256 << 10


def out_files(folder: Path) -> dict[str, bytes]:
    """Read all that a job left in its output folder, by path relative to it.

    Another run may put a result of its own in the place at any moment: what is gone by then is left out.
    """
    out, found = folder / "out", {}
    for path in _below(out):
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            found[path.relative_to(out).as_posix()] = path.read_bytes()
    return found


def _below(folder: Path) -> list[Path]:
    """List the files below a folder; of one that goes away meanwhile, those that had been seen."""
    seen: list[Path] = []
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        seen += (path for path in folder.rglob("*") if path.is_file())
    return sorted(seen)


def stage_logs(folder: Path, stages: Sequence[StageRecord]) -> Mapping[str, str]:
    """Read the end of each stage's log, by stage name."""
    return {stage.name: end(folder / stage.log, _LOG_BYTES) for stage in stages if stage.log}


def text(path: Path) -> str:
    """Read a text file; what is no UTF-8 is replaced, a missing file is empty."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def end(path: Path, size_bytes: int) -> str:
    """Read the end of a text file, however long it is; a missing file is empty."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - size_bytes))
            return file.read(size_bytes).decode("utf-8", errors="replace")
    except OSError:
        return ""


def tail(log: str, lines: int) -> str:
    """Give the last lines of a log."""
    return "\n".join(log.rstrip().splitlines()[-lines:])
