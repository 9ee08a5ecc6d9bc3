"""nettle's lines: ``PASS: aes``, ``FAIL: serpent``, ``SKIP: sc-ed448``, and its totals.

Outside facts: nettle's ``run-tests`` prints the line after the program ended, exit code 77 being a skip, so that what
a program prints stands before its line; ``All 121 tests passed`` and ``3 of 121 tests failed`` do not count skips.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from crossmatrix.outcomes.faults import main_fault
from crossmatrix.outcomes.last_words import death_words
from crossmatrix.outcomes.lines import last_lines
from crossmatrix.records import OutcomeStatus

if TYPE_CHECKING:
    from collections.abc import Iterable

_LINE = re.compile(r"^(?P<word>PASS|FAIL|SKIP|XFAIL|XPASS|ERROR): (?P<name>\S.*?)\s*$")
_TOTALS = re.compile(r"^(?:All (?P<all>\d{1,9})|(?P<bad>\d{1,9}) of (?P<of>\d{1,9})) tests? (?:passed|failed)\s*$")
_BANNER = re.compile(r"^={3,}\s*$")
_STATUS = {
    "PASS": OutcomeStatus.PASSED,
    "XFAIL": OutcomeStatus.SKIPPED,
    "SKIP": OutcomeStatus.SKIPPED,
    "FAIL": OutcomeStatus.FAILED,
    "XPASS": OutcomeStatus.FAILED,
    "ERROR": OutcomeStatus.FAILED,
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Result:
    """One line of the suite."""

    name: str
    status: OutcomeStatus
    cause: str
    output: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Section:
    """Results, and whether totals followed that agree with them.

    Attributes:
        results: in order.
        totals: how many sets of totals were printed.
        wrong: a sentence for each set that does not agree with the lines before it.
        uncounted: results after the last totals.
        pending: what was printed after the last result.
    """

    results: tuple[Result, ...]
    totals: int
    wrong: tuple[str, ...]
    uncounted: int
    pending: tuple[str, ...]


def read_lines(lines: Iterable[str]) -> Section:
    """Read nettle's lines; what is no result belongs to the next one."""
    results: list[Result] = []
    wrong: list[str] = []
    printed: list[str] = []
    totals, counted, seen = 0, 0, 0
    for line in lines:
        match, total = _LINE.match(line), _TOTALS.match(line)
        if match is not None:
            results.append(_result(match, printed, line))
            counted += _STATUS[match["word"]] is not OutcomeStatus.SKIPPED
            printed, seen = [], seen + 1
        elif total is not None:
            said = int(total["all"] or total["of"])
            if said != counted:
                wrong.append(f"its totals say {said} tests, {counted} lines were read")
            totals, counted, seen = totals + 1, 0, 0
        elif _BANNER.match(line) is None:
            printed.append(line)
    return Section(results=tuple(results), totals=totals, wrong=tuple(wrong), uncounted=seen, pending=tuple(printed))


def _result(match: re.Match[str], printed: list[str], line: str) -> Result:
    status = _STATUS[match["word"]]
    if status is OutcomeStatus.PASSED:
        return Result(name=match["name"], status=status, cause="", output="")
    if status is OutcomeStatus.SKIPPED:
        said = next((text.strip() for text in reversed(printed) if text.strip()), "")
        return Result(name=match["name"], status=status, cause=said or "skipped itself (exit code 77)", output="")
    fault = main_fault(printed)
    said = next((text.strip() for text in reversed(printed) if text.strip()), "")
    if fault is not None and not fault.program:
        fault = replace(fault, program=match["name"])
    cause = death_words(fault, printed) if fault is not None else said or "failed without saying why"
    return Result(name=match["name"], status=status, cause=cause, output=last_lines([*printed, line]))
