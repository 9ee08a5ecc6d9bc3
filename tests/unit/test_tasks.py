"""The tasks of `invoke`: all there, thin, and each option explained."""

from __future__ import annotations

import ast
import json
from typing import TYPE_CHECKING

import pytest
from tests.unit.command_samples import CHECKOUT, Shell, shell

from crossmatrix.cli.options import NAMES

if TYPE_CHECKING:
    from pathlib import Path

TASKS = (
    "bench",
    "clean",
    "compare",
    "doctor",
    "engine",
    "images",
    "lint",
    "list",
    "matrix",
    "plan",
    "report",
    "test",
)
OPTIONS = {
    "matrix": ("matrix", "only", "skip", "cells", "tier", "jobs", "fresh", "keep-going", "fail-fast", "keep-container"),
    "list": ("matrix", "only", "skip", "cells", "tier", "format"),
    "plan": ("matrix", "only", "skip", "cells", "tier", "fresh", "format"),
    "images": ("matrix", "name"),
    "report": ("run", "format"),
    "bench": ("matrix", "cells", "algorithms", "jobs", "fresh", "format"),
    "compare": ("threshold", "format"),
    "engine": ("status", "stop"),
    "clean": ("dry-run", "older-than", "keep", "everything"),
    "test": ("unit", "sabotage", "options"),
}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    """Give a small checkout without an engine."""
    monkeypatch.setenv("COLUMNS", "120")
    return shell(tmp_path, monkeypatch)


def test_the_list_names_all_tasks(here: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    """`invoke --list` has each with a sentence, and says which one is the default."""
    assert here.invoke("--list") == 0
    out = capsys.readouterr().out
    lines = {line.split()[0]: line for line in out.splitlines() if line.startswith("  ") and line[2] != " "}
    assert sorted(lines) == sorted(TASKS)
    assert all(len(line.split()) > 3 for line in lines.values())
    assert "Default task: matrix" in out


def test_names_of_tasks_are_known_before() -> None:
    """The names by which a second task is told from a glob are those of the tasks."""
    assert sorted(NAMES) == sorted(TASKS)


def test_the_list_can_be_read_by_programs(here: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    """`invoke --list --list-format json` is JSON."""
    assert here.invoke("--list", "--list-format", "json") == 0
    assert sorted(task["name"] for task in json.loads(capsys.readouterr().out)["tasks"]) == sorted(TASKS)


@pytest.mark.parametrize("task", TASKS)
def test_every_option_is_explained(here: Shell, capsys: pytest.CaptureFixture[str], task: str) -> None:
    """`invoke --help TASK` has the options of the issue, each with words of its own."""
    assert here.invoke("--help", task) == 0
    out = capsys.readouterr().out
    assert all(f"--{name}" in out for name in OPTIONS.get(task, ()))
    lines = [line for line in out.splitlines() if line.lstrip().startswith("-")]
    assert all(len(line.split("  ")[-1].split()) > 1 for line in lines), lines


def test_tasks_hold_no_logic() -> None:
    """A task is one call into the package: no branches, no loops."""
    tree = ast.parse((CHECKOUT / "tasks.py").read_text(encoding="utf-8"))
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    assert len(functions) == len(TASKS)
    for function in functions:
        kinds = {type(node) for node in ast.walk(function)}
        assert not kinds & {ast.If, ast.For, ast.While, ast.Try, ast.With, ast.ListComp}, function.name
        assert ast.get_docstring(function), function.name
