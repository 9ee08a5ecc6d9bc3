"""Two runs held against each other, such as before and after a patch."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from crossmatrix.analysis.compare import THRESHOLD, compare
from crossmatrix.analysis.comparison import RunComparison

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from crossmatrix.records import CellRecord, RunRecord


def compare_runs(
    a: RunRecord, b: RunRecord, *, threshold: float = THRESHOLD, doubts: Sequence[Mapping[str, str]] = ({}, {})
) -> RunComparison:
    """Pair the cells of two runs and compare each pair.

    Cells are paired by id; those left over by id without the patches' suffix (``3.0.20+p1a2b3c4d``); those left over
    then by all but the source, where just one cell of each run fits: two git refs, or two versions.

    Args:
        a: the run before.
        b: the run after.
        threshold: as for ``compare``.
        doubts: as for ``compare``, of each run by cell id.
    """
    left, right = list(a.cells), list(b.cells)
    pairs: list[tuple[CellRecord, CellRecord]] = []
    for key in (lambda record: record.id, unpatched_id, _without_source):
        pairs += _take_pairs(left, right, key)
    before, after = doubts
    pairs.sort(key=lambda pair: pair[0].id)
    return RunComparison(
        a=a.run_id,
        b=b.run_id,
        pairs=tuple(
            compare(one, other, threshold=threshold, doubts=(before.get(one.id, ""), after.get(other.id, "")))
            for one, other in pairs
        ),
        only_a=tuple(sorted(record.id for record in left)),
        only_b=tuple(sorted(record.id for record in right)),
    )


def unpatched_id(record: CellRecord) -> str:
    """Give a cell's id as it would be without patches."""
    return record.id.replace(f"-{record.version}/", f"-{record.version.partition('+p')[0]}/", 1)


def _without_source(record: CellRecord) -> str:
    return record.id.replace(f"-{record.version}/", "/", 1)


def _take_pairs(
    left: list[CellRecord], right: list[CellRecord], key: Callable[[CellRecord], str]
) -> list[tuple[CellRecord, CellRecord]]:
    """Take out of both lists the cells that have a key in common which is theirs alone."""
    before, after = _by_key(left, key), _by_key(right, key)
    pairs = [
        (before[name][0], after[name][0])
        for name in before.keys() & after.keys()
        if len(before[name]) == len(after[name]) == 1
    ]
    taken = {id(record) for pair in pairs for record in pair}
    left[:] = [record for record in left if id(record) not in taken]
    right[:] = [record for record in right if id(record) not in taken]
    return pairs


def _by_key(records: Iterable[CellRecord], key: Callable[[CellRecord], str]) -> dict[str, list[CellRecord]]:
    groups: defaultdict[str, list[CellRecord]] = defaultdict(list)
    for record in records:
        groups[key(record)].append(record)
    return groups
