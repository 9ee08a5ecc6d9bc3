"""What is known of a cell when it is judged, and the questions that a judgement asks of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from crossmatrix.outcomes.faults import Fault, FaultKind, fault_of_exit, main_fault, read_words
from crossmatrix.outcomes.last_words import aborted_itself, death_words
from crossmatrix.records import Outcome, OutcomeStatus, StageRecord, StageStatus, SuiteResult
from crossmatrix.selectors import glob_matches

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from crossmatrix.catalog import Cell, Exclusion

BENCH_STAGE = "bench"
"""The stage of a cell that is measured and not tested."""

TEST_STAGE = "test"
"""The stage whose exit code says only what its log says better."""

_NAMED = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """All that a judgement is made from.

    Attributes:
        cell: what was to be run.
        build_stages: of the build job, in order.
        run_stages: of the run job, in order; empty where the build did not succeed.
        suite: the test log read; None where there is none.
        logs: by stage name, its log or the end of it.
        vacuous: reasons why a green result would prove nothing, from ``evidence.vacuous``.
        exclusions: those whose ``where`` matches this cell.
        infrastructure: what the engine said where it failed, else empty.
    """

    cell: Cell
    build_stages: Sequence[StageRecord]
    run_stages: Sequence[StageRecord]
    suite: SuiteResult | None
    logs: Mapping[str, str] = field(default_factory=dict)
    vacuous: Sequence[str] = ()
    exclusions: Sequence[Exclusion] = ()
    infrastructure: str = ""


def has_expired(case: Case, exclusion: Exclusion) -> bool:
    """Say whether an excuse is needed no more: all that it covers, and at least one case, passed."""
    if exclusion.kind != "expected-failure" or case.suite is None:
        return False
    covered = [outcome for outcome in case.suite.outcomes if covers(exclusion, outcome)]
    passed = any(outcome.status is OutcomeStatus.PASSED for outcome in covered)
    return passed and not any(outcome.status is OutcomeStatus.FAILED for outcome in covered)


def covers(exclusion: Exclusion, outcome: Outcome) -> bool:
    """Say whether an exclusion is about a case or its file; one without tests is about all."""
    names = (outcome.name, outcome.file)
    return not exclusion.tests or any(glob_matches(glob, name) for glob in exclusion.tests for name in names)


def excuse_for(case: Case, outcome: Outcome) -> Exclusion | None:
    """Give the exclusion that excuses a failed case by name, or None."""
    for exclusion in case.exclusions:
        if exclusion.kind == "expected-failure" and exclusion.tests and covers(exclusion, outcome):
            return exclusion
    return None


def hang_words(case: Case, stage: StageRecord) -> str:
    """Say what hung when a stage was ended."""
    after = f"stage {stage.name} was ended after {stage.duration_s:.0f} s"
    if stage.name != TEST_STAGE or case.suite is None:
        return after
    if case.suite.hung:
        return f"{case.suite.hung} hung; {after}"
    last = case.suite.outcomes[-1].name if case.suite.outcomes else ""
    return f"{after}; the last result was that of {last}" if last else f"{after}; no test had ended"


def first_error(logs: Mapping[str, str], name: str) -> str:
    """Find the first line of a build log that a compiler or linker calls an error."""
    for line in logs.get(name, "").splitlines():
        lowered = line.lower()
        if "error:" in lowered or "undefined reference" in lowered or lowered.startswith("crossmatrix: "):
            return f": {line.strip()[:200]}"
    return ""


def is_measured(case: Case) -> bool:
    """Say whether the run job measures instead of testing, so that there is no suite to be missed."""
    names = {stage.name for stage in case.run_stages}
    return BENCH_STAGE in names and TEST_STAGE not in names


def failed_outcomes(case: Case) -> list[Outcome]:
    """Give the cases that failed, in order."""
    outcomes = case.suite.outcomes if case.suite is not None else ()
    return [outcome for outcome in outcomes if outcome.status is OutcomeStatus.FAILED]


def failed_stages(case: Case) -> list[StageRecord]:
    """Give the stages of the run job that failed, in order."""
    return [stage for stage in case.run_stages if stage.status is StageStatus.FAILED]


def outcome_fault(outcome: Outcome) -> Fault | None:
    """Give the death that explains a failed case, or None."""
    return read_words(outcome.cause) or main_fault(outcome.output)


def stage_fault(case: Case, stage: StageRecord) -> Fault | None:
    """Find what a failed stage died of; of the suite its exit code alone, for a passing test may show anything."""
    if stage.name == TEST_STAGE and case.suite is not None and case.suite.outcomes:
        return fault_of_exit(stage.exit_code or 0)
    return main_fault(case.logs.get(stage.name, "")) or fault_of_exit(stage.exit_code or 0)


def program_faults(case: Case) -> list[Fault]:
    """Give every death of a program under test, those of the short stages before those of the suite."""
    stages = sorted(failed_stages(case), key=lambda stage: stage.name == TEST_STAGE)
    found = [stage_fault(case, stage) for stage in stages]
    found += [outcome_fault(outcome) for outcome in failed_outcomes(case)]
    return [fault for fault in found if fault is not None and fault.kind is FaultKind.PROGRAM]


def was_dealt(fault: Fault | None) -> bool:
    """Say whether a program died of what the CPU or the kernel dealt it; one that aborts itself failed a check."""
    return fault is not None and fault.kind is FaultKind.PROGRAM and not aborted_itself(fault)


def dead_first(failed: Sequence[Outcome]) -> list[Outcome]:
    """Put cases whose program died of a signal that was dealt it before the others."""
    return sorted(failed, key=lambda outcome: not was_dealt(outcome_fault(outcome)))


def first_failure(case: Case, failed: Sequence[Outcome], stages: Sequence[StageRecord]) -> str:
    """Say in one line what failed first, and what else did."""
    if failed:
        first = failed[0]
        others = f"; failed too: {names_of(failed[1:])}" if len(failed) > 1 else ""
        return f"{first.name}: {first.cause}{others}"
    stage = stages[0]
    fault = stage_fault(case, stage)
    if fault is not None:
        return f"stage {stage.name}: {death_words(fault, case.logs.get(stage.name, '').splitlines())}"
    silent = " and no failed test" if stage.name == TEST_STAGE else ""
    return f"stage {stage.name} failed with {exit_words(stage)}{silent}"


def names_of(outcomes: Sequence[Outcome]) -> str:
    """Name the first few cases."""
    names = ", ".join(outcome.name for outcome in outcomes[:_NAMED])
    return names + (f" and {len(outcomes) - _NAMED} more" if len(outcomes) > _NAMED else "")


def count_of(suite: SuiteResult | None, status: OutcomeStatus) -> int:
    """Count the cases that ended in a way."""
    return sum(outcome.status is status for outcome in suite.outcomes) if suite is not None else 0


def exit_words(stage: StageRecord) -> str:
    """Say how a stage exited."""
    return "no exit code" if stage.exit_code is None else f"exit code {stage.exit_code}"


def with_link(exclusion: Exclusion) -> str:
    """Give an exclusion's reason with its link."""
    return f"{exclusion.reason} ({exclusion.link})" if exclusion.link else exclusion.reason
