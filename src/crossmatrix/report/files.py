"""Writes a run's reports beside its records."""

from __future__ import annotations

import errno
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from crossmatrix.errors import NoSpaceError, StoreError
from crossmatrix.report.junit import render_junit
from crossmatrix.report.markdown import render_markdown
from crossmatrix.report.page import render_html
from crossmatrix.report.summary import render_json

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from crossmatrix.records import RunRecord

RENDERERS: Mapping[str, Callable[[RunRecord], str]] = {
    "report.json": render_json,
    "report.md": render_markdown,
    "junit.xml": render_junit,
    "report.html": render_html,
}


def write_reports(run: RunRecord, folder: Path) -> tuple[Path, ...]:
    """Write ``report.json``, ``report.md``, ``junit.xml`` and ``report.html``, each whole or not at all.

    Args:
        run: the run's record.
        folder: of the run; the page links to logs and artifacts relative to it.

    Returns:
        The files' paths.

    Raises:
        NoSpaceError: its disk is full.
        StoreError: the folder cannot be written.
    """
    texts = {name: render(run) for name, render in RENDERERS.items()}
    try:
        for name, text in texts.items():
            _write(folder / name, text)
    except OSError as error:
        if error.errno in {errno.ENOSPC, errno.EDQUOT}:
            raise NoSpaceError(
                f"no space left while writing the report in {folder}",
                hint="free some space: `invoke clean --dry-run` shows what is ours",
            ) from error
        raise StoreError(
            f"cannot write the report in {folder}: {error.strerror or error}",
            hint="see that the folder exists and is yours",
        ) from error
    return tuple(folder / name for name in texts)


def _write(path: Path, text: str) -> None:
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        temporary.chmod(0o644)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
