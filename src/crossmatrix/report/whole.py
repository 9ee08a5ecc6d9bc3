"""Tables that are never cut: one that is too wide runs over the edge, where a terminal wraps it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.measure import Measurement

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console, ConsoleOptions
    from rich.segment import Segment
    from rich.table import Table

_ANY = 10_000
"""Columns in which every table has room."""


class _Whole:
    """A table as wide as it has to be."""

    def __init__(self, table: Table, *, wraps: bool) -> None:
        self._table = table
        self._wraps = wraps

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Segment]:
        needed = Measurement.get(console, options.update(width=_ANY), self._table)
        width = max(options.max_width, needed.minimum if self._wraps else needed.maximum)
        yield from console.render(self._table, options.update(width=width, no_wrap=False, overflow="fold"))


def print_whole(table: Table, console: Console, *, wraps: bool = False) -> None:
    """Print a table with every word of it, however narrow the console is.

    Args:
        table: what is printed.
        console: where.
        wraps: whether its fields may be broken between words.
    """
    console.print(_Whole(table, wraps=wraps), soft_wrap=True)
