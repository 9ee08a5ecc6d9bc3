"""`matrix`, `list`, `plan`, `images`, `report`."""

from __future__ import annotations

import json
import sys
import time
from typing import TYPE_CHECKING

from crossmatrix.api.choosing import choose
from crossmatrix.api.images import ready
from crossmatrix.api.planning import plan_matrix
from crossmatrix.api.reports import load_run, rewrite
from crossmatrix.api.running import run_matrix
from crossmatrix.cli.guard import console
from crossmatrix.errors import ExitCode
from crossmatrix.report.board import board_for
from crossmatrix.report.tables import plan_json, render_list, render_plan
from crossmatrix.report.terminal import print_report

if TYPE_CHECKING:
    from crossmatrix.api.options import Choice, Manner
    from crossmatrix.api.running import Done
    from crossmatrix.api.workspace import Workspace


def matrix(workspace: Workspace, choice: Choice, manner: Manner) -> ExitCode:
    """Build and test cells; print the report."""
    return ExitCode(shown(workspace, choice, manner).record.exit_code or 0)


def shown(workspace: Workspace, choice: Choice, manner: Manner) -> Done:
    """Do a run in sight of the user."""
    with board_for(console(), time.monotonic) as watching:
        done = run_matrix(workspace, choice, manner, watching.handle)
    print_report(done.record, console(), report=str(done.folder / "report.html"))
    return done


def list_cells(workspace: Workspace, choice: Choice, form: str) -> ExitCode:
    """List the cells of a matrix."""
    chosen = choose(workspace, choice)
    if form == "json":
        print(json.dumps([cell.id for cell in chosen.cells], indent=1))  # noqa: T201 - the command's output
    else:
        print(render_list(chosen.cells, chosen.not_run), end="")  # noqa: T201 - as above
    return ExitCode.OK


def plan(workspace: Workspace, choice: Choice, form: str, *, fresh: bool) -> ExitCode:
    """Show jobs, edges, what is cached and why not."""
    planned = plan_matrix(workspace, choice, fresh=fresh)
    if form == "json":
        print(plan_json(planned.decisions), end="")  # noqa: T201 - the command's output
    else:
        print(render_plan(planned.decisions), end="")  # noqa: T201 - as above
    for note in planned.notes:
        print(f"note: {note}", file=sys.stderr)  # noqa: T201 - beside the output
    return ExitCode.OK


def images(workspace: Workspace, choice: Choice, names: tuple[str, ...]) -> ExitCode:
    """Build the images that a matrix needs, and say what is in them."""
    with board_for(console(), time.monotonic) as watching:
        refs = ready(workspace, choice, names, watching.handle)
    for ref in refs:
        console().print(f"{ref.name}: {ref.tag} ({ref.id[:19]}, {len(ref.packages)} packages)", markup=False)
    return ExitCode.OK


def report(workspace: Workspace, run: str, form: str) -> ExitCode:
    """Print the report of an earlier run and write its files again."""
    record, folder = load_run(workspace, run)
    texts = rewrite(record, folder)
    if form == "text":
        print_report(record, console(), report=str(folder / "report.html"))
    else:
        print(texts[form], end="")  # noqa: T201 - the command's output
    return ExitCode.OK if record.exit_code is None else ExitCode(record.exit_code)
