"""The report on a terminal: the grid, what needs a look, the totals."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from rich import box
from rich.table import Table
from rich.text import Text

from crossmatrix.analysis.coverage import coverage
from crossmatrix.analysis.words import counted
from crossmatrix.errors import ExitCode
from crossmatrix.report.conclusion import conclude, headline, totals, troubled
from crossmatrix.report.grid import lay_out, target_names
from crossmatrix.report.looks import LOOKS, Tone, field_words, symbol
from crossmatrix.report.whole import print_whole
from crossmatrix.report.words import last_lines, printable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import Console

    from crossmatrix.records import CellRecord, Finding, RunRecord
    from crossmatrix.report.grid import Column, Grid

STYLES: Mapping[Tone, str] = {
    Tone.GOOD: "green",
    Tone.BAD: "bold red",
    Tone.DOUBT: "bold yellow",
    Tone.QUIET: "dim",
    Tone.FAULT: "bold magenta",
}
_GAP = 2
_NARROWEST = 20
"""Columns that prose and logs get on any console."""


def print_report(
    run: RunRecord,
    console: Console,
    *,
    report: str = "",
    tail: int = 10,
    most: int = 20,
) -> None:
    """Print a run: grid, cells that are not as expected, findings, totals, and where the report lies.

    Args:
        run: the run's record.
        console: where to print; its width decides how many columns a grid has.
        report: path of the HTML report; empty where none was written.
        tail: lines of a cell's log that are shown.
        most: cells that are shown with their log; the rest is counted.
    """
    print_grids(run.cells, console)
    bad = troubled(run)
    for record in bad[:most]:
        _print_trouble(record, console, tail)
    if len(bad) > most:
        _line(console, f"... and {counted(len(bad) - most, 'cell')} more that are not as expected", "bold")
        console.print()
    _print_findings(run.findings, console)
    _print_coverage(run, console)
    for note in run.notes:
        _line(console, f"note: {note}")
    for line in totals(run):
        _line(console, line)
    code = conclude(run.cells, run.findings, interrupted=run.exit_code == ExitCode.INTERRUPTED)
    _line(console, f"{headline(run)}.", "bold green" if code is ExitCode.OK else "bold red")
    if report:
        console.print(Text(f"Report: {report}"), soft_wrap=True)


def print_grids(cells: Sequence[CellRecord], console: Console) -> None:
    """Print the grid, or several below each other where its columns do not fit beside each other."""
    whole = lay_out(cells)
    if not whole.columns:
        return
    labels = max(len(row.source) for row in whole.rows) + 2 * _GAP
    labels += max(len("compiler"), *(len(row.way) for row in whole.rows))
    field = max(len(field_words(record)) + 2 for record in whole.fields.values())
    names = target_names(whole.columns) if whole.many_targets else {}
    heads = max(len(line) for column in whole.columns for line in _heads(column, names))
    most = max(1, (console.width - labels) // (max(field, heads) + _GAP))
    for part in whole.split(most):
        console.print()
        print_whole(_table(part, names, unicode=speaks_unicode(console)), console)
    console.print()


def speaks_unicode(console: Console) -> bool:
    """Whether symbols outside ASCII can be printed."""
    return console.encoding.lower().replace("-", "").startswith("utf")


def _table(grid: Grid, names: Mapping[str, str], *, unicode: bool) -> Table:
    axes = ["endian", "target", "compiler"] if names else ["endian", "compiler"]
    shape = box.SIMPLE_HEAD if unicode else None
    table = Table(box=shape, show_edge=False, padding=(0, _GAP, 0, 0), pad_edge=False, header_style="")
    table.add_column("", no_wrap=True)
    table.add_column(Text("\n".join(axes), style="dim"), no_wrap=True)
    previous = ["", "", ""]
    for column in grid.columns:
        heads = _heads(column, names)
        same = heads[:-1] == previous[:-1]
        table.add_column(
            Text("\n".join(["" for _ in heads[:-1]] + heads[-1:] if same else heads), style="bold"), no_wrap=True
        )
        previous = heads
    source = ""
    for row in grid.rows:
        first = "" if row.source == source else row.source
        source = row.source
        fields = [_field(grid.at(row, column), unicode=unicode) for column in grid.columns]
        table.add_row(Text(first, style="bold"), Text(row.way), *fields)
    return table


def _heads(column: Column, names: Mapping[str, str]) -> list[str]:
    """Give the lines above a column: byte order, the target where that is not told by it, the compiler."""
    order = "big" if column.big else "little"
    return [order, *([names[column.target]] if names else []), column.toolchain]


def _field(record: CellRecord | None, *, unicode: bool) -> Text:
    if record is None:
        return Text("-", style="dim")
    words = f"{symbol(record.verdict, unicode=unicode)} {field_words(record)}"
    return Text(words, style=STYLES[LOOKS[record.verdict].tone])


def _print_trouble(record: CellRecord, console: Console, tail: int) -> None:
    style = STYLES[LOOKS[record.verdict].tone]
    mark = symbol(record.verdict, unicode=speaks_unicode(console))
    console.print(Text.assemble((f"{mark} {record.verdict}", style), "  ", (record.id, "bold")), soft_wrap=True)
    _line(console, record.reason, indent=2)
    unicode = speaks_unicode(console)
    lines = last_lines(record.log_tail, tail)
    if lines and record.log_of:
        _line(console, f"last lines of {record.log_of}:", "dim", indent=2)
    for line in lines:
        shown = ("│ " if unicode else "| ") + _speakable(line.expandtabs(), console)
        room = max(console.width, _NARROWEST) - 2
        if len(shown) > room:
            shown = shown[: room - 1] + ("…" if unicode else ">")
        console.print(Text(f"  {shown}", style="dim"), soft_wrap=True)
    if record.reproduce:
        console.print(Text(f"  rerun: {record.reproduce}"), soft_wrap=True)
    console.print()


def _print_findings(findings: Sequence[Finding], console: Console) -> None:
    for finding in sorted(findings, key=lambda finding: not finding.serious):
        kind = f"{finding.kind.replace('-', ' ')}{f' ({finding.axis})' if finding.axis else ''}"
        style = "bold red" if finding.serious else "yellow"
        console.print(Text.assemble(("serious: " if finding.serious else "finding: ", style), (kind, "bold")))
        _line(console, finding.message, indent=2)
    if findings:
        console.print()


def _print_coverage(run: RunRecord, console: Console) -> None:
    for cover in coverage(run.cells):
        ran = cover.functions - len(cover.nowhere)
        words = f"assembly of {cover.source}: {ran} of {counted(cover.functions, 'function')} ran"
        _line(console, words + (f", {len(cover.nowhere)} in no cell" if cover.nowhere else ""))


def _line(console: Console, words: str, style: str = "", *, indent: int = 0) -> None:
    """Print words, wrapped at the console's width, every line indented."""
    margin = " " * indent
    for line in textwrap.wrap(
        _speakable(words, console),
        width=max(console.width, _NARROWEST),
        initial_indent=margin,
        subsequent_indent=margin,
        break_on_hyphens=False,
    ):
        console.print(Text(line, style=style), soft_wrap=True)


def _speakable(text: str, console: Console) -> str:
    """Give text as this console can show it."""
    clean = printable(text)
    return clean if speaks_unicode(console) else clean.encode("ascii", "replace").decode()
