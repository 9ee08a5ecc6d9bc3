"""What ``list``, ``plan`` and ``doctor`` print. Plain text, so that ten thousand rows take no time."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Protocol

from rich.text import Text

from crossmatrix.analysis.words import counted
from crossmatrix.plan.jobs import JobKind
from crossmatrix.report.terminal import speaks_unicode
from crossmatrix.report.words import duration

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rich.console import Console

    from crossmatrix.catalog import Cell
    from crossmatrix.plan.jobs import Decision

PLAN_SCHEMA_VERSION = 1


class DoctorRow(Protocol):
    """One thing that was looked at; ``status`` is ``ok``, or a word for what is wrong; ``mend`` what to do."""

    @property
    def name(self) -> str:
        """What was looked at."""

    @property
    def status(self) -> str:
        """How it is."""

    @property
    def detail(self) -> str:
        """What was seen."""

    @property
    def mend(self) -> str:
        """What to do; empty where nothing is to be done."""


def render_columns(rows: Iterable[Sequence[str]], *, head: Sequence[str] = ()) -> str:
    """Lay rows out in columns that are as wide as their widest entry; the last one is as long as it likes."""
    lines = [tuple(head), *map(tuple, rows)] if head else list(map(tuple, rows))
    if not lines:
        return ""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)][:-1]
    texts = ("  ".join((*map(str.ljust, line, widths), line[-1])).rstrip() for line in lines)
    return "".join(f"{text}\n" for text in texts)


def render_list(cells: Sequence[Cell], left_out: Sequence[tuple[str, str, str]] = ()) -> str:
    """Write the cells of a matrix, then those left out with the reason and a link.

    Args:
        cells: in the matrix.
        left_out: (cell id, reason, link or empty).
    """
    rows = [(cell.id, cell.tier.name, cell.build.target.endian.value, cell.build.toolchain.family) for cell in cells]
    text = render_columns(rows, head=("CELL", "TIER", "ENDIAN", "COMPILER"))
    text += f"\n{counted(len(cells), 'cell')}"
    if not left_out:
        return f"{text}\n"
    text += f", {len(left_out)} left out:\n"
    for name, reason, link in left_out:
        text += f"  {name}\n    {reason}{f' ({link})' if link else ''}\n"
    return text


def render_plan(decisions: Sequence[Decision]) -> str:
    """Write the jobs in their order: what is run and why, what is taken from the store, what each waits for."""
    numbers = {decision.job.key: number for number, decision in enumerate(decisions, 1)}
    parts: list[str] = []
    width = len(str(len(decisions)))
    for decision in decisions:
        job = decision.job
        after = [f"#{numbers[key]}" for key in job.needs if key in numbers]
        what = "run   " if decision.run else "cached"
        parts.append(f"{f'#{numbers[job.key]}':>{width + 1}}  {job.kind.value:5}  {what}  {job.id}\n")
        waits = f"after {', '.join(after)}; " if after else ""
        spent = f" (about {duration(job.estimate_s)})" if decision.run else ""
        parts.append(f"{'':{width + 1}}  {waits}{decision.reason}{spent}\n")
    return f"{''.join(parts)}\n{_plan_totals(decisions)}\n" if parts else "Nothing to do: no jobs.\n"


def plan_json(decisions: Sequence[Decision], *, inputs: bool = False) -> str:
    """Write the plan as JSON, sorted keys, schema version 1.

    Args:
        decisions: in the plan's order.
        inputs: also all that decides each job's key, which makes a large plan a very long text.
    """
    jobs: list[Mapping[str, object]] = []
    for decision in decisions:
        job = decision.job
        entry: dict[str, object] = {
            "id": job.id,
            "kind": job.kind.value,
            "key": job.key,
            "needs": job.needs,
            "image": job.image,
            "estimate_s": job.estimate_s,
            "run": decision.run,
            "reason": decision.reason,
        }
        jobs.append(entry | {"inputs": dict(job.inputs)} if inputs else entry)
    running = [decision.job for decision in decisions if decision.run]
    value = {
        "schema": PLAN_SCHEMA_VERSION,
        "jobs": jobs,
        "to_run": len(running),
        "cached": len(decisions) - len(running),
        "estimate_s": sum(job.estimate_s for job in running),
    }
    return json.dumps(value, indent=2, sort_keys=True) + "\n"


def print_rows(rows: Sequence[DoctorRow], console: Console) -> None:
    """Print what the doctor saw: a mark, the name and what was seen; below it how to mend what is not well."""
    marks = ("✓", "✗") if speaks_unicode(console) else ("+", "x")
    width = max((len(row.name) for row in rows), default=0)
    status = max((len(row.status) for row in rows), default=0)
    for row in rows:
        well = row.status == "ok"
        style = "green" if well else "bold red"
        line = Text.assemble(
            (f"{marks[0] if well else marks[1]} ", style),
            f"{row.name:{width}}  ",
            (f"{row.status:{status}}", style),
            f"  {row.detail}",
        )
        console.print(line, soft_wrap=True)
        if row.mend and not well:
            console.print(Text(f"{'':{width + 4}}mend: {row.mend}"), soft_wrap=True)


def _plan_totals(decisions: Sequence[Decision]) -> str:
    parts: list[str] = []
    for kind in JobKind:
        chosen = [decision for decision in decisions if decision.job.kind is kind]
        run = sum(decision.run for decision in chosen)
        parts.append(f"{counted(len(chosen), f'{kind} job')} ({run} to run, {len(chosen) - run} cached)")
    seconds = sum(decision.job.estimate_s for decision in decisions if decision.run)
    estimate = f"; about {duration(seconds)} of work on two idle cores" if seconds else ""
    return ", ".join(parts) + estimate
