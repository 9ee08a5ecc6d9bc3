"""Which assembly ran where, read from the cells' evidence alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from crossmatrix.analysis.coverage import rows_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from crossmatrix.records import CellRecord


@dataclass(frozen=True, kw_only=True, slots=True)
class Coverage:
    """The assembly of one library in one version, over the cells that have it.

    Attributes:
        source: library and version.
        cells: those in which assembly functions are present and the workload was counted.
        functions: how many different ones there are.
        counts: per function the instructions executed in each cell, in the cells' order; None where it is absent.
    """

    source: str
    cells: tuple[CellRecord, ...]
    functions: int
    counts: Mapping[str, tuple[int | None, ...]]

    @property
    def nowhere(self) -> tuple[str, ...]:
        """Functions that are present somewhere and ran in no cell."""
        return tuple(name for name, counts in self.counts.items() if not any(counts))

    @property
    def somewhere(self) -> tuple[str, ...]:
        """Functions that ran in one cell and did not, though present, in another."""
        return tuple(name for name, counts in self.counts.items() if any(counts) and 0 in counts)


def assembly_coverage(cells: Iterable[CellRecord]) -> tuple[Coverage, ...]:
    """Give the coverage of every library and version that has assembly.

    Cells without an execution count (native ones, or such as did not build) say nothing on what ran and are left out.
    """
    groups: dict[str, list[CellRecord]] = {}
    for record in cells:
        execution = record.evidence.execution
        if record.evidence.assembly_functions_present and execution is not None and execution.emulated:
            groups.setdefault(f"{record.library} {record.version}", []).append(record)
    return tuple(_cover(source, group) for source, group in groups.items())


def _cover(source: str, cells: Sequence[CellRecord]) -> Coverage:
    rows = rows_of(cells)
    return Coverage(
        source=source,
        cells=tuple(cells),
        functions=len(rows),
        counts={row.function: row.counts for row in rows},
    )
