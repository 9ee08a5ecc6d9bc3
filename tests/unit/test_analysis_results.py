"""Same result everywhere: outputs, seeds, defaults and what could not be opened."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crossmatrix.analysis import findings
from crossmatrix.analysis.results import different_results
from crossmatrix.records import CellRecord, Finding, FindingKind, VectorFamily, Vectors, Verdict


def family(algorithm: str, outputs: dict[int, str], *, opened: bool | None = None, note: str = "") -> VectorFamily:
    """Make the outputs of one algorithm; the digest follows from them."""
    lengths = {str(length): value for length, value in outputs.items()}
    return VectorFamily(algorithm=algorithm, digest=str(lengths), lengths=lengths, opened=opened, note=note)


def cell(
    name: str,
    *families: VectorFamily,
    library: str = "openssl",
    version: str = "3.0.20",
    seed: str = "s",
    defaults: dict[str, str] | None = None,
) -> CellRecord:
    """Make a passed cell with outputs; ``name`` is its toolchain, so that no two are alike."""
    return CellRecord(
        id=f"{library}-{version}/asm/{name}/x",
        library=library,
        version=version,
        variant="asm",
        toolchain=name,
        target="x",
        endian="little",
        profile="default",
        tier="smoke",
        verdict=Verdict.PASSED,
        vectors=Vectors(seed=seed, defaults=defaults or {}, families=families),
    )


def of_kind(kind: FindingKind, *records: CellRecord) -> list[Finding]:
    """Give the findings of one kind."""
    return [finding for finding in findings(records) if finding.kind is kind]


RIGHT = {0: "00", 1: "11", 17: "aa", 300: "bb"}
WRONG = {0: "00", 1: "11", 17: "XX", 300: "YY"}


def test_a_difference_names_algorithm_length_cells_and_majority() -> None:
    """The shortest differing input is named, and that the reference agrees with the majority."""
    a, b, c = (cell(n, family("aes-256-gcm", RIGHT)) for n in ("a", "b", "c"))
    bad = cell("d", family("aes-256-gcm", WRONG))
    (finding,) = of_kind(FindingKind.DIFFERENT_RESULT, a, b, c, bad)
    assert (finding.subject, finding.serious, finding.cells) == ("aes-256-gcm", True, (a.id, bad.id))
    assert "17 bytes, the shortest that differs" in finding.message
    assert f"{a.id} agrees with the majority, 3 of 4 cells" in finding.message
    assert "toolchain d" in finding.message


def test_the_majority_is_found_wherever_it_stands() -> None:
    """The first cell is not taken for right: two later ones that agree outvote it."""
    bad = cell("a", family("sha256", WRONG))
    good = [cell(n, family("sha256", RIGHT)) for n in ("b", "c")]
    (finding,) = of_kind(FindingKind.DIFFERENT_RESULT, bad, *good)
    assert finding.cells == (good[0].id, bad.id)


def test_a_tie_is_said() -> None:
    """Two cells that differ from each other are not turned into right and wrong."""
    (finding,) = of_kind(
        FindingKind.DIFFERENT_RESULT, cell("a", family("sha256", RIGHT)), cell("b", family("sha256", WRONG))
    )
    assert "neither has a majority: 1 cell each of 2" in finding.message


AXES = {
    "variant": ("asm", "no-asm", "variant, asm against no-asm (the reference)"),
    "endian": ("big", "little", "endian, big against little (the reference)"),
    "toolchain": ("clang-16", "gcc-12", "compiler, clang against gcc (the reference)"),
    "profile": ("armcap=0x0", "default", "profile, armcap=0x0 against default (the reference)"),
    "version": ("3.0.20", "3.5.1", "version, 3.0.20 against 3.5.1"),
}


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("wrong", [0, 1])
@pytest.mark.parametrize("turned", [False, True])
def test_a_tie_blames_no_side_and_names_axis_and_reference(axis: str, wrong: int, turned: bool) -> None:  # noqa: FBT001 - a table
    """Whichever of two cells is wrong, and whichever comes first, the axis and its reference are all that is said."""
    *values, words = AXES[axis]
    both = [
        cell("gcc-12", family("sha256", WRONG if place == wrong else RIGHT)).model_copy(
            update={axis: value, "id": value}
        )
        for place, value in enumerate(values)
    ]
    (finding,) = different_results(both[::-1] if turned else both)
    left, right = words.partition(", ")[2].split(" against ")
    sides = f"{right} against {left}" if turned else f"{left} against {right}"
    assert finding.message.endswith(f"the two sides differ in {words.partition(', ')[0]}, {sides}")
    assert "in common" not in finding.message


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("aarch64_be-linux-musl", "endian, little (the reference) against big"),
        (
            "s390x-linux-musl",
            "endian, little (the reference) against big; target, aarch64-linux-musl against s390x-linux-musl",
        ),
    ],
)
def test_in_a_tie_a_target_is_named_beside_its_byte_order_only_where_it_is_another(target: str, words: str) -> None:
    """What tells aarch64 from aarch64_be is the byte order alone; s390x is another machine too."""
    little, big = (
        cell("gcc-12", family("sha256", value)).model_copy(update={"target": name, "endian": order, "id": name})
        for name, order, value in (("aarch64-linux-musl", "little", RIGHT), (target, "big", WRONG))
    )
    (finding,) = different_results([little, big])
    assert finding.message.endswith(f"differ in {words}")


def test_a_tie_of_two_compilers_each_with_and_without_assembly_names_assembly_alone() -> None:
    """What both sides have is no difference between them."""
    records = [
        cell(name, family("sha256", WRONG if variant == "asm" else RIGHT)).model_copy(
            update={"variant": variant, "id": f"{variant}/{name}"}
        )
        for variant in ("asm", "no-asm")
        for name in ("gcc-12", "clang-16")
    ]
    (finding,) = different_results(records)
    assert "2 cells each of 4" in finding.message
    assert finding.message.endswith("differ in variant, asm against no-asm (the reference)")


def test_a_tie_among_dissenters_does_not_hide_the_majority() -> None:
    """Two odd cells beside three that agree give two findings, each against the majority."""
    good = [cell(n, family("sha256", RIGHT)) for n in ("a", "b", "c")]
    odd = [cell(n, family("sha256", {**RIGHT, 17: n})) for n in ("d", "e")]
    found = of_kind(FindingKind.DIFFERENT_RESULT, *good, *odd)
    assert [finding.cells for finding in found] == [(good[0].id, odd[0].id), (good[0].id, odd[1].id)]
    assert all("3 of 5 cells" in finding.message for finding in found)


def test_cells_that_go_wrong_at_different_lengths_are_each_named() -> None:
    """A cell that first differs at 300 bytes is not hidden by one that differs at 17."""
    good = [cell(n, family("sha256", RIGHT)) for n in ("a", "b", "c")]
    early = cell("d", family("sha256", WRONG))
    late = cell("e", family("sha256", {**RIGHT, 300: "ZZ"}))
    found = of_kind(FindingKind.DIFFERENT_RESULT, *good, early, late)
    assert [f.cells[1] for f in found] == [early.id, late.id]
    assert "300 bytes" in found[1].message


def test_both_libraries_are_held_against_each_other_at_common_lengths() -> None:
    """OpenSSL and nettle are compared where both gave an output, and a length of one alone is no difference."""
    openssl = cell("gcc-12", family("sha256", RIGHT))
    nettle = cell("gcc-12", family("sha256", {1: "11", 17: "aa"}), library="nettle", version="3.10.2")
    assert of_kind(FindingKind.DIFFERENT_RESULT, openssl, nettle) == []
    wrong = cell("gcc-12", family("sha256", {1: "11", 17: "XX"}), library="nettle", version="3.10.2")
    (finding,) = of_kind(FindingKind.DIFFERENT_RESULT, openssl, wrong)
    assert set(finding.cells) == {openssl.id, wrong.id}


def test_an_algorithm_without_lengths_is_compared_by_its_digest() -> None:
    """A signature has one output; it is compared too."""
    a = cell("a", VectorFamily(algorithm="rsa-2048-sha256", digest="1"))
    b = cell("b", VectorFamily(algorithm="rsa-2048-sha256", digest="2"))
    (finding,) = of_kind(FindingKind.DIFFERENT_RESULT, a, b)
    assert "over all its outputs" in finding.message


def test_a_digest_that_differs_where_no_length_does_is_still_a_difference() -> None:
    """The digest over all outputs has the last word."""
    same = family("sha256", RIGHT)
    a, b, c = cell("a", same), cell("b", same), cell("c", same.model_copy(update={"digest": "other"}))
    (finding,) = of_kind(FindingKind.DIFFERENT_RESULT, a, b, c)
    assert finding.cells == (a.id, c.id)


def test_different_seeds_are_not_compared_and_that_is_said() -> None:
    """Other inputs give other outputs: no corruption, but nothing was proved either."""
    found = of_kind(
        FindingKind.DIFFERENT_RESULT,
        cell("a", family("sha256", RIGHT)),
        cell("b", family("sha256", WRONG), seed="t"),
    )
    assert [(finding.subject, finding.serious) for finding in found] == [("seed", False)]
    assert "not comparable" in found[0].message


def test_what_could_not_be_opened_is_found() -> None:
    """A cell that seals and cannot open its own message is named, with one that can."""
    good = cell("a", family("aes-256-gcm", RIGHT, opened=True))
    bad = cell("b", family("aes-256-gcm", RIGHT, opened=False, note="alignment 3 does not open at length 17"))
    (finding,) = findings([good, bad])
    assert finding.kind is FindingKind.NOT_OPENED
    assert "alignment 3 does not open at length 17" in finding.message
    assert (finding.subject, finding.cells, finding.serious) == ("aes-256-gcm", (bad.id,), True)
    assert good.id in finding.message


def test_a_cell_that_disagrees_with_itself_is_found() -> None:
    """An output that depends on the alignment is a finding though all cells have it."""
    note = "alignment 3 differs at length 17"
    records = [cell(n, family("chacha20", RIGHT, note=note)) for n in ("a", "b")]
    (finding,) = of_kind(FindingKind.DIFFERENT_RESULT, *records)
    assert finding.cells == tuple(r.id for r in records)
    assert note in finding.message


def test_a_different_default_is_reported_as_that_and_not_as_corruption() -> None:
    """The OpenWrt trap: both names are given, it is not serious, and the outputs that follow from it are no finding."""
    old = cell("a", family("enc-aes-256-cbc", RIGHT), version="1.0.2l", defaults={"openssl enc -md": "md5"})
    new = cell("a", family("enc-aes-256-cbc", WRONG), version="1.1.1w", defaults={"openssl enc -md": "sha256"})
    (finding,) = findings([old, new])
    assert (finding.kind, finding.serious) == (FindingKind.DIFFERENT_DEFAULT, False)
    assert finding.subject == "openssl enc -md"
    assert "md5 in openssl-1.0.2l" in finding.message
    assert "sha256 in openssl-1.1.1w" in finding.message


def test_a_different_default_excuses_nothing_else() -> None:
    """An algorithm that the default does not bear on, or a split that is not the default's, stays a finding."""
    old = cell("a", family("sha256", RIGHT), version="1.0.2l", defaults={"enc-digest": "md5"})
    new = cell("a", family("sha256", WRONG), version="1.1.1w", defaults={"enc-digest": "sha256"})
    assert len(of_kind(FindingKind.DIFFERENT_RESULT, old, new)) == 1
    records = [
        cell("a", family("enc-x", RIGHT), defaults={"enc-digest": "md5"}),
        cell("b", family("enc-x", WRONG), defaults={"enc-digest": "md5"}),
        cell("c", family("enc-x", WRONG), defaults={"enc-digest": "sha256"}),
    ]
    assert len(of_kind(FindingKind.DIFFERENT_RESULT, *records)) == 1


def test_an_algorithm_that_one_cell_lacks_is_said() -> None:
    """Where a cell of the same source gave no output, nothing was compared; that is no silence."""
    full = cell("a", family("sha256", RIGHT), family("sha512", RIGHT))
    less = cell("b", family("sha256", RIGHT))
    (finding,) = of_kind(FindingKind.DIFFERENT_RESULT, full, less)
    assert (finding.serious, finding.cells) == (False, (less.id,))
    assert "sha512" in finding.message


def test_an_algorithm_that_fails_everywhere_in_one_cell_is_told_of_that_cell_alone() -> None:
    """No output at any length is that cell's own fault and leaves the others comparable."""
    good = [cell(n, family("sha256", RIGHT)) for n in ("a", "b")]
    bad = cell("c", VectorFamily(algorithm="sha256", digest="e3b0", note="alignment 0 fails at length 0"))
    found = of_kind(FindingKind.DIFFERENT_RESULT, *good, bad)
    assert [(f.cells, f.serious) for f in found] == [((bad.id,), True), ((bad.id,), False)]
    assert "alignment 0 fails at length 0" in found[0].message


@given(st.lists(st.sampled_from(["aa", "bb", "cc"]), min_size=1, max_size=9))
def test_every_cell_out_of_the_majority_is_in_a_finding(outputs: list[str]) -> None:
    """Whatever the outputs: no finding where all agree, and else everyone outside the largest group is named."""
    records = [cell(f"t{place}", family("sha256", {5: output})) for place, output in enumerate(outputs)]
    found = of_kind(FindingKind.DIFFERENT_RESULT, *records)
    named = {name for finding in found for name in finding.cells[1:]}
    most = max(outputs.count(output) for output in set(outputs))
    assert len(named) == len(outputs) - most
    assert len(found) == len(set(outputs)) - 1
