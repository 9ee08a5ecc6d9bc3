"""Everything that the cells of one run show together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crossmatrix.analysis.coverage import never_executed
from crossmatrix.analysis.hygiene import expired, fewer_tests, repeated_warnings, without_effect
from crossmatrix.analysis.parity import parity
from crossmatrix.analysis.results import different_results

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from crossmatrix.catalog import Exclusion
    from crossmatrix.records import CellRecord, Finding


def findings(
    records: Sequence[CellRecord], *, excluded: Mapping[str, Sequence[Exclusion]] | None = None
) -> tuple[Finding, ...]:
    """Hold the cells of one run against each other.

    Args:
        records: the cells, in any order; the findings do not depend on it.
        excluded: the exclusions that apply to a cell, by cell id, so that one which is no longer needed is found.

    Returns:
        What was found, the serious first; within that in the order parity, results, coverage, hygiene.
    """
    ordered = sorted(records, key=lambda record: record.id)
    found = (
        *parity(ordered, excluded),
        *different_results(ordered),
        *expired(ordered, excluded or {}),
        *fewer_tests(ordered),
        *without_effect(ordered),
        *never_executed(ordered),
        *repeated_warnings(ordered),
    )
    return tuple(sorted(found, key=lambda finding: not finding.serious))
