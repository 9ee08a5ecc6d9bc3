"""The stream of a command: frames, limits, answers. A socket pair stands for the engine."""

from __future__ import annotations

import fcntl
import resource
import socket
import struct
import threading
import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crossmatrix.engine import streams
from crossmatrix.engine.endpoints import Endpoint
from crossmatrix.engine.streams import ExecStream, PastLimitError, exec_stream
from crossmatrix.errors import InfrastructureError

if TYPE_CHECKING:
    from collections.abc import Iterator

ENDPOINT = Endpoint(url="unix:///x", origin="x")
HIGH = 1100


def _frame(number: int, data: bytes) -> bytes:
    return struct.pack(">BxxxI", number, len(data)) + data


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    """Give two ends of a connection."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


@settings(deadline=None)
@given(
    frames=st.lists(st.tuples(st.sampled_from([1, 2]), st.binary(max_size=300)), max_size=8),
    first=st.integers(0, 400),
)
def test_frames_come_out_as_they_went_in(frames: list[tuple[int, bytes]], first: int) -> None:
    """Whatever part came with the engine's answer, all frames come out whole and in order."""
    data = b"".join(_frame(*frame) for frame in frames)
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(data[first:])
        theirs.shutdown(socket.SHUT_WR)
        assert list(ExecStream(ours, data[:first]).frames(None)) == frames


def test_silence_ends_at_the_deadline(pair: tuple[socket.socket, socket.socket]) -> None:
    """A command that prints nothing is given up at its limit."""
    with pytest.raises(PastLimitError):
        next(ExecStream(pair[0], b"").frames(time.monotonic() + 0.05))


def test_a_connection_numbered_past_1023_is_waited_for(pair: tuple[socket.socket, socket.socket]) -> None:
    """Many jobs at once have many files open."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft <= HIGH:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(HIGH * 2, hard), hard))
    high = fcntl.fcntl(pair[0], fcntl.F_DUPFD_CLOEXEC, HIGH)
    try:
        with socket.socket(fileno=high) as connection:
            late = threading.Timer(0.05, lambda: pair[1].sendall(_frame(1, b"late")))
            late.start()
            assert next(ExecStream(connection, b"").frames(time.monotonic() + 30)) == (1, b"late")
            late.join()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_endless_output_ends_at_the_deadline(pair: tuple[socket.socket, socket.socket]) -> None:
    """A command that prints without end is given up at its limit too."""
    done = threading.Event()

    def flood() -> None:
        try:
            while not done.is_set():
                pair[1].sendall(_frame(1, b"x" * 1000))
        except OSError:
            return

    thread = threading.Thread(target=flood)
    thread.start()
    try:
        with pytest.raises(PastLimitError):
            for _ in ExecStream(pair[0], b"").frames(time.monotonic() + 0.05):
                pass
    finally:
        done.set()
        pair[0].shutdown(socket.SHUT_RDWR)
        thread.join(30)
    assert not thread.is_alive()


@pytest.mark.parametrize("status", ["101 UPGRADED", "200 OK"])
def test_start_is_asked_for_and_its_first_bytes_are_kept(
    pair: tuple[socket.socket, socket.socket],
    monkeypatch: pytest.MonkeyPatch,
    status: str,
) -> None:
    """What comes in one packet with the answer's head belongs to the stream."""
    monkeypatch.setattr(streams, "_connect", lambda _: pair[0])
    pair[1].sendall(f"HTTP/1.1 {status}\r\nA: b\r\n\r\n".encode() + _frame(1, b"early"))
    with exec_stream(ENDPOINT, "1.40", "abc") as stream:
        pair[1].shutdown(socket.SHUT_WR)
        assert list(stream.frames(None)) == [(1, b"early")]
        assert pair[1].recv(1000).startswith(b"POST /v1.40/exec/abc/start HTTP/1.1\r\n")
    assert pair[0].fileno() == -1


def test_refusal_gives_the_engines_words(
    pair: tuple[socket.socket, socket.socket],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An engine that refuses to start a command says why."""
    monkeypatch.setattr(streams, "_connect", lambda _: pair[0])
    pair[1].sendall(b'HTTP/1.1 409 Conflict\r\n\r\n{"message":"Container abc is not running"}')
    with pytest.raises(InfrastructureError, match="is not running"), exec_stream(ENDPOINT, "1.40", "abc"):
        pass
    assert pair[0].fileno() == -1


def test_engine_that_hangs_up_is_an_error(
    pair: tuple[socket.socket, socket.socket],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An engine that closes before it answers is no empty output."""
    monkeypatch.setattr(streams, "_connect", lambda _: pair[0])
    pair[1].shutdown(socket.SHUT_WR)
    with pytest.raises(ConnectionResetError), exec_stream(ENDPOINT, "1.40", "abc"):
        pass
