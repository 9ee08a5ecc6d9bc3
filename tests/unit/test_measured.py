"""Cells that were measured and not tested: what reports call them, and what a comparison with a tested cell leaves."""

from __future__ import annotations

import io
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest
from rich.console import Console
from tests.unit.record_samples import cell_record, evidence_sample, figures_sample, outcome, run_record

from crossmatrix.analysis import Comparison, RunComparison, compare, compare_runs
from crossmatrix.api.comparing import compare_named, find_cell
from crossmatrix.errors import ExitCode, StoreError
from crossmatrix.records import (
    MEASURED_TIER,
    CellRecord,
    Evidence,
    Execution,
    Figure,
    Figures,
    RunRecord,
    TestCounts,
    Verdict,
)
from crossmatrix.report.comparison import conclusion, print_comparison, render_markdown, run_conclusion
from crossmatrix.report.conclusion import headline, totals
from crossmatrix.report.markdown import render_markdown as run_markdown
from crossmatrix.report.page import render_html
from crossmatrix.report.terminal import print_report
from crossmatrix.store import State

if TYPE_CHECKING:
    from pathlib import Path

    from crossmatrix.api.workspace import Workspace


def of_matrix(**fields: object) -> CellRecord:
    """Give a cell that was tested, with all its evidence."""
    evidence = evidence_sample("nettle", "asm", "aarch64_be-linux-musl")
    return cell_record(**{"evidence": evidence, "keys": {"build": "b"}, **fields})


def measured(**fields: object) -> CellRecord:
    """Give the same cell as `bench` leaves it: no tests, nothing counted of the workload, figures."""
    seen = evidence_sample("nettle", "asm", "aarch64_be-linux-musl")
    bare = Evidence(
        binary=seen.binary,
        execution=Execution(emulated=False),
        assembly_functions_present=seen.assembly_functions_present,
    )
    facts: dict[str, object] = {
        "tier": MEASURED_TIER,
        "reason": "measured",
        "outcomes": (),
        "tests": TestCounts(),
        "evidence": bare,
        "figures": figures_sample(),
        "keys": {"build": "b"},
    }
    return cell_record(**(facts | fields))


def dearer(factor: float) -> Figures:
    """Give the sample's figures, so much dearer."""
    items = (Figure(**(f.model_dump() | {"value": f.value * factor})) for f in figures_sample().figures)
    return Figures(figures=tuple(items))


def printed(value: Comparison | RunComparison | RunRecord) -> str:
    """Print on a wide console without colours."""
    output = io.StringIO()
    console = Console(file=output, width=200, color_system=None)
    if isinstance(value, RunRecord):
        print_report(value, console)
    else:
        print_comparison(value, console)
    return output.getvalue()


def test_a_run_that_measures_says_so_and_counts_no_tests() -> None:
    """Grid, totals, headline and page say `measured`, and nothing says that tests passed."""
    run = run_record(measured(), measured(variant="no-asm"))
    assert headline(run) == "All 2 cells are measured"
    assert totals(run) == ("2 cells: 2 measured",)
    assert headline(run_record(measured())) == "The one cell is measured"
    for text in (printed(run), run_markdown(run)):
        assert text.count("✓ measured") == 2
        assert "passed" not in text
        assert "test" not in text.lower()
    page = render_html(run)
    assert "2 measured</button>" in page
    assert "<h3>Tests" not in page
    assert "0 passed" not in page


def test_the_count_of_measured_cells_does_not_say_that_tests_passed() -> None:
    """Its title says what was measured; beside tested cells both are told."""
    ok, measures = "every test passed, and the evidence is there", "all that was asked for was measured"
    for cells, titles in (
        ([measured()], [measures]),
        ([of_matrix()], [ok]),
        ([of_matrix(), measured(variant="no-asm")], [ok, measures]),
    ):
        chip = render_html(run_record(*cells)).partition('<ul class="chips"')[2].partition("</ul>")[0]
        assert [words for words in (ok, measures) if words in chip] == titles


def test_what_is_wrong_in_a_measured_cell_is_named_as_ever() -> None:
    """Only what would be `passed` is `measured`; a left-out cell is as expected and was not measured."""
    wrong = measured(variant="no-asm", verdict=Verdict.VACUOUS, reason="sha256 did not repeat")
    run = run_record(measured(), wrong)
    assert headline(run) == "1 of 2 cells is not as expected"
    assert totals(run) == ("2 cells: 1 measured, 1 vacuous",)
    left_out = measured(variant="no-asm", verdict=Verdict.UNSUPPORTED, figures=None)
    assert headline(run_record(measured(), left_out)) == "All 2 cells are as expected, 1 of them measured"


def test_a_tested_run_is_called_as_before() -> None:
    """Its tests are counted, its cells passed."""
    run = run_record(of_matrix())
    assert (headline(run), len(totals(run))) == ("The one cell is as expected", 2)
    assert "<h3>Tests" in render_html(run)
    assert "✓ 2 ok" in printed(run)


@pytest.mark.parametrize("turned", [False, True])
def test_beside_a_measured_cell_figures_alone_are_compared(turned: bool) -> None:  # noqa: FBT001 - a table
    """No test is absent, no function did not run and no capability is gone: nobody looked."""
    pair = [of_matrix(figures=figures_sample()), measured(figures=dearer(2))]
    comparison = compare(*(pair[::-1] if turned else pair))
    assert (comparison.test_changes, comparison.evidence_changes) == ((), ())
    assert comparison.costs
    text = render_markdown(comparison)
    name = "A" if turned else "B"
    assert f"{name} was only measured: tests, capabilities and evidence are left out" in text.replace("\n  ", " ")
    assert "- tests: " not in text
    assert "no test newly fails" not in text
    assert "absent" not in text
    assert comparison.exit_code is (ExitCode.OK if turned else ExitCode.UNEXPECTED)


def test_beside_a_measured_cell_nothing_is_said_without_figures() -> None:
    """A tested cell that was never measured leaves nothing to compare, which is no `no worse`."""
    comparison = compare(of_matrix(), measured())
    assert comparison.exit_code is ExitCode.INFRASTRUCTURE
    assert conclusion(comparison).startswith("Says nothing: B was only measured, with no figure to compare")
    worse = compare(of_matrix(), measured(verdict=Verdict.CRASHED, figures=None))
    assert worse.exit_code is ExitCode.UNEXPECTED


def test_a_refused_ratio_is_the_reason_why_nothing_is_said() -> None:
    """There are figures, so it is not said that there are none; figures of other algorithms are not called none."""
    other = measured(variant="no-asm", toolchain="clang-16")
    text = conclusion(compare(of_matrix(figures=figures_sample()), other))
    assert text.startswith("Says nothing: B was only measured, and there are no ratios: the cells differ in 2 axes")
    apart = Figures(figures=(Figure(algorithm="sm4", unit="instructions/op", value=1.0),))
    text = conclusion(compare(of_matrix(figures=apart), measured(variant="no-asm")))
    assert text.startswith("Says nothing: B was only measured, with no figure in common")


def test_a_measured_cell_is_no_proof_that_a_test_passed_before() -> None:
    """A cell that fails its tests beside one that ran none has not become worse, whatever that one's verdict."""
    failed = of_matrix(verdict=Verdict.FAILED, figures=figures_sample())
    comparison = compare(measured(), failed)
    assert comparison.exit_code is ExitCode.OK
    assert "verdict: measured -> failed" in render_markdown(comparison)


def test_two_measured_cells_are_compared_without_tests() -> None:
    """They have none; figures decide."""
    comparison = compare(measured(), measured())
    assert conclusion(comparison) == "B is no worse than A: no figure moved by more than 1% in instructions."
    assert "tests:" not in render_markdown(comparison)
    assert "verdict: measured" in render_markdown(comparison)
    assert compare(measured(), measured(figures=dearer(2))).exit_code is ExitCode.UNEXPECTED


@pytest.mark.parametrize("verdict", [Verdict.UNSUPPORTED, Verdict.EXPECTED_FAILURE])
def test_what_is_known_not_to_be_measured_needs_no_figures(verdict: Verdict) -> None:
    """A left-out cell is left out in both runs, and makes no comparison say nothing."""
    assert compare(of_matrix(verdict=verdict), measured(verdict=verdict, figures=None)).exit_code is ExitCode.OK


def test_what_ran_is_compared_only_where_it_was_counted() -> None:
    """On a native cell nothing is counted, which is not that no function ran."""
    native = of_matrix(evidence=measured().evidence)
    assert not [c for c in compare(of_matrix(), native).evidence_changes if c.name.startswith(("assembly", "class"))]


def test_runs_of_two_kinds_say_once_what_is_left_out() -> None:
    """Pairs without a change are not printed, and one line says that they were not tested."""
    before = run_record(of_matrix(figures=figures_sample()), run_id="1")
    comparison = compare_runs(before, run_record(measured(), run_id="2"))
    words = "1 cell compared, 0 worse, 0 with a change. In 1 pair one side was only measured, so that figures alone"
    assert words in run_conclusion(comparison)
    assert len(printed(comparison).splitlines()) == 1
    assert comparison.exit_code is ExitCode.OK


def workspace(home: Path, *records: RunRecord) -> Workspace:
    """Give a workspace with some runs, oldest first."""
    state = State.open(home)
    for record in records:
        state.runs.begin(record)
        state.runs.write(record)
    return cast("Workspace", SimpleNamespace(state=lambda *, writable: state if not writable else None))


def runs_of_two_kinds(old: CellRecord) -> tuple[RunRecord, ...]:
    """Give a bench of one build, a matrix run of it, and a bench of another build."""
    cells = ((old,), (of_matrix(),), (measured(figures=dearer(2), keys={"build": "patched"}),))
    return tuple(run_record(*own, run_id=f"2026030{day}-100000-abcd") for day, own in enumerate(cells, 1))


def test_a_matrix_run_has_the_figures_of_the_same_build_beside_a_bench_run(tmp_path: Path) -> None:
    """`compare BEFORE latest` straight after `bench` holds costs against costs, as with two cells."""
    _, before, after = runs = runs_of_two_kinds(measured())
    found = compare_named(workspace(tmp_path, *runs), before.run_id, after.run_id, threshold=0.01)
    assert isinstance(found, RunComparison)
    assert found.exit_code is ExitCode.UNEXPECTED
    assert "1 cell compared, 1 worse" in run_conclusion(found)


def test_figures_of_another_build_are_not_taken(tmp_path: Path) -> None:
    """Then the comparison says nothing, and why."""
    _, before, after = runs = runs_of_two_kinds(measured(keys={"build": "other"}))
    found = compare_named(workspace(tmp_path, *runs), before.run_id, after.run_id, threshold=0.01)
    assert found.exit_code is ExitCode.INFRASTRUCTURE
    assert isinstance(found, RunComparison)
    assert "1 pair of them says nothing" in run_conclusion(found)


def test_a_build_is_not_held_against_its_own_figures(tmp_path: Path) -> None:
    """A matrix run and the bench of the same build have one set of figures, which shows nothing."""
    before = run_record(of_matrix(outcomes=(outcome("aes-test"),)), run_id="20260301-100000-abcd")
    after = run_record(measured(), run_id="20260302-100000-abcd")
    found = compare_named(workspace(tmp_path, before, after), before.run_id, after.run_id, threshold=0.01)
    assert found.exit_code is ExitCode.INFRASTRUCTURE


def test_figures_of_another_profile_of_the_build_are_not_taken(tmp_path: Path) -> None:
    """All profiles share one build; each cell gets what was measured of itself, whichever comes first."""
    profiles = ("default", "fat=none")
    costs = dict(zip(profiles, (figures_sample(), dearer(5)), strict=True))
    for order in (profiles, profiles[::-1]):
        old = [measured(profile=name, figures=costs[name]) for name in order]
        tested = [of_matrix(profile=name) for name in order]
        new = [measured(profile=name, figures=costs[name], keys={"build": "patched"}) for name in order]
        runs = [run_record(*own, run_id=f"2026030{day}-100000-abcd") for day, own in enumerate((old, tested, new), 1)]
        place = workspace(tmp_path / order[0], *runs)
        found = compare_named(place, runs[1].run_id, runs[2].run_id, threshold=0.01)
        assert isinstance(found, RunComparison)
        assert [bool(pair.costs) for pair in found.pairs] == [True, True]
        assert found.exit_code is ExitCode.OK


def newest_of(home: Path, *records: CellRecord) -> CellRecord:
    """Give what a cell's id means, where it was in these runs, oldest first."""
    runs = [run_record(one, run_id=f"2026030{day}-100000-abcd") for day, one in enumerate(records, 1)]
    place = workspace(home, *runs).state(writable=False).runs
    return find_cell(place, records[0].id).record


PENDING = {"verdict": Verdict.ABORTED, "keys": {}, "outcomes": ()}


@pytest.mark.parametrize(
    ("last", "taken"),
    [
        (PENDING, False),
        (PENDING | {"tier": MEASURED_TIER}, False),
        ({"verdict": Verdict.ABORTED, "keys": {"build": "b"}}, False),
        ({"verdict": Verdict.INFRASTRUCTURE, "keys": {"build": "b"}}, False),
        ({"verdict": Verdict.UNSUPPORTED, "keys": {}}, False),
        ({"verdict": Verdict.FAILED}, True),
    ],
)
def test_a_cell_that_never_ended_is_taken_only_where_there_is_no_other(
    tmp_path: Path,
    last: dict[str, object],
    taken: bool,  # noqa: FBT001 - a table
) -> None:
    """A run lists all its cells from the beginning; what a stopped one says of them is not that they were tested."""
    newest = of_matrix(reason="newest", **last)
    assert (newest_of(tmp_path / "a", of_matrix(reason="older"), newest).reason == "newest") is taken
    assert newest_of(tmp_path / "b", newest).reason == "newest"
    assert (newest_of(tmp_path / "c", measured(reason="older"), newest).reason == "newest") is taken


ONE = Figure(algorithm="aes-256-ctr", unit="instructions/byte", size_bytes=16, value=40.1)


@pytest.mark.parametrize(
    "bench",
    [
        {"verdict": Verdict.VACUOUS, "reason": "aes-256-ctr does not repeat"},
        {"verdict": Verdict.TIMED_OUT, "reason": "too slow", "figures": None},
        {"verdict": Verdict.UNSUPPORTED, "figures": Figures(asked=("aes-256-ctr",))},
        {"figures": Figures(figures=(ONE,))},
    ],
)
def test_a_tested_cell_is_not_green_by_figures_that_are_wrong_or_gone(tmp_path: Path, bench: dict[str, object]) -> None:
    """Tests of a patched build pass, and what measured it failed or lacks a figure: told, and worse, of cells and runs.

    The other way round nothing became worse, and neither where both measured alike.
    """
    patched: dict[str, object] = {"version": "3.10.2+p1a2b3c4d", "keys": {"build": "patched"}}
    before, after = of_matrix(), of_matrix(**patched)
    records = (measured(), measured(**(patched | bench)), before, after)
    runs = [run_record(one, run_id=f"2026030{day}-100000-abcd") for day, one in enumerate(records, 1)]
    place = workspace(tmp_path, *runs)
    worse = compare_named(place, before.id, after.id, threshold=0.01)
    assert worse.exit_code is ExitCode.UNEXPECTED
    assert str(bench.get("reason", "aes-256-ctr")) in render_markdown(worse)
    assert "no figure any more" in render_markdown(worse) or "measuring it did not end" in render_markdown(worse)
    assert compare_named(place, runs[0].run_id, runs[3].run_id, threshold=0.01).exit_code is ExitCode.UNEXPECTED
    assert compare_named(place, after.id, before.id, threshold=0.01).exit_code is ExitCode.OK
    assert compare_named(place, after.id, after.id, threshold=0.01).exit_code is ExitCode.OK


@pytest.mark.parametrize("text", ["{", '{"schema": 99}', "[]"])
@pytest.mark.parametrize("named", ["runs", "cells"])
def test_a_run_that_cannot_be_read_ends_no_comparison_of_others(tmp_path: Path, text: str, named: str) -> None:
    """One only looked through, damaged or of a newer version, is left out and told; one that is named is not."""
    _, before, after = runs = runs_of_two_kinds(measured())
    place = workspace(tmp_path, *runs, run_record(of_matrix(), run_id="20260201-100000-abcd"))
    (tmp_path / "runs" / "20260201-100000-abcd" / "run.json").write_text(text)
    names = (before.run_id, after.run_id) if named == "runs" else (of_matrix().id, of_matrix().id)
    told: list[str] = []
    found = compare_named(place, *names, threshold=0.01, tell=told.append)
    assert found.exit_code is (ExitCode.UNEXPECTED if named == "runs" else ExitCode.OK)
    assert {line for line in told if "20260201-100000-abcd" in line} == set(told) != set()
    for name in ("20260201-100000-abcd", f"20260201-100000-abcd:{of_matrix().id}"):
        with pytest.raises(StoreError, match="20260201-100000-abcd"):
            compare_named(place, name, name, threshold=0.01)
