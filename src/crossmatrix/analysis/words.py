"""How findings and comparisons write lists, numbers of things and the like, the same everywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def counted(number: int, noun: str, plural: str = "") -> str:
    """Give ``1 cell`` or ``2 cells``; ``plural`` where an ``s`` is not enough."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def listed(names: Sequence[str], limit: int = 3) -> str:
    """Give the first names and how many more there are: ``a, b, c and 47 more``."""
    shown = ", ".join(names[:limit])
    more = len(names) - limit
    return f"{shown} and {more:,} more" if more > 0 else shown
