"""Two cells and two runs held against each other, and how that is written."""

from __future__ import annotations

import io
import json
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from crossmatrix.analysis import Comparison, RunComparison, compare, compare_runs
from crossmatrix.errors import ExitCode, UsageError
from crossmatrix.records import (
    BinaryEvidence,
    CellRecord,
    Evidence,
    Execution,
    Figure,
    Figures,
    Outcome,
    OutcomeStatus,
    RunRecord,
    TestCounts,
    Verdict,
)
from crossmatrix.report.comparison import (
    comparison_json,
    conclusion,
    print_comparison,
    render_markdown,
    run_conclusion,
)

P, F = OutcomeStatus.PASSED, OutcomeStatus.FAILED
VALUE = st.floats(0, 10**6, allow_nan=False).map(lambda value: round(value, 4))


def cell(build: str = "openssl-3.0.20/asm/gcc-12/aarch64-linux-musl", **fields: object) -> CellRecord:
    """Make a passed record whose axes follow from its id."""
    rest, _, profile = build.partition("@")
    source, variant, toolchain, target = rest.split("/")
    library, _, version = source.partition("-")
    facts: dict[str, object] = {
        "id": build,
        "library": library,
        "version": version,
        "variant": variant,
        "toolchain": toolchain,
        "target": target,
        "endian": "big" if "_be" in target else "little",
        "profile": profile or "default",
        "tier": "smoke",
        "verdict": Verdict.PASSED,
    }
    return CellRecord.model_validate(facts | fields)


def figures(**costs: float) -> Figures:
    """Make bulk figures: ``figures(aes=2.5)``."""
    return Figures(
        figures=tuple(
            Figure(algorithm=name, unit="instructions/byte", size_bytes=0, value=value) for name, value in costs.items()
        )
    )


def outcomes(**statuses: OutcomeStatus) -> tuple[Outcome, ...]:
    """Make outcomes by name."""
    return tuple(Outcome(file=name, status=status) for name, status in statuses.items())


NO_ASM = "openssl-3.0.20/no-asm/gcc-12/aarch64-linux-musl"


def test_costs_have_ratio_and_percentage_as_users_post_them() -> None:
    """edk2's formula: 100 * (after - before) / before."""
    (row,) = compare(cell(NO_ASM, figures=figures(sha256=50.0)), cell(figures=figures(sha256=40.0))).costs
    (change,) = row.changes
    assert (change.ratio, change.percent) == (Fraction(4, 5), Fraction(-20))


@pytest.mark.parametrize(
    ("a", "b", "axes"),
    [
        (cell(), cell(NO_ASM), ["assembly"]),
        (cell(), cell("openssl-3.0.20/fat/gcc-12/aarch64-linux-musl"), ["variant"]),
        (cell(), cell("openssl-3.0.20/asm/clang-16/aarch64-linux-musl"), ["compiler"]),
        (cell(), cell("openssl-3.0.20/asm/gcc-14/aarch64-linux-musl"), ["toolchain"]),
        (cell(), cell("openssl-3.0.20/asm/gcc-12/aarch64_be-linux-musl"), ["endian"]),
        (cell(), cell("openssl-3.0.20/asm/gcc-12/aarch64-linux-gnu"), ["target"]),
        (cell(), cell("openssl-3.0.20/asm/gcc-12/aarch64-linux-musl@armcap=0"), ["profile"]),
        (cell(), cell("openssl-3.5.7/asm/gcc-12/aarch64-linux-musl"), ["source"]),
        (cell(), cell("nettle-3.10.2/asm/gcc-12/aarch64-linux-musl"), ["library"]),
        (cell(source_digest="1"), cell(source_digest="2"), ["source"]),
        (cell(compiler="gcc 12.2.0-14"), cell(compiler="gcc 12.2.0-15"), ["compiler version"]),
        (cell(emulator="qemu 7.2"), cell(emulator="qemu 10.0"), ["emulator"]),
        (cell(), cell(), []),
        (cell(), cell("openssl-3.5.7/no-asm/gcc-12/aarch64-linux-musl"), ["source", "assembly"]),
    ],
)
def test_ratios_are_given_for_one_axis_and_refused_for_two(a: CellRecord, b: CellRecord, axes: list[str]) -> None:
    """The axes are named; with more than one, the refusal says which, and nothing is past the threshold."""
    a, b = (record.model_copy(update={"figures": figures(aes=value)}) for record, value in ((a, 1.0), (b, 9.0)))
    comparison = compare(a, b)
    assert [change.axis for change in comparison.axes] == axes
    assert bool(comparison.refusal) == (len(axes) > 1)
    assert bool(comparison.costs) == (len(axes) < 2)
    assert comparison.past_threshold == (len(axes) < 2)
    assert all(axis in comparison.refusal for axis in axes if comparison.refusal)


@pytest.mark.parametrize(
    ("after", "threshold", "past"),
    [(101.0, 0.01, False), (101.0001, 0.01, True), (99.0, 0.01, False), (90.0, 0.01, False), (104.0, 0.05, False)],
)
def test_a_cost_counts_past_the_threshold_alone(after: float, threshold: float, past: bool) -> None:  # noqa: FBT001 - a table
    """Exactly 1% is not past 1%, and what became cheaper is no reason for an exit code."""
    comparison = compare(cell(figures=figures(a=100.0)), cell(figures=figures(a=after)), threshold=threshold)
    assert comparison.past_threshold is past


def test_a_random_operation_must_rise_past_its_deviation_too() -> None:
    """Two means whose deviations overlap are no regression."""
    before, after = (
        Figures(figures=(Figure(algorithm="dh", unit="instructions/op", value=value, deviation=30.0, repeats=9),))
        for value in (100.0, 150.0)
    )
    assert not compare(cell(figures=before), cell(figures=after)).past_threshold


def test_a_time_decides_nothing() -> None:
    """A clock does not repeat, so a slower time gives no exit code 1."""
    before, after = (
        Figures(
            emulated=False, figures=(Figure(algorithm="aes", unit="time: bytes/s", size_bytes=64, value=v, repeats=3),)
        )
        for v in (100.0, 900.0)
    )
    comparison = compare(cell(figures=before), cell(figures=after))
    assert len(comparison.costs) == 1
    assert not comparison.past_threshold


def test_verdict_changes_are_given_for_each_test() -> None:
    """Newly failing, newly passing, gone and new tests are told apart."""
    a = cell(outcomes=outcomes(same=P, broke=P, mended=F, gone=P))
    b = cell(outcomes=outcomes(same=P, broke=F, mended=P, new=P), verdict=Verdict.FAILED)
    comparison = compare(a, b)
    assert [(c.name, c.before, c.after) for c in comparison.test_changes] == [
        ("broke", "passed", "failed"),
        ("gone", "passed", "absent"),
        ("mended", "failed", "passed"),
        ("new", "absent", "passed"),
    ]
    assert [c.name for c in comparison.newly_failing] == ["broke"]
    assert [c.name for c in comparison.newly_passing] == ["mended"]
    assert comparison.past_threshold


def test_a_verdict_that_gets_worse_counts_without_any_test() -> None:
    """A cell that no longer builds has no outcomes, and is worse all the same."""
    comparison = compare(cell(), cell(NO_ASM, verdict=Verdict.BUILD_FAILED))
    assert comparison.past_threshold
    assert "the verdict went from passed to build-failed" in conclusion(comparison)


@pytest.mark.parametrize("verdict", [Verdict.ABORTED, Verdict.INFRASTRUCTURE])
@pytest.mark.parametrize("other", list(Verdict))
def test_a_cell_that_never_ended_makes_the_comparison_say_nothing(verdict: Verdict, other: Verdict) -> None:
    """Whatever the other is, and whichever comes first: not green, not worse, for cells and for runs."""
    for a, b in ((cell(verdict=verdict), cell(verdict=other)), (cell(verdict=other), cell(verdict=verdict))):
        comparison = compare(a, b)
        assert (comparison.exit_code, comparison.past_threshold) == (ExitCode.INFRASTRUCTURE, False)
        assert conclusion(comparison).startswith("Says nothing: ")
        runs = compare_runs(run("1", a), run("2", b))
        assert runs.exit_code is ExitCode.INFRASTRUCTURE
        assert "1 pair of them says nothing" in run_conclusion(runs)


def test_only_ends_are_green() -> None:
    """Two cells that ended are compared; a worse one counts more than a pair that says nothing."""
    assert compare(cell(), cell()).exit_code is ExitCode.OK
    other = "openssl-3.0.20/no-asm/gcc-12/aarch64-linux-musl"
    before = run("1", cell(), cell(other, verdict=Verdict.ABORTED))
    after = run("2", cell(verdict=Verdict.FAILED), cell(other))
    assert compare_runs(before, after).exit_code is ExitCode.UNEXPECTED


def test_runs_without_a_common_cell_say_nothing() -> None:
    """Nothing compared is not nothing worse."""
    runs = compare_runs(run("1", cell()), run("2"))
    assert runs.exit_code is ExitCode.INFRASTRUCTURE
    assert "no cell is in both" in run_conclusion(runs)


def evidence(ran: dict[str, int], classes: dict[str, int], capabilities: tuple[str, ...], endian: str) -> Evidence:
    """Make the evidence of a cell that has the assembly function ``aes_v8``."""
    return Evidence(
        binary=BinaryEvidence(path="p", machine="EM_AARCH64", endian=endian, bits=64, libc="musl", linkage="static"),
        execution=Execution(emulated=True, instructions=9, classes=classes),
        assembly_functions_present=("aes_v8",),
        assembly_functions_executed=ran,
        capabilities_detected=capabilities,
    )


def test_evidence_changes_tell_what_now_runs() -> None:
    """Functions, capabilities, instruction classes and the binary's byte order are compared."""
    a = cell(evidence=evidence({}, {"aes": 0}, (), "little"))
    b = cell(evidence=evidence({"aes_v8": 2631168, "new": 1}, {"aes": 14}, ("AES",), "big"))
    assert [(c.name, c.before, c.after) for c in compare(a, b).evidence_changes] == [
        ("binary endian", "little", "big"),
        ("capability AES", "absent", "detected"),
        ("assembly aes_v8", "did not run", "2,631,168 instructions"),
        ("assembly new", "absent", "1 instruction"),
        ("class aes", "none", "14 instructions"),
    ]


def test_missing_figures_are_said() -> None:
    """Without figures there is no cost table, and the note names the command that makes them."""
    (note,) = compare(cell(), cell(NO_ASM, figures=figures(a=1.0))).notes
    assert "invoke bench" in note
    assert cell().id in note


def test_an_algorithm_that_one_cell_lacks_is_named() -> None:
    """What was measured on one side alone has no ratio and is not dropped silently."""
    comparison = compare(cell(figures=figures(aes=1.0, sm4=2.0)), cell(figures=figures(aes=1.0)))
    assert [row.algorithm for row in comparison.costs] == ["aes"]
    assert "sm4" in comparison.notes[0]


def part(**fields: object) -> Figures:
    """Make the figures of `aes`, of those asked for."""
    return figures(aes=1.0).model_copy(update=fields)


PATCHED = "openssl-3.0.20+p1a2b3c4d/asm/gcc-12/aarch64-linux-musl"


@pytest.mark.parametrize(
    ("before", "after", "then", "gone"),
    [
        (cell().id, PATCHED, part(), True),
        (cell().id, cell().id, part(), True),
        (cell().id, cell().id, part(asked=("aes", "sm4")), True),
        (cell().id, cell().id, Figures(asked=("sm4",), missing=("sm4: the workload does not list it",)), True),
        (cell().id, "openssl-3.0.20/asm/clang-16/aarch64_be-linux-musl", part(), True),
        ("openssl-git-aaa/asm/gcc-12/x", "openssl-git-bbb/asm/gcc-12/x", part(), True),
        ("openssl-dir-aaa/asm/gcc-12/x", "openssl-dir-bbb+p1/asm/gcc-12/x", part(), True),
        (cell().id, PATCHED, part(asked=("aes",)), False),
        (cell().id, PATCHED, None, False),
        (cell().id, "openssl-3.0.20/no-des/gcc-12/aarch64-linux-musl", part(), False),
        (cell().id, "openssl-3.0.9/asm/gcc-12/aarch64-linux-musl", part(), False),
        (cell().id, "openssl-git-aaa/asm/gcc-12/aarch64-linux-musl", part(), False),
        (cell().id, "nettle-3.0.20/asm/gcc-12/aarch64-linux-musl", part(), False),
    ],
)
def test_a_figure_that_is_gone_is_worse(before: str, after: str, then: Figures | None, gone: bool) -> None:  # noqa: FBT001 - a table
    """Unless it was not asked for, or cannot be expected: another release or variant may lack the algorithm.

    A patch that makes an algorithm fail has no figure of it, and must not look harmless.
    """
    comparison = compare(cell(before, figures=figures(aes=1.0, sm4=2.0)), cell(after, figures=then))
    assert comparison.gone == (("sm4",) if gone else ())
    assert comparison.exit_code is (ExitCode.UNEXPECTED if gone else ExitCode.OK)
    words = "B is worse than A: no figure any more for sm4"
    assert conclusion(comparison).startswith(words) is gone
    assert ("measured in A and no longer in B: sm4" in render_markdown(comparison)) is gone
    runs = compare_runs(run("1", cell(figures=figures(sm4=2.0))), run("2", cell(figures=then)))
    assert (words in render_markdown(runs)) == bool(runs.past_threshold)


def test_one_size_that_is_gone_is_worse_where_both_are_counted() -> None:
    """The algorithm has other figures, which does not make up for it; a clock gives other units, and none repeats."""
    sizes = tuple(Figure(algorithm="aes", unit="instructions/byte", size_bytes=size, value=1.0) for size in (16, 64))
    assert compare(cell(figures=Figures(figures=sizes)), cell(figures=Figures(figures=sizes[1:]))).gone == ("aes",)
    timed = Figures(emulated=False, figures=(Figure(algorithm="aes", unit="time: bytes/s", size_bytes=64, value=1.0),))
    assert compare(cell(figures=Figures(figures=sizes)), cell(figures=timed)).gone == ()
    short = Figures(emulated=False, missing=("aes, 64 bytes: too short to time",))
    assert compare(cell(figures=timed), cell(figures=short)).gone == ()


def test_a_negative_threshold_is_refused() -> None:
    """It would make every comparison a failure."""
    with pytest.raises(UsageError, match="below zero"):
        compare(cell(), cell(), threshold=-0.1)


@given(before=st.dictionaries(st.sampled_from("abcd"), VALUE), after=st.dictionaries(st.sampled_from("abcd"), VALUE))
def test_a_comparison_turned_round_says_the_reverse(before: dict[str, float], after: dict[str, float]) -> None:
    """Ratios are inverse, what was costlier is cheaper, tests change the other way."""
    a = cell(figures=figures(**before), outcomes=outcomes(x=P, y=F))
    b = cell(NO_ASM, figures=figures(**after), outcomes=outcomes(x=F, y=P))
    there, back = compare(a, b), compare(b, a)
    assert [r.algorithm for r, _ in there.costlier] == [r.algorithm for r, _ in back.cheaper]
    assert [(c.name, c.after, c.before) for c in there.test_changes] == [
        (c.name, c.before, c.after) for c in back.test_changes
    ]
    for one, other in zip(there.costs, back.costs, strict=True):
        (c,), (d,) = one.changes, other.changes
        assert (c.before, c.after) == (d.after, d.before)
        assert (c.ratio is None) == (d.ratio is None)
        if c.ratio is not None and d.ratio is not None:
            assert c.ratio * d.ratio == 1


@given(st.dictionaries(st.text("abc", min_size=1), VALUE))
def test_a_cell_held_against_itself_shows_nothing(costs: dict[str, float]) -> None:
    """No change, no axis, exit code 0."""
    record = cell(figures=figures(**costs), outcomes=outcomes(x=F), evidence=evidence({"f": 1}, {}, ("A",), "little"))
    comparison = compare(record, record)
    assert (comparison.axes, comparison.test_changes, comparison.evidence_changes) == ((), (), ())
    assert not comparison.past_threshold
    assert all(change.before == change.after for row in comparison.costs for change in row.changes)


def run(name: str, *cells: CellRecord) -> RunRecord:
    """Make a run."""
    return RunRecord.model_validate(
        {"run_id": name, "matrix": "quick", "schema": 1, "started": "2026-01-01T00:00:00Z", "cells": cells}
    )


def test_runs_are_paired_by_id_and_before_and_after_a_patch() -> None:
    """The patches' suffix is ignored, then the source, and what has no partner is listed."""
    plain, big = cell(), cell("openssl-3.0.20/asm/gcc-12/aarch64_be-linux-musl")
    patched = cell("openssl-3.0.20+p1a2b3c4d/asm/gcc-12/aarch64-linux-musl")
    before, after = (cell(f"nettle-git-{ref}/asm/gcc-12/x") for ref in ("aaa", "bbb"))
    extra, gone = cell("nettle-3.10.2/fat/gcc-12/x"), cell("nettle-3.10.2/no-asm/gcc-12/x")
    comparison = compare_runs(run("1", plain, big, before, gone), run("2", patched, big, after, extra))
    assert [(pair.a, pair.b) for pair in comparison.pairs] == [
        (before.id, after.id),
        (plain.id, patched.id),
        (big.id, big.id),
    ]
    assert [change.axis for change in comparison.pairs[1].axes] == ["source"]
    assert (comparison.only_a, comparison.only_b) == ((gone.id,), (extra.id,))
    assert not comparison.past_threshold


def test_an_unpatched_cell_is_paired_with_itself_where_it_is_there() -> None:
    """The exact id comes before the id without its suffix."""
    plain, patched = cell(), cell("openssl-3.0.20+p1/asm/gcc-12/aarch64-linux-musl")
    comparison = compare_runs(run("1", plain), run("2", patched, plain))
    assert [(pair.a, pair.b) for pair in comparison.pairs] == [(plain.id, plain.id)]
    assert comparison.only_b == (patched.id,)


def test_one_worse_cell_makes_a_run_worse() -> None:
    """The exit code of a whole run follows its worst cell."""
    worse = cell(NO_ASM, verdict=Verdict.FAILED)
    comparison = compare_runs(run("1", cell(), cell(NO_ASM)), run("2", cell(), worse))
    assert comparison.past_threshold
    text = render_markdown(comparison)
    assert "2 cells compared, 1 worse, 1 with a change" in text
    assert text.count("## Comparison of two cells") == 1


SIZES = (16, 64, 256, 1024, 8192, 16384, 0)


def table(scale: float) -> Figures:
    """Make figures at the sizes that users post, two algorithms and an operation."""
    bulk = tuple(
        Figure(
            algorithm=name,
            unit="instructions/byte",
            size_bytes=size,
            value=round(rate * scale + (200 / size if size else 0), 4),
            functions={"AES_encrypt": rate * scale},
        )
        for name, rate in (("aes-256-ctr", 52.61), ("chacha20-poly1305", 8.5))
        for size in SIZES
    )
    operation = Figure(algorithm="rsa-2048-sign", unit="instructions/op", value=1e7 * scale)
    return Figures(figures=(*bulk, operation))


def posted() -> Comparison:
    """Compare C with something that costs a tenth."""
    counts = TestCounts(passed=118)
    return compare(cell(NO_ASM, figures=table(1), tests=counts), cell(figures=table(0.1), tests=counts))


def test_markdown_has_block_sizes_across_and_algorithms_down() -> None:
    """The layout that users post, within the 78 columns of a mail, and every unit says instructions."""
    text = render_markdown(posted())
    lines = text.splitlines()
    assert max(map(len, lines)) <= 78
    head = next(line for line in lines if line.startswith("|algorithm"))
    assert head.replace(" ", "").split("|")[3:-1] == ["16", "64", "256", "1,024", "8,192", "16,384", "bulk"]
    row = next(line for line in lines if line.startswith("|aes-256-ctr"))
    assert row.replace(" ", "").split("|")[2:-1] == ["A", "65.11", "55.73", "53.39", "52.81", "52.63", "52.62", "52.61"]
    assert "## Cost in instructions per byte" in lines
    assert "## Cost in instructions per operation" in lines
    assert any(line.startswith("| rsa-2048-sign | 10,000,000 | 1,000,000 | 0.100 | -90.0% |") for line in lines)
    assert "by the clock" not in text.lower()
    assert "AES_encrypt 52.61 -> 5.261" in text


def test_markdown_tables_are_well_formed() -> None:
    """Each row of a table has as many cells as its head."""
    for block in render_markdown(posted()).split("\n\n"):
        rows = [line for line in block.splitlines() if line.startswith("|")]
        assert len({line.count("|") for line in rows}) <= 1


def test_a_refusal_and_all_reasons_reach_the_reader() -> None:
    """A reader sees why there is no ratio and why a cell is not green."""
    b = cell("nettle-3.10.2/no-asm/gcc-12/aarch64-linux-musl", verdict=Verdict.FAILED, reason="aes-test failed")
    text = render_markdown(compare(cell(tier="core"), b))
    assert "no ratios: the cells differ in 2 axes" in text
    assert "reason in B: aes-test failed" in text


def test_a_long_list_of_tests_is_cut_and_counted() -> None:
    """A mail is not made of two thousand lines."""
    names = [f"t{number:03}" for number in range(100)]
    a, b = (cell(outcomes=outcomes(**dict.fromkeys(names, status))) for status in (P, F))
    text = render_markdown(compare(a, b))
    assert "60 more changes of this kind" in text
    assert "100 tests newly failing" in text


def printed(comparison: Comparison | RunComparison) -> str:
    """Print on a wide console without colours."""
    console = Console(file=io.StringIO(), width=200, color_system=None)
    print_comparison(comparison, console)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_the_terminal_shows_the_same_table() -> None:
    """Rich prints ids with brackets as they are, the conclusion, and a table for each unit."""
    text = printed(posted())
    assert "B is no worse than A: 15 figures fell by more than 1% in instructions." in text
    assert "Cost in instructions per byte" in text
    assert "chacha20-poly1305" in text
    assert "-90.0%" in text


def test_the_terminal_shows_runs() -> None:
    """Cells without a change are counted, not shown; cells of one run alone are listed."""
    worse = cell(NO_ASM, verdict=Verdict.FAILED, reason="[red]odd")
    extra = cell("nettle-3.10.2/asm/gcc-12/x")
    text = printed(compare_runs(run("1", cell(), cell(NO_ASM)), run("2", cell(), worse, extra)))
    assert "2 against 1: 2 cells compared, 1 worse, 1 with a change." in text
    assert "reason in B: [red]odd" in text
    assert f"In 2 alone: {extra.id}" in text


@pytest.mark.parametrize(
    ("after", "words"),
    [(1.0, "no figure moved"), (0.5, "1 figure fell by more than 1%"), (2.0, "1 figure rose by more than 1%")],
)
def test_the_conclusion_says_which_way_the_cost_went(after: float, words: str) -> None:
    """One sentence, in instructions."""
    text = conclusion(compare(cell(figures=figures(a=1.0)), cell(figures=figures(a=after))))
    assert words in text
    assert "instructions" in text


def test_a_comparison_as_json_has_ratios_and_the_conclusion() -> None:
    """A script reads numbers, and the same judgement as the exit code's."""
    document = json.loads(comparison_json(posted()))
    change = document["costs"][0]["changes"][-1]
    assert (change["size_bytes"], change["ratio"], change["percent"]) == (0, 0.1, -90.0)
    assert document["axes"] == [{"axis": "assembly", "before": "no-asm", "after": "asm"}]
    assert document["tests"][0] == {"passed": 118, "failed": 0, "skipped": 0}
    assert (document["past_threshold"], document["threshold"]) == (False, 0.01)
    assert document["conclusion"] == conclusion(posted())


def test_two_runs_as_json_have_their_pairs() -> None:
    """The pairs are whole comparisons."""
    document = json.loads(comparison_json(compare_runs(run("1", cell()), run("2", cell(), cell(NO_ASM)))))
    assert [pair["a"] for pair in document["pairs"]] == [cell().id]
    assert document["only_b"] == [NO_ASM]
    assert document["past_threshold"] is False
