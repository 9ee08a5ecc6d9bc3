"""`engine`, `doctor`, `clean`, `test`, `lint`."""

from __future__ import annotations

import shlex
import subprocess
import sys
from typing import TYPE_CHECKING

from crossmatrix.api.clean import clean as clean_up
from crossmatrix.api.doctor import examine
from crossmatrix.cli.guard import console
from crossmatrix.engine import stop_private
from crossmatrix.errors import ExitCode, UsageError
from crossmatrix.report.tables import print_rows, render_columns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crossmatrix.api.workspace import Workspace


def doctor(workspace: Workspace) -> ExitCode:
    """Show every prerequisite with how to mend it; exit code 3 when one is missing."""
    rows = examine(workspace.environ, workspace.home, workspace.root)
    print_rows(rows, console())
    return ExitCode.INFRASTRUCTURE if any(row.status == "missing" for row in rows) else ExitCode.OK


def engine(workspace: Workspace, *, stop: bool) -> ExitCode:
    """Say which engine is used, or stop the private one."""
    out = console()
    if stop:
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
    return _tool(workspace, [sys.executable, "-m", "pytest", *words, *shlex.split(options)])


def lint(workspace: Workspace) -> ExitCode:
    """Run all linters, also after one has found something."""
    commands = (
        [sys.executable, "-m", "ruff", "check", "."],
        [sys.executable, "-m", "ruff", "format", "--check", "."],
        [sys.executable, "-m", "mypy"],
        ["lint-imports"],
    )
    codes = [_tool(workspace, command) for command in commands]
    return max(codes)


def _tool(workspace: Workspace, command: Sequence[str]) -> ExitCode:
    done = subprocess.run(command, cwd=workspace.root, check=False)
    return ExitCode.OK if done.returncode == 0 else ExitCode.UNEXPECTED
