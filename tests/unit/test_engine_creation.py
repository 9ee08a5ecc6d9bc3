"""Containers are removed whatever happened, and have volumes that they can write to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crossmatrix.engine.creation import Limits, remove_all, started
from crossmatrix.engine.faults import GoneError
from crossmatrix.engine.types import ContainerSpec, ImageRef, VolumeMount
from crossmatrix.errors import InfrastructureError

if TYPE_CHECKING:
    from collections.abc import Callable

IMAGE = ImageRef(name="gcc", tag="crossmatrix/gcc:1", id="sha256:1", contents="c", packages=())


def _spec(*, keep: bool = False) -> ContainerSpec:
    return ContainerSpec(
        image=IMAGE,
        name="job",
        labels={},
        mounts=(VolumeMount(volume="tree", path="/work"),),
        memory_bytes=1 << 30,
        cpus=1,
        keep=keep,
    )


class PlayedClient:
    """Makes containers by name; what it is told to refuse it refuses."""

    url = "unix:///x"

    def __init__(self, *refused: str, chown: int = 0, error: Exception | None = None) -> None:
        self.live: list[str] = []
        self._refused = refused
        self._chown = chown
        self._error = error or InfrastructureError("refused")

    def ask(self, doing: str, _call: Callable[..., object], *, again: bool = True) -> dict[str, object] | None:
        """Do what the words say; what must not be done twice is not tried again."""
        verb, _, name = doing.replace(" container", "").partition(" ")
        assert again == (verb not in {"create", "start"})
        if any(doing.startswith(words) for words in self._refused):
            raise self._error
        if verb == "create":
            self.live.append(name)
            return {"Id": name}
        if verb == "remove":
            self.live.remove(name)
        return {"StatusCode": self._chown} if verb == "wait" else None


def _do(client: PlayedClient, *, chown: bool = False, keep: bool = False, error: Exception | None = None) -> None:
    limits = Limits.of({})
    with started(client, _spec(keep=keep), limits=limits, home="/home", chown=chown):  # type: ignore[arg-type]
        assert client.live == ["job"]
        if error is not None:
            raise error


@pytest.mark.parametrize("chown", [True, False])
@pytest.mark.parametrize("error", [None, ValueError("a defect"), KeyboardInterrupt()])
def test_nothing_is_left(chown: bool, error: BaseException | None) -> None:  # noqa: FBT001 - a parameter
    """However it ends, the container is removed, and the one that gave it its volumes before it begins."""
    client = PlayedClient()
    if error is None:
        _do(client, chown=chown)
    else:
        with pytest.raises(type(error)):
            _do(client, chown=chown, error=error)  # type: ignore[arg-type]
    assert client.live == []


def test_a_container_to_look_into_stays() -> None:
    """With --keep-container it is there afterwards; the one for its volumes is not."""
    client = PlayedClient()
    _do(client, chown=True, keep=True)
    assert client.live == ["job"]


@pytest.mark.parametrize("refused", ["start container job", "start container job-own", "wait"])
def test_what_was_created_and_did_not_start_is_removed(refused: str) -> None:
    """The engine's refusal is told, and nothing of it is left."""
    client = PlayedClient(refused)
    with pytest.raises(InfrastructureError, match="refused"):
        _do(client, chown=True)
    assert client.live == []


@pytest.mark.parametrize("code", [1, 126, 137])
def test_volumes_that_cannot_be_given_are_an_infrastructure_fault(code: int) -> None:
    """On Podman and rootless engines; else the build would fail where it first writes, and be blamed."""
    client = PlayedClient(chown=code)
    with pytest.raises(InfrastructureError, match=rf"job cannot be given .* \(chown: {code}\)"):
        _do(client, chown=True)
    assert client.live == []


def test_a_container_that_cannot_be_removed_does_not_hide_what_went_wrong() -> None:
    """The first error is told; where there is none, that it cannot be removed is."""
    with pytest.raises(ValueError, match="the cause"):
        _do(PlayedClient("remove"), error=ValueError("the cause"))
    with pytest.raises(InfrastructureError, match="refused"):
        _do(PlayedClient("remove"))


@pytest.mark.parametrize(
    "error", [GoneError("no such container"), InfrastructureError("removal of x is already in progress")]
)
def test_what_is_gone_or_going_is_removed(error: Exception) -> None:
    """Two that sweep at once do not disturb each other."""
    assert remove_all(PlayedClient("remove", error=error), ["a", "b"]) == 2  # type: ignore[arg-type]


def test_one_that_cannot_be_removed_keeps_no_other() -> None:
    """All are tried before the error is told."""
    client = PlayedClient("remove container bad")
    client.live = ["bad", "a", "b"]
    with pytest.raises(InfrastructureError, match="refused"):
        remove_all(client, ["bad", "a", "b"])  # type: ignore[arg-type]
    assert client.live == ["bad"]
