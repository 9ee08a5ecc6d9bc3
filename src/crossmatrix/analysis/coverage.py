"""Which assembly ran where: function by cell, and what ran nowhere. From the cells' evidence alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from crossmatrix.analysis.words import counted, listed
from crossmatrix.records import Finding, FindingKind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from crossmatrix.records import CellRecord

_NAMED = 8
"""How many idle functions a finding names; the report's table has them all."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Coverage:
    """The assembly that some cells have.

    Attributes:
        source: library and version.
        cells: those in which assembly functions are present and the workload was counted.
        counts: per function, by name, the instructions that it executed in each cell, in the cells' order: None where
            it is not in the cell's binary, 0 where it is there and did not run.
    """

    source: str
    cells: tuple[CellRecord, ...]
    counts: Mapping[str, tuple[int | None, ...]]

    @property
    def functions(self) -> int:
        """How many different ones there are."""
        return len(self.counts)

    @property
    def nowhere(self) -> tuple[str, ...]:
        """Functions that ran in no cell."""
        return tuple(name for name, counts in self.counts.items() if not any(counts))

    @property
    def somewhere(self) -> tuple[str, ...]:
        """Functions that ran in one cell and did not, though present, in another."""
        return tuple(name for name, counts in self.counts.items() if any(counts) and 0 in counts)


def coverage(records: Iterable[CellRecord]) -> tuple[Coverage, ...]:
    """Give the coverage of every library and version that has assembly, in the order in which they come.

    Cells without an execution count (native ones, or such as did not build) say nothing on what ran and are left out.
    """
    return _grouped(records, lambda record: (record.library, record.version))


def never_executed(records: Sequence[CellRecord]) -> tuple[Finding, ...]:
    """Give one finding for each source and target that has assembly which ran in no cell, with the list."""
    covers = _grouped(records, lambda record: (record.library, record.version, record.target))
    return tuple(_idle(cover) for cover in covers if cover.nowhere)


def _idle(cover: Coverage) -> Finding:
    target = cover.cells[0].target
    having = [
        record.id
        for place, record in enumerate(cover.cells)
        if any(cover.counts[name][place] is not None for name in cover.nowhere)
    ]
    where = "the one cell that has them" if len(having) == 1 else f"any of the {len(having)} cells that have them"
    return Finding(
        kind=FindingKind.NEVER_EXECUTED,
        serious=False,
        axis="assembly",
        subject=f"{cover.source} {target}",
        cells=tuple(having),
        message=(
            f"{counted(len(cover.nowhere), 'assembly function')} of {cover.source} for {target} "
            f"did not run in {where}: {listed(cover.nowhere, _NAMED)}"
        ),
    )


def _grouped(records: Iterable[CellRecord], key: Callable[[CellRecord], tuple[str, ...]]) -> tuple[Coverage, ...]:
    groups: dict[tuple[str, ...], list[CellRecord]] = {}
    for record in records:
        execution = record.evidence.execution
        if record.evidence.assembly_functions_present and execution is not None and execution.emulated:
            groups.setdefault(key(record), []).append(record)
    return tuple(
        Coverage(source=f"{cells[0].library} {cells[0].version}", cells=tuple(cells), counts=_counts(cells))
        for cells in groups.values()
    )


def _counts(cells: Sequence[CellRecord]) -> dict[str, tuple[int | None, ...]]:
    present = [frozenset(record.evidence.assembly_functions_present) for record in cells]
    executed = [record.evidence.assembly_functions_executed for record in cells]
    return {
        function: tuple(
            ran.get(function, 0) if function in there or function in ran else None
            for there, ran in zip(present, executed, strict=True)
        )
        for function in sorted(frozenset[str]().union(*present, *executed))
    }
