"""Unit tests cannot reach Docker, the network or, unless they are marked, programs of this machine."""

from __future__ import annotations

import socket
import subprocess
from typing import TYPE_CHECKING, NoReturn

import pytest
from tests.unit.runner_samples import World

from crossmatrix.runner import attempt, waiting

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def _no_world(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Break sockets always, and programs where a test is not marked with ``programs``."""

    def no_network(*_args: object, **_kwargs: object) -> NoReturn:
        pytest.fail("a unit test reached for the network or for Docker")

    def no_program(*_args: object, **_kwargs: object) -> NoReturn:
        pytest.fail("a unit test started a program; mark it with `programs` if it is sh, perl or git")

    monkeypatch.setattr(socket.socket, "connect", no_network)
    if request.node.get_closest_marker("programs") is None:
        monkeypatch.setattr(subprocess, "Popen", no_program)


@pytest.fixture
def world(tmp_path: Path) -> World:
    """Give a world of the runner's in which all goes well so far."""
    return World(home=tmp_path)


@pytest.fixture
def short_polls(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look often at what is waited for; nothing depends on how often."""
    monkeypatch.setattr(waiting, "POLL_S", 0.02)
    monkeypatch.setattr(attempt, "_IN_USE_POLL_S", 0.01)
