"""Files over HTTP: bounded in time and size, retried only where that makes sense."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urlsplit

import requests
from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, wait_exponential

from crossmatrix.errors import SourceError, TransientError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from contextlib import AbstractContextManager
    from pathlib import Path

CONNECT_S = 5.0
READ_S = 30.0
WHOLE_S = 600.0
LARGEST_BYTES = 512 << 20
_ATTEMPTS = 3
_BLOCK_BYTES = 256 << 10
_TRANSIENT = frozenset({408, 425, 429, 500, 502, 503, 504})


class Response(Protocol):
    """What we use of a response of ``requests``."""

    @property
    def status_code(self) -> int:
        """HTTP's."""

    @property
    def headers(self) -> Mapping[str, str]:
        """Names in any case."""

    def iter_content(self, chunk_size: int) -> Iterator[bytes]:
        """Give the body in pieces."""


Open = "Callable[[str], AbstractContextManager[Response]]"
"""Opens an address; ``requests`` in real life, a fake in unit tests."""


class UnreachableError(SourceError):
    """The host cannot be reached at all; nothing else is asked of it."""


def open_address(url: str) -> AbstractContextManager[Response]:
    """Open an address with ``requests``: proxies come from the environment, certificates are checked."""
    return requests.get(url, stream=True, timeout=(CONNECT_S, READ_S), headers={"Accept-Encoding": "identity"})


def host_of(url: str) -> str:
    """Give the host of an address."""
    return urlsplit(url).hostname or url


def download(
    url: str,
    into: Path,
    *,
    open_: Callable[[str], AbstractContextManager[Response]] = open_address,
    sleep: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> None:
    """Get a file.

    Args:
        url: its address.
        into: where it is written.
        open_: opens an address.
        sleep: waits between tries.
        clock: seconds, for the limit on the whole.

    Raises:
        UnreachableError: there is no way to the host.
        SourceError: it answered, but not with the file: 404, too large, too slow, or cut every time.
    """
    retrying = Retrying(
        retry=retry_if_exception_type(TransientError),
        stop=stop_after_attempt(_ATTEMPTS),
        wait=wait_exponential(multiplier=0.5, max=4),
        sleep=sleep,
        reraise=True,
    )
    end = clock() + WHOLE_S
    try:
        for attempt in retrying:
            with attempt:
                _once(url, into, open_=open_, clock=clock, end=end)
    except TransientError as error:
        raise SourceError(f"{error.message} ({_ATTEMPTS} tries)") from error


def _once(
    url: str,
    into: Path,
    *,
    open_: Callable[[str], AbstractContextManager[Response]],
    clock: Callable[[], float],
    end: float,
) -> None:
    try:
        with open_(url) as response:
            _check_status(response.status_code)
            _write(response, into, clock=clock, end=end)
    except (requests.exceptions.ConnectTimeout, requests.exceptions.SSLError, requests.exceptions.ProxyError) as error:
        raise UnreachableError(f"{host_of(url)} cannot be reached: {_short(error)}") from error
    except requests.exceptions.ConnectionError as error:
        # A connection that broke later may work the next time; one that never came about will not within seconds.
        if into.exists() and into.stat().st_size > 0:
            raise TransientError(f"the connection broke: {_short(error)}") from error
        raise UnreachableError(f"{host_of(url)} cannot be reached: {_short(error)}") from error
    except requests.exceptions.Timeout as error:
        raise TransientError(f"no answer within {READ_S:.0f} s") from error
    except requests.exceptions.ChunkedEncodingError as error:
        raise TransientError(f"the connection broke: {_short(error)}") from error
    except requests.exceptions.RequestException as error:
        raise SourceError(f"the address cannot be used: {_short(error)}") from error


def _check_status(status: int) -> None:
    if status in _TRANSIENT:
        raise TransientError(f"HTTP status {status}")
    if status != requests.codes.ok:
        raise SourceError(f"HTTP status {status}")


def _write(response: Response, into: Path, *, clock: Callable[[], float], end: float) -> None:
    announced = response.headers.get("Content-Length", "")
    done = 0
    with into.open("wb") as file:
        for block in response.iter_content(_BLOCK_BYTES):
            done += len(block)
            if done > LARGEST_BYTES:
                raise SourceError(f"it is larger than {LARGEST_BYTES >> 20} MiB")
            if clock() > end:
                raise SourceError(f"it takes longer than {WHOLE_S:.0f} s")
            file.write(block)
    if announced.isdigit() and done != int(announced):
        raise TransientError(f"the answer was cut: {done} of {announced} bytes")


def _short(error: Exception) -> str:
    """Give the innermost reason of an error of ``requests``, without object addresses."""
    reason: object = error
    while isinstance(reason, BaseException) and (inner := getattr(reason, "reason", None) or _first(reason)):
        reason = inner
    # urllib3 puts the connection's representation in front of the reason.
    text = str(reason).split("): ", 1)[-1] if "Connection" in str(reason) else str(reason)
    return text[:200] or type(error).__name__


def _first(error: BaseException) -> BaseException | None:
    return next((argument for argument in error.args if isinstance(argument, BaseException)), None)
