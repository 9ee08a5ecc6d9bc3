"""Finding an engine: why one is dead, and that what dead runs left is in nobody's way."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

import pytest

from crossmatrix.engine import __main__ as asked_by_bootstrap
from crossmatrix.engine.client import Client
from crossmatrix.engine.connect import connect
from crossmatrix.engine.endpoints import Endpoint
from crossmatrix.engine.faults import from_text
from crossmatrix.errors import (
    CrossmatrixError,
    InfrastructureError,
    NamedEngineError,
    NoEngineError,
    TransientError,
    UsageError,
)

if TYPE_CHECKING:
    from pathlib import Path

MODULE = importlib.import_module("crossmatrix.engine.connect")
"""By name: the package exports the function that is named like it."""
URL = "tcp://engine.test:2376"


class PlayedEngine:
    """An engine whose sweep ends as a test wants it."""

    swept: int | Exception = 0

    def __init__(self, *_words: object, **_named: object) -> None:
        self.closed = False

    def sweep(self) -> int:
        """Remove what dead runs left, or fail."""
        if isinstance(self.swept, Exception):
            raise self.swept
        return self.swept


@pytest.mark.parametrize(
    ("swept", "told"),
    [
        (0, []),
        (1, ["Removed 1 container that an interrupted run had left."]),
        (2, ["Removed 2 containers that an interrupted run had left."]),
        (
            InfrastructureError("device or resource busy"),
            ["Containers that an interrupted run had left cannot be removed: device or resource busy"],
        ),
    ],
)
def test_what_dead_runs_left_is_swept_and_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, swept: int | Exception, told: list[str]
) -> None:
    """A container that the engine cannot remove does not stand in every later run's way."""
    monkeypatch.setattr(PlayedEngine, "swept", swept)
    monkeypatch.setattr(MODULE, "DockerEngine", PlayedEngine)
    monkeypatch.setattr(MODULE, "_find", lambda *_words, **_named: Endpoint(url=URL, origin="x"))
    notes: list[str] = []
    engine = connect({}, tmp_path, root=tmp_path, note=notes.append)
    assert isinstance(engine, PlayedEngine)
    assert notes == told


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (TransientError(f"The engine at {URL} is gone or does not answer: answer (connection refused)."), "refused"),
        (TransientError(f"The engine at {URL} did not answer in time: answer."), "no answer in time"),
        (from_text("Forbidden", "answer", URL), "Forbidden"),
        (from_text("odd :)", "answer", URL), "odd :)"),
    ],
)
def test_why_an_engine_is_dead_is_told_in_its_own_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: CrossmatrixError, reason: str
) -> None:
    """One that refuses has answered: only one that kept silent gave no answer in time."""

    def ask(*_words: object, **_named: object) -> None:
        raise error

    monkeypatch.setattr(Client, "ask", ask)
    with pytest.raises(NamedEngineError) as caught:
        connect({"DOCKER_HOST": "tcp://engine.test:2375"}, tmp_path, root=tmp_path)
    assert f"{reason}." in caught.value.message


def test_an_engine_behind_tls_need_not_want_to_know_who_we_are(tmp_path: Path) -> None:
    """A folder with an authority alone, as for an engine that asks nobody for a certificate, is good."""
    (tmp_path / "ca.pem").write_text("")
    Client(Endpoint(url=URL, origin="x", tls=str(tmp_path), verify=False)).close()


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (None, 0),
        (NoEngineError("none answers"), 3),
        (NamedEngineError("DOCKER_HOST names a dead one"), 0),
        (UsageError("there is no such docker context"), 0),
        (InfrastructureError("the engine is too old"), 0),
    ],
)
def test_an_engine_is_installed_only_where_it_would_be_used(
    monkeypatch: pytest.MonkeyPatch, error: CrossmatrixError | None, code: int
) -> None:
    """What the user named is used whatever is installed, and the task says what is wrong with it."""

    class Answering:
        def close(self) -> None:
            """Nothing is open."""

    def find(*_words: object, **named: object) -> Answering:
        assert named["start"] is False
        if error is not None:
            raise error
        return Answering()

    monkeypatch.setattr(asked_by_bootstrap, "connect", find)
    assert asked_by_bootstrap.main() == code
