"""``junit.xml``: one suite a cell, one case a test, and one suite of findings, for whatever reads JUnit's format."""

from __future__ import annotations

from typing import TYPE_CHECKING

from junitparser import Error, Failure, JUnitXml, Skipped, TestCase, TestSuite

from crossmatrix.records import OutcomeStatus, Verdict
from crossmatrix.report.words import last_lines, printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from junitparser.junitparser import FinalResult

    from crossmatrix.records import CellRecord, Finding, Outcome, RunRecord

_FAILURES = frozenset({Verdict.FAILED, Verdict.VACUOUS, Verdict.UNEXPECTED_PASS})
_OUTPUT_LINES = 100


def render_junit(run: RunRecord) -> str:
    """Write a run as JUnit XML.

    Each suite begins with a case ``verdict``, which carries what no single test shows: a build that failed, a crash,
    missing evidence. Where a cell was expected to fail, its failed tests are given as skipped, so that a reader of
    the file counts as we do. What cells show only beside each other comes last, in a suite ``findings`` with a case
    for each; only the serious ones fail it.
    """
    report = JUnitXml(f"crossmatrix {run.matrix} {run.run_id}")
    for record in run.cells:
        report.add_testsuite(_suite(record))
    if run.findings:
        report.add_testsuite(_findings(run.findings))
    report.update_statistics()  # type: ignore[no-untyped-call]
    body: bytes = report.tostring()  # type: ignore[no-untyped-call]
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{body.decode()}\n'


def _suite(record: CellRecord) -> TestSuite:
    suite = TestSuite(record.id)
    if record.started:
        suite.timestamp = record.started.split("+")[0]
    for name in ("verdict", "tier", "source_digest", "compiler", "emulator", "reproduce"):
        suite.add_property(name, printable(str(getattr(record, name))))
    suite.add_testcase(_verdict(record))
    for outcome in record.outcomes:
        suite.add_testcase(_case(record, outcome))
    suite.update_statistics()  # type: ignore[no-untyped-call]
    return suite


def _findings(findings: Sequence[Finding]) -> TestSuite:
    suite = TestSuite("findings")
    for finding in findings:
        case = TestCase(printable(finding.subject), classname=f"findings/{finding.kind}")
        message = finding.message if not finding.axis else f"{finding.axis}: {finding.message}"
        if finding.serious:
            case.result = [_result(Failure, message, finding.kind, "\n".join(finding.cells))]
        else:
            case.system_out = printable(message)
        suite.add_testcase(case)
    suite.update_statistics()  # type: ignore[no-untyped-call]
    return suite


def _verdict(record: CellRecord) -> TestCase:
    """Give the case of the verdict; its time is what the stages took beyond the test cases."""
    stages = sum(stage.duration_s for stage in record.stages)
    tests = sum(outcome.duration_s or 0.0 for outcome in record.outcomes)
    case = TestCase("verdict", classname=record.id, time=round(max(stages - tests, 0.0), 3))
    failed_tests = any(outcome.status is OutcomeStatus.FAILED for outcome in record.outcomes)
    if record.verdict is Verdict.PASSED or (record.verdict is Verdict.FAILED and failed_tests):
        return case
    kind: type[FinalResult] = Failure if record.verdict in _FAILURES else Error
    if record.verdict.as_expected:
        kind = Skipped
    case.result = [_result(kind, record.reason or record.verdict.value, record.verdict.value, record.log_tail)]
    return case


def _case(record: CellRecord, outcome: Outcome) -> TestCase:
    case = TestCase(printable(outcome.case or outcome.file), classname=printable(f"{record.id}/{outcome.file}"))
    if outcome.duration_s is not None:
        case.time = round(outcome.duration_s, 3)
    if outcome.status is OutcomeStatus.SKIPPED:
        case.result = [_result(Skipped, outcome.cause, "skipped")]
    elif outcome.status is OutcomeStatus.FAILED and record.verdict is Verdict.EXPECTED_FAILURE:
        case.result = [_result(Skipped, f"expected failure: {outcome.cause}", "expected-failure")]
    elif outcome.status is OutcomeStatus.FAILED:
        case.result = [_result(Failure, outcome.cause or "failed", "failed", outcome.output)]
    return case


def _result(kind: type[FinalResult], message: str, word: str, output: str = "") -> FinalResult:
    result = kind(printable(message), word)
    lines = last_lines(output, _OUTPUT_LINES)
    if lines:
        result.text = "\n".join(lines)
    return result
