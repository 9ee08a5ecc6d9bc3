"""One engine's client: every call has a time limit, and its errors are ours."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from docker import APIClient
from docker.tls import TLSConfig

from crossmatrix.engine.faults import CLIENT_ERRORS, guarded, translated
from crossmatrix.engine.types import EngineInfo
from crossmatrix.errors import InfrastructureError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from crossmatrix.engine.endpoints import Endpoint

T = TypeVar("T")

CALL_S = 90
"""Limit of one call. Generous: an engine that starts eight containers on two cores is slow, not dead."""
PROBE_S = 20
OLDEST_API = (1, 40)
"""Docker Engine 19.03 and Podman 3 speak it; ``init``, exec working folders and volume mounts are all there."""


class Client:
    """docker-py's low-level client for one endpoint, with limits and readable errors."""

    def __init__(self, endpoint: Endpoint, timeout_s: int = CALL_S) -> None:
        if endpoint.url.startswith("ssh://"):
            raise UsageError(
                f"{endpoint.origin} names {endpoint.url}: engines behind ssh:// are not reached directly.",
                hint="Forward its socket (`ssh -nNT -L /tmp/engine.sock:/var/run/docker.sock HOST`) and set "
                "DOCKER_HOST=unix:///tmp/engine.sock.",
            )
        self.endpoint = endpoint
        try:
            self._api = APIClient(
                endpoint.url,
                version=".".join(map(str, OLDEST_API)),
                timeout=timeout_s,
                tls=_tls(endpoint),
                max_pool_size=32,
            )
        except CLIENT_ERRORS as error:
            raise translated(error, f"read the address that {endpoint.origin} gives", endpoint.url) from error

    @property
    def url(self) -> str:
        """The engine's address."""
        return self.endpoint.url

    def ask(self, doing: str, call: Callable[[APIClient], T], *, again: bool = True) -> T:
        """Call the engine.

        Args:
            doing: what is tried, in words (``start container x``), for errors.
            call: gets docker-py's client.
            again: whether a transient fault may be answered by asking again.

        Returns:
            What the call returns.

        Raises:
            InfrastructureError: or one of its kinds; ``GoneError`` where the engine does not have what was named.
        """
        return guarded(lambda: call(self._api), doing, self.url, again=again)

    def close(self) -> None:
        """Close all connections."""
        self._api.close()


def _tls(endpoint: Endpoint) -> TLSConfig | bool:
    """Read the certificates of an endpoint."""
    if not endpoint.tls:
        return False
    folder = Path(endpoint.tls)
    # An engine behind TLS need not want to know who we are.
    known = (folder / "cert.pem").is_file()
    return TLSConfig(
        client_cert=(str(folder / "cert.pem"), str(folder / "key.pem")) if known else None,
        ca_cert=str(folder / "ca.pem") if (folder / "ca.pem").is_file() else None,
        verify=endpoint.verify,
    )


def check_version(version: Mapping[str, object], endpoint: Endpoint) -> None:
    """Refuse an engine that is too old, or that runs Windows containers.

    Raises:
        InfrastructureError: says which version it is and which is needed.
    """
    api = str(version.get("ApiVersion", "0.0"))
    try:
        number = tuple(int(part) for part in api.split("."))
    except ValueError:
        number = (0, 0)
    if number < OLDEST_API:
        raise InfrastructureError(
            f"The engine at {endpoint.url} ({version.get('Version', '?')}) is too old: it speaks API {api}.",
            hint=f"API {'.'.join(map(str, OLDEST_API))} is needed: Docker Engine 19.03, Podman 3 or later.",
        )
    if str(version.get("Os", "linux")) != "linux":
        raise InfrastructureError(
            f"The engine at {endpoint.url} runs {version.get('Os')} containers.",
            hint="Switch it to Linux containers.",
        )


def describe(version: Mapping[str, object], info: Mapping[str, object], endpoint: Endpoint) -> EngineInfo:
    """Make our description from the engine's answers to ``/version`` and ``/info``."""
    components = version.get("Components")
    names = [str(part.get("Name", "")) for part in components if isinstance(part, dict)] if components else []  # type: ignore[attr-defined]
    options = info.get("SecurityOptions") or ()
    return EngineInfo(
        url=endpoint.url,
        kind="podman" if any("podman" in name.lower() for name in names) else "docker",
        version=str(version.get("Version", "")),
        os=str(info.get("OperatingSystem", "")),
        architecture=str(info.get("Architecture", "")),
        cpus=_number(info.get("NCPU")),
        memory_bytes=_number(info.get("MemTotal")),
        root=str(info.get("DockerRootDir", "")),
        rootless=any("rootless" in str(option) for option in options),  # type: ignore[attr-defined]
        private=endpoint.private,
    )


def _number(value: object) -> int:
    """Read a number of the engine's, 0 where there is none."""
    return value if isinstance(value, int) else 0
