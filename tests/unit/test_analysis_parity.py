"""Reference parity and the pairing of cells."""

from __future__ import annotations

from itertools import product

import pytest

from crossmatrix.analysis import are_siblings, findings, without_endian
from crossmatrix.analysis.siblings import in_common, reference_pairs
from crossmatrix.catalog import Exclusion
from crossmatrix.records import CellRecord, Finding, FindingKind, Outcome, OutcomeStatus, TestCounts, Verdict

LITTLE, BIG = "aarch64-linux-musl", "aarch64_be-linux-musl"


def cell(  # noqa: PLR0913 - a cell has that many axes
    variant: str = "asm",
    toolchain: str = "gcc-12",
    target: str = LITTLE,
    *,
    profile: str = "default",
    failed: tuple[str, ...] = (),
    passed: tuple[str, ...] = ("a", "b", "c"),
    verdict: Verdict | None = None,
    library: str = "nettle",
    version: str = "3.10.2",
) -> CellRecord:
    """Make the record of one cell whose tests ended as told."""
    outcomes = tuple(Outcome(file=name, status=OutcomeStatus.FAILED) for name in failed)
    outcomes += tuple(Outcome(file=name, status=OutcomeStatus.PASSED) for name in passed if name not in failed)
    suffix = "" if profile == "default" else f"@{profile}"
    return CellRecord(
        id=f"{library}-{version}/{variant}/{toolchain}/{target}{suffix}",
        library=library,
        version=version,
        variant=variant,
        toolchain=toolchain,
        target=target,
        endian="big" if target == BIG else "little",
        profile=profile,
        tier="full",
        verdict=verdict or (Verdict.FAILED if failed else Verdict.PASSED),
        outcomes=outcomes,
        tests=TestCounts(passed=len(outcomes) - len(failed), failed=len(failed)),
    )


def parity_of(*records: CellRecord) -> list[Finding]:
    """Give the parity findings of some cells."""
    return [finding for finding in findings(records) if finding.kind is FindingKind.REFERENCE_PARITY]


@pytest.mark.parametrize(
    ("reference", "broken", "axis"),
    [
        (cell("no-asm"), cell("asm", failed=("b",)), "assembly"),
        (cell(), cell(target=BIG, failed=("b",)), "endian"),
        (cell(), cell(toolchain="clang-16", failed=("b",)), "compiler"),
        (cell(toolchain="clang-16"), cell(failed=("b",)), "compiler"),
        (cell(), cell(toolchain="gcc-14", failed=("b",)), "toolchain"),
        (cell(), cell(profile="armcap=0x1", failed=("b",)), "profile"),
        (cell(profile="armcap=0x1"), cell(failed=("b",)), "profile"),
    ],
)
def test_a_case_that_fails_along_one_axis_is_a_finding(reference: CellRecord, broken: CellRecord, axis: str) -> None:
    """A case that passes in one cell and fails in its neighbour names the axis, the case and both cells."""
    (finding,) = parity_of(broken, reference)
    assert (finding.axis, finding.subject, finding.cells) == (axis, "b", (reference.id, broken.id))
    assert finding.serious
    assert not finding.message.startswith(axis)
    assert reference.id in finding.message
    assert broken.id in finding.message


@pytest.mark.parametrize(
    ("reference", "broken"),
    [
        (cell("no-asm"), cell("asm", toolchain="clang-16", failed=("b",))),
        (cell(version="3.8.1"), cell("asm", target=BIG, failed=("b",))),
        (cell(library="openssl"), cell(target=BIG, failed=("b",))),
        (cell("asm"), cell("fat", failed=("b",))),
    ],
)
def test_cells_that_differ_in_two_axes_are_not_held_against_each_other(
    reference: CellRecord, broken: CellRecord
) -> None:
    """Two differences, another version or another library make no pair: nothing could be blamed."""
    assert parity_of(reference, broken) == []


def test_a_case_that_fails_everywhere_is_no_parity_finding() -> None:
    """A plain failure is the cells' verdict and says nothing on an axis."""
    records = [
        cell(variant, toolchain, target, failed=("b",))
        for variant, toolchain, target in product(("asm", "no-asm"), ("gcc-12", "clang-16"), (LITTLE, BIG))
    ]
    assert parity_of(*records) == []


def test_one_defect_in_many_cases_and_cells_is_one_finding_an_axis() -> None:
    """Fifty cases that fail in big-endian assembly under both compilers give two findings: assembly and endian."""
    cases = tuple(f"case-{number:02}" for number in range(50))
    records = [
        cell(v, c, t, passed=(*cases, "ok"), failed=cases if (v, t) == ("asm", BIG) else ())
        for v, c, t in product(("asm", "no-asm"), ("gcc-12", "clang-16"), (LITTLE, BIG))
    ]
    found = parity_of(*records)
    assert [finding.axis for finding in found] == ["assembly", "endian"]
    assert found[0].subject == "case-00 (+49)"
    assert "50 cases (case-00, case-01, case-02 and 47 more)" in found[0].message
    assert "1 more pair of cells" in found[0].message
    assert len(found[0].cells) == 4


@pytest.mark.parametrize(
    ("verdict", "subject"),
    [
        (Verdict.BUILD_FAILED, "build"),
        (Verdict.CRASHED, "the program under test"),
        (Verdict.FAILED, "the program under test"),
    ],
)
def test_what_fails_as_a_whole_with_assembly_alone_is_a_parity_finding(verdict: Verdict, subject: str) -> None:
    """A cell that never reached its tests is held against its reference as a whole."""
    (finding,) = parity_of(cell("no-asm"), cell("asm", passed=(), verdict=verdict))
    assert (finding.axis, finding.subject) == ("assembly", subject)


@pytest.mark.parametrize(
    "verdict",
    [Verdict.EXPECTED_FAILURE, Verdict.EMULATOR_CRASHED, Verdict.INFRASTRUCTURE, Verdict.ABORTED],
)
def test_what_is_excused_breaks_no_parity(verdict: Verdict) -> None:
    """Negative controls, infrastructure and interrupted cells are not blamed on an axis."""
    assert parity_of(cell(), cell(profile="forced", failed=("b",), verdict=verdict)) == []


@pytest.mark.parametrize("verdict", list(Verdict))
def test_a_negative_control_is_held_against_nothing(verdict: Verdict) -> None:
    """It fails by design, and if in another way, its own verdict says so; neither it nor the program is blamed."""
    control = cell(profile="forced", failed=("b",), verdict=verdict)
    assert parity_of(cell(), control.model_copy(update={"must_fail": "SIGILL in f"})) == []
    broken = cell(profile="forced", passed=(), verdict=verdict).model_copy(update={"must_fail": "SIGILL in f"})
    found = findings([broken, cell(profile="forced", toolchain="clang-16"), cell()])
    assert not [f for f in found if f.kind in {FindingKind.REFERENCE_PARITY, FindingKind.REFERENCE_EMPTY}]


def test_an_expected_failure_breaks_no_parity_where_another_test_does() -> None:
    """Of two failing cases, the one that an exclusion expects is left out."""
    broken = cell(target=BIG, failed=("a", "b"))
    known = Exclusion(where=(), tests=("a*",), kind="expected-failure", reason="known")
    found = findings([cell(), broken], excluded={broken.id: [known]})
    assert [finding.subject for finding in found] == ["b"]


def test_a_reference_without_a_pass_is_an_error() -> None:
    """A reference in which nothing passed would excuse everything; the finding names it and what hangs on it."""
    reference = cell("no-asm", passed=(), verdict=Verdict.BUILD_FAILED)
    broken = cell("asm")
    found = [f for f in findings([reference, broken]) if f.kind is FindingKind.REFERENCE_EMPTY]
    assert [(f.subject, f.serious, f.axis) for f in found] == [(reference.id, True, "assembly")]
    assert "build-failed" in found[0].message
    assert broken.id in found[0].cells


@pytest.mark.parametrize("verdict", [Verdict.UNSUPPORTED, Verdict.ABORTED])
def test_a_reference_that_was_not_to_run_is_not_empty(verdict: Verdict) -> None:
    """An unsupported or interrupted reference is no error of the cells."""
    found = findings([cell("no-asm", passed=(), verdict=verdict), cell("asm")])
    assert [f for f in found if f.kind is FindingKind.REFERENCE_EMPTY] == []


def test_findings_do_not_depend_on_the_order_of_the_records() -> None:
    """The same cells in another order give the same findings, the serious first."""
    records = [
        cell(v, c, t, failed=("b",) if t == BIG else ())
        for v, c, t in product(("asm", "no-asm"), ("gcc-12", "clang-16"), (LITTLE, BIG))
    ]
    found = findings(records)
    assert found == findings(records[::-1])
    assert [f.serious for f in found] == sorted((f.serious for f in found), reverse=True)


@pytest.mark.parametrize(
    ("target", "endian", "family"),
    [
        ("aarch64_be-linux-musl", "big", "aarch64-linux-musl"),
        ("armeb-linux-gnueabihf", "big", "arm-linux-gnueabihf"),
        ("mipsel-linux-gnu", "little", "mips-linux-gnu"),
        ("powerpc64le-linux-gnu", "little", "powerpc64-linux-gnu"),
        ("s390x-linux-gnu", "big", "s390x-linux-gnu"),
        ("aarch64-linux-musl", "little", "aarch64-linux-musl"),
    ],
)
def test_the_byte_order_can_be_taken_out_of_a_target(target: str, endian: str, family: str) -> None:
    """Whichever byte order an architecture writes as a suffix, siblings have the same rest."""
    assert without_endian(target, endian) == family


def test_siblings_differ_in_byte_order_alone() -> None:
    """Another libc makes no sibling, and neither does the same byte order."""
    assert are_siblings(cell(), cell(target=BIG))
    assert not are_siblings(cell(target="aarch64-linux-gnu"), cell(target=BIG))
    assert not are_siblings(cell(), cell())


def test_every_pair_differs_in_exactly_one_axis() -> None:
    """Over a whole matrix, each pair that is held against each other differs in one field of its id."""
    records = [
        cell(v, c, t, profile=p)
        for v, c, t, p in product(("asm", "no-asm"), ("gcc-12", "clang-16"), (LITTLE, BIG), ("default", "armcap=0x1"))
    ]
    pairs = list(reference_pairs(records))
    fields = ("variant", "toolchain", "target", "profile")
    assert len(pairs) == 4 * 8
    for pair in pairs:
        assert sum(getattr(pair.reference, f) != getattr(pair.cell, f) for f in fields) == 1


def test_what_some_cells_share_alone_is_named() -> None:
    """The hint names a value that all of some cells have and none of the others."""
    big = [cell(target=BIG), cell("no-asm", target=BIG)]
    assert in_common(big, [cell(), cell(toolchain="clang-16")]) == f"endian big, target {BIG}"
    assert in_common([cell()], [cell()]) == ""
