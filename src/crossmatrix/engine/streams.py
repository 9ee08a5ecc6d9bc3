"""The stream of a command in a container: a connection of its own per command, read against a time limit.

docker-py can lose the first bytes of such a stream (they wait in a buffer that its socket does not have) and has no
limit for a whole command, only for the pause between two reads. So we speak this one call ourselves.
Framing: https://docs.docker.com/reference/api/engine/ ("Stream format" of attach): a header of 8 bytes, the stream's
number (1 output, 2 errors) first, the payload's length in the last four, big endian.
"""

from __future__ import annotations

import json
import math
import select
import socket
import ssl
import struct
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from crossmatrix.engine.faults import from_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crossmatrix.engine.endpoints import Endpoint

CONNECT_S = 60.0
CHUNK = 1 << 16
FRAME_HEADER = 8
STDERR = 2
_LONGEST_HEAD = 1 << 16
_SWITCHED = (101, 200)


class PastLimitError(Exception):
    """The time limit came before the stream's end."""


@contextmanager
def exec_stream(endpoint: Endpoint, api: str, exec_id: str) -> Iterator[ExecStream]:
    """Start a created command and give its stream; the connection is closed on leaving.

    Args:
        endpoint: of the engine.
        api: version of the API to speak, ``1.40``.
        exec_id: of the created command.

    Yields:
        The stream, past the engine's answer.

    Raises:
        InfrastructureError: the engine refuses.
        OSError: it cannot be reached.
    """
    connection = _connect(endpoint)
    try:
        connection.settimeout(CONNECT_S)
        body = json.dumps({"Detach": False, "Tty": False}).encode()
        connection.sendall(
            f"POST /v{api}/exec/{exec_id}/start HTTP/1.1\r\nHost: engine\r\nContent-Type: application/json\r\n"
            f"Connection: Upgrade\r\nUpgrade: tcp\r\nContent-Length: {len(body)}\r\n\r\n".encode()
            + body,
        )
        rest = _answer(connection, endpoint.url)
        yield ExecStream(connection, rest)
    finally:
        connection.close()


class ExecStream:
    """The two-way stream of one command."""

    def __init__(self, connection: socket.socket, rest: bytes) -> None:
        self._connection = connection
        self._rest = bytearray(rest)

    def write(self, data: bytes) -> None:
        """Send to the command's standard input; each chunk within the connection's limit."""
        self._connection.settimeout(CONNECT_S)
        for start in range(0, len(data), CHUNK):
            self._connection.sendall(data[start : start + CHUNK])

    def frames(self, deadline: float | None) -> Iterator[tuple[int, bytes]]:
        """Give pairs of stream number and data until the command ends.

        Args:
            deadline: on ``time.monotonic``; None for no limit.

        Yields:
            What was printed, in order.

        Raises:
            PastLimitError: the deadline came first.
            OSError: the connection broke.
        """
        self._connection.setblocking(False)  # noqa: FBT003 - the standard library's own signature
        open_ = True
        while open_:
            chunk = self._receive(deadline)
            open_ = bool(chunk)
            self._rest += chunk
            yield from self._whole_frames()

    def _whole_frames(self) -> Iterator[tuple[int, bytes]]:
        """Take the frames that have come whole."""
        while len(self._rest) >= FRAME_HEADER:
            number, length = struct.unpack(">BxxxI", self._rest[:FRAME_HEADER])
            if len(self._rest) < FRAME_HEADER + length:
                return
            data = bytes(self._rest[FRAME_HEADER : FRAME_HEADER + length])
            del self._rest[: FRAME_HEADER + length]
            yield number, data

    def _receive(self, deadline: float | None) -> bytes:
        """Wait for the next bytes; nothing means the end."""
        while True:
            left = None if deadline is None else deadline - time.monotonic()
            if left is not None and left <= 0:
                raise PastLimitError
            try:
                return self._connection.recv(CHUNK)
            except (BlockingIOError, ssl.SSLWantReadError):
                # Not select(): it cannot wait for a file numbered past 1023, and many jobs have many.
                waiting = select.poll()
                waiting.register(self._connection, select.POLLIN)
                waiting.poll(None if left is None else math.ceil(left * 1000))


def _connect(endpoint: Endpoint) -> socket.socket:
    """Open a connection to an engine."""
    path = endpoint.socket
    if path is not None:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connection.settimeout(CONNECT_S)
            connection.connect(str(path))
        except BaseException:
            connection.close()
            raise
        return connection
    address = urlsplit(endpoint.url)
    host, port = address.hostname or "localhost", address.port or (2376 if endpoint.tls else 2375)
    plain = socket.create_connection((host, port), timeout=CONNECT_S)
    if not endpoint.tls:
        return plain
    try:
        return _tls_context(endpoint).wrap_socket(plain, server_hostname=host)
    except BaseException:
        plain.close()
        raise


def _tls_context(endpoint: Endpoint) -> ssl.SSLContext:
    """Read the certificates for a connection."""
    folder = Path(endpoint.tls)
    ca = folder / "ca.pem"
    context = ssl.create_default_context(cafile=str(ca) if ca.is_file() else None)
    if not endpoint.verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if (folder / "cert.pem").is_file():
        context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    return context


def _answer(connection: socket.socket, url: str) -> bytes:
    """Read the engine's answer; gives what came after its head."""
    data = b""
    while b"\r\n\r\n" not in data:
        chunk = connection.recv(CHUNK)
        if not chunk or len(data) > _LONGEST_HEAD:
            raise ConnectionResetError("the engine closed the connection")
        data += chunk
    head, rest = data.split(b"\r\n\r\n", 1)
    words = head.split(b"\r\n", 1)[0].split(b" ", 2)
    if len(words) > 1 and words[1].isdigit() and int(words[1]) in _SWITCHED:
        return rest
    raise from_text(rest.decode(errors="replace") or head.decode(errors="replace"), "start a command", url)
