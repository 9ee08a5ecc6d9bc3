"""Files of kept results, as judging wants them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from crossmatrix.records import StageRecord

_LOG_BYTES = 256 << 10


def out_files(folder: Path) -> dict[str, bytes]:
    """Read all that a job left in its output folder, by path relative to it."""
    out = folder / "out"
    if not out.is_dir():
        return {}
    return {path.relative_to(out).as_posix(): path.read_bytes() for path in sorted(out.rglob("*")) if path.is_file()}


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
