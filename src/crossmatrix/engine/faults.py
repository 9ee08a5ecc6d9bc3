"""What the engine's client library raises, in words that say what was being done, where, and what to do."""

from __future__ import annotations

import errno
import json
from typing import TYPE_CHECKING, TypeVar

import requests
from docker.errors import APIError, DockerException, NotFound, StreamParseError
from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, wait_exponential
from urllib3.exceptions import HTTPError

from crossmatrix.errors import InfrastructureError, NoSpaceError, TransientError

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

ATTEMPTS = 3
CLIENT_ERRORS: tuple[type[Exception], ...] = (
    *(DockerException, requests.RequestException, HTTPError, OSError),
    # An engine that ends in the middle of an answer leaves half a JSON value.
    *(StreamParseError, json.JSONDecodeError),
)
"""All that docker-py lets through: its own errors, those of requests and urllib3 beneath it, and plain sockets'."""

_TRANSIENT = ("connection reset", "i/o timeout", "temporary failure", "tls handshake timeout", "toomanyrequests")


class GoneError(InfrastructureError):
    """What was asked for does not exist in the engine; where that is an answer, the caller takes it as one."""


def translated(error: Exception, doing: str, url: str) -> InfrastructureError:
    """Turn an error of the client library into one of ours.

    Args:
        error: one of ``CLIENT_ERRORS``.
        doing: what was tried, as ``start container x``.
        url: of the engine.

    Returns:
        The error to raise: ``NoSpaceError``, ``TransientError``, ``GoneError`` or a plain ``InfrastructureError``.
    """
    if isinstance(error, APIError):
        return _from_answer(error, doing, url)
    text = str(error)
    if isinstance(error, requests.Timeout | TimeoutError) or "timed out" in text.lower():
        return TransientError(
            f"The engine at {url} did not answer in time: {doing}.",
            hint="It may be overloaded; `invoke doctor` says whether it answers at all.",
        )
    if "no space left" in text.lower():
        return no_space(doing, url)
    return TransientError(
        f"The engine at {url} is gone or does not answer: {doing} ({_cause(error)}).",
        hint="See whether it still runs, then give the same command again: what had finished is kept.",
    )


def no_space(doing: str, url: str) -> NoSpaceError:
    """Say that a disk of the engine's is full."""
    return NoSpaceError(
        f"No space left on the disk of the engine at {url}: {doing}.",
        hint="`invoke clean` removes what earlier runs left; `invoke doctor` shows how much is free.",
    )


def local(error: OSError, doing: str) -> InfrastructureError:
    """Turn a refusal of this machine's own disk into an error of ours; the engine has no part in it.

    Args:
        error: the refusal.
        doing: what was tried, as ``write /x``.
    """
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return NoSpaceError(
            f"No space left on this machine's disk, needed to {doing}.",
            hint="free some space: `invoke clean --dry-run` shows what is ours",
        )
    where = f"{error.filename}: " if error.filename is not None else ""
    return InfrastructureError(
        f"This machine could not {doing} ({where}{error.strerror or error}).",
        hint="`invoke doctor` checks what we need",
    )


def from_text(text: str, doing: str, url: str) -> InfrastructureError:
    """Turn words of the engine itself into an error of ours."""
    low = text.lower()
    words = " ".join(text.split()) or "no reason given"
    if "no space left on device" in low:
        return no_space(doing, url)
    if "exec format error" in low:
        return InfrastructureError(
            f"The engine at {url} cannot run linux/amd64 programs: {doing} (exec format error).",
            hint="Our images are linux/amd64: on another processor, turn on the engine's emulation of amd64.",
        )
    if any(word in low for word in _TRANSIENT):
        return TransientError(f"The engine at {url} could not {doing}: {words}")
    return InfrastructureError(f"The engine at {url} could not {doing}: {words}")


def _from_answer(error: APIError, doing: str, url: str) -> InfrastructureError:
    """Read an answer of the engine's that is an error."""
    words = str(error.explanation or error)
    if isinstance(error, NotFound):
        return GoneError(f"The engine at {url} does not have it: {doing} ({' '.join(words.split())}).")
    return from_text(words, doing, url)


def _cause(error: BaseException) -> str:
    """Name the innermost cause in a few words, without the library's own objects."""
    seen: BaseException = error
    for _ in range(10):
        inner = seen.__cause__ or seen.__context__ or next((a for a in seen.args if isinstance(a, BaseException)), None)
        if inner is None:
            break
        seen = inner
    if isinstance(seen, OSError) and seen.strerror:
        return seen.strerror.lower()
    if isinstance(seen, DockerException):
        return "not an engine's answer"
    return "the connection was closed"


def guarded(call: Callable[[], T], doing: str, url: str, *, again: bool) -> T:
    """Call the client library; its errors become ours, and transient ones are tried again.

    Args:
        call: what to do.
        doing: the same in words.
        url: of the engine.
        again: whether doing it twice does no harm.

    Returns:
        What the call returns.

    Raises:
        InfrastructureError: or one of its kinds.
    """

    def once() -> T:
        try:
            return call()
        except CLIENT_ERRORS as error:
            raise translated(error, doing, url) from error

    if not again:
        return once()
    attempts = Retrying(
        stop=stop_after_attempt(ATTEMPTS),
        wait=wait_exponential(multiplier=0.2, max=2),
        retry=retry_if_exception_type(TransientError),
        reraise=True,
    )
    return attempts(once)
