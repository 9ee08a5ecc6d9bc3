"""``report.md``: the report for a mail or an issue."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from crossmatrix.analysis.coverage import coverage
from crossmatrix.report.conclusion import headline, totals, troubled
from crossmatrix.report.grid import lay_out, target_names
from crossmatrix.report.looks import LOOKS, field_words
from crossmatrix.report.words import duration, fact, last_lines, moment, plural, printable, seconds_between

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from crossmatrix.records import CellRecord, RunRecord

_SPECIAL = re.compile(r"([\\`*_\[\]<>|~#])")
_LOG_LINES = 20
_SHOWN_FUNCTIONS = 20


def render_markdown(run: RunRecord) -> str:
    """Write a run as GitHub-flavoured Markdown: verdict, grid, cells not as expected, findings, this run."""
    parts = [
        f"# {escape(headline(run))}\n",
        f"Matrix `{run.matrix}`, run `{run.run_id}`, started {moment(run.started)}.\n",
        _grid(run.cells),
        "".join(f"- {escape(line)}\n" for line in totals(run)),
        *_troubles(run),
        *_findings(run),
        *_assembly(run),
        _about(run),
    ]
    return "\n".join(part for part in parts if part)


def escape(text: str) -> str:
    """Give text that Markdown shows as it is, on one line, also inside a table."""
    return _SPECIAL.sub(r"\\\1", " ".join(printable(text).split()))


def fence(lines: Iterable[str], language: str = "text") -> str:
    """Give lines as a code block whose fence no line can end."""
    body = "\n".join(lines)
    longest = max((len(run) for run in re.findall(r"`+", body)), default=0)
    marks = "`" * max(3, longest + 1)
    return f"{marks}{language}\n{body}\n{marks}\n"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _grid(cells: Sequence[CellRecord]) -> str:
    grid = lay_out(cells)
    head = ["library", "variant"]
    names = target_names(grid.columns)
    for column in grid.columns:
        target = f"{escape(names[column.target])}, " if grid.many_targets else ""
        head.append(f"{column.endian}, {target}{escape(column.toolchain)}")
    rows: list[list[str]] = []
    for row in grid.rows:
        fields = [grid.at(row, column) for column in grid.columns]
        words = [f"{LOOKS[field.verdict].symbol} {field_words(field)}" if field else "-" for field in fields]
        rows.append([escape(row.source), escape(row.way), *words])
    return _table(head, rows) if rows else ""


def _troubles(run: RunRecord) -> list[str]:
    bad = troubled(run)
    parts = ["## Not as expected\n"] if bad else []
    for record in bad:
        parts.append(f"### {record.verdict}: `{record.id}`\n")
        parts.append(f"{escape(record.reason)}\n" if record.reason else "")
        lines = last_lines(record.log_tail, _LOG_LINES)
        parts.append(fence(lines) if lines else "")
        if record.reproduce:
            parts.append(f"Run it again:\n\n{fence([record.reproduce], 'sh')}")
    return parts


def _findings(run: RunRecord) -> list[str]:
    if not run.findings:
        return []
    lines: list[str] = []
    for finding in sorted(run.findings, key=lambda finding: not finding.serious):
        kind = f"{finding.kind.replace('-', ' ')}{f' ({escape(finding.axis)})' if finding.axis else ''}"
        lines.append(f"- {'**serious** ' if finding.serious else ''}{kind}: {escape(finding.message)}\n")
        lines += [f"  - `{cell}`\n" for cell in finding.cells]
    return ["## Findings\n", "".join(lines)]


def _assembly(run: RunRecord) -> list[str]:
    parts: list[str] = []
    for cover in coverage(run.cells):
        if not cover.nowhere:
            continue
        shown = ", ".join(f"`{name}`" for name in cover.nowhere[:_SHOWN_FUNCTIONS])
        more = len(cover.nowhere) - _SHOWN_FUNCTIONS
        count = f"{len(cover.nowhere)} of {plural(cover.functions, 'function')}"
        parts.append(f"- {escape(cover.source)}, {count}: {shown}{f' and {more} more' if more > 0 else ''}\n")
    return ["## Assembly that ran nowhere in this matrix\n", "".join(parts)] if parts else []


def _about(run: RunRecord) -> str:
    rows = [("command", escape(run.command))] if run.command else []
    rows += [("tool", escape(run.tool))] if run.tool else []
    spent = seconds_between(run.started, run.finished)
    rows += [("took", duration(spent))] if spent is not None else []
    for group, facts in (("host", run.host), ("engine", run.engine)):
        rows += [(escape(f"{group}: {name}"), escape(value)) for name, value in (fact(*item) for item in facts.items())]
    rows += [("note", escape(note)) for note in run.notes]
    return f"## This run\n\n{_table(('', ''), rows)}" if rows else ""
