"""OpenSSL's TAP, from our own runner and as its harness prints it, whole and cut."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from crossmatrix.outcomes import parse_suite
from crossmatrix.records import Outcome, OutcomeStatus, SuiteResult

DATA = Path(__file__).parent.parent / "data"
REAL = (DATA / "openssl-suite.log").read_text()
HUNG = (DATA / "openssl-suite-hung.log").read_text()

VERBOSE = """\
recipes/01-test_a.t ..
1..4
ok 1 - first \\# with hash
    # Subtest: ../../test/inner
    1..2
    ok 1 - x
        1..3
        ok 1 - iteration 1
        not ok 2 - iteration 2
        ok 3 - iteration 3
    not ok 2 - test_deep
../../util/wrap.pl ../../test/inner => 1
not ok 2 - running inner

#   Failed test 'running inner'
#   at recipes/01-test_a.t line 4.
ok 3 # skip no dso
not ok 4 - later # TODO not yet
Dubious, test returned 1 (wstat 256, 0x100)
Failed 1/4 subtests
\t(less 1 skipped subtest: 2 okay)
recipes/02-test_b.t .. skipped: not supported here
recipes/03-test_c.t ..
1..3
ok 1 - one
qemu: uncaught target signal 4 (Illegal instruction) - core dumped
# Looks like your test exited with 132 just after 1.
Dubious, test returned 132 (wstat 33792, 0x8400)
Failed 2/3 subtests
recipes/04-test_d.t ..
1..2
ok 1 - one
Failed 1/2 subtests
recipes/05-test_e.t ..
1..1
ok 1 - last
ok       45 ms ( 0.00 usr  0.00 sys +  0.02 cusr  0.01 csys =  0.03 CPU)

Test Summary Report
-------------------
recipes/01-test_a.t (Wstat: 256 (exited 1) Tests: 4 Failed: 1)
  Failed test:  2
recipes/04-test_d.t (Wstat: 11 (Signal: SEGV) Tests: 1 Failed: 0)
  Parse errors: Bad plan.  You planned 2 tests but ran 1.
Files=5, Tests=7,  0 wallclock secs ( 0.02 usr  0.00 sys +  0.15 cusr  0.04 csys =  0.21 CPU)
Result: FAIL
"""
QUIET = """\
[13:20:58] 02-test_b.t .. skipped: not supported here
[13:20:58] 05-test_e.t .. ok       35 ms ( 0.01 usr  0.00 sys +  0.01 cusr  0.03 csys =  0.05 CPU)
06-test_f.t .............. ok
"""

ODD_LINES = """\
1..2
ok 1 - a
not ok 2
    not ok 1 - s
=== RUN x
=== BEGIN x
=== BEGIN y
=== END x exit=0 seconds=1.0
Bail out!
01-a.t ..
01-b.t .. ok
ok
Files=1, Tests=1, 0
1..0 # skip q
Test Summary Report
01-a.t (Wstat: 11 x
Dubious, test returned 1 (wstat 1)
# c
ok 1 # TODO
""".splitlines()


def by_name(result: SuiteResult) -> dict[str, Outcome]:
    """Give outcomes by their names."""
    return {outcome.name: outcome for outcome in result.outcomes}


def keys(result: SuiteResult) -> list[tuple[str, str, str]]:
    """Give what a log's beginning must share with the whole."""
    return [(outcome.file, outcome.case, outcome.status) for outcome in result.outcomes]


def block(body: str, *, name: str = "15-test_x", code: int = 0, tests: int = 1, end: bool = True) -> SuiteResult:
    """Parse a log of our own runner's with one block."""
    log = f"=== RUN {name}\n=== BEGIN {name}\n{body}"
    log += f"=== END {name} exit={code} seconds=1.500\nFiles=1, Tests={tests},  0 wallclock secs\n" if end else ""
    return parse_suite("openssl", log)


def test_a_real_log_is_read_whole() -> None:
    """Every result line becomes one outcome, as many as the harness counts, and nothing is said to be missing."""
    result = parse_suite("openssl", REAL)
    cases = [outcome for outcome in result.outcomes if outcome.case]
    assert len(cases) == 12
    assert result.cut == ""
    assert result.hung == ""


def test_a_program_that_died_is_named_with_its_signal() -> None:
    """An exit code of 132 is told as SIGILL, and the last lines that were printed are kept."""
    outcome = by_name(parse_suite("openssl", REAL))["15-test_sha/running sha_test"]
    assert outcome.status is OutcomeStatus.FAILED
    assert outcome.cause == "died of SIGILL (illegal instruction) in program sha_test"
    assert "=> 132" in outcome.output
    assert "Failed test 'running sha_test'" in outcome.output


def test_an_abort_that_a_passing_test_wanted_is_no_failure() -> None:
    """What a passing case printed is not held against it."""
    outcome = by_name(parse_suite("openssl", REAL))["01-test_abort/Testing that abort is caught correctly"]
    assert outcome.status is OutcomeStatus.PASSED
    assert outcome.cause == ""


def test_a_file_with_one_case_has_its_duration() -> None:
    """The duration is that of the file, so a case has one only where it stands alone."""
    outcomes = by_name(parse_suite("openssl", REAL))
    assert outcomes["90-test_time_offset/running time_offset_test"].duration_s == 14.543
    assert outcomes["90-test_includes/test directory includes"].duration_s is None


def test_a_cut_log_names_what_hung() -> None:
    """A file that started and has no block is what hung; what had ended is read."""
    result = parse_suite("openssl", HUNG)
    assert result.hung == "90-test_time_offset"
    assert "90-test_time_offset started and did not end" in result.cut
    assert len(result.outcomes) == 12


def test_the_harness_own_form_is_read() -> None:
    """Verbose output of Perl's harness gives the same kinds of outcome."""
    result = parse_suite("openssl", VERBOSE)
    outcomes = by_name(result)
    assert [outcome.status.value for outcome in result.outcomes] == [
        *("passed", "failed", "skipped", "skipped", "skipped", "passed", "failed", "passed", "failed", "passed"),
    ]
    assert outcomes["01-test_a/first # with hash"].status is OutcomeStatus.PASSED
    assert outcomes["01-test_a/case 3"].cause == "no dso"
    assert outcomes["01-test_a/later"].cause == "TODO, fails as upstream expects: not yet"
    assert outcomes["02-test_b"].cause == "not supported here"
    assert outcomes["05-test_e/last"].duration_s == 0.045


def test_failed_subtests_are_named() -> None:
    """The cause of a failed case names the function and the iteration that failed inside."""
    outcome = by_name(parse_suite("openssl", VERBOSE))["01-test_a/running inner"]
    assert outcome.cause == "failed: test_deep (iteration 2)"


def test_a_file_that_died_between_cases_fails_itself() -> None:
    """Where no case failed and the file ended badly, the file is an outcome that says how many cases are missing."""
    outcomes = by_name(parse_suite("openssl", VERBOSE))
    assert outcomes["03-test_c"].cause == "died of SIGILL (illegal instruction); 2 of 3 cases did not run"
    assert outcomes["04-test_d"].cause == "died of SIGSEGV (segmentation fault); 1 of 2 cases did not run"


def test_the_quiet_form_gives_one_outcome_a_file() -> None:
    """Without TAP a file is the case, with its duration where it is printed."""
    result = parse_suite("openssl", QUIET)
    assert [(outcome.name, outcome.status.value, outcome.duration_s) for outcome in result.outcomes] == [
        ("02-test_b", "skipped", None),
        ("05-test_e", "passed", 0.035),
        ("06-test_f", "passed", None),
    ]
    assert "totals" in result.cut


def test_a_file_without_an_end_before_the_next_is_cut() -> None:
    """The next header shows that the file before it never ended."""
    log = "a/01-x.t ..\n1..2\nok 1 - a\na/02-y.t ..\n1..1\nok 1 - b\nok\nFiles=2, Tests=2, 1 wallclock\n"
    result = parse_suite("openssl", log)
    assert result.hung == "01-x"
    assert "01-x started and did not end" in result.cut


def test_names_in_a_file_are_unique() -> None:
    """A repeated name gets a number, also where the numbered name is taken."""
    result = block("1..4\nok 1 - a\nok 2 - a (2)\nok 3 - a\nok 4\n", tests=4)
    assert [outcome.case for outcome in result.outcomes] == ["a", "a (2)", "a (3)", "case 4"]
    assert result.cut == ""


def test_bail_out_fails_the_file() -> None:
    """The words of a bail-out are the cause."""
    result = block("1..2\nok 1 - a\nBail out!  no memory\n", code=255)
    assert result.outcomes[-1].cause == "bailed out: no memory"
    assert result.outcomes[-1].status is OutcomeStatus.FAILED


def test_a_bad_end_without_a_failed_case_is_a_failure() -> None:
    """An exit code other than 0 is never lost."""
    result = block("1..1\nok 1 - a\n", code=255)
    assert result.outcomes[-1].name == "15-test_x"
    assert result.outcomes[-1].cause == "ended with exit code 255 and no failed case"


@pytest.mark.parametrize(
    ("body", "tests", "words"),
    [
        ("1..3\nok 1 - a\n", 1, "planned 3 cases and shows 1"),
        ("1..1\nok 1 - a\nok 2 - b\n", 2, "planned 1 cases and shows 2"),
        ("hello\n", 0, "ended well and shows no result"),
        ("1..1\nok 1 - a\n", 7, "say 7 tests, 1 were read"),
    ],
)
def test_a_log_that_contradicts_itself_is_cut(body: str, tests: int, words: str) -> None:
    """A plan or a total that does not fit the results is told."""
    assert words in block(body, tests=tests).cut


def test_the_emulators_own_fault_is_the_cause() -> None:
    """A case that failed with the emulator's words says so."""
    result = block("1..1\nqemu: unhandled CPU exception 0x10 - aborting\nnot ok 1 - a\n", code=1)
    assert result.outcomes[0].cause == "emulator fault: qemu: unhandled CPU exception 0x10 - aborting"


def test_our_own_fault_line_gives_address_and_symbol() -> None:
    """The evidence of where a program died lands in the cause."""
    body = (
        "qemu: uncaught target signal 4 (Illegal instruction) - core dumped\n"
        "crossmatrix: fault pc=0x41F2C0 symbol=sha512_block_armv8 program=sha_test\nnot ok 1 - a\n"
    )
    words = "died of SIGILL (illegal instruction) in program sha_test in function sha512_block_armv8 at 0x41f2c0"
    assert block(body, code=1).outcomes[0].cause == words


def test_colours_and_carriage_returns_do_not_matter() -> None:
    """The same log through a terminal gives the same outcomes."""
    coloured = "".join(f"\x1b[32m{line}\x1b[0m\r\n" for line in REAL.splitlines())
    assert parse_suite("openssl", coloured).outcomes == parse_suite("openssl", REAL).outcomes


def test_an_incomplete_last_line_is_not_read() -> None:
    """A name that was cut in the middle would be another test's name."""
    result = block("1..2\nok 1 - abc\nok 2 - ab", end=False)
    assert [outcome.case for outcome in result.outcomes] == ["abc"]
    assert "its last line is incomplete: 'ok 2 - ab'" in result.cut


@pytest.mark.parametrize("log", ["", "\n", "make: *** [Makefile:12: test] Error 2\n"])
def test_a_log_without_results_says_so(log: str) -> None:
    """No outcomes and a reason, never an error."""
    result = parse_suite("openssl", log)
    assert result.outcomes == ()
    assert result.cut


@settings(deadline=None)
@example(cut=REAL.index("=== RUN 01-test_abort"))
@example(cut=REAL.index("Result: NOTESTS"))
@given(cut=st.integers(0, len(REAL)))
def test_a_logs_beginning_gives_the_beginning_of_its_outcomes(cut: int) -> None:
    """Any prefix of a real log parses, to a prefix of the outcomes, and a shorter one is said to be cut."""
    part = parse_suite("openssl", REAL[:cut])
    whole = keys(parse_suite("openssl", REAL))
    assert keys(part) == whole[: len(keys(part))]
    assert part.cut or len(keys(part)) == len(whole)


@settings(deadline=None)
@given(cut=st.integers(0, len(VERBOSE)))
def test_the_law_of_beginnings_holds_for_the_harness_form(cut: int) -> None:
    """The same law for the form of Perl's harness."""
    part = parse_suite("openssl", VERBOSE[:cut])
    assert keys(part) == keys(parse_suite("openssl", VERBOSE))[: len(keys(part))]
    assert part.cut or cut >= VERBOSE.index("Result: FAIL")


@settings(deadline=None)
@given(data=st.binary(max_size=400))
def test_random_bytes_never_raise(data: bytes) -> None:
    """Garbage gives no outcome by accident and no error."""
    assert parse_suite("openssl", data.decode("latin-1")).cut


@settings(deadline=None)
@given(
    lines=st.lists(st.sampled_from(ODD_LINES), max_size=30),
)
def test_names_are_unique_whatever_the_log(lines: list[str]) -> None:
    """Lines of a log in any order give outcomes with names of their own, and failures have causes."""
    result = parse_suite("openssl", "".join(f"{line}\n" for line in lines))
    names = [outcome.name for outcome in result.outcomes]
    assert len(names) == len(set(names))
    assert all(outcome.cause for outcome in result.outcomes if outcome.status is OutcomeStatus.FAILED)
