"""A captured log as lines: without colours, without what a carriage return overwrote."""

from __future__ import annotations

import re

_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\^_])")

OUTPUT_LINES = 30
"""How many of the last lines are kept of what a failed case printed."""


def clean_line(line: str) -> str:
    """Take terminal escapes out of one line, and what was overwritten after a carriage return."""
    bare = _ESCAPE.sub("", line).replace("\x00", "")
    return bare.rstrip("\r").rpartition("\r")[2]


def whole_lines(log: str) -> tuple[tuple[str, ...], str]:
    """Split a log.

    Returns:
        The lines that end in a newline, and what stands after the last newline: a line that was cut, or nothing.
    """
    *lines, rest = log.split("\n")
    return tuple(clean_line(line) for line in lines), clean_line(rest)


def last_lines(lines: list[str]) -> str:
    """Give the last lines as text, without empty ones around them."""
    return "\n".join(lines[-OUTPUT_LINES:]).strip("\n")
