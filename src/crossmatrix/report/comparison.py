"""A comparison as Markdown for a mail, and as tables on a terminal. Emulated figures always say "instructions"."""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass, replace
from fractions import Fraction
from textwrap import fill
from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Table

from crossmatrix.analysis.comparison import BULK, Comparison, RunComparison
from crossmatrix.analysis.words import counted, listed
from crossmatrix.records.model import Record
from crossmatrix.report.cost_grid import by_unit, cost_grid, short_number, size_word
from crossmatrix.report.whole import print_whole

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from _typeshed import DataclassInstance
    from rich.console import Console

    from crossmatrix.analysis.comparison import Change, CostChange, CostRow

WIDTH = 78
"""Columns that a mail has."""

SHOWN = 40
"""How many changes of one kind are listed before the rest is only counted."""

_UNITS = {
    "instructions/byte": ("Cost in instructions per byte", "Executed instructions, not time: they repeat exactly."),
    "instructions/op": ("Cost in instructions per operation", "Executed instructions, not time."),
    "time: bytes/s": ("Time: bytes per second", "By the clock of a native cell; decides nothing here."),
    "time: ops/s": ("Time: operations per second", "By the clock of a native cell; decides nothing here."),
}


def render_markdown(comparison: Comparison | RunComparison) -> str:
    """Give a comparison as Markdown that can be pasted into a mail, 78 columns wide where the ids allow it."""
    if isinstance(comparison, RunComparison):
        return "\n".join(_run_lines(comparison)).rstrip() + "\n"
    return "\n".join(_cell_lines(comparison)).rstrip() + "\n"


def print_comparison(comparison: Comparison | RunComparison, console: Console) -> None:
    """Print a comparison on a terminal: words, then one table for each unit."""
    if isinstance(comparison, RunComparison):
        console.print(escape(run_conclusion(comparison)), style="bold")
        for pair in comparison.pairs:
            if _differs(pair):
                console.rule()
                print_comparison(pair, console)
        for line in _unpaired(comparison):
            console.print(escape(line))
        return
    console.print(f"A  {escape(comparison.a)}\nB  {escape(comparison.b)}", highlight=False)
    console.print(escape(conclusion(comparison)), style="bold red" if comparison.past_threshold else "bold")
    for line in _words(comparison):
        console.print(escape(line), highlight=False)
    for unit, rows in by_unit(comparison.costs):
        print_whole(_rich_table(unit, rows, comparison.threshold), console)


def comparison_json(comparison: Comparison | RunComparison) -> str:
    """Give a comparison as JSON: its fields by name, ratios and percentages as numbers, and the conclusion."""
    return json.dumps(_document(comparison), indent=2, ensure_ascii=False)


def _document(comparison: Comparison | RunComparison) -> dict[str, object]:
    more: dict[str, object] = {"past_threshold": comparison.past_threshold}
    if isinstance(comparison, RunComparison):
        pairs = [_document(pair) for pair in comparison.pairs]
        return {**_fields(comparison), "pairs": pairs, **more, "conclusion": run_conclusion(comparison)}
    costs = [{**_fields(row), "changes": [_change(change) for change in row.changes]} for row in comparison.costs]
    return {**_fields(comparison), "costs": costs, **more, "conclusion": conclusion(comparison)}


def _change(change: CostChange) -> dict[str, object]:
    return {**_fields(change), "ratio": _json_value(change.ratio), "percent": _json_value(change.percent)}


def _fields(value: DataclassInstance) -> dict[str, object]:
    return {field.name: _json_value(getattr(value, field.name)) for field in fields(value)}


def _json_value(value: object) -> object:
    if isinstance(value, Fraction):
        return float(value)
    if isinstance(value, tuple):
        return [_json_value(item) for item in value]
    if isinstance(value, Record):
        return value.model_dump(mode="json")
    if is_dataclass(value) and not isinstance(value, type):
        return _fields(value)
    return value


def conclusion(comparison: Comparison) -> str:
    """Say in one sentence whether the second cell is worse, and in what."""
    share = f"{_plain(comparison.threshold * 100)}%"
    parts = []
    if comparison.gone:
        parts.append(f"no figure any more for {listed(comparison.gone)}")
    if comparison.worse_verdict:
        parts.append(f"the verdict went from {comparison.verdict.before} to {comparison.verdict.after}")
    if comparison.worse_measured:
        parts.append("measuring it did not end as expected")
    if comparison.newly_failing:
        parts.append(f"{counted(len(comparison.newly_failing), 'test')} newly failing")
    if comparison.costlier:
        parts.append(f"{counted(len(comparison.costlier), 'figure')} rose by more than {share} in instructions")
    if parts:
        return f"B is worse than A: {'; '.join(parts)}."
    if comparison.says_nothing:
        return f"Says nothing: {comparison.says_nothing}, so that there is nothing to hold against the other."
    better = [f"{counted(len(comparison.newly_passing), 'test')} newly passing"] if comparison.newly_passing else []
    if comparison.cheaper:
        better.append(f"{counted(len(comparison.cheaper), 'figure')} fell by more than {share} in instructions")
    if better:
        return f"B is no worse than A: {'; '.join(better)}."
    tests = "" if any(comparison.measured) else "no test newly fails, "
    return f"B is no worse than A: {tests}no figure moved by more than {share} in instructions."


def run_conclusion(comparison: RunComparison) -> str:
    """Say in one sentence how many cells are worse."""
    worse = sum(pair.past_threshold for pair in comparison.pairs)
    changed = sum(_differs(pair) and not pair.says_nothing for pair in comparison.pairs)
    silent = len(comparison.silent)
    unsaid = "" if comparison.pairs else " Says nothing: no cell is in both."
    if silent:
        verb = "says" if silent == 1 else "say"
        unsaid = (
            f" {counted(silent, 'pair')} of them {verb} nothing, for a cell is aborted or infrastructure, "
            "or was only measured and no figure of it can be compared."
        )
    alone = sum(pair.measured[0] != pair.measured[1] for pair in comparison.pairs)
    if alone:
        unsaid = f" In {counted(alone, 'pair')} one side was only measured, so that figures alone are compared.{unsaid}"
    return (
        f"{comparison.b} against {comparison.a}: {counted(len(comparison.pairs), 'cell')} compared, "
        f"{worse} worse, {changed} with a change.{unsaid}"
    )


def _differs(pair: Comparison) -> bool:
    silent = pair.says_nothing and not any(pair.measured)
    moved = silent or pair.past_threshold or pair.cheaper or pair.test_changes or pair.evidence_changes
    return bool(moved or pair.verdict.before != pair.verdict.after)


def _run_lines(comparison: RunComparison) -> Iterator[str]:
    yield f"# Run `{comparison.b}` against run `{comparison.a}`"
    yield ""
    yield _wrapped(run_conclusion(comparison))
    for line in _unpaired(comparison):
        yield _wrapped(line, bullet=True)
    for pair in comparison.pairs:
        if _differs(pair):
            yield ""
            yield from _cell_lines(pair, level="##")


def _unpaired(comparison: RunComparison) -> Iterator[str]:
    for run, cells in ((comparison.a, comparison.only_a), (comparison.b, comparison.only_b)):
        if cells:
            yield f"In {run} alone: {listed(cells, 8)}"


def _cell_lines(comparison: Comparison, level: str = "#") -> Iterator[str]:
    yield f"{level} Comparison of two cells"
    yield ""
    yield f"- A: `{comparison.a}`"
    yield f"- B: `{comparison.b}`"
    yield ""
    yield _wrapped(conclusion(comparison))
    yield ""
    for line in _words(comparison):
        yield _wrapped(line, bullet=True)
    for unit, rows in by_unit(comparison.costs):
        title, remark = _UNITS.get(unit, (unit, ""))
        yield ""
        yield f"{level}# {title}"
        yield ""
        yield _wrapped(remark)
        yield ""
        yield from _markdown_table(cost_grid(rows))


def _words(comparison: Comparison) -> Iterator[str]:
    """Give what is not a cost, a sentence a line, then which functions carry the changed costs."""
    axes = "; ".join(f"{axis.axis} ({axis.before} to {axis.after})" for axis in comparison.axes)
    yield f"differ in: {axes}" if axes else "same source, variant, toolchain, target and profile"
    if comparison.refusal:
        yield comparison.refusal
    if comparison.gone:
        yield f"measured in A and no longer in B: {listed(comparison.gone, SHOWN)}"
    yield f"verdict: {_to(_measured_word(comparison))}"
    for name, reason in zip("AB", comparison.reasons, strict=True):
        if reason:
            yield f"reason in {name}: {reason}"
    counts = [f"{c.passed:,} passed, {c.failed:,} failed, {c.skipped:,} skipped" for c in comparison.tests]
    if not any(comparison.measured):
        yield f"tests: {counts[0]}" if counts[0] == counts[1] else f"tests: A {counts[0]}; B {counts[1]}"
    yield from _first("test", comparison.test_changes)
    yield from _first("evidence", comparison.evidence_changes)
    yield from comparison.notes
    yield from _carriers(comparison)


def _measured_word(comparison: Comparison) -> Change:
    """Give the verdicts with ``measured`` for a cell that passed no test, since it has none."""
    change = comparison.verdict
    words = (
        "measured" if only and word == "passed" else word
        for word, only in zip((change.before, change.after), comparison.measured, strict=True)
    )
    before, after = words
    return replace(change, before=before, after=after)


def _first(word: str, changes: Sequence[Change]) -> Iterator[str]:
    for change in changes[:SHOWN]:
        note = f" ({change.note})" if change.note else ""
        yield f"{word}: {change.name}: {_to(change)}{note}"
    if len(changes) > SHOWN:
        yield f"{word}: {len(changes) - SHOWN:,} more changes of this kind"


def _to(change: Change) -> str:
    return change.before if change.before == change.after else f"{change.before} -> {change.after}"


def _carriers(comparison: Comparison) -> Iterator[str]:
    """Say for each algorithm that moved past the threshold which functions did, at the last of its sizes."""
    last: dict[str, tuple[CostRow, CostChange]] = {}
    for row, change in (*comparison.costlier, *comparison.cheaper):
        if change.functions and (row.algorithm not in last or change.size_bytes in {BULK, None}):
            last[row.algorithm] = (row, change)
    for algorithm, (row, change) in sorted(last.items()):
        moved = [
            f"{f.name} {short_number(float(f.before))} -> {short_number(float(f.after))}" for f in change.functions
        ]
        yield f"{algorithm}, {size_word(change.size_bytes)}, {row.unit}: {listed(moved)}"


def _markdown_table(grid: Sequence[Sequence[str]]) -> Iterator[str]:
    """Give a pipe table that also lines up as plain text, with narrow margins where it would be too wide."""
    widths = [max(3, *(len(row[place]) for row in grid)) for place in range(len(grid[0]))]
    margin = " " if sum(widths) + 3 * len(widths) + 1 <= WIDTH else ""
    words = 1 if grid[0][1] == "A" else 2
    for number, row in enumerate(grid):
        cells = [
            cell.ljust(width) if place < words else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield "|" + "|".join(f"{margin}{cell}{margin}" for cell in cells) + "|"
        if number == 0:
            dashes = ("-" * w if place < words else "-" * (w - 1) + ":" for place, w in enumerate(widths))
            yield "|" + "|".join(f"{margin}{dash}{margin}" for dash in dashes) + "|"


def _rich_table(unit: str, rows: Sequence[CostRow], threshold: Fraction) -> Table:
    title, remark = _UNITS.get(unit, (unit, ""))
    grid = cost_grid(rows)
    table = Table(title=title, caption=remark, title_justify="left", caption_justify="left")
    words = 1 if grid[0][1] == "A" else 2
    for place, name in enumerate(grid[0]):
        table.add_column(name, justify="left" if place < words else "right", no_wrap=True)
    for row in grid[1:]:
        coloured = unit.startswith("instructions") and (row[1] == "%" or words == 1)
        table.add_row(*(_coloured(cell, threshold) if coloured else escape(cell) for cell in row))
    return table


def _coloured(cell: str, threshold: Fraction) -> str:
    number = cell.removesuffix("%").replace(",", "")
    if cell[:1] not in {"+", "-"} or not number[1:]:
        return escape(cell)
    percent = float(number)
    if percent > threshold * 100:
        return f"[red]{cell}[/red]"
    return f"[green]{cell}[/green]" if percent < -threshold * 100 else cell


def _plain(value: Fraction) -> str:
    return f"{float(value):g}"


def _wrapped(text: str, *, bullet: bool = False) -> str:
    first, rest = ("- ", "  ") if bullet else ("", "")
    return fill(
        text, WIDTH, initial_indent=first, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False
    )
