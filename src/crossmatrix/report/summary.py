"""``report.json``: what a program wants to know of a run.

The cells' whole records stay in ``cells/``; here failed and skipped test cases are listed, passed ones counted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from crossmatrix.analysis.coverage import coverage
from crossmatrix.errors import ExitCode
from crossmatrix.records import (
    Artifact,
    Finding,
    Outcome,
    OutcomeStatus,
    StageRecord,
    TestCounts,
    Verdict,
)
from crossmatrix.records.model import Record
from crossmatrix.report.conclusion import conclude, count_verdicts, headline, sum_tests

if TYPE_CHECKING:
    from crossmatrix.records import CellRecord, RunRecord

REPORT_SCHEMA_VERSION = 1


class ReportSummary(Record):
    """The run in short.

    Attributes:
        headline: one sentence.
        exit_code: what the cells and findings deserve, see ``crossmatrix.errors.ExitCode``.
        verdicts: number of cells by verdict; verdicts that do not occur are left out.
        tests: test cases over all cells.
        cached: cells whose results were taken from earlier runs.
        serious: findings that make the run end with exit code 1.
    """

    headline: str
    exit_code: int
    verdicts: dict[Verdict, int]
    tests: TestCounts
    cached: int
    serious: int


class AssemblyReport(Record):
    """The assembly of one library in one version: how many functions there are, and which ran in no cell."""

    source: str
    functions: int
    ran_nowhere: tuple[str, ...]


class ReportCell(Record):
    """One cell; fields as in the cell's record, ``failed`` and ``skipped`` are its test cases that did not pass.

    ``assembly`` counts functions: ``{"present": 213, "executed": 180}``.
    """

    id: str
    library: str
    version: str
    variant: str
    toolchain: str
    target: str
    endian: str
    profile: str
    tier: str
    verdict: Verdict
    as_expected: bool
    reason: str
    cached: bool
    flaky: bool
    tests: TestCounts
    failed: tuple[Outcome, ...]
    skipped: tuple[Outcome, ...]
    stages: tuple[StageRecord, ...]
    compiler: str
    emulator: str
    image: str
    assembly: dict[str, int]
    capabilities_detected: tuple[str, ...]
    evidence_missing: tuple[str, ...]
    artifacts: tuple[Artifact, ...]
    log_tail: str
    log_of: str
    links: tuple[str, ...]
    reproduce: str
    duration_s: float


class Report(Record):
    """The whole of ``report.json``."""

    schema_version: int = Field(default=REPORT_SCHEMA_VERSION, alias="schema", serialization_alias="schema")
    run_id: str
    matrix: str
    tool: str
    command: str
    started: str
    finished: str
    state: str
    summary: ReportSummary
    findings: tuple[Finding, ...]
    assembly: tuple[AssemblyReport, ...]
    notes: tuple[str, ...]
    cells: tuple[ReportCell, ...]


def summarise(run: RunRecord) -> Report:
    """Give a run's report as a value."""
    interrupted = run.exit_code == ExitCode.INTERRUPTED
    return Report(
        run_id=run.run_id,
        matrix=run.matrix,
        tool=run.tool,
        command=run.command,
        started=run.started,
        finished=run.finished,
        state=run.state,
        summary=ReportSummary(
            headline=headline(run),
            exit_code=conclude(run.cells, run.findings, interrupted=interrupted).value,
            verdicts=dict(count_verdicts(run)),
            tests=sum_tests(run),
            cached=sum(record.cached for record in run.cells),
            serious=sum(finding.serious for finding in run.findings),
        ),
        findings=run.findings,
        assembly=tuple(
            AssemblyReport(source=cover.source, functions=cover.functions, ran_nowhere=cover.nowhere)
            for cover in coverage(run.cells)
        ),
        notes=run.notes,
        cells=tuple(map(_cell, run.cells)),
    )


def render_json(run: RunRecord) -> str:
    """Write ``report.json``."""
    return summarise(run).model_dump_json(by_alias=True, indent=2) + "\n"


def _cell(record: CellRecord) -> ReportCell:
    def ended(status: OutcomeStatus) -> tuple[Outcome, ...]:
        return tuple(outcome for outcome in record.outcomes if outcome.status is status)

    evidence = record.evidence
    same = record.model_dump(include=set(ReportCell.model_fields) - {"image"})
    return ReportCell.model_validate(
        same
        | {
            "as_expected": record.verdict.as_expected,
            "failed": ended(OutcomeStatus.FAILED),
            "skipped": ended(OutcomeStatus.SKIPPED),
            "image": f"{record.image.tag} {record.image.id}" if record.image else "",
            "assembly": {
                "present": len(evidence.assembly_functions_present),
                "executed": len(evidence.assembly_functions_executed),
            },
            "capabilities_detected": evidence.capabilities_detected,
            "evidence_missing": evidence.missing,
        }
    )
