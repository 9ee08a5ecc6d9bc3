"""Exact cost: from the raw counts of a bench run to instructions per byte and per operation.

A program costs its start-up plus so much for each call. Two runs with different numbers of calls therefore have a
difference that is the calls' alone, and the slope is exact: nothing is fitted to noise. The same once more between two
block sizes leaves the cost of a byte without that of a call. All arithmetic is rational and rounded in the end, so that
two outputs can be compared as text.
"""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from math import ceil, isqrt
from typing import TYPE_CHECKING, NamedTuple

from pydantic import ValidationError

from crossmatrix.analysis.rawbench import RawCount, RawRun, RawTime, read_bench
from crossmatrix.analysis.words import counted
from crossmatrix.records import Figure, Figures

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

DIGITS = 4
"""Decimals of every figure."""

TOP_FUNCTIONS = 8
"""How many functions a figure is broken down into."""

THE_REST = "other"
"""Under which name a bench run sums the functions that it does not name: no function, and never among the costliest."""

WARM_UP = Fraction(1, 20)
"""The share of repeated measurements that is dropped as warm-up, at least one: edk2 drops 5 of 100."""

_TWO = 2


class Slope(NamedTuple):
    """The cost of one call or one byte: instructions in all, and by function."""

    total: Fraction
    functions: dict[str, Fraction]


def figures_from_bench(text: str) -> Figures:
    """Turn the raw counts of a bench run into figures.

    Args:
        text: ``bench.json``: ``{"emulated": bool, "asked": [...], "runs": [...], "times": [...], "missing": [...]}``.

    Returns:
        Instructions per byte at each block size and, as size 0, between the two largest sizes; instructions per
        operation; on native cells times too. Sorted, the same whatever the order of the input. What cannot be had
        stands in ``missing`` with the reason; a text that is no bench.json gives no figures and says so there.
    """
    try:
        bench = read_bench(text)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "the whole"
        reason = f"bench.json cannot be read ({where}: {first['msg']}); the bench run may have been cut off"
        return Figures(missing=(reason,))
    missing = list(bench.missing)
    figures = [*_bulk(bench.runs, missing), *_operations(bench.runs, missing)]
    if not bench.emulated:
        figures += _times(bench.times)
    figures.sort(key=lambda f: (f.algorithm, f.unit, -1 if f.size_bytes is None else f.size_bytes))
    return Figures(
        emulated=bench.emulated,
        asked=tuple(sorted(set(bench.asked))),
        figures=tuple(figures),
        missing=tuple(sorted(set(missing))),
    )


def slope(points: Sequence[tuple[int, Fraction]]) -> Fraction:
    """Give the slope of the least-squares line through points, exactly; for two points that of the line itself.

    Raises:
        ValueError: where all points have the same abscissa.
    """
    count = len(points)
    xs, ys = sum(x for x, _ in points), sum((y for _, y in points), Fraction(0))
    below = count * sum(x * x for x, _ in points) - xs * xs
    if below == 0:
        raise ValueError("a slope wants two different numbers of calls")
    return (count * sum((x * y for x, y in points), Fraction(0)) - xs * ys) / below


def _slopes(points: Sequence[tuple[int, RawCount]]) -> Slope:
    names = {name for _, counts in points for name in counts.functions}
    return Slope(
        total=slope([(calls, Fraction(counts.instructions)) for calls, counts in points]),
        functions={
            name: slope([(calls, Fraction(counts.functions.get(name, 0))) for calls, counts in points])
            for name in names
        },
    )


def _bulk(runs: Sequence[RawRun], missing: list[str]) -> Iterator[Figure]:
    calls: defaultdict[str, dict[int, Slope]] = defaultdict(dict)
    for run in runs:
        if run.kind == "bulk" and run.size > 0 and (call := _call(run, missing)) is not None:
            calls[run.algorithm][run.size] = call
    for algorithm, by_size in calls.items():
        for size, call in by_size.items():
            yield _figure(algorithm, "instructions/byte", size, _divided(call, size))
        sizes = sorted(by_size)[-_TWO:]
        if len(sizes) == _TWO:
            yield _figure(algorithm, "instructions/byte", 0, _between(by_size, *sizes))
        else:
            missing.append(f"{algorithm}: one block size alone, so no bulk rate")


def _call(run: RawRun, missing: list[str]) -> Slope | None:
    where = f"{run.algorithm}, {run.size} bytes" if run.size else run.algorithm
    by_count: defaultdict[int, set[int]] = defaultdict(set)
    for calls, counts in run.counts:
        by_count[calls].add(counts.instructions)
    for count, seen in sorted(by_count.items()):
        if len(seen) > 1:
            spread = max(seen) - min(seen)
            missing.append(
                f"{where}: runs of {counted(count, 'call')} do not agree, "
                f"they differ by up to {counted(spread, 'instruction')}"
            )
    try:
        return _slopes(run.counts)
    except ValueError as error:
        missing.append(f"{where}: {error}")
        return None


def _divided(call: Slope, size: int) -> Slope:
    return Slope(call.total / size, {name: value / size for name, value in call.functions.items()})


def _between(by_size: Mapping[int, Slope], small: int, large: int) -> Slope:
    """Give the cost of a byte; only functions named at both sizes count, for a run does not name its cheapest ones."""
    a, b, more = by_size[small], by_size[large], large - small
    names = a.functions.keys() & b.functions.keys()
    return Slope((b.total - a.total) / more, {n: (b.functions[n] - a.functions[n]) / more for n in names})


def _operations(runs: Sequence[RawRun], missing: list[str]) -> Iterator[Figure]:
    for run in runs:
        if run.kind != "operation":
            continue
        if run.random:
            if (figure := _random(run, missing)) is not None:
                yield figure
        elif (call := _call(run, missing)) is not None:
            yield _figure(run.algorithm, "instructions/op", None, call)


def _random(run: RawRun, missing: list[str]) -> Figure | None:
    """Average an operation that is random by nature, its warm-up removed.

    Runs with fewer calls than the others, if there are any, are the start-up and are taken off.
    """
    if all(calls == 0 for calls, _ in run.counts):
        missing.append(f"{run.algorithm}: not one call was measured")
        return None
    least = min(calls for calls, _ in run.counts)
    start = [(calls, counts) for calls, counts in run.counts if calls == least]
    samples = [(calls, counts) for calls, counts in run.counts if calls > least]
    if not samples:
        start, samples = [(0, RawCount(instructions=0))], start
        missing.append(f"{run.algorithm}: measured with one number of calls, so that start-up is part of the figure")
    warm_up = ceil(len(samples) * WARM_UP) if len(samples) > 1 else 0
    costs = [_slopes([*start, sample]) for sample in samples[warm_up:]]
    mean = _mean([cost.total for cost in costs])
    names = {name for cost in costs for name in cost.functions}
    by_function = {name: _mean([cost.functions.get(name, Fraction(0)) for cost in costs]) for name in names}
    figure = _figure(run.algorithm, "instructions/op", None, Slope(mean, by_function))
    deviation = _rounded(_deviation([cost.total for cost in costs], mean))
    return figure.model_copy(update={"deviation": deviation, "repeats": len(costs)})


def _mean(values: Sequence[Fraction]) -> Fraction:
    return sum(values, Fraction(0)) / len(values)


def _deviation(values: Sequence[Fraction], mean: Fraction) -> Fraction:
    """Give the sample's standard deviation; the root is taken of whole numbers, so that it is the same everywhere."""
    if len(values) < _TWO:
        return Fraction(0)
    variance = sum(((value - mean) ** 2 for value in values), Fraction(0)) / (len(values) - 1)
    scale = 10 ** (DIGITS + 2)
    return Fraction(isqrt(int(variance * scale * scale)), scale)


def _times(times: Iterable[RawTime]) -> Iterator[Figure]:
    """Give wall-clock times of a native cell: mean and deviation over the repetitions, named ``time``."""
    for time in times:
        kept = [Fraction(str(value)) for value in time.values]
        if not kept:
            continue
        mean = _mean(kept)
        yield Figure(
            algorithm=time.algorithm,
            unit=f"time: {time.unit}",
            size_bytes=time.size,
            value=_rounded(mean),
            deviation=_rounded(_deviation(kept, mean)),
            repeats=len(kept),
        )


def _figure(algorithm: str, unit: str, size: int | None, cost: Slope) -> Figure:
    named = ((name, value) for name, value in cost.functions.items() if name != THE_REST)
    ordered = sorted(named, key=lambda item: (-item[1], item[0]))
    top = {name: _rounded(value) for name, value in ordered[:TOP_FUNCTIONS] if _rounded(value) > 0}
    return Figure(algorithm=algorithm, unit=unit, size_bytes=size, value=_rounded(cost.total), functions=top)


def _rounded(value: Fraction) -> float:
    return float(round(value, DIGITS))
