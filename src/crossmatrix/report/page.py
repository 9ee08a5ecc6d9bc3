"""``report.html``: one self-contained page, see ``templates/``; it asks the network for nothing."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from crossmatrix.analysis.coverage import coverage
from crossmatrix.analysis.words import counted
from crossmatrix.records import Verdict
from crossmatrix.report.conclusion import count_verdicts, headline, totals, troubled
from crossmatrix.report.looks import LOOKS, field_words, verdict_meaning, verdict_word
from crossmatrix.report.pageviews import column_name, filter_facts, images, short_names, view_cell, view_grid
from crossmatrix.report.words import duration, fact, figure, moment, printable, seconds_between, size

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from crossmatrix.records import CellRecord, RunRecord


def render_html(run: RunRecord) -> str:
    """Write a run as one HTML page.

    Everything from the records is escaped, and a content security policy names the page's own script and style by
    hash, so that a log that holds markup cannot do anything.
    """
    script, style = _asset("report.js"), _asset("report.css")
    spent = seconds_between(run.started, run.finished)
    return (
        _environment()
        .get_template("report.html.j2")
        .render(
            run=run,
            headline=headline(run),
            totals=totals(run),
            spent="" if spent is None else duration(spent),
            verdicts=count_verdicts(run),
            words={v: _each(verdict_word, run, v) for v in Verdict},
            meanings={v: _each(verdict_meaning, run, v) for v in Verdict},
            troubled=troubled(run),
            findings=sorted(run.findings, key=lambda finding: not finding.serious),
            grid=view_grid(run),
            cells=[view_cell(record, run) for record in run.cells],
            coverage=coverage(run.cells),
            images=images(run),
            script=Markup(script),  # noqa: S704 - our own file
            style=Markup(style),  # noqa: S704 - our own file
            script_hash=_hash(script),
            style_hash=_hash(style),
        )
    )


def _each(say: Callable[[CellRecord], str], run: RunRecord, verdict: Verdict) -> list[str]:
    """Give each thing that is to be said of the cells of a verdict, once."""
    return list(dict.fromkeys(say(record) for record in run.cells if record.verdict is verdict))


def anchor(cell: str) -> str:
    """Give the address of a cell's panel within the page."""
    return "#" + quote(cell, safe="/@=.+,:")


def web_address(link: str) -> str:
    """Give a link if it leads to the web, else nothing: a record must not bring a script along as an address."""
    return link if link.startswith(("https://", "http://")) else ""


def breakable(text: str) -> Markup:
    """Let a long name break after its slashes and underscores."""
    safe = str(escape(printable(text)))
    for character in ("/", "_", "@"):
        safe = safe.replace(character, f"{character}<wbr>")
    return Markup(safe)  # noqa: S704 - escaped above


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("crossmatrix.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters: Mapping[str, Callable[..., object]] = {
        "anchor": anchor,
        "breakable": breakable,
        "duration": duration,
        "figure": figure,
        "moment": moment,
        "number": "{:,}".format,
        "counted": counted,
        "printable": printable,
        "size": size,
        "web": web_address,
    }
    environment.filters.update(filters)
    environment.globals.update(
        looks=LOOKS,
        field_words=field_words,
        verdict_word=verdict_word,
        filter_facts=filter_facts,
        column_name=column_name,
        short_names=short_names,
        fact=fact,
    )
    return environment


def _asset(name: str) -> str:
    return (resources.files("crossmatrix.report") / "templates" / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
