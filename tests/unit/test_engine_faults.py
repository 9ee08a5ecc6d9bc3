"""Errors of the client library become errors that a person can read."""

from __future__ import annotations

import pytest
import requests
from docker.errors import APIError, DockerException, NotFound

from crossmatrix.engine import faults
from crossmatrix.engine.faults import GoneError, from_text, guarded, translated
from crossmatrix.errors import InfrastructureError, NoSpaceError, TransientError

URL = "unix:///run/x.sock"


def _refused() -> requests.ConnectionError:
    """Make the error that requests raises, with its own kind of text."""
    try:
        try:
            raise ConnectionRefusedError(111, "Connection refused")
        except OSError as cause:
            raise requests.ConnectionError("HTTPConnectionPool(host='localhost', port=None): Max retries") from cause
    except requests.ConnectionError as error:
        return error


@pytest.mark.parametrize(
    ("error", "kind", "words"),
    [
        (_refused(), TransientError, "connection refused"),
        (requests.ReadTimeout("HTTPConnectionPool: Read timed out."), TransientError, "did not answer in time"),
        (requests.ConnectionError("HTTPConnectionPool(host='localhost'): x"), TransientError, "was closed"),
        (BrokenPipeError(32, "Broken pipe"), TransientError, "broken pipe"),
        (OSError(28, "No space left on device"), NoSpaceError, "No space left"),
        (APIError("x", explanation="write /x: no space left on device"), NoSpaceError, "No space left"),
        (NotFound("x", explanation="No such image: y"), GoneError, "No such image: y"),
        (APIError("x", explanation="dial tcp: i/o timeout"), TransientError, "i/o timeout"),
        (APIError("x", explanation="exec format error"), InfrastructureError, "linux/amd64"),
        (APIError("x", explanation="something else"), InfrastructureError, "something else"),
        (DockerException("junk"), TransientError, "gone or does not answer"),
    ],
)
def test_error_is_of_the_right_kind_and_readable(
    error: Exception,
    kind: type[InfrastructureError],
    words: str,
) -> None:
    """Each fault has its kind, names the engine and what was done, and shows none of the library's objects."""
    found = translated(error, "start container x", URL)
    assert type(found) is kind
    assert words in found.message
    assert URL in found.message
    assert "start container x" in found.message
    assert "HTTPConnectionPool" not in str(found)


def test_transient_fault_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A call that fails once in passing succeeds the second time."""
    monkeypatch.setattr(faults, "wait_exponential", lambda **_: lambda _: 0)
    errors = [ConnectionResetError(104, "Connection reset by peer")]

    def call() -> str:
        if errors:
            raise errors.pop()
        return "done"

    assert guarded(call, "ask", URL, again=True) == "done"


@pytest.mark.parametrize(("again", "expected"), [(True, 3), (False, 1)])
def test_tries_are_bounded(monkeypatch: pytest.MonkeyPatch, again: bool, expected: int) -> None:  # noqa: FBT001
    """A fault that does not pass is raised after three tries, and at once where trying again would do harm."""
    monkeypatch.setattr(faults, "wait_exponential", lambda **_: lambda _: 0)
    calls: list[int] = []

    def call() -> None:
        calls.append(1)
        raise ConnectionResetError

    with pytest.raises(TransientError):
        guarded(call, "ask", URL, again=again)
    assert len(calls) == expected


def test_lasting_fault_is_not_tried_again() -> None:
    """What will fail again is not repeated."""
    calls: list[int] = []

    def call() -> None:
        calls.append(1)
        raise APIError("x", explanation="bad parameter")

    with pytest.raises(InfrastructureError, match="bad parameter"):
        guarded(call, "ask", URL, again=True)
    assert len(calls) == 1


def test_engine_without_words_is_told() -> None:
    """An engine that gives no reason leaves no empty message."""
    assert "no reason given" in from_text(" \n", "do it", URL).message
