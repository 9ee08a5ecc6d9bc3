"""What a run comes to: the exit code, and one sentence."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from crossmatrix.analysis.words import counted
from crossmatrix.errors import ExitCode
from crossmatrix.records import TestCounts, Verdict
from crossmatrix.report.looks import MEASURED, verdict_word

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from crossmatrix.records import CellRecord, Finding, RunRecord

_SAY_NOTHING = frozenset({Verdict.INFRASTRUCTURE, Verdict.ABORTED})


def conclude(cells: Sequence[CellRecord], findings: Iterable[Finding], *, interrupted: bool) -> ExitCode:
    """Give the exit code that a run's cells and findings deserve.

    An aborted cell says nothing of the library: beside an infrastructure fault it counts as its consequence,
    alone it is not what was expected. A run without a single cell shows nothing and is no success.
    """
    if interrupted:
        return ExitCode.INTERRUPTED
    verdicts = {record.verdict for record in cells}
    wrong = any(not verdict.as_expected for verdict in verdicts - _SAY_NOTHING)
    if wrong or not cells or any(finding.serious for finding in findings):
        return ExitCode.UNEXPECTED
    if Verdict.INFRASTRUCTURE in verdicts:
        return ExitCode.INFRASTRUCTURE
    return ExitCode.UNEXPECTED if Verdict.ABORTED in verdicts else ExitCode.OK


def troubled(run: RunRecord) -> tuple[CellRecord, ...]:
    """Give the cells that are not as expected."""
    return tuple(record for record in run.cells if not record.verdict.as_expected)


def count_verdicts(run: RunRecord) -> Mapping[Verdict, int]:
    """Give how many cells have each verdict that occurs, in the order of ``Verdict``."""
    counts = Counter(record.verdict for record in run.cells)
    return {verdict: counts[verdict] for verdict in Verdict if counts[verdict]}


def sum_tests(run: RunRecord) -> TestCounts:
    """Give how many test cases ended how, over all cells."""
    counts = [record.tests for record in run.cells]
    return TestCounts(
        passed=sum(count.passed for count in counts),
        failed=sum(count.failed for count in counts),
        skipped=sum(count.skipped for count in counts),
    )


def headline(run: RunRecord) -> str:
    """Say in one sentence what the run shows: ``4 of 16 cells are not as expected, with 2 serious findings``."""
    total, bad = len(run.cells), len(troubled(run))
    serious = sum(finding.serious for finding in run.findings)
    if not total:
        words = "No cell has finished"
    elif bad:
        words = f"{bad} of {counted(total, 'cell')} {'is' if bad == 1 else 'are'} not as expected"
    else:
        words = f"All {total} cells are" if total > 1 else "The one cell is"
        words += f" {_as_expected(run)}"
    if serious:
        words += f", {'with' if bad or not total else 'but with'} {counted(serious, 'serious finding')}"
    if run.exit_code == ExitCode.INTERRUPTED or run.state == "interrupted":
        return f"Interrupted: {words[0].lower()}{words[1:]}"
    if run.state == "killed":
        return f"Killed before its end: {words[0].lower()}{words[1:]}"
    if not run.finished:
        return f"Not finished yet: {words[0].lower()}{words[1:]}"
    return words


def _as_expected(run: RunRecord) -> str:
    """Give the words for a run in which nothing is wrong: where nothing was tested, that it was measured."""
    measured = sum(record.measured and record.verdict is Verdict.PASSED for record in run.cells)
    if not measured:
        return "as expected"
    return MEASURED if measured == len(run.cells) else f"as expected, {measured} of them {MEASURED}"


def totals(run: RunRecord) -> tuple[str, ...]:
    """Write two lines: ``16 cells: 12 passed, 4 failed (4 taken from earlier runs)``, and the tests likewise.

    A run that only measures says ``measured`` for ``passed`` and has no second line.
    """
    counts = Counter(verdict_word(record) for record in run.cells)
    words = dict.fromkeys(verdict_word(r) for v in count_verdicts(run) for r in run.cells if r.verdict is v)
    parts = [f"{counts[word]} {word}" for word in words]
    cached = sum(record.cached for record in run.cells)
    flaky = sum(record.flaky for record in run.cells)
    line = f"{counted(len(run.cells), 'cell')}: {', '.join(parts) or 'none'}"
    extras = [f"{cached} taken from earlier runs"] if cached else []
    extras += [f"{flaky} flaky"] if flaky else []
    if extras:
        line += f" ({', '.join(extras)})"
    if run.cells and all(record.measured for record in run.cells):
        return (line,)
    tests = sum_tests(run)
    total = tests.passed + tests.failed + tests.skipped
    return line, (
        f"{counted(total, 'test')}: {tests.passed:,} passed, {tests.failed:,} failed, {tests.skipped:,} skipped"
    )
