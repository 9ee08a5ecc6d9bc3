"""Which assembly ran where: function by cell, and what ran nowhere."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from crossmatrix.analysis.words import counted, listed
from crossmatrix.records import Finding, FindingKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crossmatrix.records import CellRecord


_NAMED = 8
"""How many idle functions a finding names; the report's table has them all."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CoverageRow:
    """One assembly function.

    ``counts`` has one entry for each cell of the group: None where the function is not in the cell's binary, 0 where it
    is there and did not run, else the number of instructions that it executed.
    """

    function: str
    counts: tuple[int | None, ...]

    @property
    def ran(self) -> bool:
        """Whether it ran in some cell."""
        return any(self.counts)

    @property
    def present_in(self) -> int:
        """In how many cells it is."""
        return sum(count is not None for count in self.counts)


@dataclass(frozen=True, kw_only=True, slots=True)
class CoverageGroup:
    """The cells of one library and target whose execution was counted, and all assembly functions that any has."""

    library: str
    target: str
    cells: tuple[str, ...]
    rows: tuple[CoverageRow, ...]

    @property
    def nowhere(self) -> tuple[CoverageRow, ...]:
        """The functions that ran in no cell."""
        return tuple(row for row in self.rows if not row.ran)


@dataclass(frozen=True, kw_only=True, slots=True)
class Coverage:
    """All groups, sorted by library and target."""

    groups: tuple[CoverageGroup, ...]


def coverage(records: Sequence[CellRecord]) -> Coverage:
    """Give assembly functions by cells, one table for each library and target.

    Only cells count whose workload ran under the counting plugin: of the others it is not known what ran.
    """
    groups: defaultdict[tuple[str, str], list[CellRecord]] = defaultdict(list)
    for record in records:
        execution = record.evidence.execution
        if execution is not None and execution.emulated:
            groups[record.library, record.target].append(record)
    return Coverage(
        groups=tuple(
            CoverageGroup(library=library, target=target, cells=tuple(r.id for r in cells), rows=rows_of(cells))
            for (library, target), cells in sorted(groups.items())
        )
    )


def rows_of(cells: Sequence[CellRecord]) -> tuple[CoverageRow, ...]:
    """Give every assembly function that is in some of these cells, by name, with its count in each."""
    present = [frozenset(record.evidence.assembly_functions_present) for record in cells]
    executed = [record.evidence.assembly_functions_executed for record in cells]
    functions = sorted(frozenset[str]().union(*present, *executed))
    return tuple(
        CoverageRow(
            function=function,
            counts=tuple(
                ran.get(function, 0) if function in there or function in ran else None
                for there, ran in zip(present, executed, strict=True)
            ),
        )
        for function in functions
    )


def never_executed(records: Sequence[CellRecord]) -> tuple[Finding, ...]:
    """Give one finding for each library and target that has assembly which ran in no cell, with the list."""
    found = []
    for group in coverage(records).groups:
        if nowhere := group.nowhere:
            having = [
                cell for place, cell in enumerate(group.cells) if any(r.counts[place] is not None for r in nowhere)
            ]
            names = listed([row.function for row in nowhere], _NAMED)
            found.append(
                Finding(
                    kind=FindingKind.NEVER_EXECUTED,
                    serious=False,
                    axis="assembly",
                    subject=f"{group.library} {group.target}",
                    cells=tuple(having),
                    message=(
                        f"{counted(len(nowhere), 'assembly function')} of {group.library} for {group.target} "
                        f"ran in none of the {counted(len(having), 'cell')} with them: {names}"
                    ),
                )
            )
    return tuple(found)
