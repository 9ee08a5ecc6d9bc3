"""Numbers and logs as people read them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crossmatrix.analysis.words import counted
from crossmatrix.report.words import (
    clock,
    duration,
    fact,
    figure,
    last_lines,
    moment,
    printable,
    seconds_between,
    size,
)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0.0 s"),
        (0.42, "0.4 s"),
        (9.96, "10 s"),
        (59.4, "59 s"),
        (59.6, "1 min 00 s"),
        (113, "1 min 53 s"),
        (7440, "2 h 04 min"),
    ],
)
def test_a_duration_is_written_in_the_units_a_person_would_use(seconds: float, words: str) -> None:
    """Seconds below a minute, then minutes and seconds, then hours and minutes."""
    assert duration(seconds) == words


@pytest.mark.parametrize(
    ("number", "words"),
    [(0, "0 B"), (1023, "1023 B"), (42_189, "41.2 KiB"), (9_120_334, "8.7 MiB"), (8 << 30, "8.0 GiB")],
)
def test_a_size_is_written_in_binary_units(number: int, words: str) -> None:
    """Bytes become KiB, MiB, GiB by steps of 1024."""
    assert size(number) == words


def test_small_words() -> None:
    """Clocks, counts, figures and moments have one form each."""
    assert (clock(451.9), clock(6302)) == ("07:31", "105:02")
    assert (counted(1, "cell"), counted(2822, "test")) == ("1 cell", "2,822 tests")
    assert (figure(7_031_224.0), figure(2.5134), figure(40.1)) == ("7,031,224", "2.513", "40.1")
    assert moment("2026-03-01T12:00:00+02:00") == "2026-03-01 10:00 UTC"
    assert moment("yesterday") == "yesterday"


def test_time_between_two_moments_is_unknown_while_the_second_is_missing() -> None:
    """A run that has not finished has no duration."""
    assert seconds_between("2026-03-01T10:00:00+00:00", "2026-03-01T10:01:00Z") == 60
    assert seconds_between("2026-03-01T10:00:00+00:00", "") is None


def test_a_fact_loses_its_unit_and_becomes_readable() -> None:
    """Memory is shown in GiB, durations in minutes, everything else as it is."""
    assert fact("memory_bytes", str(8 << 30)) == ("memory", "8.0 GiB")
    assert fact("limit_s", "120") == ("limit", "2 min 00 s")
    assert fact("cpu_model", "unknown") == ("cpu model", "unknown")
    assert fact("memory_bytes", "unknown") == ("memory bytes", "unknown")


def test_terminal_escapes_leave_a_log() -> None:
    """Colours, titles and carriage returns of a build's output do nothing to whoever reads it."""
    assert printable("\x1b[31mred\x1b[0m \x1b]0;title\x07done\r\n50%\r100%\x00") == "red done\n50%\n100%\ufffd"


@given(st.text())
def test_printable_text_is_legal_in_xml_and_stays_so(text: str) -> None:
    """No control character but tab and newline is left, and a second pass changes nothing."""
    clean = printable(text)
    assert all(character in "\t\n" or ord(character) >= 0x20 for character in clean)
    assert printable(clean) == clean


@given(st.text(), st.integers(1, 20))
def test_last_lines_are_bounded(text: str, count: int) -> None:
    """Whatever a log holds, no more lines and no longer ones are given than were asked for."""
    lines = last_lines(text, count, width=30)
    assert len(lines) <= count
    assert all(len(line) <= 30 for line in lines)
