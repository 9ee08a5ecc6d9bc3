"""Which log explains a verdict: the failed case's own lines, a stage's, or none."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from rich.console import Console
from tests.unit.record_samples import cell_record, run_record
from tests.unit.runner_samples import GREEN

from crossmatrix.catalog import MustFail
from crossmatrix.outcomes import Judgement, parse_suite
from crossmatrix.plan import JobKind
from crossmatrix.records import StageRecord, StageStatus, SuiteResult, Verdict
from crossmatrix.report.markdown import render_markdown
from crossmatrix.report.page import render_html
from crossmatrix.report.terminal import print_report
from crossmatrix.runner.left import Left
from crossmatrix.runner.told import blank, explaining_log
from crossmatrix.store import JobResult

CHACHA = ("Error, expected:", "76b8 e0ad", "Error, got:", "0000 0000", "Aborted (core dumped)", "FAIL: chacha")
LOG = (
    "=== PLAN 3\n=== RUN aes-test\n=== BEGIN aes-test\nError: odd\nFAIL: aes\n=== END aes-test exit=1 seconds=0.1\n"
    "=== RUN chacha-test\n=== BEGIN chacha-test\n" + "\n".join(CHACHA) + "\n=== END chacha-test exit=1 seconds=0.1\n"
    "=== RUN rsa-test\n=== BEGIN rsa-test\nPASS: rsa-encrypt\nAll 1 tests passed\n=== END rsa-test exit=0 seconds=0.1\n"
)
SUITE = parse_suite("nettle", LOG)
STAGES = (
    StageRecord(name="build", status=StageStatus.OK, log="b"),
    StageRecord(name="test", status=StageStatus.OK, log="t"),
)


def left(suite: SuiteResult | None = SUITE, stages: tuple[StageRecord, ...] = STAGES, **logs: str) -> Left:
    """Give what a cell left whose stages' logs end in their names."""
    texts = {stage.name: f"end of {stage.name}" for stage in stages} | logs
    job = JobResult(
        key="k",
        kind=JobKind.RUN,
        id="x",
        run_id="r",
        inputs={},
        ok=True,
        sound=True,
        stages=stages,
        started="",
        finished="",
    )
    return Left(build=None, run=job, logs=texts, files={}, build_files={}, suite=suite)


def judged(verdict: Verdict, reason: str = "why", test: str = "") -> Judgement:
    """Give a judgement."""
    return Judgement(verdict=verdict, reason=reason, test=test)


@pytest.mark.parametrize(
    "verdict", [Verdict.FAILED, Verdict.CRASHED, Verdict.EMULATOR_CRASHED, Verdict.EXPECTED_FAILURE]
)
def test_a_failed_case_is_explained_by_what_it_printed_itself(verdict: Verdict) -> None:
    """Neither the end of the suite, where others passed, nor another failed case's lines are shown."""
    found = explaining_log(left(), judged(verdict, test="chacha-test"))
    assert found == ("\n".join(CHACHA), "test chacha-test")


@pytest.mark.parametrize("verdict", [Verdict.VACUOUS, Verdict.UNEXPECTED_PASS])
def test_where_everything_passed_the_end_of_the_suite_explains_nothing(verdict: Verdict) -> None:
    """Of a cell that is green for nothing no log is shown."""
    assert explaining_log(left(), judged(verdict, "no assembly function ran")) == ("", "")


def test_a_log_that_is_not_whole_is_shown_where_it_breaks_off() -> None:
    """There the end of the suite's log is what the reason is about."""
    cut = parse_suite("nettle", "=== RUN a-test\n=== BEGIN a-test\nPASS: a\n")
    reason = f"the test log is not whole: {cut.cut}"
    assert explaining_log(left(cut), judged(Verdict.VACUOUS, reason)) == ("end of test", "stage test")


def test_a_measurement_that_is_not_whole_is_explained_by_its_log() -> None:
    """A measured cell has no suite; what went wrong stands in the log of its stage."""
    bench = (StageRecord(name="bench", status=StageStatus.OK, log="b"),)
    assert explaining_log(left(None, bench), judged(Verdict.VACUOUS)) == ("end of bench", "stage bench")


def test_a_stage_that_failed_is_explained_by_its_log() -> None:
    """Also where the case that the reason is about printed nothing."""
    broken = (STAGES[0].model_copy(update={"status": StageStatus.FAILED}), STAGES[1])
    assert explaining_log(left(None, broken), judged(Verdict.BUILD_FAILED)) == ("end of build", "stage build")
    assert explaining_log(left(), judged(Verdict.FAILED, test="rsa-test")) == ("end of test", "stage test")
    assert explaining_log(left(None, broken)) == ("end of build", "stage build")
    assert explaining_log(left(None, (STAGES[0],), build="")) == ("", "")


def test_every_report_says_whose_last_lines_it_shows() -> None:
    """Terminal, Markdown and page name the test above what it printed."""
    tail, log_of = explaining_log(left(), judged(Verdict.FAILED, test="chacha-test"))
    run = run_record(cell_record(verdict=Verdict.FAILED, log_tail=tail, log_of=log_of, outcomes=SUITE.outcomes))
    output = io.StringIO()
    print_report(run, Console(file=output, width=80))
    assert output.getvalue().index("last lines of test chacha-test:") < output.getvalue().index("Error, got:")
    text = render_markdown(run)
    assert text.index("Last lines of `test chacha-test`:") < text.index("Error, got:")
    assert "Last lines of test chacha-test<" in render_html(run)


def test_a_record_says_that_its_profile_must_fail() -> None:
    """A reader of records alone can tell a negative control that failed in the wrong way from a failure."""
    wanted = MustFail(signal="SIGILL", function="sha512_block_armv8", reason="the CPU lacks SHA512")
    control = replace(GREEN.cell, profile=replace(GREEN.cell.profile, name="forced", must_fail=wanted))
    assert blank(control).must_fail == "SIGILL in sha512_block_armv8"
    assert blank(GREEN.cell).must_fail == ""
