"""Assembly that ran nowhere, axes without effect, repeated warnings, fewer tests, exclusions that expired."""

from __future__ import annotations

import pytest

from crossmatrix.analysis import coverage, findings
from crossmatrix.analysis.hygiene import NOISE
from crossmatrix.catalog import Exclusion
from crossmatrix.records import (
    CellRecord,
    Evidence,
    Execution,
    Finding,
    FindingKind,
    Outcome,
    OutcomeStatus,
    TestCounts,
    Verdict,
)


def cell(
    name: str = "openssl-3.0.20/asm/gcc-12/x",
    *,
    present: tuple[str, ...] = (),
    ran: dict[str, int] | None = None,
    instructions: int = 1_000_000,
    **fields: object,
) -> CellRecord:
    """Make a passed cell with counted execution; the axes follow from its id."""
    build, _, profile = name.partition("@")
    source, variant, toolchain, target = build.split("/")
    library, _, version = source.partition("-")
    facts: dict[str, object] = {
        "id": name,
        "library": library,
        "version": version,
        "variant": variant,
        "toolchain": toolchain,
        "target": target,
        "endian": "little",
        "profile": profile or "default",
        "tier": "smoke",
        "verdict": Verdict.PASSED,
        "tests": TestCounts(passed=100),
        "outcomes": (Outcome(file="t", status=OutcomeStatus.PASSED),),
        "evidence": Evidence(
            execution=Execution(emulated=True, instructions=instructions),
            assembly_functions_present=present,
            assembly_functions_executed=ran or {},
        ),
    }
    return CellRecord.model_validate(facts | fields)


def of_kind(kind: FindingKind, *records: CellRecord) -> list[Finding]:
    """Give the findings of one kind."""
    return [finding for finding in findings(records) if finding.kind is kind]


def test_assembly_that_ran_nowhere_is_one_finding_for_each_source_and_target() -> None:
    """A function that some cell executed is not named, though another cell did not."""
    a = cell(present=("aes", "sha", "sm4"), ran={"aes": 5})
    b = cell("openssl-3.0.20/asm/clang-16/x", present=("aes", "sha", "sm4"), ran={"sha": 7})
    c = cell("openssl-3.0.20/asm/gcc-12/y", present=("sm4",), ran={"sm4": 1})
    (finding,) = of_kind(FindingKind.NEVER_EXECUTED, a, b, c)
    assert (finding.subject, finding.cells, finding.serious) == ("openssl 3.0.20 x", (b.id, a.id), False)
    assert finding.message.endswith("did not run in any of the 2 cells that have them: sm4")
    (alone,) = of_kind(FindingKind.NEVER_EXECUTED, a)
    assert alone.message.endswith("did not run in the one cell that has them: sha, sm4")


def test_what_ran_in_another_version_ran_nowhere_in_this_one() -> None:
    """Functions of one name in two versions are two pieces of code."""
    old = cell("openssl-3.0.20/asm/gcc-12/x", present=("sm4",))
    new = cell("openssl-3.5.7/asm/gcc-12/x", present=("sm4",), ran={"sm4": 9})
    (finding,) = of_kind(FindingKind.NEVER_EXECUTED, old, new)
    assert (finding.subject, finding.cells) == ("openssl 3.0.20 x", (old.id,))


def test_coverage_has_functions_by_cells() -> None:
    """The table tells absent (None), present and idle (0), and the instructions of what ran."""
    a = cell(present=("aes", "sm4"), ran={"aes": 5})
    b = cell("openssl-3.0.20/asm/clang-16/x", present=("aes",))
    (cover,) = coverage([a, b, cell("openssl-3.0.20/no-asm/gcc-12/x")])
    assert cover.cells == (a, b)
    assert cover.counts == {"aes": (5, 0), "sm4": (0, None)}
    assert (cover.functions, cover.nowhere, cover.somewhere) == (2, ("sm4",), ("aes",))


@pytest.mark.parametrize("execution", [None, Execution(emulated=False)])
def test_a_cell_that_was_not_counted_says_nothing_on_coverage(execution: Execution | None) -> None:
    """Where no plugin ran it is not known what did: no finding."""
    record = cell(evidence=Evidence(execution=execution, assembly_functions_present=("aes",)))
    assert coverage([record]) == ()
    assert of_kind(FindingKind.NEVER_EXECUTED, record) == []


def test_a_profile_that_changes_nothing_is_found() -> None:
    """The same functions and instructions, up to what the environment's size shifts, mean no effect."""
    a = cell(present=("aes",), ran={"aes": 5})
    b = cell(f"{a.id}@armcap=0x1", present=("aes",), ran={"aes": 5}, instructions=1_000_000 + NOISE)
    (finding,) = of_kind(FindingKind.AXIS_WITHOUT_EFFECT, a, b)
    assert (finding.axis, finding.cells, finding.serious) == ("profile", (b.id, a.id), False)
    assert "armcap=0x1 changed nothing against default" in finding.message


@pytest.mark.parametrize(
    ("ran", "instructions"),
    [({"aes": 5, "sha": 3}, 1_000_000), ({"aes": 5}, 1_000_001 + NOISE)],
)
def test_a_profile_that_changes_functions_or_cost_has_an_effect(ran: dict[str, int], instructions: int) -> None:
    """One more function, or more instructions than noise, is an effect."""
    a = cell(ran={"aes": 5})
    b = cell(f"{a.id}@armcap=0x1", ran=ran, instructions=instructions)
    assert of_kind(FindingKind.AXIS_WITHOUT_EFFECT, a, b) == []


def test_assembly_that_changes_nothing_is_found() -> None:
    """An asm build that silently fell back to C does just what no-asm does."""
    found = of_kind(FindingKind.AXIS_WITHOUT_EFFECT, cell(), cell("openssl-3.0.20/no-asm/gcc-12/x"))
    assert [finding.axis for finding in found] == ["assembly"]


def test_a_warning_in_nearly_all_outputs_is_found() -> None:
    """The emulator's line is found though its numbers change, and a failure's own words are not."""
    line = "qemu-riscv64: warning: vector version is not specified (pid {})"
    outcomes = tuple(
        Outcome(file=f"t{n}", status=OutcomeStatus.FAILED, output=f"{line.format(n)}\nnot ok {n} - value differs")
        for n in range(6)
    )
    (finding,) = of_kind(FindingKind.REPEATED_WARNING, cell(outcomes=outcomes, verdict=Verdict.FAILED))
    assert finding.subject.startswith("qemu-riscv64: warning: vector version")
    assert not finding.serious


def test_a_warning_repeated_in_the_log_is_found_in_green_cells_too() -> None:
    """Outcomes of passed tests keep no output; the log's tail does."""
    tail = "\n".join(f"PASS: t{n}\nqemu-arm: warning: TCG does not support requested feature" for n in range(5))
    assert len(of_kind(FindingKind.REPEATED_WARNING, cell(log_tail=tail))) == 1


def test_what_one_test_case_repeats_is_not_repeated_throughout() -> None:
    """Where the last lines are those of one test case, a line that it prints often is that test's."""
    tail = "\n".join(["qemu-arm: warning: TCG does not support requested feature"] * 5)
    assert of_kind(FindingKind.REPEATED_WARNING, cell(log_tail=tail, log_of="test aes-test")) == []


@pytest.mark.parametrize(
    "line",
    [
        "# 000000000067E748:error:1E08010C:DECODER routines:OSSL_DECODER_from_bio:unsupported",
        "qemu: uncaught target signal 4 (Illegal instruction) - core dumped",
    ],
)
def test_what_a_test_says_and_a_death_are_no_warnings(line: str) -> None:
    """A TAP comment is the test's own word, and a signal has a verdict of its own."""
    assert of_kind(FindingKind.REPEATED_WARNING, cell(log_tail="\n".join([line] * 50))) == []


def test_a_few_warnings_are_not_repeated() -> None:
    """One test's warning is that test's."""
    outcomes = tuple(
        Outcome(file=f"t{n}", status=OutcomeStatus.FAILED, output="warning: odd" if n < 4 else "failed")
        for n in range(20)
    )
    assert of_kind(FindingKind.REPEATED_WARNING, cell(outcomes=outcomes, log_tail="warning: odd")) == []


@pytest.mark.parametrize(("ran", "found"), [(100, []), (91, []), (60, [False]), (10, [True])])
def test_a_green_cell_with_fewer_tests_is_found(ran: int, found: list[bool]) -> None:
    """Below nine tenths of what the same source ran elsewhere it is named, below half it is serious."""
    less = cell("openssl-3.0.20/asm/clang-16/x", tests=TestCounts(passed=ran, skipped=100 - ran))
    findings_ = of_kind(FindingKind.FEWER_TESTS, cell(), less)
    assert [finding.serious for finding in findings_] == found
    assert all(finding.cells[0] == less.id for finding in findings_)


def test_another_tier_or_version_is_no_measure_for_the_number_of_tests() -> None:
    """Only the same source in the same tier is compared."""
    less = TestCounts(passed=1)
    assert of_kind(FindingKind.FEWER_TESTS, cell(), cell("openssl-3.5.7/asm/gcc-12/x", tests=less)) == []
    assert of_kind(FindingKind.FEWER_TESTS, cell(), cell("openssl-3.0.20/asm/gcc-13/x", tier="full", tests=less)) == []


def excuse(*tests: str, kind: str = "expected-failure") -> Exclusion:
    """Make an exclusion."""
    return Exclusion(where=(), tests=tests, kind=kind, reason="qemu lacks it", link="https://example.org/1")


def test_an_exclusion_that_is_no_longer_needed_is_found() -> None:
    """What was expected to fail passes in all cells: remove the exclusion, whose reason and link are given."""
    record = cell()
    (finding,) = findings([record], excluded={record.id: [excuse("t*")]})
    assert (finding.kind, finding.serious, finding.cells) == (FindingKind.EXCLUSION_EXPIRED, True, (record.id,))
    assert "qemu lacks it, https://example.org/1" in finding.message
    assert "all 1 cell" in finding.message
    assert "remove it" in finding.message


def test_an_exclusion_that_is_too_wide_is_found() -> None:
    """What fails in one cell and passes in another calls for a narrower scope."""
    a = cell()
    failed = (Outcome(file="t", status=OutcomeStatus.FAILED),)
    b = cell("openssl-3.0.20/asm/gcc-12/y", outcomes=failed, verdict=Verdict.EXPECTED_FAILURE)
    (finding,) = findings([a, b], excluded={a.id: [excuse("t")], b.id: [excuse("t")]})
    assert "1 of 2 cells" in finding.message
    assert "narrow its scope" in finding.message


@pytest.mark.parametrize(
    ("exclusion", "verdict"),
    [
        (excuse("t", kind="leave-out"), Verdict.PASSED),
        (excuse("other"), Verdict.PASSED),
        (excuse(), Verdict.EXPECTED_FAILURE),
        (excuse(), Verdict.INFRASTRUCTURE),
    ],
)
def test_an_exclusion_that_still_holds_or_was_not_tried_is_no_finding(exclusion: Exclusion, verdict: Verdict) -> None:
    """Nothing is said where the excuse was needed, or where nothing ran that could tell."""
    record = cell(verdict=verdict)
    assert findings([record], excluded={record.id: [exclusion]}) == ()


def test_an_unexpected_pass_is_found_once() -> None:
    """A negative control that passes is a finding; one that an exclusion explains is not told twice."""
    record = cell(verdict=Verdict.UNEXPECTED_PASS, reason="SIGILL was expected in aes_v8_encrypt")
    (finding,) = findings([record])
    assert "SIGILL was expected" in finding.message
    assert len(findings([record], excluded={record.id: [excuse()]})) == 1
