"""What the tasks for upkeep start."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from crossmatrix.api.workspace import Workspace
from crossmatrix.cli import upkeep
from crossmatrix.errors import ExitCode


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Record the programs that are started; the second one fails."""
    commands: list[list[str]] = []

    def run(command: list[str], **_options: object) -> subprocess.CompletedProcess[bytes]:
        commands.append(command)
        return subprocess.CompletedProcess(command, 1 if len(commands) == 2 else 0)

    monkeypatch.setattr(subprocess, "run", run)
    return commands


def test_linters_are_those_of_the_virtual_environment(started: list[list[str]], tmp_path: Path) -> None:
    """No linter is looked for on the PATH, where the virtual environment need not be."""
    upkeep.lint(Workspace.at(tmp_path, {}))
    assert all(Path(command[0]).parent == Path(sys.executable).parent for command in started)


def test_all_linters_run_and_one_finding_is_enough(started: list[list[str]], tmp_path: Path) -> None:
    """Each linter has its say, and the exit code is 1 where one of them found something."""
    assert upkeep.lint(Workspace.at(tmp_path, {})) is ExitCode.UNEXPECTED
    assert len(started) == 4
