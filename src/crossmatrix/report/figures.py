"""What `invoke bench` prints: figures of cells, as tables and as JSON that can be compared as text."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from crossmatrix.report.whole import print_whole
from crossmatrix.report.words import figure

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import Console

    from crossmatrix.records import Figure, RunRecord

FIGURES_SCHEMA_VERSION = 1
_MEGABYTES = (10**6, "time: MB/s, mean ± standard deviation")
_FUNCTIONS = 1
"""How many functions a row names."""


def figures_json(run: RunRecord) -> str:
    """Write the figures of a run's cells, sorted and without times, ids of runs or paths in it.

    Two outputs are equal as text when the figures are equal. Wall-clock figures of native cells stand apart, under
    ``times``, since they never repeat.
    """
    exact: dict[str, object] = {}
    times: dict[str, object] = {}
    missing: dict[str, object] = {}
    for record in sorted(run.cells, key=lambda record: record.id):
        if record.figures is None:
            missing[record.id] = [f"{record.verdict}: {record.reason}"]
            continue
        exact[record.id] = [_value(item) for item in record.figures.figures if not item.unit.startswith("time")]
        timed = [_value(item) for item in record.figures.figures if item.unit.startswith("time")]
        if timed:
            times[record.id] = timed
        if record.figures.missing:
            missing[record.id] = list(record.figures.missing)
    value = {"schema": FIGURES_SCHEMA_VERSION, "figures": exact, "missing": missing}
    return json.dumps(value | ({"times": times} if times else {}), indent=1, sort_keys=True)


def print_figures(run: RunRecord, console: Console) -> None:
    """Print the figures of a run's cells, one table for each cell and unit: sizes across, algorithms down."""
    for record in run.cells:
        if record.figures is None:
            continue
        console.print(Text(f"\n{record.id}", style="bold"))
        for unit in dict.fromkeys(item.unit for item in record.figures.figures):
            print_whole(
                _table(unit, [item for item in record.figures.figures if item.unit == unit]), console, wraps=True
            )
        for reason in record.figures.missing:
            console.print(Text(f"  not measured: {reason}"), soft_wrap=True)


def _table(unit: str, items: Iterable[Figure]) -> Table:
    items = tuple(items)
    sizes = sorted({item.size_bytes for item in items if item.size_bytes}) if "byte" in unit else []
    scale, shown = _MEGABYTES if unit == "time: bytes/s" else (1, unit)
    counted = any(item.functions for item in items)
    table = Table(title=shown, title_justify="left", box=None, pad_edge=False, header_style="dim")
    table.add_column("algorithm")
    bulk = any(item.size_bytes == 0 for item in items)
    for name in (*(f"{size} B" for size in sizes), *(("bulk",) if bulk else ()), *(() if sizes or bulk else ("each",))):
        table.add_column(name, justify="right")
    if counted:
        table.add_column("costliest function")
    for algorithm in dict.fromkeys(item.algorithm for item in items):
        own = {item.size_bytes: item for item in items if item.algorithm == algorithm}
        wanted = [*sizes, *((0,) if bulk else ())] or [None]
        last = own.get(wanted[-1]) or next(reversed(own.values()))
        numbers = (_number(own.get(size), scale) for size in wanted)
        table.add_row(algorithm, *numbers, *((_costliest(last),) if counted else ()))
    return table


def _number(item: Figure | None, scale: int) -> str:
    if item is None:
        return "-"
    if item.deviation is None:
        return figure(item.value / scale)
    # A number that does not repeat is worth no more digits than its spread leaves it.
    return f"{item.value / scale:,.0f} ±{item.deviation / scale:,.0f}"


def _costliest(item: Figure) -> str:
    ordered = sorted(item.functions.items(), key=lambda pair: -pair[1])[:_FUNCTIONS]
    return ", ".join(name for name, _count in ordered)


def _value(item: Figure) -> dict[str, object]:
    return item.model_dump(exclude_none=True)
