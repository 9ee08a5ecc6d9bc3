"""Where an engine is looked for, and in which order."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

import pytest

from crossmatrix.engine import connect as package_connect
from crossmatrix.engine.client import Client, check_version, describe
from crossmatrix.engine.connect import connect
from crossmatrix.engine.endpoints import Endpoint, endpoints, wants_private
from crossmatrix.errors import ExitCode, InfrastructureError, NoEngineError, UsageError

if TYPE_CHECKING:
    from pathlib import Path


def _context(home: Path, name: str, host: str, *, current: bool) -> None:
    """Write a docker context as Docker's command line does."""
    digest = hashlib.sha256(name.encode()).hexdigest()
    meta = home / ".docker" / "contexts" / "meta" / digest
    meta.mkdir(parents=True)
    (meta / "meta.json").write_text(json.dumps({"Name": name, "Endpoints": {"docker": {"Host": host}}}))
    if current:
        (home / ".docker" / "config.json").write_text(json.dumps({"currentContext": name}))


def test_docker_host_goes_first_and_alone(tmp_path: Path) -> None:
    """What DOCKER_HOST names is the only engine that is tried, whatever context there is."""
    _context(tmp_path, "far", "tcp://far:1", current=True)
    found = endpoints({"DOCKER_HOST": "tcp://near:2", "HOME": str(tmp_path)}, 1000)
    assert [(one.url, one.chosen) for one in found] == [("tcp://near:2", True)]


def test_current_context_is_used(tmp_path: Path) -> None:
    """The current docker context names the engine; DOCKER_CONTEXT chooses another, or the default one."""
    _context(tmp_path, "far", "tcp://far:1", current=True)
    environ = {"HOME": str(tmp_path)}
    assert [(one.url, one.origin) for one in endpoints(environ, 0)] == [("tcp://far:1", "docker context 'far'")]
    usual = endpoints({**environ, "DOCKER_CONTEXT": "default"}, 0)
    assert usual[0].url == "unix:///var/run/docker.sock"


def test_unknown_context_names_the_nearest(tmp_path: Path) -> None:
    """A docker context that does not exist is a usage error with the nearest name."""
    _context(tmp_path, "builder", "tcp://far:1", current=False)
    with pytest.raises(UsageError, match=r"did you mean 'builder'\?; `docker context use default`"):
        endpoints({"HOME": str(tmp_path), "DOCKER_CONTEXT": "bulder"}, 0)


@pytest.mark.parametrize(
    ("url", "hint"),
    [
        ("quark", "unix:///var/run/docker.sock"),
        ("/var/run/docker.sock", "write unix:///var/run/docker.sock"),
        ("127.0.0.1:2375", "write tcp://127.0.0.1:2375"),
        ("unix://run/docker.sock", "unix:///run/docker.sock"),
        ("unix://", "absolute"),
        ("unx:///x", "did you mean 'unix'?"),
        ("tcp://127.0.0.1:port", "HOST:PORT"),
        ("tcp://127.0.0.1:99999", "HOST:PORT"),
        ("tcp://", "HOST:PORT"),
        ("tcp://[::1", "HOST:PORT"),
    ],
)
def test_what_is_no_address_is_told_before_anybody_is_asked(tmp_path: Path, url: str, hint: str) -> None:
    """In DOCKER_HOST and in a context alike: an error of usage, with the address that was probably meant."""
    _context(tmp_path, "far", url, current=True)
    for environ in ({"DOCKER_HOST": url}, {"HOME": str(tmp_path)}):
        with pytest.raises(UsageError, match="is no address of an engine") as caught:
            endpoints(environ, 0)
        assert hint in caught.value.hint


@pytest.mark.parametrize("url", ["unix:///x y.sock", "tcp://h:1", "tcp://[::1]:2375", "https://h:1/p", "ssh://me@h"])
def test_addresses_are_taken_as_they_are(url: str) -> None:
    """What can be an address is asked, and never changed."""
    assert [one.url for one in endpoints({"DOCKER_HOST": url}, 0)] == [url]


def test_usual_sockets_docker_before_podman() -> None:
    """Without a choice Docker's sockets are tried before Podman's, and none of them is a choice."""
    found = endpoints({"HOME": "/home/x", "XDG_RUNTIME_DIR": "/run/user/7"}, 7)
    urls = [one.url for one in found]
    assert urls[0] == "unix:///var/run/docker.sock"
    assert urls.index("unix:///run/user/7/docker.sock") < urls.index("unix:///run/user/7/podman/podman.sock")
    assert not any(one.chosen for one in found)


def test_tls_variables_go_with_docker_host() -> None:
    """DOCKER_TLS_VERIFY and DOCKER_CERT_PATH give the certificates."""
    environ = {"DOCKER_HOST": "tcp://x:2376", "DOCKER_TLS_VERIFY": "1", "DOCKER_CERT_PATH": "/certs"}
    (found,) = endpoints(environ, 0)
    assert (found.tls, found.verify) == ("/certs", True)


@pytest.mark.parametrize(("word", "wanted"), [("", False), ("auto", False), ("private", True)])
def test_choice_of_our_own_daemon(word: str, wanted: bool) -> None:  # noqa: FBT001 - a parametrized test
    """CROSSMATRIX_ENGINE=private asks for our own daemon."""
    assert wants_private({"CROSSMATRIX_ENGINE": word}) is wanted


def test_misspelt_choice_is_told() -> None:
    """A word that we do not know is a usage error with the nearest one."""
    with pytest.raises(UsageError, match="did you mean 'private'"):
        wants_private({"CROSSMATRIX_ENGINE": "privat"})


def test_dead_docker_host_is_named_and_nothing_else_is_tried(tmp_path: Path) -> None:
    """There is no silent fall-back: a dead DOCKER_HOST is an error that names it, with exit code 3."""
    socket = tmp_path / "none.sock"
    with pytest.raises(NoEngineError, match=r"DOCKER_HOST names the engine unix://.*none\.sock") as caught:
        connect({"DOCKER_HOST": f"unix://{socket}"}, tmp_path, root=tmp_path)
    assert caught.value.exit_code is ExitCode.INFRASTRUCTURE
    assert package_connect is connect


def test_ssh_is_refused_with_a_way_round() -> None:
    """An engine behind ssh:// is refused, and the message says how to forward its socket."""
    with pytest.raises(UsageError, match="ssh -nNT -L"):
        Client(Endpoint(url="ssh://user@host", origin="DOCKER_HOST"))


@pytest.mark.parametrize("api", ["1.24", "1.39", "nonsense"])
def test_old_engine_is_refused(api: str) -> None:
    """An engine that is too old is an error with its version and the one that is needed."""
    with pytest.raises(InfrastructureError, match=r"18\.09.*too old"):
        check_version({"ApiVersion": api, "Version": "18.09"}, Endpoint(url="unix:///x", origin="x"))


def test_windows_containers_are_refused() -> None:
    """An engine in Windows mode cannot run our images, and is told so."""
    with pytest.raises(InfrastructureError, match="windows containers"):
        check_version({"ApiVersion": "1.47", "Os": "windows"}, Endpoint(url="unix:///x", origin="x"))


def test_rootless_podman_is_recognised() -> None:
    """The engine's own words tell Podman from Docker, and rootless from rootful."""
    version = {"Version": "4.3.1", "Components": [{"Name": "Podman Engine"}]}
    info = {"SecurityOptions": ["name=seccomp,profile=default", "name=rootless"], "NCPU": 4, "MemTotal": 7}
    found = describe(version, info, Endpoint(url="unix:///x", origin="x"))
    assert (found.kind, found.rootless, found.cpus, found.memory_bytes) == ("podman", True, 4, 7)
