"""Reports of earlier runs, rendered again from their records."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from crossmatrix.errors import ExitCode, InfrastructureError, StoreError
from crossmatrix.report.files import write_reports
from crossmatrix.report.json_report import render_json
from crossmatrix.report.markdown import render_markdown
from crossmatrix.runner.alive import is_alive

if TYPE_CHECKING:
    from pathlib import Path

    from crossmatrix.api.workspace import Workspace
    from crossmatrix.records import RunRecord

RUNNING, KILLED = "running", "killed"
_KILLED = (
    "its process ended and could not write how: it was killed, or the disk was full to the last; "
    "`invoke matrix` goes on from there"
)


def load_run(workspace: Workspace, name: str) -> tuple[RunRecord, Path]:
    """Read a run; one whose process died in it is `killed`, and no success.

    Args:
        workspace: where.
        name: ``latest``, an id or its unique beginning.

    Raises:
        UsageError: there is no such run.
    """
    state = workspace.state(writable=False)
    run_id = state.runs.resolve(name)
    works = is_alive(state, run_id)
    record = state.runs.load(run_id)
    if record.state == RUNNING and works:
        ended = {cell.id for cell in state.runs.cells(run_id)}
        record = record.model_copy(update={"cells": tuple(cell for cell in record.cells if cell.id in ended)})
    elif record.state == RUNNING:
        record = record.model_copy(
            update={
                "state": KILLED,
                "exit_code": int(ExitCode.UNEXPECTED),
                "notes": (*record.notes, _KILLED),
            },
        )
    return record, state.runs.folder(run_id)


def rewrite(record: RunRecord, folder: Path) -> dict[str, str]:
    """Render a run's reports and write them into its folder, where that can be written.

    Returns:
        The texts by format: ``json``, ``md``.
    """
    with contextlib.suppress(StoreError, InfrastructureError):
        write_reports(record, folder)
    return {"json": render_json(record), "md": render_markdown(record)}
