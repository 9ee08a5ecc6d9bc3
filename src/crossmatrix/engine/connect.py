"""Finds the engine: the one the user named, one that runs, or a daemon of our own."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from crossmatrix.engine.client import PROBE_S, Client
from crossmatrix.engine.docker import DockerEngine
from crossmatrix.engine.endpoints import CHOICE, endpoints, wants_private
from crossmatrix.engine.private import Places, answers, dockerd, ensure_private
from crossmatrix.errors import InfrastructureError, NamedEngineError, NoEngineError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from crossmatrix.catalog import Release
    from crossmatrix.engine.endpoints import Endpoint

COMMANDS = (
    "Debian, Ubuntu, as root: `./bootstrap matrix` installs Docker Engine and starts a daemon of its own; by hand: "
    "apt-get install docker.io debootstrap.\n"
    "  Elsewhere: install Docker Engine or Podman and start it (systemctl start docker, "
    "systemctl --user start podman.socket), or set DOCKER_HOST."
)


def connect(  # noqa: PLR0913 - each is one thing that only the caller knows
    environ: Mapping[str, str],
    home: Path,
    *,
    root: Path,
    start: bool = True,
    source_file: Callable[[Release], Path] | None = None,
    note: Callable[[str], None] = lambda _: None,
) -> DockerEngine:
    """Connect to an engine.

    In this order: DOCKER_HOST or the current docker context, Docker's usual sockets, Podman's, then, as root where
    dockerd is installed, a daemon of our own. ``CROSSMATRIX_ENGINE=private`` goes to our own daemon at once.

    Args:
        environ: the process environment.
        home: state directory.
        root: checkout, with ``images/``.
        start: whether a daemon may be started and dead runs' containers be removed; False only looks.
        source_file: gives the file of a release that an image is built from, fetched and checked.
        note: gets a line for the user.

    Returns:
        The engine; close it, or use it as a context manager.

    Raises:
        NoEngineError: none answers; says which were tried and what to do.
        InfrastructureError: the one that answers is too old, or its own daemon does not start.
        UsageError: a docker context or a choice that does not exist.
    """
    endpoint = _find(environ, home, start=start, note=note)
    client = Client(endpoint)
    try:
        engine = DockerEngine(client, home=home, root=root, environ=environ, source_file=source_file)
        if start:
            _sweep(engine, note)
    except BaseException:
        client.close()
        raise
    return engine


def _sweep(engine: DockerEngine, note: Callable[[str], None]) -> None:
    """Remove what dead runs left; one container that the engine cannot remove does not stand in every run's way."""
    try:
        swept = engine.sweep()
    except InfrastructureError as error:
        note(f"Containers that an interrupted run had left cannot be removed: {error.message}")
        return
    if swept:
        note(f"Removed {swept} container{'s' if swept > 1 else ''} that an interrupted run had left.")


def _find(environ: Mapping[str, str], home: Path, *, start: bool, note: Callable[[str], None]) -> Endpoint:
    """Give the address of the engine to use."""
    failures: list[str] = []
    if not wants_private(environ):
        for endpoint in endpoints(environ, os.getuid()):
            reason = _why_dead(endpoint)
            if not reason:
                return endpoint
            if endpoint.chosen:
                raise NamedEngineError(
                    f"{endpoint.origin} names the engine {endpoint.url}, which does not answer: {reason}.",
                    hint="Start it, or name another one; nothing else is tried while it is named.",
                )
            failures.append(f"{endpoint.origin} ({endpoint.url}): {reason}")
    ours = Places.of(home).endpoint
    if not start:
        if answers(ours):
            return ours
        failures.append(f"our own daemon ({ours.url}): not started")
        raise _none(failures)
    if dockerd() is None or os.geteuid() != 0:
        what = "dockerd is not installed" if dockerd() is None else "only root can start it"
        raise _none([*failures, f"a daemon of our own: {what}"])
    return ensure_private(home, environ, note)


def _none(failures: Sequence[str]) -> NoEngineError:
    """Say that no engine answers, what was tried and what to do."""
    tried = "\n".join(f"  - {failure}" for failure in failures)
    return NoEngineError(f"No Docker-compatible engine answers. Tried:\n{tried}", hint=COMMANDS)


def _why_dead(endpoint: Endpoint) -> str:
    """Say why an engine does not answer, in a few words; empty where it does."""
    path = endpoint.socket
    if path is not None:
        try:
            if not path.exists():
                return "no such socket"
        except OSError as error:
            return str(error.strerror).lower()
        if not os.access(path, os.R_OK | os.W_OK):
            return "permission denied (add yourself to the group that owns the socket, mostly `docker`)"
    client = Client(endpoint, timeout_s=PROBE_S)
    try:
        client.ask("answer", lambda api: api.ping(), again=False)
    except InfrastructureError as error:
        return _reason(error)
    finally:
        client.close()
    return ""


def _reason(error: InfrastructureError) -> str:
    """Give the cause out of a translated error: what stands in its last brackets, or else what the engine said."""
    brackets = re.findall(r"\(([^()]*)\)", error.message)
    if brackets:
        return str(brackets[-1])
    _, said, words = error.message.partition("could not answer: ")
    return words if said else "no answer in time"


__all__ = ["CHOICE", "connect"]
