"""What a cell's neighbours say of it: a function, a suite or an algorithm that ran elsewhere and not here."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from crossmatrix.evidence.execution_rules import is_trivial
from crossmatrix.records import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from crossmatrix.records import CellRecord

MIN_CASES_SHARE = 0.8
"""A suite that ran fewer cases than this share of what the same source and tier ran elsewhere is suspect."""

_NAMED = 3


def vacuous_by_neighbours(records: Sequence[CellRecord]) -> Mapping[str, str]:
    """Find green cells that their neighbours give the lie.

    An assembly function that ran in a cell which differs in its toolchain alone must run here too. And a suite must
    run at least ``MIN_CASES_SHARE`` of the cases that the same source and tier ran in any other cell, a skipped case
    being none. And the fixed inputs must have gone through every algorithm that the same source and variant has
    elsewhere.

    Args:
        records: of one run; only those that passed are doubted, all that were tested may testify.

    Returns:
        A reason by cell id.
    """
    reasons: dict[str, list[str]] = defaultdict(list)
    for group in _groups(records, _twins):
        _missing_functions(group, reasons)
    for group in _groups(records, _same_suite):
        _few_cases(group, reasons)
    for group in _groups(records, _same_algorithms):
        _few_algorithms(group, reasons)
    return {name: "; ".join(found) for name, found in sorted(reasons.items())}


def _twins(record: CellRecord) -> tuple[str, ...]:
    return (record.library, record.version, record.variant, record.target, record.profile)


def _same_suite(record: CellRecord) -> tuple[str, ...]:
    return (record.library, record.version, record.tier)


def _same_algorithms(record: CellRecord) -> tuple[str, ...]:
    return (record.library, record.version, record.variant)


def _groups(records: Sequence[CellRecord], key: Callable[[CellRecord], tuple[str, ...]]) -> Iterator[list[CellRecord]]:
    groups: dict[tuple[str, ...], list[CellRecord]] = defaultdict(list)
    for record in records:
        groups[key(record)].append(record)
    yield from groups.values()


def _missing_functions(group: Sequence[CellRecord], reasons: dict[str, list[str]]) -> None:
    ran_in: dict[str, str] = {}
    for record in group:
        for name in record.evidence.assembly_functions_executed:
            if not is_trivial(name):
                ran_in.setdefault(name, record.toolchain)
    for record in group:
        execution = record.evidence.execution
        if record.verdict is not Verdict.PASSED or execution is None or not execution.emulated:
            continue
        absent = sorted(set(ran_in) - set(record.evidence.assembly_functions_executed))
        if absent:
            reasons[record.id].append(f"assembly that ran with {ran_in[absent[0]]} did not run here: {_some(absent)}")


def _few_cases(group: Sequence[CellRecord], reasons: dict[str, list[str]]) -> None:
    counted = [(_cases(record), record) for record in group]
    most, where = max(counted, key=lambda pair: pair[0], default=(0, None))
    for cases, record in counted:
        if where is not None and record.verdict is Verdict.PASSED and cases < MIN_CASES_SHARE * most:
            reasons[record.id].append(f"only {cases} tests ran, the same source and tier had {most} in {where.id}")


def _few_algorithms(group: Sequence[CellRecord], reasons: dict[str, list[str]]) -> None:
    where: dict[str, str] = {}
    for record in group:
        for name in _algorithms(record):
            where.setdefault(name, record.id)
    for record in group:
        absent = sorted(where.keys() - _algorithms(record))
        # A cell without vectors has its reason already, or was only measured.
        if absent and record.vectors is not None and record.verdict is Verdict.PASSED:
            reasons[record.id].append(f"the fixed inputs did not go through {_some(absent)}, as in {where[absent[0]]}")


def _algorithms(record: CellRecord) -> frozenset[str]:
    return frozenset(family.algorithm for family in record.vectors.families) if record.vectors else frozenset()


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")


def _cases(record: CellRecord) -> int:
    return record.tests.passed + record.tests.failed
