"""Unit tests cannot reach Docker, the network or, unless they are marked, programs of this machine."""

from __future__ import annotations

import socket
import subprocess
from typing import NoReturn

import pytest


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
