"""The verdict on a cell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from crossmatrix.outcomes.case import (
    TEST_STAGE,
    Case,
    count_of,
    dead_first,
    excuse_for,
    exit_words,
    failed_outcomes,
    failed_stages,
    first_error,
    first_failure,
    hang_words,
    has_expired,
    is_measured,
    names_of,
    outcome_fault,
    program_faults,
    stage_fault,
    was_dealt,
    with_link,
)
from crossmatrix.outcomes.faults import Fault, FaultKind
from crossmatrix.records import Outcome, OutcomeStatus, StageStatus, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crossmatrix.catalog import MustFail

CONFIGURE_STAGES = frozenset({"configure"})
OUR_STAGES = frozenset({"fetch", "put", "unpack", "collect", "emulator"})
"""Stages that move files or try the emulator on a first program: their failure is never a test's."""

KILLED = 137
"""Exit code of a program that was killed from outside: the container's memory limit, nearly always."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Judgement:
    """A verdict and, in one line, why; ``test`` is the name of the failed test case that the reason begins with."""

    verdict: Verdict
    reason: str
    test: str = ""


def judge(case: Case) -> Judgement:
    """Judge a cell. The first row that holds decides.

    ==  ================================================================  =================
    no  what holds                                                        verdict
    ==  ================================================================  =================
    1   an ``unsupported`` exclusion covers the cell                      unsupported
    2   the engine failed; a stage of ours that only moves files or       infrastructure
        tries the emulator failed; a stage failed with the words of a
        full disk, a missing emulator or a kill from outside
    3   a stage was interrupted, or nothing ran                           aborted
    4   a stage ran into its time limit (the hung test is named)          timed-out
    5   ``configure`` failed                                              configure-failed
    6   another build stage failed                                        build-failed
    7   the profile must fail and did so by the signal, in the function   expected-failure
    8   the profile must fail and everything passed                       unexpected-pass
    9   the profile must fail and failed in another way                   failed
    10  failures, none excused, are all the emulator's own                emulator-crashed
    11  an ``expected-failure`` exclusion of the whole cell covers what   expected-failure
        failed
    12  a failure that no exclusion covers: a program died of a signal    crashed
        and did not abort itself (SIGABRT), as one does that finds a
        wrong result
    13  a failure that no exclusion covers: anything else                 failed
    14  a run stage that the cell needs was not run                       aborted
    15  nothing failed, and a reason says that this proves nothing        vacuous
    16  what an ``expected-failure`` exclusion covers passed              unexpected-pass
    17  everything that failed is covered by an exclusion                 expected-failure
    18  everything passed                                                 passed
    ==  ================================================================  =================

    An infrastructure's words count only in a stage that failed, and in the suite only where every failed case shows
    them; the same holds for the emulator's, so that one real failure is never blamed on anybody else.

    Args:
        case: all that is known of the cell; ``leave-out`` exclusions in it are without effect here.

    Returns:
        The verdict and one line why.
    """
    judgement = _unsupported(case) or _infrastructure(case) or _unfinished(case) or _build(case)
    must_fail = case.cell.profile.must_fail
    if judgement is None and must_fail is not None:
        judgement = _negative_control(case, must_fail)
    return judgement or _failure(case) or _green(case)


def _say(verdict: Verdict, reason: str, about: Sequence[Outcome] = ()) -> Judgement:
    return Judgement(verdict=verdict, reason=" ".join(reason.split()), test=about[0].name if about else "")


def _unsupported(case: Case) -> Judgement | None:
    for exclusion in case.exclusions:
        if exclusion.kind == "unsupported":
            return _say(Verdict.UNSUPPORTED, with_link(exclusion))
    return None


def _infrastructure(case: Case) -> Judgement | None:
    if case.infrastructure:
        return _say(Verdict.INFRASTRUCTURE, case.infrastructure)
    for stage in (*case.build_stages, *case.run_stages):
        if stage.status is not StageStatus.FAILED:
            continue
        fault = stage_fault(case, stage)
        if stage.name in OUR_STAGES:
            words = fault.what if fault is not None else f"failed with {exit_words(stage)}"
            return _say(Verdict.INFRASTRUCTURE, f"stage {stage.name}: {words}")
        if fault is not None and fault.kind is FaultKind.INFRASTRUCTURE:
            return _say(Verdict.INFRASTRUCTURE, f"stage {stage.name}: {fault.what}")
        if stage.exit_code == KILLED:
            words = "was killed from outside (exit code 137), most likely by the container's memory limit"
            return _say(Verdict.INFRASTRUCTURE, f"stage {stage.name} {words}")
    return None


def _unfinished(case: Case) -> Judgement | None:
    stages = (*case.build_stages, *case.run_stages)
    for stage in stages:
        if stage.status is StageStatus.INTERRUPTED:
            return _say(Verdict.ABORTED, f"interrupted in stage {stage.name}")
        if stage.status is StageStatus.TIMED_OUT:
            return _say(Verdict.TIMED_OUT, hang_words(case, stage))
        if stage.status is StageStatus.FAILED and stage.name != TEST_STAGE:
            return None
    if not any(stage.status is not StageStatus.NOT_RUN for stage in stages):
        return _say(Verdict.ABORTED, "nothing of it was run")
    return None


def _build(case: Case) -> Judgement | None:
    for stage in case.build_stages:
        if stage.status is not StageStatus.FAILED:
            continue
        verdict = Verdict.CONFIGURE_FAILED if stage.name in CONFIGURE_STAGES else Verdict.BUILD_FAILED
        return _say(verdict, f"stage {stage.name} failed with {exit_words(stage)}{first_error(case.logs, stage.name)}")
    return None


def _negative_control(case: Case, must_fail: MustFail) -> Judgement:
    wanted = f"{must_fail.signal} in {must_fail.function}"
    faults = program_faults(case)
    for fault in faults:
        if fault.what == must_fail.signal and fault.symbol == must_fail.function:
            return _say(Verdict.EXPECTED_FAILURE, f"{fault.words}, as it must be: {must_fail.reason}")
    if not failed_stages(case) and not failed_outcomes(case):
        ran = [stage for stage in case.run_stages if stage.status is StageStatus.OK]
        if not ran:
            return _say(Verdict.ABORTED, f"it must fail with {wanted}, and no stage of it was run")
        return _say(Verdict.UNEXPECTED_PASS, f"passed, but must fail with {wanted}: {must_fail.reason}")
    if faults:
        shown = next((fault for fault in faults if fault.what == must_fail.signal), faults[0])
        unknown = "" if shown.symbol else ", in a function that could not be told"
        return _say(Verdict.FAILED, f"must fail with {wanted}, but {shown.words}{unknown}")
    failed = failed_outcomes(case)
    how = f"{failed[0].name} failed: {failed[0].cause}" if failed else f"stage {failed_stages(case)[0].name} failed"
    return _say(Verdict.FAILED, f"must fail with {wanted}, but no program died: {how}", failed)


def _failure(case: Case) -> Judgement | None:
    """Rows 10 to 14."""
    failed = [outcome for outcome in failed_outcomes(case) if not excuse_for(case, outcome)]
    stages = [stage for stage in failed_stages(case) if stage.name != TEST_STAGE or not failed_outcomes(case)]
    if not failed and not stages:
        return _not_run(case)
    faults = [outcome_fault(outcome) for outcome in failed] + [stage_fault(case, stage) for stage in stages]
    blamed = _blame_others(case, faults, failed)
    whole = next((entry for entry in case.exclusions if entry.kind == "expected-failure" and not entry.tests), None)
    if blamed is not None:
        return blamed
    if whole is not None:
        what = first_failure(case, failed, stages)
        return _say(Verdict.EXPECTED_FAILURE, f"{what}; expected: {with_link(whole)}", failed)
    verdict = Verdict.CRASHED if any(map(was_dealt, faults)) else Verdict.FAILED
    ordered = dead_first(failed)
    return _say(verdict, first_failure(case, ordered, stages), ordered)


def _blame_others(case: Case, faults: Sequence[Fault | None], failed: Sequence[Outcome]) -> Judgement | None:
    foreign = [fault for fault in faults if fault is not None and fault.kind is not FaultKind.PROGRAM]
    if len(foreign) != len(faults):
        return None
    infrastructure = next((fault for fault in foreign if fault.kind is FaultKind.INFRASTRUCTURE), None)
    if infrastructure is not None:
        return _say(Verdict.INFRASTRUCTURE, infrastructure.what, failed)
    return _say(Verdict.EMULATOR_CRASHED, f"{case.cell.emulator.name}: {foreign[0].what}", failed)


def _not_run(case: Case) -> Judgement | None:
    for stage in (*case.build_stages, *case.run_stages):
        if stage.status is StageStatus.NOT_RUN:
            return _say(Verdict.ABORTED, f"stage {stage.name} was not run")
    if not is_measured(case) and not any(stage.name == TEST_STAGE for stage in case.run_stages):
        return _say(Verdict.ABORTED, "its tests were not run")
    return None


def _green(case: Case) -> Judgement:
    """Rows 15 to 18."""
    reasons = list(case.vacuous)
    if not reasons and case.suite is None and not is_measured(case):
        reasons.append("the tests left no log")
    if not reasons and case.suite is not None and case.suite.cut:
        reasons.append(f"the test log is not whole: {case.suite.cut}")
    if reasons:
        more = f" (and {len(reasons) - 1} more: {'; '.join(reasons[1:])})" if len(reasons) > 1 else ""
        return _say(Verdict.VACUOUS, reasons[0] + more)
    failed = failed_outcomes(case)
    expired = [entry for entry in case.exclusions if has_expired(case, entry)]
    if expired:
        names = ", ".join(expired[0].tests) or "the whole cell"
        return _say(Verdict.UNEXPECTED_PASS, f"{names} passed, though excused: {with_link(expired[0])}")
    if failed:
        excuse = excuse_for(case, failed[0])
        why = with_link(excuse) if excuse is not None else ""
        return _say(Verdict.EXPECTED_FAILURE, f"{names_of(failed)} failed, as expected: {why}", failed)
    if is_measured(case):
        return _say(Verdict.PASSED, "measured")
    passed = count_of(case.suite, OutcomeStatus.PASSED)
    skipped = count_of(case.suite, OutcomeStatus.SKIPPED)
    return _say(Verdict.PASSED, f"{passed} tests passed, {skipped} skipped")
