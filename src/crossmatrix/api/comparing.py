"""Two cells, or two runs, held against each other by the names that a user gives."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crossmatrix.analysis import compare, compare_runs
from crossmatrix.errors import UsageError, nearest
from crossmatrix.runner.job_steps import BENCH_TIER

if TYPE_CHECKING:
    from crossmatrix.analysis import Comparison, RunComparison
    from crossmatrix.api.workspace import Workspace
    from crossmatrix.records import CellRecord, RunRecord
    from crossmatrix.store import Runs


def compare_named(workspace: Workspace, before: str, after: str, *, threshold: float) -> Comparison | RunComparison:
    """Compare two cells or two runs.

    Args:
        workspace: whose runs.
        before: a cell's id, ``RUN:CELL``, or a run (``latest``, an id or its beginning).
        after: likewise; of the same kind.
        threshold: share by which a cost must change to count.

    Raises:
        UsageError: a name fits nothing, or one is a cell and the other a run; both names are looked up first.
    """
    runs = workspace.state(writable=False).runs
    found: list[CellRecord | str] = []
    wrong: list[UsageError] = []
    for name in (before, after):
        try:
            found.append(_look_up(runs, name))
        except UsageError as error:
            wrong.append(error)
    if wrong:
        raise UsageError("\n".join(dict.fromkeys(str(error) for error in wrong)))
    one, other = found
    if isinstance(one, str) and isinstance(other, str):
        both = runs.load(one), runs.load(other)
        if {cell.measured for run in both for cell in run.cells} == {False, True}:
            both = _with_figures(runs, both[0], other), _with_figures(runs, both[1], one)
        return compare_runs(*both, threshold=threshold)
    if isinstance(one, str) or isinstance(other, str):
        raise UsageError(
            f"{before!r} and {after!r}: a cell can only be compared with a cell, a run with a run",
            hint="name a cell of a run as RUN:CELL",
        )
    return compare(one, other, threshold=threshold)


def find_cell(runs: Runs, cell_id: str, run_ids: tuple[str, ...] | None = None) -> CellRecord:
    """Give the newest record of a tested cell, with the newest figures that were measured of the same build.

    Args:
        runs: of a state directory.
        cell_id: whole.
        run_ids: in which to look, oldest first; None for all.

    Raises:
        UsageError: no run has the cell.
    """
    seen: set[str] = set()
    records: list[CellRecord] = []
    for run_id in reversed(runs.ids() if run_ids is None else run_ids):
        cells = runs.load(run_id).cells
        seen.update(record.id for record in cells)
        records += [record for record in cells if record.id == cell_id]
    if not records:
        raise UsageError(f"no run has a cell {cell_id!r}", hint=nearest(cell_id, seen))
    tested = next((record for record in records if record.tier != BENCH_TIER), records[0])
    figures = next((record.figures for record in records if record.figures and _same_build(tested, record)), None)
    return tested.model_copy(update={"figures": figures})


def _look_up(runs: Runs, name: str) -> CellRecord | str:
    """Give a cell's record, or a run's id."""
    run, colon, cell = name.partition(":")
    if colon:
        return find_cell(runs, cell, (runs.resolve(run),))
    if "/" in name:
        return find_cell(runs, name)
    return runs.resolve(name)


def _with_figures(runs: Runs, run: RunRecord, but: str) -> RunRecord:
    """Give a run's tested cells the newest figures that were measured of the same build, in any run but one."""
    names = [name for name in reversed(runs.ids()) if name != but]
    measured = [cell for name in names for cell in runs.load(name).cells if cell.figures]

    def complete(cell: CellRecord) -> CellRecord:
        figures = next((other.figures for other in measured if _same_build(cell, other)), None)
        return cell if cell.measured or cell.figures else cell.model_copy(update={"figures": figures})

    return run.model_copy(update={"cells": tuple(map(complete, run.cells))})


def _same_build(one: CellRecord, other: CellRecord) -> bool:
    """Whether two records are of the same binaries, so that what was measured of one holds for the other."""
    return bool(one.keys.get("build")) and one.keys.get("build") == other.keys.get("build")
