"""Long calls of the engine that print as they go: pull, import, build. Each has a limit on silence and on the whole."""

from __future__ import annotations

import json
import time
from contextlib import closing
from typing import TYPE_CHECKING

from crossmatrix.engine.faults import CLIENT_ERRORS, from_text, translated
from crossmatrix.errors import InfrastructureError, NoSpaceError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator, Mapping

    from docker import APIClient

    from crossmatrix.engine.client import Client

PULL_SILENCE_S = 20
PULL_S = 900.0
IMPORT_S = 900.0
BUILD_SILENCE_S = 1500
BUILD_S = 5400.0
PLATFORM = "linux/amd64"
_SHOWN = 20


def pull(client: Client, reference: str, on_line: Callable[[str], None]) -> None:
    """Pull an image; an engine or a registry that says nothing for some seconds is given up.

    Raises:
        InfrastructureError: it cannot be had.
    """
    doing = f"pull {reference}"
    params = {"fromImage": reference, "platform": PLATFORM}
    follow(client, doing, lambda api: _post(api, params, None, PULL_SILENCE_S), on_line, limit_s=PULL_S)


def import_image(
    client: Client,
    chunks: Iterable[bytes],
    tag: str,
    changes: tuple[str, ...],
    on_line: Callable[[str], None],
) -> None:
    """Import a root file system as an image.

    Args:
        client: of the engine.
        chunks: the tar archive.
        tag: ``name:tag`` of the image.
        changes: Dockerfile instructions to apply, such as ``LABEL a=b``.
        on_line: gets what the engine says.

    Raises:
        InfrastructureError: the engine refuses, or its disk is full.
    """
    # The name and its tag in one: Podman does not read a tag that is given apart.
    params = {"fromSrc": "-", "repo": tag, "platform": PLATFORM, "changes": list(changes)}
    follow(client, f"import {tag}", lambda api: _post(api, params, chunks, IMPORT_S), on_line, limit_s=IMPORT_S)


def follow(
    client: Client,
    doing: str,
    call: Callable[[APIClient], Generator[dict[str, object], None, None]],
    on_line: Callable[[str], None],
    *,
    limit_s: float,
) -> None:
    """Follow a call that answers with one JSON value after another.

    Args:
        client: of the engine.
        doing: what it does, in words.
        call: starts it and gives the values.
        on_line: gets each line that it prints.
        limit_s: for the whole.

    Raises:
        InfrastructureError: it failed; its last lines are in the message.
    """
    deadline = time.monotonic() + limit_s
    lines: list[str] = []
    try:
        # An engine works on for as long as somebody listens, and a kept exception would keep the listener.
        with closing(client.ask(doing, call, again=False)) as events:
            for event in events:
                error = event.get("error")
                if error:
                    raise _failed(client, doing, str(error), lines)
                for line in _words(event):
                    lines.append(line)
                    on_line(line)
                if time.monotonic() > deadline:
                    raise InfrastructureError(f"The engine took over {limit_s:.0f} s to {doing}; it was given up.")
    except CLIENT_ERRORS as error:
        raise translated(error, doing, client.url) from error


def _failed(client: Client, doing: str, words: str, lines: list[str]) -> InfrastructureError:
    """Make the error of a call that failed, with the last lines that it printed."""
    error = from_text(words, doing, client.url)
    if not isinstance(error, NoSpaceError) and any("No space left on device" in line for line in lines[-_SHOWN:]):
        error = from_text("no space left on device", doing, client.url)
    tail = "\n".join(f"  {line}" for line in lines[-_SHOWN:])
    return type(error)(f"{error.message}\n{tail}" if tail else error.message, hint=error.hint)


def _words(event: Mapping[str, object]) -> Iterator[str]:
    """Give the lines that an event prints; progress bars are passed over."""
    text = event.get("stream") or ("" if event.get("progressDetail") else event.get("status")) or ""
    for line in str(text).splitlines():
        if line.strip():
            yield line.rstrip()


def _post(
    api: APIClient,
    params: Mapping[str, object],
    data: Iterable[bytes] | None,
    silence_s: float,
) -> Generator[dict[str, object], None, None]:
    """Create an image; docker-py's own call has no time limit at all, so this is the plain request."""
    url = f"{api.base_url}/v{api.api_version}/images/create"
    headers = {"Content-Type": "application/tar"} if data is not None else {}
    response = api.post(url, params=dict(params), data=data, headers=headers, stream=True, timeout=silence_s)  # type: ignore[arg-type]
    with closing(response):
        if not response.ok:
            yield {"error": _message(response.text)}
            return
        for line in response.iter_lines():
            if line:
                yield json.loads(line)


def _message(text: str) -> str:
    """Read the message of an error answer."""
    try:
        return str(json.loads(text)["message"])
    except (ValueError, KeyError, TypeError):
        return text
