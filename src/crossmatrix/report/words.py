"""How numbers are written for people: durations, sizes, counts and moments."""

from __future__ import annotations

import re
from datetime import UTC, datetime

_MINUTE = 60
_HOUR = 3600
_STEP = 1024
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_UNPRINTABLE = re.compile(r"[^\t\n\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def duration(seconds: float) -> str:
    """Write a duration: ``0.4 s``, ``49 s``, ``1 min 53 s``, ``2 h 04 min``."""
    if seconds < 9.95:  # noqa: PLR2004 - below ten seconds one decimal still tells something
        return f"{max(seconds, 0.0):.1f} s"
    whole = round(seconds)
    if whole < _MINUTE:
        return f"{whole} s"
    if whole < _HOUR:
        return f"{whole // _MINUTE} min {whole % _MINUTE:02d} s"
    return f"{whole // _HOUR} h {whole % _HOUR // _MINUTE:02d} min"


def clock(seconds: float) -> str:
    """Write a time that has passed, as a clock does: ``07:31``, ``105:02``."""
    whole = int(max(seconds, 0.0))
    return f"{whole // _MINUTE:02d}:{whole % _MINUTE:02d}"


def size(number: int) -> str:
    """Write a size in bytes: ``812 B``, ``41.2 KiB``, ``8.7 MiB``, ``7.8 GiB``."""
    value = float(number)
    for unit in ("B", "KiB", "MiB"):
        if value < _STEP:
            return f"{number} B" if unit == "B" else f"{value:.1f} {unit}"
        value /= _STEP
    return f"{value:,.1f} GiB"


def figure(value: float) -> str:
    """Write a measured number with as many digits as tell something: ``7,031,224``, ``40.1``, ``2.513``."""
    if value == int(value) or abs(value) >= 10_000:  # noqa: PLR2004 - digits past the sixth are noise to a reader
        return f"{value:,.0f}"
    return f"{value:,.3f}".rstrip("0")


def moment(text: str) -> str:
    """Write an ISO 8601 time as ``2026-03-01 10:00 UTC``; what is no such time stays as it is."""
    parsed = _parse(text)
    return f"{parsed.astimezone(UTC):%Y-%m-%d %H:%M} UTC" if parsed else text


def seconds_between(started: str, finished: str) -> float | None:
    """Give the seconds between two ISO 8601 times, or None where one is missing or is no such time."""
    begin, end = _parse(started), _parse(finished)
    return (end - begin).total_seconds() if begin and end else None


def fact(name: str, value: str) -> tuple[str, str]:
    """Write one fact on a host or an engine: its unit leaves the name, sizes and durations become readable."""
    label = name
    if value.isdecimal():
        for suffix, write in (("_bytes", size), ("_s", duration)):
            if name.endswith(suffix):
                label, value = name.removesuffix(suffix), write(int(value))
                break
    return label.replace("_", " "), value


def printable(text: str) -> str:
    """Take out terminal escapes, and replace what neither a terminal nor XML 1.0 can show; lines end in newline."""
    lines = _ESCAPES.sub("", text.replace("\r\n", "\n"))
    return _UNPRINTABLE.sub("\ufffd", lines.replace("\r", "\n"))


def last_lines(text: str, count: int, *, width: int = 400) -> tuple[str, ...]:
    """Give the last lines of a log, printable, each cut at a width, trailing blank lines dropped."""
    lines = printable(text).rstrip().split("\n")[-count:] if text.strip() else []
    return tuple(line if len(line) <= width else f"{line[: width - 1]}…" for line in lines)


def _parse(text: str) -> datetime | None:
    try:
        parsed = datetime.fromisoformat(text)
    except ValueError:
        return None
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)
