"""Exact cost: slopes, laws, and what a broken measurement says."""

from __future__ import annotations

import json
from fractions import Fraction
from statistics import mean, stdev
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crossmatrix.analysis import figures_from_bench
from crossmatrix.analysis.cost import slope

if TYPE_CHECKING:
    from crossmatrix.records import Figure

COUNT = st.integers(0, 10**9)


def run(algorithm: str = "aes-256-ctr", size: int = 1024, kind: str = "bulk", **more: object) -> dict[str, object]:
    """Make one raw run: 5,000 instructions of start-up, and for a call 100 and 3 a byte, 2 of these in ``f``."""
    per_call = 100 + 3 * size
    counts = [[c, {"instructions": 5000 + per_call * c, "functions": {"f": 2 * size * c, "main": 9}}] for c in (2, 10)]
    return {"algorithm": algorithm, "kind": kind, "random": False, "size": size, "counts": counts} | more


def bench(*runs: dict[str, object], **more: object) -> str:
    """Make a bench.json."""
    return json.dumps({"emulated": True, "runs": runs, "times": [], "missing": []} | more)


def by_size(text: str) -> dict[int | None, Figure]:
    """Give the figures by their size."""
    return {figure.size_bytes: figure for figure in figures_from_bench(text).figures}


def test_block_sizes_have_the_call_in_them_and_the_bulk_rate_has_not() -> None:
    """A call of 100 instructions weighs at 16 bytes and is gone in the slope between two sizes."""
    figures = by_size(bench(run(size=16), run(size=1024), run(size=8192)))
    assert {size: figure.value for size, figure in figures.items()} == {0: 3.0, 16: 9.25, 1024: 3.0977, 8192: 3.0122}
    assert {figure.unit for figure in figures.values()} == {"instructions/byte"}
    assert figures[0].functions == {"f": 2.0}


def test_a_function_that_only_one_size_names_is_not_blamed_for_the_difference() -> None:
    """A bench run sums its cheapest functions; one that is named at one size and summed at the other is left out."""
    named = [[c, {"instructions": 100 * c, "functions": {"f": 60 * c, "g": 30 * c}}] for c in (1, 2)]
    summed = [[c, {"instructions": 50 * c, "functions": {"f": 30 * c, "other": 15 * c}}] for c in (1, 2)]
    figures = by_size(bench(run(size=20, counts=named), run(size=10, counts=summed)))
    assert figures[0].functions == {"f": 3.0}
    assert figures[20].functions == {"f": 3.0, "g": 1.5}


def test_an_operation_costs_the_slope_between_two_numbers_of_calls() -> None:
    """Start-up is taken off and functions that run once do not appear."""
    (figure,) = figures_from_bench(bench(run("rsa-2048-sign", 0, "operation"))).figures
    assert (figure.unit, figure.size_bytes, figure.value) == ("instructions/op", None, 100.0)
    assert figure.deviation is None
    assert figure.functions == {}


@given(start=COUNT, call=COUNT, byte=COUNT, sizes=st.sets(st.integers(1, 10**5), min_size=2, max_size=4))
def test_a_linear_cost_is_recovered_exactly(start: int, call: int, byte: int, sizes: set[int]) -> None:
    """Whatever the start-up, the cost of a call and of a byte: both come back."""
    runs = [
        run(size=size, counts=[[c, {"instructions": start + (call + byte * size) * c}] for c in (1, 3)])
        for size in sizes
    ]
    figures = by_size(bench(*runs))
    assert figures[0].value == byte
    for size in sizes:
        assert figures[size].value == float(round(Fraction(call + byte * size, size), 4))


@given(a=st.integers(-(10**9), 10**9), b=COUNT, xs=st.sets(st.integers(0, 1000), min_size=2))
def test_the_slope_of_a_line_is_the_lines(a: int, b: int, xs: set[int]) -> None:
    """Any two or more points of a line give its slope, exactly."""
    assert slope([(x, Fraction(a * x + b)) for x in xs]) == a


@given(st.permutations([run(size=16), run(size=64), run("sha256", 64), run("rsa", 0, "operation")]), st.booleans())
def test_the_order_of_measurements_does_not_matter(runs: list[dict[str, object]], turn: bool) -> None:  # noqa: FBT001 - hypothesis
    """Two outputs of the same counts are the same text."""
    turned = [{**r, "counts": list(reversed(r["counts"]))} if turn else r for r in runs]  # type: ignore[call-overload]
    expected = figures_from_bench(bench(run(size=16), run(size=64), run("sha256", 64), run("rsa", 0, "operation")))
    assert figures_from_bench(bench(*turned)).model_dump_json() == expected.model_dump_json()


def test_figures_are_sorted_and_have_no_time_in_them() -> None:
    """By algorithm, unit and size; and an emulated cell's times, if any slipped in, are dropped."""
    time = {"algorithm": "sha256", "unit": "bytes/s", "size": 64, "values": [1.0, 2.0]}
    figures = figures_from_bench(bench(run("sha256", 64), run("aes", 64), run("aes", 16), times=[time])).figures
    assert [(f.algorithm, f.size_bytes) for f in figures] == [("aes", 0), ("aes", 16), ("aes", 64), ("sha256", 64)]
    assert not any("time" in figure.unit for figure in figures)


def test_a_native_cell_has_times_and_they_are_called_so() -> None:
    """Mean, deviation and repeats of the repetitions, in a unit that says time."""
    time = {"algorithm": "sha256", "unit": "bytes/s", "size": 64, "values": [10.0, 20.0, 30.0]}
    (figure,) = figures_from_bench(bench(emulated=False, times=[time])).figures
    assert (figure.unit, figure.value, figure.deviation, figure.repeats) == ("time: bytes/s", 20.0, 10.0, 3)


def test_a_random_operation_has_mean_and_deviation_without_its_warm_up() -> None:
    """Of a hundred repeats the first five go, as edk2 does it, and the start-up is taken off the rest."""
    costs = [10**6] * 5 + [1000 + 7 * n % 90 for n in range(95)]
    counts = [[0, {"instructions": 400}], *([1, {"instructions": 400 + cost}] for cost in costs)]
    (figure,) = figures_from_bench(bench(run("dh-safe-prime", 0, "operation", random=True, counts=counts))).figures
    assert figure.repeats == 95
    assert figure.value == pytest.approx(mean(costs[5:]), abs=1e-4)
    assert figure.deviation == pytest.approx(stdev(costs[5:]), abs=1e-4)


def test_a_random_operation_without_a_start_up_run_says_so() -> None:
    """One number of calls cannot tell start-up from work."""
    counts = [[1, {"instructions": 100, "functions": {"bn": 50}}]] * 4
    figures = figures_from_bench(bench(run("dh", 0, "operation", random=True, counts=counts)))
    assert figures.figures[0].value == 100.0
    assert figures.figures[0].functions == {"bn": 50.0}
    assert figures.figures[0].repeats == 3
    assert "start-up is part of the figure" in figures.missing[0]


@pytest.mark.parametrize(
    ("raw", "word"),
    [
        (run(counts=[[2, {"instructions": 5}], [2, {"instructions": 5}]]), "two different numbers of calls"),
        (run(counts=[]), "two different numbers of calls"),
        (run(), "one block size alone"),
        (run("dh", 0, "operation", random=True, counts=[]), "not one call"),
    ],
)
def test_what_cannot_be_computed_is_said(raw: dict[str, object], word: str) -> None:
    """A figure that is missing leaves its reason."""
    assert any(word in reason for reason in figures_from_bench(bench(raw)).missing)


def test_runs_that_do_not_agree_are_said() -> None:
    """Repeated runs must agree to the instruction; by how much they do not is told."""
    counts = [[1, {"instructions": 100}], [1, {"instructions": 107}], [2, {"instructions": 200}]]
    missing = figures_from_bench(bench(run(counts=counts), run(size=64))).missing
    assert missing == ("aes-256-ctr, 1024 bytes: runs of 1 call do not agree, they differ by up to 7 instructions",)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"runs": [{"algorithm": 1}]}', bench(run(size=-1))])
def test_a_cut_bench_file_gives_no_figures_and_a_reason(text: str) -> None:
    """A container that was ended in the middle leaves a file that cannot be read; nothing crashes."""
    figures = figures_from_bench(text)
    assert figures.figures == ()
    assert "cut off" in figures.missing[0]


def test_what_the_container_could_not_measure_is_passed_on() -> None:
    """Reasons from the container stand beside ours, sorted, each once."""
    assert figures_from_bench(bench(missing=["b: no such mode", "a", "a"])).missing == ("a", "b: no such mode")


def test_only_the_costliest_functions_are_kept() -> None:
    """A figure is broken down into its eight costliest functions, the costliest first; the rest is no function."""
    functions = {"other": 1000} | {f"f{n:02}": n for n in range(20)}
    counts = [[c, {"instructions": 1190 * c, "functions": {k: v * c for k, v in functions.items()}}] for c in (1, 2)]
    (figure,) = figures_from_bench(bench(run("op", 0, "operation", counts=counts))).figures
    assert list(figure.functions.items()) == [(f"f{n}", float(n)) for n in range(19, 11, -1)]
