"""nettle's PASS, FAIL and SKIP lines, from our own runner and as ``make check`` prints them, whole and cut."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crossmatrix.outcomes import parse_suite
from crossmatrix.records import Outcome, OutcomeStatus, SuiteResult

REAL = (Path(__file__).parent.parent / "data" / "nettle-suite.log").read_text()
PLAIN = """\
PASS: aes
Illegal instruction (core dumped)
FAIL: serpent
no getrandom here
SKIP: sc-ed448
====================
1 of 2 tests failed
====================
xxxxxx
PASS: rsa-sign
PASS: aes
====================
All 2 tests passed
====================
"""


def by_name(result: SuiteResult) -> dict[str, Outcome]:
    """Give outcomes by their names."""
    return {outcome.name: outcome for outcome in result.outcomes}


def keys(result: SuiteResult) -> list[tuple[str, str, str]]:
    """Give what a log's beginning must share with the whole."""
    return [(outcome.file, outcome.case, outcome.status) for outcome in result.outcomes]


def test_a_real_log_is_read_whole() -> None:
    """Each line becomes one outcome; the programs of the suite are named as files, those of others as cases."""
    result = parse_suite("nettle", REAL)
    statuses = [outcome.status for outcome in result.outcomes]
    assert statuses.count(OutcomeStatus.PASSED) == 124
    assert statuses.count(OutcomeStatus.SKIPPED) == 8
    assert statuses.count(OutcomeStatus.FAILED) == 2
    assert (result.cut, result.hung) == ("", "")
    assert {"aes-test", "tools/sexp-conv", "examples/rsa-sign"} <= set(by_name(result))


def test_failures_say_why() -> None:
    """A signal is named with the program; else the last line that the program printed is the cause."""
    outcomes = by_name(parse_suite("nettle", REAL))
    assert outcomes["serpent-test"].cause == "died of SIGILL (illegal instruction) in program serpent"
    assert outcomes["twofish-test"].cause == "Error: 7 != 8"
    assert outcomes["twofish-test"].output.splitlines() == ["Error: 7 != 8", "FAIL: twofish"]
    assert outcomes["aes-test"].duration_s == 0.012


def test_make_checks_own_form_is_read() -> None:
    """What stands before a line belongs to it, totals of several folders are checked each, names stay unique."""
    result = parse_suite("nettle", PLAIN)
    assert [outcome.name for outcome in result.outcomes] == ["aes", "serpent", "sc-ed448", "rsa-sign", "aes/(2)"]
    assert by_name(result)["sc-ed448"].cause == "no getrandom here"
    assert result.cut == ""


def test_totals_that_do_not_fit_are_told() -> None:
    """Totals over more lines than there are show that some are missing."""
    result = parse_suite("nettle", PLAIN.replace("1 of 2", "1 of 9"))
    assert "its totals say 9 tests, 2 lines were read" in result.cut


def test_a_cut_log_says_after_which_test() -> None:
    """Nettle names a test when it ended, so all that can be said is which came before."""
    result = parse_suite("nettle", "PASS: aes\nPASS: des\n")
    assert result.hung == "the test after des"
    assert "totals" in result.cut
    after = parse_suite("nettle", PLAIN + "PASS: more\n")
    assert "1 results have no totals after them" in after.cut


def test_a_block_that_started_and_did_not_end_is_what_hung() -> None:
    """Our own runner names what was running."""
    result = parse_suite("nettle", "=== RUN aes-test\n=== RUN des-test\n=== BEGIN aes-test\nPASS: aes\n")
    assert result.hung == "aes-test, des-test"
    assert [outcome.name for outcome in result.outcomes] == ["aes-test"]


def test_a_block_that_ended_badly_without_a_line_fails() -> None:
    """A runner that died has an exit code and no line."""
    result = parse_suite("nettle", "=== RUN a-test\n=== BEGIN a-test\nboo\n=== END a-test exit=139 seconds=0.1\n")
    assert result.outcomes[0].name == "a-test"
    assert result.outcomes[0].cause == "died of SIGSEGV (segmentation fault)"
    more = "=== RUN t\n=== BEGIN t\nPASS: q\nAll 1 tests passed\n=== END t exit=2 seconds=0.1\n"
    assert parse_suite("nettle", more).outcomes[-1].name == "t/(end)"


def test_a_block_without_a_result_is_told() -> None:
    """Ending well and saying nothing is no pass."""
    result = parse_suite("nettle", "=== RUN a-test\n=== BEGIN a-test\n=== END a-test exit=0 seconds=0.1\n")
    assert "a-test ended well and shows no result" in result.cut


@pytest.mark.parametrize("tests", [1, 2, 7, 129])
def test_a_log_cut_between_two_tests_is_cut(tests: int) -> None:
    """Our runner says how many tests will come, so that a log that ends after any of them is not taken for whole."""
    ends = [end.end() for end in re.finditer(r"^=== END .*\n", REAL, re.MULTILINE)]
    result = parse_suite("nettle", re.sub(r"^=== RUN .*\n", "", REAL[: ends[tests - 1]], flags=re.MULTILINE))
    assert result.hung == ""
    assert result.cut == f"130 test programs were to be run, {tests} were read"


def test_a_log_without_a_plan_is_cut() -> None:
    """A log whose beginning is lost does not say how many tests there were."""
    assert parse_suite("nettle", REAL).cut == ""
    assert "=== PLAN" in parse_suite("nettle", REAL.partition("\n")[2]).cut


@settings(deadline=None)
@given(cut=st.integers(0, len(REAL)))
def test_a_logs_beginning_gives_the_beginning_of_its_outcomes(cut: int) -> None:
    """Any prefix of a real log parses, to a prefix of the outcomes."""
    part = parse_suite("nettle", REAL[:cut])
    assert keys(part) == keys(parse_suite("nettle", REAL))[: len(keys(part))]


@settings(deadline=None)
@given(cut=st.integers(0, len(PLAIN)))
def test_the_law_of_beginnings_holds_for_the_plain_form(cut: int) -> None:
    """The same law for the form of make check."""
    part = parse_suite("nettle", PLAIN[:cut])
    assert keys(part) == keys(parse_suite("nettle", PLAIN))[: len(keys(part))]


@settings(deadline=None)
@given(data=st.binary(max_size=400))
def test_random_bytes_never_raise(data: bytes) -> None:
    """Garbage gives no error."""
    assert parse_suite("nettle", data.decode("latin-1")).cut
