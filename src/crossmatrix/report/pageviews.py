"""Views of records that the page's templates lay out: values, no markup."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from crossmatrix.records import OutcomeStatus
from crossmatrix.report.cost_grid import in_order
from crossmatrix.report.grid import Grid, lay_out, neighbours, target_names
from crossmatrix.report.words import last_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from crossmatrix.records import CellRecord, Figures, ImageRecord, Outcome, RunRecord
    from crossmatrix.report.grid import Column, Row

LOG_LINES = 100
OUTPUT_LINES = 40
OUTPUTS_SHOWN = 50
_PHONE_COLUMNS, _FEW_COLUMNS, _SHORT_WAY = 4, 8, 8
_AXES = ("variant", "toolchain", "target", "profile")


@dataclass(frozen=True, kw_only=True, slots=True)
class Head:
    """A heading above columns that belong together."""

    text: str
    span: int


@dataclass(frozen=True, kw_only=True, slots=True)
class GridView:
    """The grid with its headings: byte orders, targets (only where those do not follow), compilers; rows by source.

    ``starts`` are the places of the columns, but the first, at which another target begins. ``even`` is the style
    class of a grid whose columns can all have the same width: few of them, and short names before the rows.
    """

    grid: Grid
    endians: tuple[Head, ...]
    targets: tuple[Head, ...]
    starts: frozenset[int]
    even: str
    sources: tuple[tuple[str, tuple[Row, ...]], ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class PassedFile:
    """A file of a suite, with how many of its cases passed and how long those took (None where unknown)."""

    file: str
    cases: int
    duration_s: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Problem:
    """A test case that failed, and the last lines it printed."""

    outcome: Outcome
    output: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class FigureTable:
    """Figures of one unit: block sizes across, algorithms down; without sizes there is one column."""

    unit: str
    sizes: tuple[int | None, ...]
    rows: tuple[tuple[str, tuple[float | None, ...]], ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class CellView:
    """One cell as its panel shows it."""

    record: CellRecord
    near: tuple[tuple[str, CellRecord], ...]
    failed: tuple[Problem, ...]
    skipped: tuple[Outcome, ...]
    passed: tuple[PassedFile, ...]
    log: tuple[str, ...]
    figures: tuple[FigureTable, ...]
    idle: tuple[str, ...]


def view_grid(run: RunRecord) -> GridView:
    """Give the grid with its headings."""
    grid = lay_out(run.cells)
    names = target_names(grid.columns)
    sources: dict[str, list[Row]] = defaultdict(list)
    for row in grid.rows:
        sources[row.source].append(row)
    return GridView(
        grid=grid,
        endians=_heads(column.endian for column in grid.columns),
        targets=_heads(names[column.target] for column in grid.columns) if grid.many_targets else (),
        starts=frozenset(
            place for place, (left, right) in enumerate(pairwise(grid.columns), 1) if left.target != right.target
        ),
        even=_even(grid),
        sources=tuple((source, tuple(rows)) for source, rows in sources.items()),
    )


def view_cell(record: CellRecord, run: RunRecord) -> CellView:
    """Give a cell's view: what failed and was skipped in full, what passed by file."""
    failed = [outcome for outcome in record.outcomes if outcome.status is OutcomeStatus.FAILED]
    evidence = record.evidence
    return CellView(
        record=record,
        near=neighbours(record, run.cells),
        failed=tuple(
            # Every failed case is named; past the fiftieth the output would make the page heavy and tell nothing new.
            Problem(outcome=outcome, output=last_lines(outcome.output, OUTPUT_LINES) if place < OUTPUTS_SHOWN else ())
            for place, outcome in enumerate(failed)
        ),
        skipped=tuple(outcome for outcome in record.outcomes if outcome.status is OutcomeStatus.SKIPPED),
        passed=_passed(record.outcomes),
        log=last_lines(record.log_tail, LOG_LINES),
        figures=_figures(record.figures),
        idle=tuple(
            name
            for name in evidence.assembly_functions_present
            if not evidence.assembly_functions_executed.get(name, 0)
        ),
    )


def short_names(cells: Sequence[CellRecord]) -> tuple[str, ...]:
    """Give each cell a name of those axes alone in which the cells differ, each on a line."""
    axes = [axis for axis in _AXES if len({getattr(record, axis) for record in cells}) > 1]
    targets = target_names(cells)
    return tuple(
        "\n".join(targets[record.target] if axis == "target" else getattr(record, axis) for axis in axes)
        or targets[record.target]
        for record in cells
    )


def images(run: RunRecord) -> Mapping[str, ImageRecord]:
    """Give every image that some cell used, by its id."""
    used = [image for record in run.cells for image in (record.image, record.run_image) if image is not None]
    return {image.id: image for image in used}


def filter_facts(record: CellRecord) -> str:
    """Give the words by which the page's filter finds a cell: ``library=nettle endian=big ...``, lower case."""
    names = ("library", "version", "variant", "toolchain", "target", "endian", "profile", "tier", "verdict")
    facts = [f"{name}={getattr(record, name)}" for name in names]
    facts += ["cached=yes" if record.cached else "cached=no", "flaky=yes" if record.flaky else "flaky=no"]
    return " ".join(facts).lower()


def column_name(column: Column) -> str:
    """Say in words which column a field is in, for a screen reader."""
    return f"{column.endian}, {column.target}, {column.toolchain}"


def _heads(names: Iterable[str]) -> tuple[Head, ...]:
    heads: list[Head] = []
    for name in names:
        if heads and heads[-1].text == name:
            heads[-1] = Head(text=name, span=heads[-1].span + 1)
        else:
            heads.append(Head(text=name, span=1))
    return tuple(heads)


def _even(grid: Grid) -> str:
    if len(grid.columns) > _FEW_COLUMNS or any(len(row.way) > _SHORT_WAY for row in grid.rows):
        return ""
    return "even" if len(grid.columns) <= _PHONE_COLUMNS else "even many"


def _passed(outcomes: Iterable[Outcome]) -> tuple[PassedFile, ...]:
    cases: Counter[str] = Counter()
    seconds: dict[str, float] = {}
    for outcome in outcomes:
        if outcome.status is OutcomeStatus.PASSED:
            cases[outcome.file] += 1
            if outcome.duration_s is not None:
                seconds[outcome.file] = seconds.get(outcome.file, 0.0) + outcome.duration_s
    return tuple(PassedFile(file=file, cases=count, duration_s=seconds.get(file)) for file, count in cases.items())


def _figures(figures: Figures | None) -> tuple[FigureTable, ...]:
    units: dict[str, dict[str, dict[int | None, float]]] = {}
    for figure in figures.figures if figures else ():
        units.setdefault(figure.unit, {}).setdefault(figure.algorithm, {})[figure.size_bytes] = figure.value
    tables: list[FigureTable] = []
    for unit, algorithms in units.items():
        sizes = in_order(size for values in algorithms.values() for size in values)
        rows = tuple((name, tuple(values.get(size) for size in sizes)) for name, values in algorithms.items())
        tables.append(FigureTable(unit=unit, sizes=sizes, rows=rows))
    return tuple(tables)
