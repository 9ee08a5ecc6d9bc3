"""Commands looked over before bootstrap installs anything: `python -m crossmatrix.cli`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest
from tests.unit.command_samples import CHECKOUT

from crossmatrix import __version__
from crossmatrix.cli.__main__ import main

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let the shipped recipes be asked with a state directory of the test's own."""
    monkeypatch.setattr(sys, "argv", ["python"])
    monkeypatch.setenv("CROSSMATRIX_HOME", str(tmp_path / "state"))
    return tmp_path / "state"


@pytest.mark.parametrize(
    "line",
    [
        "matrix",
        "matrix --matrix ci --jobs 2 --fresh",
        "bench nettle-* --algorithms sha256 --format json",
        "images --name gcc-12",
        "test --unit",
        "list",
        "clean --everything",
        "",
    ],
)
def test_what_can_be_begun_is_let_through(elsewhere: Path, capsys: pytest.CaptureFixture[str], line: str) -> None:
    """Exit code 0, nothing printed, no engine asked, no run made."""
    assert main([str(CHECKOUT), *line.split()]) == 0
    assert capsys.readouterr() == ("", "")
    assert not (elsewhere / "runs").exists()


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("matrix --matrx ci", "did you mean '--matrix'?"),
        ("matrx", "did you mean 'matrix'?"),
        ("matrix --matrix cii", "did you mean 'ci'?"),
        ("matrix --jobs none", "--jobs wants a whole number"),
        ("matrix netle-*", "the nearest is"),
        ("bench --algorithms sha257", "did you mean 'sha256'?"),
        ("bench --format xml", "unknown --format 'xml'"),
        ("images --name gcc-21", "did you mean 'gcc-12'?"),
        ("matrix --source openssl=/nowhere", "/nowhere"),
        ("matrix --mirror /nowhere", "no such folder"),
        ("test --unti", "did you mean '--unit'?"),
    ],
)
def test_what_is_wrong_is_said_before(capsys: pytest.CaptureFixture[str], line: str, said: str) -> None:
    """Exit code 2 with the words that the command itself would say, whether in its form or in its meaning."""
    assert main([str(CHECKOUT), *line.split()]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    """Our own, with our name."""
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"Crossmatrix {__version__}\n"
