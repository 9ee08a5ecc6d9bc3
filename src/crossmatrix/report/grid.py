"""The grid: cells laid out with endianness and compiler across, libraries, variants and profiles down."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from crossmatrix.records import CellRecord


@dataclass(frozen=True, kw_only=True, slots=True, order=True)
class Column:
    """One target with one toolchain."""

    big: bool
    target: str
    toolchain: str

    @property
    def endian(self) -> str:
        """Byte order in words."""
        return "big endian" if self.big else "little endian"


@dataclass(frozen=True, kw_only=True, slots=True, order=True)
class Row:
    """One library in one version and variant, under one profile."""

    library: str
    version: str
    variant: str
    profile: str

    @property
    def source(self) -> str:
        """The library with its version."""
        return f"{self.library} {self.version}"

    @property
    def way(self) -> str:
        """The variant, and the profile where it is not the default one."""
        return self.variant if self.profile == "default" else f"{self.variant} @{self.profile}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Grid:
    """Rows, columns and what stands where they meet; a pair that is not in the matrix has no field."""

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    fields: Mapping[tuple[Row, Column], CellRecord]

    def at(self, row: Row, column: Column) -> CellRecord | None:
        """Give the cell at a place, or None where the matrix has none."""
        return self.fields.get((row, column))

    @property
    def many_targets(self) -> bool:
        """Whether endianness alone does not name a target, so that the target must stand above its columns."""
        targets = {column.target for column in self.columns}
        return len(targets) > len({column.endian for column in self.columns})

    def split(self, most: int) -> tuple[Grid, ...]:
        """Cut into grids of at most so many columns, between targets where that can be."""
        parts: list[list[Column]] = [[]]
        for target in _groups(self.columns):
            if parts[-1] and len(parts[-1]) + len(target) > most:
                parts.append([])
            for column in target:
                if len(parts[-1]) >= most:
                    parts.append([])
                parts[-1].append(column)
        return tuple(self._part(part) for part in parts if part)

    def _part(self, columns: Sequence[Column]) -> Grid:
        fields = {place: record for place, record in self.fields.items() if place[1] in columns}
        rows = tuple(row for row in self.rows if any((row, column) in fields for column in columns))
        return Grid(columns=tuple(columns), rows=rows, fields=fields)


def lay_out(cells: Iterable[CellRecord]) -> Grid:
    """Lay cells out: the order of libraries, variants and toolchains is the one in which the cells come.

    Little endian stands before big, so that a reader's eye goes from the usual case to the rare one.
    """
    fields: dict[tuple[Row, Column], CellRecord] = {}
    orders: dict[str, dict[str, int]] = {"library": {}, "variant": {}, "toolchain": {}, "profile": {"default": 0}}
    for record in cells:
        fields[_row(record), _column(record)] = record
        for axis, order in orders.items():
            order.setdefault(getattr(record, axis), len(order))

    def row_place(row: Row) -> tuple[int, str, int, int]:
        places = (orders["variant"][row.variant], orders["profile"][row.profile])
        return (orders["library"][row.library], row.version, *places)

    def column_place(column: Column) -> tuple[bool, str, int]:
        return (column.big, column.target, orders["toolchain"][column.toolchain])

    rows = sorted({row for row, _ in fields}, key=row_place)
    columns = sorted({column for _, column in fields}, key=column_place)
    return Grid(columns=tuple(columns), rows=tuple(rows), fields=fields)


def target_names(columns: Iterable[Column | CellRecord]) -> Mapping[str, str]:
    """Give each target a short name: without ``linux``, and without the libc where all have the same one.

    ``aarch64_be-linux-musl`` is ``aarch64_be`` beside ``s390x-linux-musl``, and ``aarch64_be-musl`` beside
    ``s390x-linux-gnu``.
    """
    targets = sorted({column.target for column in columns})
    names = {target: target.replace("-linux", "").replace("-unknown", "") for target in targets}
    libcs = {name.rpartition("-")[2] for name in names.values()}
    if len(libcs) == 1 and all("-" in name for name in names.values()):
        return {target: name.rpartition("-")[0] for target, name in names.items()}
    return names


def neighbours(record: CellRecord, cells: Iterable[CellRecord]) -> tuple[tuple[str, CellRecord], ...]:
    """Give the cells that differ from one in exactly one axis, each with what is other there."""
    axes = ("library", "version", "variant", "toolchain", "target", "profile")
    found: list[tuple[str, CellRecord]] = []
    for other in cells:
        differing = [axis for axis in axes if getattr(record, axis) != getattr(other, axis)]
        if len(differing) == 1 and differing != ["library"]:
            found.append((getattr(other, differing[0]), other))
    return tuple(found)


def _row(record: CellRecord) -> Row:
    return Row(library=record.library, version=record.version, variant=record.variant, profile=record.profile)


def _column(record: CellRecord) -> Column:
    return Column(big=record.endian == "big", target=record.target, toolchain=record.toolchain)


def _groups(columns: Iterable[Column]) -> tuple[tuple[Column, ...], ...]:
    groups: dict[str, list[Column]] = {}
    for column in columns:
        groups.setdefault(column.target, []).append(column)
    return tuple(tuple(group) for group in groups.values())
