"""``report.md``: the report for a mail or an issue."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from crossmatrix.analysis.coverage import coverage
from crossmatrix.analysis.words import counted
from crossmatrix.report.conclusion import headline, totals, troubled
from crossmatrix.report.grid import lay_out, target_names
from crossmatrix.report.looks import LOOKS, field_words
from crossmatrix.report.versions import versions
from crossmatrix.report.words import duration, fact, last_lines, moment, printable, seconds_between

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from crossmatrix.records import CellRecord, RunRecord

_SPECIAL = re.compile(r"([\\`*_\[\]<>|~#])")
_NAMED = re.compile(
    r"`(?P<command>[^`]+)`|(?P<link>https?://[\w./?#&=%+~:-]*[\w/])"
    r"|(?P<name>[\w@+=.*$~-]*[_/][\w@+=.*$~/:-]*(?<![.:-]))"
)
"""What a sentence names and a reader copies; a link stays one."""
_BAR = re.compile(r"(?P<escaped>\\.)|(?P<span>(?P<marks>`+)(?!`).*?(?<!`)(?P=marks)(?!`))|\|")
"""A bar of a table's field, after what it may stand in: what is escaped already, and code, where nothing is."""
_LOG_LINES = 20
_SHOWN_FUNCTIONS = 20


def render_markdown(run: RunRecord) -> str:
    """Write a run as GitHub-flavoured Markdown: verdict, grid, cells not as expected, findings, this run."""
    parts = [
        f"# {escape(headline(run))}\n",
        f"Matrix {code(run.matrix)}, run {code(run.run_id)}, started {moment(run.started)}.\n",
        _grid(run.cells),
        "".join(f"- {escape(line)}\n" for line in totals(run)),
        *_troubles(run),
        *_findings(run),
        *_assembly(run),
        _versions(run),
        _about(run),
    ]
    return "\n".join(part for part in parts if part)


def escape(text: str) -> str:
    """Give text that Markdown shows as it is, on one line, also inside a table."""
    return _plain(" ".join(printable(text).split()))


def code(text: str) -> str:
    """Give text as a code span on one line: what is to be copied, without a mark of Markdown's in it."""
    plain = " ".join(printable(text).split())
    longest = max((len(run) for run in re.findall(r"`+", plain)), default=0)
    marks = "`" * (longest + 1)
    room = " " if plain.startswith("`") or plain.endswith("`") else ""
    return f"{marks}{room}{plain}{room}{marks}" if plain else ""


def prose(text: str) -> str:
    """Give a sentence with its commands, ids, paths and names of functions as code spans."""
    line = " ".join(printable(text).split())
    parts: list[str] = []
    end = 0
    for match in _NAMED.finditer(line):
        parts += [_plain(line[end : match.start()]), match["link"] or code(match["command"] or match["name"])]
        end = match.end()
    return "".join(parts) + _plain(line[end:])


def _plain(line: str) -> str:
    return _SPECIAL.sub(r"\\\1", line)


def fence(lines: Iterable[str], language: str = "text") -> str:
    """Give lines as a code block whose fence no line can end."""
    body = "\n".join(lines)
    longest = max((len(run) for run in re.findall(r"`+", body)), default=0)
    marks = "`" * max(3, longest + 1)
    return f"{marks}{language}\n{body}\n{marks}\n"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(_BAR.sub(_escaped_bar, field) for field in line)} |\n" for line in lines)


def _escaped_bar(found: re.Match[str]) -> str:
    """Escape bars: inside a table, and only there, also in code, each without its backslash being shown."""
    return found["escaped"] or found[0].replace("|", r"\|")


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
        parts.append(f"### {record.verdict}: {code(record.id)}\n")
        parts.append(f"{prose(record.reason)}\n" if record.reason else "")
        lines = last_lines(record.log_tail, _LOG_LINES)
        parts.append(f"Last lines of {code(record.log_of)}:\n" if lines and record.log_of else "")
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
        lines.append(f"- {'**serious** ' if finding.serious else ''}{kind}: {prose(finding.message)}\n")
        lines += [f"  - {code(cell)}\n" for cell in finding.cells]
    return ["## Findings\n", "".join(lines)]


def _assembly(run: RunRecord) -> list[str]:
    parts: list[str] = []
    for cover in coverage(run.cells):
        ran = cover.functions - len(cover.nowhere)
        shown = ", ".join(code(name) for name in cover.nowhere[:_SHOWN_FUNCTIONS])
        more = len(cover.nowhere) - _SHOWN_FUNCTIONS
        idle = f"; in no cell {shown}{f' and {more} more' if more > 0 else ''}" if cover.nowhere else ""
        parts.append(f"- {escape(cover.source)}: {ran} of {counted(cover.functions, 'function')} ran{idle}\n")
    return ["## Assembly\n", "".join(parts)] if parts else []


def _versions(run: RunRecord) -> str:
    rows = [(what, code(name), code(exact)) for what, name, exact in versions(run)]
    return f"## Versions\n\n{_table(('', 'name', 'digest'), rows)}" if rows else ""


def _about(run: RunRecord) -> str:
    rows = [("command", code(run.command))] if run.command else []
    rows += [("tool", code(run.tool))] if run.tool else []
    spent = seconds_between(run.started, run.finished)
    rows += [("took", duration(spent))] if spent is not None else []
    for group, facts in (("host", run.host), ("engine", run.engine)):
        known = (fact(*item) for item in facts.items())
        rows += [(escape(f"{group}: {name}"), code(value)) for name, value in known if value]
    rows += [("note", prose(note)) for note in run.notes]
    return f"## This run\n\n{_table(('', ''), rows)}" if rows else ""
