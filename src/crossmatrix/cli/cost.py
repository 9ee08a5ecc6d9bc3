"""`bench` and `compare`."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from crossmatrix.api.comparing import compare_named
from crossmatrix.api.running import run_matrix
from crossmatrix.cli.guard import console
from crossmatrix.cli.matrix import shown
from crossmatrix.errors import ExitCode, UsageError
from crossmatrix.records import MEASURED_TIER
from crossmatrix.report.comparison import comparison_json, print_comparison, render_markdown
from crossmatrix.report.figures import figures_json, print_figures

if TYPE_CHECKING:
    from crossmatrix.api.options import Choice, Manner
    from crossmatrix.api.workspace import Workspace


def bench(workspace: Workspace, choice: Choice, manner: Manner, form: str) -> ExitCode:
    """Measure cells in executed instructions, native ones in time too."""
    measured = replace(choice, tier=MEASURED_TIER)
    if form == "json":
        record = run_matrix(workspace, measured, manner, lambda _event: None).record
        print(figures_json(record))  # noqa: T201 - the command's output
    else:
        record = shown(workspace, measured, manner).record
        print_figures(record, console())
    return ExitCode(record.exit_code or 0)


def compare(workspace: Workspace, before: str, after: str, form: str, threshold: str) -> ExitCode:
    """Hold two cells or two runs against each other; exit code 1 past the threshold, 3 where it says nothing.

    Raises:
        UsageError: not both are named, or the threshold is none.
    """
    if not before or not after:
        raise UsageError("compare wants two cells or two runs", hint="invoke compare BEFORE AFTER")
    notes: dict[str, None] = {}
    comparison = compare_named(workspace, before, after, threshold=_fraction(threshold), tell=notes.setdefault)
    if form == "text":
        print_comparison(comparison, console())
    else:
        print(render_markdown(comparison) if form == "md" else comparison_json(comparison), end="")  # noqa: T201 - output
    for note in notes:
        print(f"note: {note}", file=sys.stderr)  # noqa: T201 - beside the output
    return comparison.exit_code


def _fraction(text: str) -> float:
    """Read ``1%``, ``1`` (per cent) or ``0.5%``.

    Raises:
        UsageError: it is no number, or negative.
    """
    try:
        value = float(text.strip().removesuffix("%")) / 100
    except ValueError as error:
        raise UsageError(f"--threshold wants per cent, such as 1%, not {text!r}") from error
    if not 0 <= value < float("inf"):
        raise UsageError(f"--threshold {text}: it cannot be negative or without end")
    return value
