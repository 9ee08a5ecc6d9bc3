"""Two cells, or two runs, held against each other by the names that a user gives."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crossmatrix.analysis import compare, compare_runs
from crossmatrix.errors import StoreError, UsageError, nearest
from crossmatrix.runner.job_steps import BENCH_TIER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from crossmatrix.analysis import Comparison, RunComparison
    from crossmatrix.api.workspace import Workspace
    from crossmatrix.records import CellRecord, RunRecord
    from crossmatrix.store import Runs


def compare_named(
    workspace: Workspace, before: str, after: str, *, threshold: float, tell: Callable[[str], None] = lambda _: None
) -> Comparison | RunComparison:
    """Compare two cells or two runs.

    Args:
        workspace: whose runs.
        before: a cell's id, ``RUN:CELL``, or a run (``latest``, an id or its beginning).
        after: likewise; of the same kind.
        threshold: share by which a cost must change to count.
        tell: gets a line for each run that was looked through and cannot be read.

    Raises:
        UsageError: a name fits nothing, or one is a cell and the other a run; both names are looked up first.
        StoreError: a run that is named cannot be read.
    """
    runs = workspace.state(writable=False).runs
    found: list[CellRecord | str] = []
    wrong: list[UsageError] = []
    for name in (before, after):
        try:
            found.append(_look_up(runs, name, tell))
        except UsageError as error:
            wrong.append(error)
    if wrong:
        raise UsageError("\n".join(dict.fromkeys(str(error) for error in wrong)))
    one, other = found
    if isinstance(one, str) and isinstance(other, str):
        both = runs.load(one), runs.load(other)
        if {cell.measured for run in both for cell in run.cells} == {False, True}:
            both = _with_figures(runs, both[0], other, tell), _with_figures(runs, both[1], one, tell)
        return compare_runs(*both, threshold=threshold)
    if isinstance(one, str) or isinstance(other, str):
        raise UsageError(
            f"{before!r} and {after!r}: a cell can only be compared with a cell, a run with a run",
            hint="name a cell of a run as RUN:CELL",
        )
    return compare(one, other, threshold=threshold)


def find_cell(
    runs: Runs,
    cell_id: str,
    run_ids: tuple[str, ...] | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> CellRecord:
    """Give the newest record of a tested cell, with the newest figures that were measured of the same build.

    Args:
        runs: of a state directory.
        cell_id: whole.
        run_ids: in which to look, oldest first; None for all that can be read.
        tell: gets a line for each that cannot.

    Raises:
        UsageError: no run has the cell.
        StoreError: one of ``run_ids`` cannot be read.
    """
    seen: set[str] = set()
    records: list[CellRecord] = []
    looked = _readable(runs, runs.ids(), tell) if run_ids is None else map(runs.load, reversed(run_ids))
    for cells in (run.cells for run in looked):
        seen.update(record.id for record in cells)
        records += [record for record in cells if record.id == cell_id]
    if not records:
        raise UsageError(f"no run has a cell {cell_id!r}", hint=nearest(cell_id, seen))
    tested = next((record for record in records if record.tier != BENCH_TIER), records[0])
    figures = next((record.figures for record in records if record.figures and _same_build(tested, record)), None)
    return tested.model_copy(update={"figures": figures})


def _readable(runs: Runs, run_ids: Iterable[str], tell: Callable[[str], None]) -> Iterator[RunRecord]:
    """Give runs that nobody named, the newest first; one that is damaged or of a newer version is told and left out."""
    for run_id in sorted(run_ids, reverse=True):
        try:
            yield runs.load(run_id)
        except StoreError as error:
            tell(f"left out: {' '.join(str(error).split())}")


def _look_up(runs: Runs, name: str, tell: Callable[[str], None]) -> CellRecord | str:
    """Give a cell's record, or a run's id."""
    run, colon, cell = name.partition(":")
    if colon:
        return find_cell(runs, cell, (runs.resolve(run),))
    if "/" in name:
        return find_cell(runs, name, tell=tell)
    return runs.resolve(name)


def _with_figures(runs: Runs, run: RunRecord, but: str, tell: Callable[[str], None]) -> RunRecord:
    """Give a run's tested cells the newest figures that were measured of the same build, in any run but one."""
    others = _readable(runs, (name for name in runs.ids() if name != but), tell)
    measured = [cell for other in others for cell in other.cells if cell.figures]

    def complete(cell: CellRecord) -> CellRecord:
        figures = next((other.figures for other in measured if _same_build(cell, other)), None)
        return cell if cell.measured or cell.figures else cell.model_copy(update={"figures": figures})

    return run.model_copy(update={"cells": tuple(map(complete, run.cells))})


def _same_build(one: CellRecord, other: CellRecord) -> bool:
    """Whether two records are of the same binaries, so that what was measured of one holds for the other."""
    return bool(one.keys.get("build")) and one.keys.get("build") == other.keys.get("build")
