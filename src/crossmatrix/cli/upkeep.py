"""`engine`, `doctor`, `clean`, `test`, `lint`."""

from __future__ import annotations

import shlex
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from crossmatrix import __version__
from crossmatrix.analysis.words import counted
from crossmatrix.api.clean import clean as clean_up
from crossmatrix.api.doctor import examine
from crossmatrix.api.origins import Row
from crossmatrix.cli.guard import console
from crossmatrix.disk import disk_faults
from crossmatrix.engine import stop_private
from crossmatrix.errors import ExitCode, NoEngineError, UsageError
from crossmatrix.report.tables import print_rows, render_columns
from crossmatrix.report.words import duration, size

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from crossmatrix.api.clean import Cleaned
    from crossmatrix.api.removable import Item
    from crossmatrix.api.workspace import Workspace
    from crossmatrix.engine import DockerEngine


def doctor(workspace: Workspace) -> ExitCode:
    """Show every prerequisite with how to mend it; exit code 3 when one is missing."""
    rows = (
        Row(name="Crossmatrix", status="ok", detail=f"{__version__} at {workspace.root}"),
        *examine(workspace.environ, workspace.home, workspace.root),
        *_mirror(workspace),
    )
    print_rows(rows, console())
    return ExitCode.INFRASTRUCTURE if any(row.status == "missing" for row in rows) else ExitCode.OK


def _mirror(workspace: Workspace) -> tuple[Row, ...]:
    """Look at the folder that CROSSMATRIX_MIRROR names, where it names one."""
    try:
        folders = workspace.mirrors()
    except UsageError as error:
        return (Row(name="mirror", status="missing", detail=error.message, mend=error.hint),)
    return tuple(Row(name="mirror", status="ok", detail=str(folder)) for folder in folders)


_UNITS_S = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_UNITS_BYTES = {"K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


def clean(workspace: Workspace, *, dry_run: bool, older_than: str, keep: str, everything: bool) -> ExitCode:
    """Remove what is ours, and say what and how much."""
    older_than_s = _measure("--older-than", older_than, _UNITS_S)
    keep_bytes = _measure("--keep", keep, _UNITS_BYTES)
    workspace.state(writable=False)
    with ExitStack() as stack:
        engine: DockerEngine | None = None
        try:
            fetcher = workspace.fetcher(tell=lambda _text: None)
            engine = stack.enter_context(workspace.engine(fetcher, start=False))
        except NoEngineError as error:
            print(f"no engine answers, so only files are looked at: {error.message}", file=sys.stderr)  # noqa: T201
        done = clean_up(
            engine,
            workspace.home,
            dry_run=dry_run,
            older_than_s=older_than_s,
            keep_bytes=int(keep_bytes) if keep_bytes is not None else None,
            everything=everything,
        )
    print(_what_was_done(done), end="")  # noqa: T201 - the command's output
    return ExitCode.OK


def _what_was_done(done: Cleaned) -> str:
    """Write what was removed and what was kept, with sizes, ages and reasons."""

    def rows(items: Sequence[Item]) -> list[tuple[str, ...]]:
        return [
            (
                item.kind,
                size(item.size_bytes) if item.size_bytes is not None else "-",
                duration(item.age_s) if item.age_s is not None else "-",
                f"{item.name}{f'  ({item.kept})' if item.kept else ''}",
            )
            for item in items
        ]

    head = ("KIND", "SIZE", "AGE", "NAME")
    text = render_columns(rows(done.removed), head=head) + "\n" if done.removed else ""
    text += "kept:\n" + render_columns(rows(done.kept), head=head) + "\n" if done.kept else ""
    verb = "would be removed" if done.dry_run else "removed"
    return f"{text}{counted(len(done.removed), 'thing')} {verb}, {size(done.freed_bytes)}\n"


def _measure(option: str, text: str, units: Mapping[str, int]) -> float | None:
    """Read a number with a unit; empty is None.

    Raises:
        UsageError: it is none.
    """
    if not text:
        return None
    number, unit = text[:-1], text[-1]
    factor = units.get(unit) or units.get(unit.upper()) or units.get(unit.lower())
    try:
        value = float(number) * (factor or 0)
    except ValueError:
        value = -1.0
    if factor is None or not 0 <= value < float("inf"):
        raise UsageError(f"{option} {text!r}: expected a number and one of {', '.join(units)}, such as 12{min(units)}")
    return value


def engine(workspace: Workspace, *, status: bool, stop: bool) -> ExitCode:
    """Say which engine is used, or stop the private one.

    Raises:
        UsageError: both are asked for.
    """
    if status and stop:
        raise UsageError("--status and --stop exclude each other", hint="leave one of them out")
    out = console()
    if stop:
        with disk_faults(workspace.home):
            stopped = stop_private(workspace.home)
        out.print("The private engine was stopped." if stopped else "No private engine of this state directory runs.")
        return ExitCode.OK
    fetcher = workspace.fetcher(tell=lambda _text: None)
    with workspace.engine(fetcher, start=False) as found:
        info = found.info
    rows = (
        ("engine", f"{info.kind} {info.version} ({info.os}/{info.architecture})"),
        ("address", info.url),
        ("kind", "private, started by Crossmatrix" if info.private else "the machine's own"),
        ("rootless", "yes" if info.rootless else "no"),
        ("CPUs, memory", f"{info.cpus}, {info.memory_bytes / 2**30:.1f} GiB"),
        ("data", info.root),
    )
    out.print(render_columns(rows), end="", markup=False, soft_wrap=True)
    return ExitCode.OK


def run_tests(workspace: Workspace, *, unit: bool, sabotage: bool, options: str) -> ExitCode:
    """Run pytest in the checkout; its exit code is 1 at most."""
    if unit and sabotage:
        raise UsageError("--unit and --sabotage exclude each other", hint="leave one of them out")
    words = ["tests/unit"] if unit else ["-m", "sabotage", "tests/integration"] if sabotage else []
    try:
        more = shlex.split(options)
    except ValueError as error:
        raise UsageError(f"--options {options!r}: {str(error).lower()}", hint="close every quote") from error
    return _tool(workspace, [sys.executable, "-m", "pytest", *words, *more])


def lint(workspace: Workspace) -> ExitCode:
    """Run all linters, also after one has found something."""
    commands = (
        [sys.executable, "-m", "ruff", "check", "."],
        [sys.executable, "-m", "ruff", "format", "--check", "."],
        [sys.executable, "-m", "mypy"],
        # Beside the interpreter: the virtual environment need not be on the PATH.
        [str(Path(sys.executable).with_name("lint-imports"))],
    )
    codes = [_tool(workspace, command) for command in commands]
    return max(codes)


def _tool(workspace: Workspace, command: Sequence[str]) -> ExitCode:
    done = subprocess.run(command, cwd=workspace.root, check=False)
    return ExitCode.OK if done.returncode == 0 else ExitCode.UNEXPECTED
