"""Reports of earlier runs, rendered again from their records."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from crossmatrix.errors import StoreError
from crossmatrix.report.files import write_reports
from crossmatrix.report.json_report import render_json
from crossmatrix.report.markdown import render_markdown

if TYPE_CHECKING:
    from pathlib import Path

    from crossmatrix.api.workspace import Workspace
    from crossmatrix.records import RunRecord


def load_run(workspace: Workspace, name: str) -> tuple[RunRecord, Path]:
    """Read a run.

    Args:
        workspace: where.
        name: ``latest``, an id or its unique beginning.

    Raises:
        UsageError: there is no such run.
    """
    runs = workspace.state(writable=False).runs
    run_id = runs.resolve(name)
    return runs.load(run_id), runs.folder(run_id)


def rewrite(record: RunRecord, folder: Path) -> dict[str, str]:
    """Render a run's reports and write them into its folder, where that can be written.

    Returns:
        The texts by format: ``json``, ``md``.
    """
    with contextlib.suppress(StoreError):
        write_reports(record, folder)
    return {"json": render_json(record), "md": render_markdown(record)}
