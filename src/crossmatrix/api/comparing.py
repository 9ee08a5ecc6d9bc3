"""Two cells, or two runs, held against each other by the names that a user gives."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from crossmatrix.analysis import compare, compare_runs
from crossmatrix.errors import StoreError, UsageError, nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

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
    found: list[Found | str] = []
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
            (a, before_doubts), (b, after_doubts) = (
                _with_figures(runs, run, but, tell) for run, but in zip(both, (other, one), strict=True)
            )
            return compare_runs(a, b, threshold=threshold, doubts=(before_doubts, after_doubts))
        return compare_runs(*both, threshold=threshold)
    if isinstance(one, str) or isinstance(other, str):
        raise UsageError(
            f"{before!r} and {after!r}: a cell can only be compared with a cell, a run with a run",
            hint="name a cell of a run as RUN:CELL",
        )
    return compare(one.record, other.record, threshold=threshold, doubts=(one.doubt, other.doubt))


class Found(NamedTuple):
    """A cell with the figures that were measured of it, and why these are in doubt, where measuring went wrong."""

    record: CellRecord
    doubt: str


def find_cell(
    runs: Runs,
    cell_id: str,
    run_ids: tuple[str, ...] | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> Found:
    """Give the newest record of a tested cell, with the newest figures that were measured of the same build.

    A record of which nobody knows how the cell would have ended, as a run that was stopped leaves it, is taken only
    where there is no other.

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
    return _measured(min(records, key=lambda record: (not _has_ended(record), record.measured)), records)


def _has_ended(record: CellRecord) -> bool:
    """Whether a record is of jobs that came to an end; one that is written before has no keys of any."""
    return bool(record.keys) and record.verdict.ended


def _measured(cell: CellRecord, others: Iterable[CellRecord]) -> Found:
    """Give a cell the newest figures among the others, newest first, that were measured of its build and profile.

    What the newest measurement came to is told too: a figure may be wrong, or gone, and the test knows nothing of it.
    """
    same = [other for other in others if other.measured and _has_ended(other) and _is_same(cell, other)]
    if cell.measured or not same:
        return Found(cell, "")
    figures = next((other.figures for other in same if other.figures), None)
    verdict, reason = same[0].verdict, same[0].reason
    return Found(
        cell.model_copy(update={"figures": figures}), "" if verdict.as_expected else f"{verdict.value}: {reason}"
    )


def _readable(runs: Runs, run_ids: Iterable[str], tell: Callable[[str], None]) -> Iterator[RunRecord]:
    """Give runs that nobody named, the newest first; one that is damaged or of a newer version is told and left out."""
    for run_id in sorted(run_ids, reverse=True):
        try:
            yield runs.load(run_id)
        except StoreError as error:
            tell(f"left out: {' '.join(str(error).split())}")


def _look_up(runs: Runs, name: str, tell: Callable[[str], None]) -> Found | str:
    """Give a cell's record, or a run's id."""
    run, colon, cell = name.partition(":")
    if colon:
        return find_cell(runs, cell, (runs.resolve(run),))
    if "/" in name:
        return find_cell(runs, name, tell=tell)
    return runs.resolve(name)


def _with_figures(
    runs: Runs, run: RunRecord, but: str, tell: Callable[[str], None]
) -> tuple[RunRecord, Mapping[str, str]]:
    """Give a run's tested cells the newest figures measured of them, in any run but one, and doubts by cell id."""
    others = _readable(runs, (name for name in runs.ids() if name != but), tell)
    measured = [cell for other in others for cell in other.cells if cell.measured]
    found = [_measured(cell, measured) for cell in run.cells]
    doubts = {record.id: doubt for record, doubt in found}
    return run.model_copy(update={"cells": tuple(record for record, _ in found)}), doubts


def _is_same(one: CellRecord, other: CellRecord) -> bool:
    """Whether two records are of the same binaries under the same profile: what was measured of one holds for both."""
    build = one.keys.get("build")
    return one.id == other.id and bool(build) and build == other.keys.get("build")
