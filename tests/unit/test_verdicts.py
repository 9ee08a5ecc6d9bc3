"""Each row of the table of verdicts, and which row comes first where two hold."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.unit.evidence_samples import cell

from crossmatrix.catalog import Exclusion, MustFail, Profile
from crossmatrix.outcomes import Case, Judgement, judge, parse_suite
from crossmatrix.outcomes.faults import SIGNALS, Fault, FaultKind, read_words
from crossmatrix.outcomes.last_words import death_words
from crossmatrix.records import Outcome, OutcomeStatus, StageRecord, StageStatus, SuiteResult, Verdict

OK = StageStatus.OK
BUILD = (
    StageRecord(name="unpack", status=OK),
    StageRecord(name="configure", status=OK),
    StageRecord(name="build", status=OK),
)
RUN = (
    StageRecord(name="emulator", status=OK),
    StageRecord(name="evidence", status=OK),
    StageRecord(name="vectors", status=OK),
    StageRecord(name="test", status=OK, exit_code=0),
)
PASSES = SuiteResult(
    outcomes=(
        Outcome(file="15-a", case="x", status=OutcomeStatus.PASSED),
        Outcome(file="16-b", case="y", status=OutcomeStatus.PASSED),
    )
)
ILL = "died of SIGILL (illegal instruction) in program sha_test"
EMULATOR = "emulator fault: qemu: unhandled CPU exception 0x10 - aborting"


def failing(*causes: str) -> SuiteResult:
    """Give a suite with one passed case and one failed for each cause."""
    failed = (
        Outcome(file="30-f", case=f"f{n}", status=OutcomeStatus.FAILED, cause=cause) for n, cause in enumerate(causes)
    )
    return SuiteResult(outcomes=(*PASSES.outcomes, *failed))


def ended(
    stages: tuple[StageRecord, ...],
    name: str,
    status: StageStatus,
    code: int | None = None,
) -> tuple[StageRecord, ...]:
    """Let one stage end otherwise."""
    changed = {"status": status, "exit_code": code, "duration_s": 90.0}
    return tuple(stage.model_copy(update=changed) if stage.name == name else stage for stage in stages)


def excuse(*tests: str, kind: str = "expected-failure") -> Exclusion:
    """Give an exclusion that matches the cell."""
    return Exclusion(where=(), tests=tests, kind=kind, reason="qemu lacks it", link="https://example.org/1")


def verdict(suite: SuiteResult | None = PASSES, **overrides: object) -> Judgement:
    """Judge the green cell with some things changed."""
    given: dict[str, object] = {"cell": cell(), "build_stages": BUILD, "run_stages": RUN} | overrides
    return judge(Case(suite=suite, **given))  # type: ignore[arg-type]


def control(suite: SuiteResult | None = PASSES, **overrides: object) -> Judgement:
    """Judge a negative control."""
    must_fail = MustFail(signal="SIGILL", function="sha512_block_armv8", reason="the CPU lacks SHA512")
    profile = Profile(name="forced", description="", emulator="qemu-7.2", cpu="cortex-a72", must_fail=must_fail)
    return verdict(suite, cell=replace(cell(), profile=profile), **overrides)


def test_row_1_unsupported() -> None:
    """An exclusion that says so gives its reason and link, whatever ran."""
    found = verdict(exclusions=(excuse(kind="unsupported"),), infrastructure="gone")
    assert found == Judgement(verdict=Verdict.UNSUPPORTED, reason="qemu lacks it (https://example.org/1)")


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        ({"infrastructure": "the engine stopped answering"}, "stopped answering"),
        ({"build_stages": ended(BUILD, "unpack", StageStatus.FAILED, 2)}, "stage unpack"),
        (
            {
                "run_stages": ended(RUN, "emulator", StageStatus.FAILED, 126),
                "logs": {"emulator": "crossmatrix: infrastructure: qemu-x cannot start"},
            },
            "qemu-x cannot start",
        ),
        (
            {
                "build_stages": ended(BUILD, "build", StageStatus.FAILED, 2),
                "logs": {"build": "cc: write: No space left on device\nmake: error"},
            },
            "No space left on device",
        ),
        (
            {
                "run_stages": ended(RUN, "evidence", StageStatus.FAILED, 126),
                "logs": {"evidence": "sh: workload: cannot execute binary file: Exec format error"},
            },
            "xec format error",
        ),
        ({"build_stages": ended(BUILD, "build", StageStatus.FAILED, 137)}, "memory limit"),
    ],
)
def test_row_2_infrastructure(overrides: dict[str, object], words: str) -> None:
    """The engine, a full disk, a missing emulator or a kill from outside is nobody's bug."""
    found = verdict(None, **overrides)
    assert found.verdict is Verdict.INFRASTRUCTURE
    assert words in found.reason


def test_row_2_needs_a_stage_that_failed() -> None:
    """Words in the log of a stage that went well mean nothing."""
    assert verdict(logs={"build": "No space left on device"}).verdict is Verdict.PASSED


def test_row_3_aborted() -> None:
    """An interrupted stage, or nothing at all, is no verdict on the library."""
    found = verdict(None, run_stages=ended(RUN, "test", StageStatus.INTERRUPTED))
    assert found == Judgement(verdict=Verdict.ABORTED, reason="interrupted in stage test")
    assert verdict(None, build_stages=(), run_stages=()).verdict is Verdict.ABORTED


def test_row_4_timed_out_names_what_hung() -> None:
    """A suite that was ended names the test that was running, other stages themselves."""
    stages = ended(RUN, "test", StageStatus.TIMED_OUT)
    found = verdict(PASSES.model_copy(update={"hung": "90-test_time_offset", "cut": "cut"}), run_stages=stages)
    assert found.verdict is Verdict.TIMED_OUT
    assert found.reason == "90-test_time_offset hung; stage test was ended after 90 s"
    assert "the last result was that of 16-b/y" in verdict(PASSES, run_stages=stages).reason
    assert "no test had ended" in verdict(SuiteResult(), run_stages=stages).reason
    built = verdict(None, build_stages=ended(BUILD, "build", StageStatus.TIMED_OUT), run_stages=())
    assert built == Judgement(verdict=Verdict.TIMED_OUT, reason="stage build was ended after 90 s")


def test_row_5_configure_failed() -> None:
    """Configure has a verdict of its own, with the first error of its log."""
    stages = ended(BUILD, "configure", StageStatus.FAILED, 1)
    found = verdict(None, build_stages=stages, run_stages=(), logs={"configure": "checking\nerror: no m4\n"})
    assert found == Judgement(
        verdict=Verdict.CONFIGURE_FAILED, reason="stage configure failed with exit code 1: error: no m4"
    )


def test_row_6_build_failed() -> None:
    """Any other stage of the build job that failed is the build."""
    stages = ended(BUILD, "build", StageStatus.FAILED, 2)
    found = verdict(None, build_stages=stages, run_stages=())
    assert found == Judgement(verdict=Verdict.BUILD_FAILED, reason="stage build failed with exit code 2")


def test_row_7_a_negative_control_fails_as_it_must() -> None:
    """The right signal in the right function is what was expected."""
    log = (
        "qemu: uncaught target signal 4 (Illegal instruction) - core dumped\n"
        "crossmatrix: fault signal=SIGILL pc=0x41f2c0 symbol=sha512_block_armv8 program=workload\n"
    )
    found = control(failing(ILL), run_stages=ended(RUN, "evidence", StageStatus.FAILED, 132), logs={"evidence": log})
    assert found.verdict is Verdict.EXPECTED_FAILURE
    assert "in function sha512_block_armv8 at 0x41f2c0, as it must be: the CPU lacks SHA512" in found.reason


def test_row_8_a_negative_control_that_passes_is_a_finding() -> None:
    """Passing shows that emulator or variable has no effect, evidence or not."""
    found = control(vacuous=("no assembly function ran",))
    assert found.verdict is Verdict.UNEXPECTED_PASS
    assert "must fail with SIGILL in sha512_block_armv8" in found.reason


@pytest.mark.parametrize(
    ("suite", "log", "words"),
    [
        (PASSES, "crossmatrix: fault signal=SIGILL symbol=other program=w", "in function other"),
        (PASSES, "crossmatrix: fault signal=SIGSEGV symbol=sha512_block_armv8", "died of SIGSEGV"),
        (PASSES, "qemu: uncaught target signal 4 (Illegal instruction) - core dumped", "could not be told"),
        (failing("wrong digest"), "", "no program died: 30-f/f0 failed: wrong digest"),
    ],
)
def test_row_9_a_negative_control_that_fails_otherwise(suite: SuiteResult, log: str, words: str) -> None:
    """Another function, another signal, or no signal is a failure that says what was wanted."""
    stages = ended(RUN, "evidence", StageStatus.FAILED, 132) if log else RUN
    found = control(suite, run_stages=stages, logs={"evidence": log})
    assert found.verdict is Verdict.FAILED
    assert words in found.reason
    assert "must fail with SIGILL in sha512_block_armv8" in found.reason


def test_row_9_a_control_that_was_not_run_has_not_passed() -> None:
    """Without a run stage there is nothing to be expected."""
    assert control(None, run_stages=()).verdict is Verdict.ABORTED


def test_row_10_emulator_crashed() -> None:
    """Where every failure is the emulator's own, it is blamed."""
    stages = ended(RUN, "test", StageStatus.FAILED, 1)
    found = verdict(failing(EMULATOR, EMULATOR), run_stages=stages)
    assert found.verdict is Verdict.EMULATOR_CRASHED
    assert found.reason == "qemu-7.2: qemu: unhandled CPU exception 0x10 - aborting"


def test_row_10_one_real_failure_is_not_blamed_on_the_emulator() -> None:
    """A failure without the emulator's words beside others with them is the library's."""
    assert verdict(failing(EMULATOR, "wrong digest")).verdict is Verdict.FAILED


def test_row_10_infrastructure_in_every_failed_case() -> None:
    """A disk that filled up while the suite ran is no test failure."""
    found = verdict(failing("infrastructure fault: No space left on device"))
    assert found == Judgement(verdict=Verdict.INFRASTRUCTURE, reason="No space left on device", test="30-f/f0")


def test_row_11_a_whole_cell_that_is_expected_to_fail() -> None:
    """An exclusion without tests covers a crash and every failure."""
    found = verdict(failing(ILL), exclusions=(excuse(),), vacuous=("the plugin left no counts",))
    assert found.verdict is Verdict.EXPECTED_FAILURE
    assert found.reason.startswith(f"30-f/f0: {ILL}; expected: qemu lacks it")


def test_row_12_crashed_names_signal_and_program() -> None:
    """A signal comes before other failures and names the others too."""
    found = verdict(failing("wrong digest", ILL))
    assert found == Judgement(verdict=Verdict.CRASHED, reason=f"30-f/f1: {ILL}; failed too: 30-f/f0", test="30-f/f1")
    stages = ended(RUN, "vectors", StageStatus.FAILED, 139)
    assert verdict(run_stages=stages).reason == "stage vectors: died of SIGSEGV (segmentation fault)"


@pytest.mark.parametrize("number", [number for number, name in SIGNALS.items() if name != "SIGKILL"])
def test_a_program_that_aborts_itself_failed_and_every_other_signal_is_a_crash(number: int) -> None:
    """SIGABRT is a program's own word on a failed check, in a test as in the workload; no other signal is."""
    wanted = Verdict.FAILED if SIGNALS[number] == "SIGABRT" else Verdict.CRASHED
    assert verdict(failing(f"died of {SIGNALS[number]} (words) in program sha_test")).verdict is wanted
    for stage in ("vectors", "evidence", "test"):
        assert verdict(run_stages=ended(RUN, stage, StageStatus.FAILED, 128 + number)).verdict is wanted


def test_a_crash_comes_before_a_program_that_aborted_itself() -> None:
    """Of two failed cases the one that the CPU ended is named first."""
    found = verdict(failing("died of SIGABRT (aborted) in program a", ILL))
    assert (found.verdict, found.test) == (Verdict.CRASHED, "30-f/f1")


def test_a_wrong_answer_of_a_real_log_is_a_failure_with_the_programs_words() -> None:
    """Nettle's tests abort on a mismatch: the cell failed, and its reason has what the test said, not its dump."""
    log = (
        "=== PLAN 1\n=== RUN chacha-test\n=== BEGIN chacha-test\nError, expected:\n76b8 e0ad\nError, got:\n0000\n"
        "qemu: uncaught target signal 6 (Aborted) - core dumped\nAborted (core dumped)\nFAIL: chacha\n"
        "=== END chacha-test exit=1 seconds=0.1\n"
    )
    found = verdict(parse_suite("nettle", log), run_stages=ended(RUN, "test", StageStatus.FAILED, 1))
    reason = "chacha-test: died of SIGABRT (aborted) in program chacha (it said: Error, expected)"
    assert found == Judgement(verdict=Verdict.FAILED, reason=reason, test="chacha-test")


def test_a_stage_that_aborts_itself_says_why() -> None:
    """The words of the workload's failed check stand in the reason."""
    log = "one\nworkload: aes-128-gcm: wrong tag\nAborted\n"
    found = verdict(run_stages=ended(RUN, "vectors", StageStatus.FAILED, 134), logs={"vectors": log})
    assert found.reason == "stage vectors: died of SIGABRT (aborted) (it said: workload: aes-128-gcm: wrong tag)"


@pytest.mark.parametrize("program", ["", "sha_test"])
@pytest.mark.parametrize(
    "printed",
    [
        ("Error, expected:", "00 11"),
        ("emulator fault: no", "Aborted"),
        ("error: died of SIGILL (illegal instruction)",),
        ("Assert failed: x.c:3: died of SIGSEGV in function f at 0x1",),
        ("7f 00 1e",),
        (),
    ],
)
def test_last_words_do_not_change_what_a_death_is_read_as(printed: tuple[str, ...], program: str) -> None:
    """Whatever a program says before it aborts, the cause is read back as that death."""
    fault = Fault(kind=FaultKind.PROGRAM, what="SIGABRT", program=program)
    assert read_words(death_words(fault, printed)) == fault


def test_row_13_failed() -> None:
    """A failed case, a suite that ended badly without one, or a failed workload."""
    assert verdict(failing("wrong digest")).reason == "30-f/f0: wrong digest"
    silent = verdict(run_stages=ended(RUN, "test", StageStatus.FAILED, 2))
    assert silent == Judgement(verdict=Verdict.FAILED, reason="stage test failed with exit code 2 and no failed test")
    assert verdict(run_stages=ended(RUN, "vectors", StageStatus.FAILED, 1)).verdict is Verdict.FAILED


def test_row_14_a_stage_that_was_not_run() -> None:
    """A cell whose tests or evidence never ran is aborted, not green."""
    found = verdict(run_stages=ended(RUN, "vectors", StageStatus.NOT_RUN))
    assert found == Judgement(verdict=Verdict.ABORTED, reason="stage vectors was not run")
    assert verdict(run_stages=RUN[:-1]).reason == "its tests were not run"


def test_row_15_vacuous() -> None:
    """Green without evidence shows the gravest reason first, then all others; a cut log is one."""
    found = verdict(vacuous=("no assembly function ran", "no version"))
    assert found.verdict is Verdict.VACUOUS
    assert found.reason == "no assembly function ran (and 1 more: no version)"
    cut = verdict(PASSES.model_copy(update={"cut": "its last line is incomplete"}))
    assert cut.reason == "the test log is not whole: its last line is incomplete"
    assert verdict(None).verdict is Verdict.VACUOUS


def test_row_16_an_expired_exclusion() -> None:
    """What is excused and passed is a finding with the reason that is no more needed."""
    found = verdict(exclusions=(excuse("15-a*"),))
    assert found.verdict is Verdict.UNEXPECTED_PASS
    assert found.reason == "15-a* passed, though excused: qemu lacks it (https://example.org/1)"
    assert verdict(exclusions=(excuse(),)).reason.startswith("the whole cell passed")


def test_row_16_an_excuse_for_what_did_not_run_has_not_expired() -> None:
    """A test that this tier does not run says nothing on its excuse."""
    assert verdict(exclusions=(excuse("99-z"),)).verdict is Verdict.PASSED
    assert verdict(exclusions=(excuse("15-a", kind="leave-out"),)).verdict is Verdict.PASSED


def test_row_17_expected_failure() -> None:
    """Failed cases that are all excused by name give an expected failure, crash or not."""
    stages = ended(RUN, "test", StageStatus.FAILED, 1)
    found = verdict(failing(ILL), run_stages=stages, exclusions=(excuse("30-f/*"),))
    assert found.verdict is Verdict.EXPECTED_FAILURE
    assert "30-f/f0 failed, as expected" in found.reason
    partly = verdict(failing(ILL, "wrong digest"), run_stages=stages, exclusions=(excuse("30-f/f0"),))
    assert partly == Judgement(verdict=Verdict.FAILED, reason="30-f/f1: wrong digest", test="30-f/f1")
    lying = verdict(failing(ILL), exclusions=(excuse("30-f/*"),), vacuous=("wrong byte order",))
    assert lying.verdict is Verdict.VACUOUS


def test_row_18_passed() -> None:
    """A green cell says how much passed."""
    assert verdict() == Judgement(verdict=Verdict.PASSED, reason="2 tests passed, 0 skipped")


def test_a_measured_cell_needs_no_suite() -> None:
    """A run job that measures has no tests to be missed, and fails as others do."""
    stages = (StageRecord(name="emulator", status=OK), StageRecord(name="bench", status=OK))
    assert verdict(None, run_stages=stages) == Judgement(verdict=Verdict.PASSED, reason="measured")
    failed = ended(stages, "bench", StageStatus.FAILED, 1)
    assert verdict(None, run_stages=failed).reason == "stage bench failed with exit code 1"


def test_a_real_log_is_judged() -> None:
    """A program that died in a real log makes its cell crashed, with its name."""
    log = (
        "=== RUN a\n=== BEGIN a\n1..1\nqemu-aarch64 ../test/sha_test => 132\nnot ok 1 - sha\n"
        "=== END a exit=1 seconds=0.1\nFiles=1, Tests=1, 0\n"
    )
    found = verdict(parse_suite("openssl", log), run_stages=ended(RUN, "test", StageStatus.FAILED, 1))
    assert found == Judgement(verdict=Verdict.CRASHED, reason=f"a/sha: {ILL}", test="a/sha")


def test_every_verdict_can_be_reached() -> None:
    """The table has a row for each verdict that there is."""
    assert judge.__doc__ is not None
    assert all(f"{value.value}\n" in judge.__doc__ for value in Verdict)
