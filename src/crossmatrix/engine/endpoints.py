"""Where an engine may answer, in the order in which we ask. Reads Docker's configuration, connects to nothing.

The layout of ``~/.docker`` (``config.json``, ``contexts/meta/<sha256 of the name>/meta.json``, ``contexts/tls``) and
that ``DOCKER_HOST`` goes before ``DOCKER_CONTEXT`` are those of Docker's command line.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from crossmatrix.errors import UsageError, nearest

if TYPE_CHECKING:
    from collections.abc import Mapping

CHOICE = "CROSSMATRIX_ENGINE"
"""Environment variable: ``private`` goes straight to a daemon of our own; ``auto``, unset or empty looks everywhere."""

_SCHEMES = ("unix", "tcp", "http", "https", "ssh")
_FORMS = "Forms: unix:///var/run/docker.sock, tcp://HOST:PORT"


@dataclass(frozen=True, kw_only=True, slots=True)
class Endpoint:
    """An address at which an engine may answer.

    Attributes:
        url: ``unix:///path``, ``tcp://host:port`` or another that Docker knows.
        origin: who named it, for messages.
        chosen: the user named it, so that nothing else is tried where it is dead.
        private: a daemon of our own.
        tls: folder with ca.pem, cert.pem, key.pem; empty without TLS.
        verify: whether the engine's certificate is checked.
    """

    url: str
    origin: str
    chosen: bool = False
    private: bool = False
    tls: str = ""
    verify: bool = True

    @property
    def socket(self) -> Path | None:
        """The path of a Unix socket, or None."""
        return Path(self.url.removeprefix("unix://")) if self.url.startswith("unix://") else None


def wants_private(environ: Mapping[str, str]) -> bool:
    """Whether the user wants our own daemon and nothing else.

    Raises:
        UsageError: the variable holds a word that we do not know.
    """
    word = environ.get(CHOICE, "") or "auto"
    if word not in {"auto", "private"}:
        raise UsageError(f"{CHOICE}={word}: no such choice of engine.", hint=nearest(word, ("auto", "private")))
    return word == "private"


def endpoints(environ: Mapping[str, str], user: int) -> tuple[Endpoint, ...]:
    """List where an engine may answer, first choice first.

    Args:
        environ: the process environment.
        user: its numeric user id.

    Returns:
        One address where the user chose one (DOCKER_HOST or a docker context), else the usual sockets.

    Raises:
        UsageError: a docker context that does not exist or cannot be read, or what names the engine is no address.
    """
    if environ.get("DOCKER_HOST"):
        return (_from_docker_host(environ),)
    context = _context(environ)
    if context is not None:
        return (context,)
    return _usual(environ, user)


def _from_docker_host(environ: Mapping[str, str]) -> Endpoint:
    """Read DOCKER_HOST and the TLS variables that go with it."""
    tls = ""
    verify = bool(environ.get("DOCKER_TLS_VERIFY"))
    if verify or environ.get("DOCKER_TLS"):
        tls = environ.get("DOCKER_CERT_PATH") or str(_docker_folder(environ))
    url = _checked(environ["DOCKER_HOST"], "DOCKER_HOST")
    return Endpoint(url=url, origin="DOCKER_HOST", chosen=True, tls=tls, verify=verify)


def _checked(url: str, origin: str) -> str:
    """See that an address can be one, before anybody calls an engine dead that was never asked.

    Raises:
        UsageError: it has no scheme that we know, or lacks what the scheme needs.
    """
    scheme, colons, rest = url.partition("://")
    if not colons:
        if url.startswith("/"):
            raise _no_address(origin, url, f"write unix://{url}")
        host, colon, port = url.rpartition(":")
        likely = host and colon and port.isdecimal()
        raise _no_address(origin, url, f"write tcp://{url}" if likely else _FORMS)
    if scheme not in _SCHEMES:
        raise _no_address(origin, url, f"{nearest(scheme, _SCHEMES)} {_FORMS}")
    if scheme == "unix":
        if not rest.startswith("/"):
            raise _no_address(origin, url, f"the path of a socket is absolute: unix:///{rest}")
        return url
    try:
        parts = urlsplit(url)
        whole = bool(parts.hostname) and parts.port != 0
    except ValueError:
        whole = False
    if not whole:
        raise _no_address(origin, url, "write HOST:PORT behind it, such as tcp://127.0.0.1:2375")
    return url


def _no_address(origin: str, url: str, hint: str) -> UsageError:
    return UsageError(f"{origin} names {url!r}, which is no address of an engine.", hint=hint)


def _docker_folder(environ: Mapping[str, str]) -> Path:
    """Give the folder of Docker's command line configuration."""
    if environ.get("DOCKER_CONFIG"):
        return Path(environ["DOCKER_CONFIG"])
    return Path(environ.get("HOME") or "/nonexistent") / ".docker"


def _json(path: Path) -> dict[str, object]:
    """Read a JSON object, or nothing where there is none."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def _context(environ: Mapping[str, str]) -> Endpoint | None:
    """Read the current docker context, or None where it is the default one."""
    folder = _docker_folder(environ)
    name = environ.get("DOCKER_CONTEXT") or str(_json(folder / "config.json").get("currentContext") or "default")
    if name == "default":
        return None
    digest = hashlib.sha256(name.encode()).hexdigest()
    endpoint = _docker_part(_json(folder / "contexts" / "meta" / digest / "meta.json"))
    host = endpoint.get("Host")
    if not isinstance(host, str) or not host:
        known = [str(_json(path).get("Name", "")) for path in (folder / "contexts" / "meta").glob("*/meta.json")]
        raise UsageError(
            f"The docker context {name!r} does not exist or has no address.",
            hint=f"{nearest(name, (*known, 'default'))}; `docker context use default` goes back to the default one",
        )
    tls = folder / "contexts" / "tls" / digest / "docker"
    return Endpoint(
        url=_checked(host, f"The docker context {name!r}"),
        origin=f"docker context {name!r}",
        chosen=True,
        tls=str(tls) if tls.is_dir() else "",
        verify=not endpoint.get("SkipTLSVerify"),
    )


def _docker_part(meta: Mapping[str, object]) -> Mapping[str, object]:
    """Give the part of a context's description that tells of its engine."""
    parts = meta.get("Endpoints")
    part = parts.get("docker") if isinstance(parts, dict) else None
    return part if isinstance(part, dict) else {}


def _usual(environ: Mapping[str, str], user: int) -> tuple[Endpoint, ...]:
    """List the sockets of Docker, rootless Docker, Docker Desktop and Podman."""
    home = Path(environ.get("HOME") or "/nonexistent")
    runtime = Path(environ.get("XDG_RUNTIME_DIR") or f"/run/user/{user}")
    places = (
        (Path("/var/run/docker.sock"), "Docker's default socket"),
        (runtime / "docker.sock", "rootless Docker's socket"),
        (home / ".docker" / "run" / "docker.sock", "Docker Desktop's socket"),
        (runtime / "podman" / "podman.sock", "Podman's socket"),
        (Path("/run/podman/podman.sock"), "Podman's system socket"),
    )
    return tuple(Endpoint(url=f"unix://{path}", origin=origin) for path, origin in places)
