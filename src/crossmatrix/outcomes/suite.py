"""A whole test log becomes outcomes, and a word on what is missing of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from crossmatrix.outcomes.blocks import UNKNOWN_EXIT, Block, Blocks, has_marks, read_harness, read_marked
from crossmatrix.outcomes.faults import fault_of_exit, main_fault
from crossmatrix.outcomes.last_words import death_words
from crossmatrix.outcomes.lines import last_lines, whole_lines
from crossmatrix.outcomes.pass_fail import Result, Section, read_lines
from crossmatrix.outcomes.tap import Tap, read_tap
from crossmatrix.records import Outcome, OutcomeStatus, SuiteResult

if TYPE_CHECKING:
    from collections.abc import Sequence

_NAMED = 3
_TEST_SUFFIX = "-test"


@dataclass(slots=True)
class _Suite:
    """Outcomes so far, and what is wrong with the log."""

    outcomes: list[Outcome] = field(default_factory=list)
    cuts: list[str] = field(default_factory=list)
    names: set[str] = field(default_factory=set)
    cases: int = 0

    def add(self, outcome: Outcome) -> None:
        """Keep an outcome under a name of its own: ``running x (2)`` where the name is taken."""
        name, number = outcome.name, 1
        while name in self.names:
            number += 1
            name = f"{outcome.name} ({number})"
        self.names.add(name)
        if number > 1:
            case = f"{outcome.case} ({number})" if outcome.case else f"({number})"
            outcome = outcome.model_copy(update={"case": case})
        self.outcomes.append(outcome)

    def whole(self, hung: Sequence[str]) -> SuiteResult:
        """Give the result."""
        return SuiteResult(outcomes=tuple(self.outcomes), cut="; ".join(self.cuts), hung=", ".join(hung))


def parse_suite(library: str, log: str) -> SuiteResult:
    """Read the log of a library's own test suite.

    A line without its newline was cut and is not read; colours and carriage returns are taken out. Nothing in a log
    makes this raise. The outcomes of a log's beginning (file, case and status) are the beginning of its outcomes.

    Args:
        library: ``openssl`` (TAP) or ``nettle`` (PASS, FAIL and SKIP lines).
        log: ``suite.log``, of our own runner's blocks or as the library's harness prints it.

    Returns:
        One outcome a case. ``cut`` says what is missing, empty where the log is whole; ``hung`` names the tests that
        had started and not ended, separated by commas.
    """
    lines, rest = whole_lines(log)
    if not lines and not rest:
        return SuiteResult(cut="the log is empty")
    marked = has_marks(lines)
    suite = _Suite()
    if library == "nettle":
        hung = _nettle_marked(suite, read_marked(lines)) if marked else _nettle_plain(suite, lines)
    else:
        hung = _openssl(suite, read_marked(lines) if marked else read_harness(lines))
    if rest.strip():
        suite.cuts.append(f"its last line is incomplete: {rest.strip()[:60]!r}")
    if not suite.outcomes:
        suite.cuts.insert(0, "no test result was found in the log")
    return suite.whole(hung)


def _openssl(suite: _Suite, log: Blocks) -> tuple[str, ...]:
    for block in log.blocks:
        _openssl_block(suite, block)
    hung = _unfinished(suite, log)
    ended = sum(block.ended for block in log.blocks)
    if log.files is None or log.tests is None:
        suite.cuts.append("the harness's final totals (Files=, Tests=) are missing")
    elif log.files != ended:
        suite.cuts.append(f"the harness's totals say {log.files} files, {ended} were read")
    elif log.tests != suite.cases:
        suite.cuts.append(f"the harness's totals say {log.tests} tests, {suite.cases} were read")
    elif not log.tests:
        # Upstream prepares its FIPS configuration in a run of its own, which has totals too.
        suite.cuts.append("the harness's totals count no test")
    return hung


def _openssl_block(suite: _Suite, block: Block) -> None:
    tap = read_tap(block.lines)
    suite.cases += len(tap.cases)
    alone = len(tap.cases) == 1 and block.ended
    for case in tap.cases:
        suite.add(
            Outcome(
                file=block.name,
                case=case.name,
                status=case.status,
                duration_s=block.duration_s if alone else None,
                cause=case.cause,
                output=case.output,
            )
        )
    if not block.ended:
        return
    short = tap.planned is not None and tap.planned > len(tap.cases)
    failed = any(case.status is OutcomeStatus.FAILED for case in tap.cases)
    if tap.skipped is not None or block.skipped is not None:
        _add_whole(suite, block, OutcomeStatus.SKIPPED, tap.skipped or block.skipped or "")
    elif tap.bailed is not None:
        _add_whole(suite, block, OutcomeStatus.FAILED, f"bailed out: {tap.bailed}", tap)
    elif block.exit_code not in {None, 0} and not failed:
        _add_whole(suite, block, OutcomeStatus.FAILED, _death(block, tap), tap)
    elif short and not failed:
        suite.cuts.append(f"{block.name} planned {tap.planned} cases and shows {len(tap.cases)}")
    elif not block.lines and block.exit_code == 0:
        _add_whole(suite, block, OutcomeStatus.PASSED, "")
        suite.cases += 1
    elif not tap.cases:
        suite.cuts.append(f"{block.name} ended well and shows no result")
    if not short and tap.planned is not None and tap.planned < len(tap.cases):
        suite.cuts.append(f"{block.name} planned {tap.planned} cases and shows {len(tap.cases)}")


def _add_whole(suite: _Suite, block: Block, status: OutcomeStatus, cause: str, tap: Tap | None = None) -> None:
    """Keep an outcome of the file itself, beside those of its cases."""
    output = last_lines(list(tap.pending)) if tap is not None else ""
    suite.add(Outcome(file=block.name, status=status, duration_s=block.duration_s, cause=cause, output=output))


def _death(block: Block, tap: Tap) -> str:
    code = block.exit_code or 0
    fault = main_fault(tap.pending) or fault_of_exit(code)
    how = f"ended with exit code {code} and no failed case"
    if fault is not None:
        how = death_words(fault, tap.pending)
    elif code == UNKNOWN_EXIT:
        how = "ended badly, the harness does not say how, and has no failed case"
    missing = (tap.planned or 0) - len(tap.cases)
    return f"{how}; {missing} of {tap.planned} cases did not run" if missing > 0 else how


def _unfinished(suite: _Suite, log: Blocks) -> tuple[str, ...]:
    open_names = tuple(block.name for block in log.blocks if not block.ended)
    hung = tuple(dict.fromkeys([*open_names, *log.running]))
    if hung:
        names = ", ".join(hung[:_NAMED]) + (f" and {len(hung) - _NAMED} more" if len(hung) > _NAMED else "")
        suite.cuts.append(f"{names} started and did not end")
    return hung


def _nettle_marked(suite: _Suite, log: Blocks) -> tuple[str, ...]:
    for block in log.blocks:
        section = read_lines(block.lines)
        for result in section.results:
            own = result.name in {block.name, block.name.removesuffix(_TEST_SUFFIX)}
            duration = block.duration_s if own and block.ended and len(section.results) == 1 else None
            _add_result(suite, result, file=block.name, case="" if own else result.name, duration_s=duration)
        if block.ended:
            _nettle_end(suite, block, section)
    hung = _unfinished(suite, log)
    ended = sum(block.ended for block in log.blocks)
    if log.planned is None:
        suite.cuts.append("the number of tests (=== PLAN) is missing")
    elif log.planned != ended and not hung:
        suite.cuts.append(f"{log.planned} test programs were to be run, {ended} were read")
    return hung


def _nettle_end(suite: _Suite, block: Block, section: Section) -> None:
    failed = any(result.status is OutcomeStatus.FAILED for result in section.results)
    if block.exit_code and not failed:
        fault = main_fault(section.pending) or fault_of_exit(block.exit_code)
        cause = f"ended with exit code {block.exit_code} and no failed test"
        if fault is not None:
            cause = death_words(fault, section.pending)
        output = last_lines(list(section.pending))
        suite.add(
            Outcome(
                file=block.name,
                case="(end)" if section.results else "",
                status=OutcomeStatus.FAILED,
                duration_s=block.duration_s,
                cause=cause,
                output=output,
            )
        )
    elif not section.results:
        suite.cuts.append(f"{block.name} ended well and shows no result")
    suite.cuts += [f"{block.name}: {wrong}" for wrong in section.wrong]


def _nettle_plain(suite: _Suite, lines: Sequence[str]) -> tuple[str, ...]:
    section = read_lines(lines)
    for result in section.results:
        _add_result(suite, result, file=result.name, case="", duration_s=None)
    suite.cuts += section.wrong
    if not section.totals:
        suite.cuts.append("the final totals (All N tests passed) are missing")
    elif section.uncounted:
        suite.cuts.append(f"{section.uncounted} results have no totals after them")
    cut = section.totals == 0 or section.uncounted
    return (f"the test after {section.results[-1].name}",) if cut and section.results else ()


def _add_result(suite: _Suite, result: Result, *, file: str, case: str, duration_s: float | None) -> None:
    suite.add(
        Outcome(
            file=file,
            case=case,
            status=result.status,
            duration_s=duration_s,
            cause=result.cause,
            output=result.output,
        )
    )
