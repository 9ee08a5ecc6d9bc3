"""The cost table of a comparison as text: block sizes across, algorithms down, as users post it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from crossmatrix.analysis.comparison import CostChange, CostRow


def by_unit(rows: Iterable[CostRow]) -> tuple[tuple[str, tuple[CostRow, ...]], ...]:
    """Give the rows of each unit, in the order in which the units come."""
    units: dict[str, list[CostRow]] = {}
    for row in rows:
        units.setdefault(row.unit, []).append(row)
    return tuple((unit, tuple(found)) for unit, found in units.items())


def in_order(sizes: Iterable[int | None]) -> tuple[int | None, ...]:
    """Give each size once, in ascending order, the slope (0) last, as the limit that the sizes tend to."""
    return tuple(sorted(set(sizes), key=lambda size: -1 if size is None else size or 1 << 62))


def size_word(size: int | None) -> str:
    """Give the heading of a size: ``1,024``, ``bulk`` for the slope, ``op`` for operations."""
    if size is None:
        return "op"
    return f"{size:,}" if size else "bulk"


def cost_grid(rows: Sequence[CostRow]) -> list[list[str]]:
    """Give the table as text: block sizes across, algorithms down, four lines each; operations in one line each."""
    sizes = in_order(change.size_bytes for row in rows for change in row.changes)
    if sizes == (None,):
        head = ["algorithm", "A", "B", "B/A", "change"]
        return [head, *([row.algorithm, *_four(row.changes[0], "%")] for row in rows)]
    grid = [["algorithm", "", *map(size_word, sizes)]]
    for row in rows:
        by_size = {change.size_bytes: _four(change) for change in row.changes}
        nothing = ("", "", "", "")
        for place, label in enumerate(("A", "B", "B/A", "%")):
            cells = [by_size.get(size, nothing)[place] for size in sizes]
            grid.append(["" if place else row.algorithm, label, *cells])
    return grid


def _four(change: CostChange, unit: str = "") -> tuple[str, str, str, str]:
    spread = [f" ±{short_number(d)}" if d else "" for d in change.deviations]
    before = short_number(float(change.before)) + (spread[0] if unit else "")
    after = short_number(float(change.after)) + (spread[1] if unit else "")
    if change.ratio is None or change.percent is None:
        return before, after, "-", "-"
    percent = f"{float(change.percent):+,.1f}"
    return before, after, short_number(float(change.ratio)), ("0.0" if percent in {"+0.0", "-0.0"} else percent) + unit


def short_number(value: float) -> str:
    """Give a number with four digits that matter."""
    for least, decimals in ((1000, 0), (100, 1), (10, 2)):
        if abs(value) >= least:
            return f"{value:,.{decimals}f}"
    return f"{value:.3f}" if value else "0"
