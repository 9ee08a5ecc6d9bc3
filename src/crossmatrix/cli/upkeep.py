"""`engine`, `doctor`, `clean`, `test`, `lint`."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from crossmatrix.api.clean import clean as clean_up
from crossmatrix.api.doctor import examine
from crossmatrix.cli.guard import console
from crossmatrix.engine import engine_status, stop_private
from crossmatrix.errors import ExitCode, UsageError
from crossmatrix.report.tables import print_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crossmatrix.api.workspace import Workspace


def doctor(workspace: Workspace) -> ExitCode:
    """Show every prerequisite with how to mend it; exit code 3 when one is missing."""
    rows = examine(workspace.environ, workspace.home, workspace.root)
    print_rows(rows, console())
    return ExitCode.INFRASTRUCTURE if any(row.status == "missing" for row in rows) else ExitCode.OK


def run_tests(workspace: Workspace, arguments: Sequence[str]) -> ExitCode:
    """Run pytest in the checkout; its exit code is 1 at most."""
    return _tool(workspace, [sys.executable, "-m", "pytest", *arguments])


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
