"""What is installed in an image: read out of it once, kept, and never half."""

from __future__ import annotations

import io
import json
import tarfile
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from crossmatrix.engine.archives import pack
from crossmatrix.engine.faults import GoneError
from crossmatrix.engine.packages import PACKAGES, installed
from crossmatrix.errors import InfrastructureError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TAG, IMAGE = "crossmatrix/gcc:1", "sha256:abc"
VERSIONS = {"gcc": "12.2.0-14"}


class PlayedClient:
    """An engine with one image; notes what was asked."""

    url = "unix:///x"

    def __init__(self, archive: bytes | Exception) -> None:
        self.asked: list[str] = []
        self._archive = archive

    def ask(self, doing: str, _call: Callable[..., object]) -> object:
        """Make a container, give the file, remove the container."""
        self.asked.append(doing.split(maxsplit=1)[0])
        if doing.startswith("look into"):
            return {"Id": "container"}
        if doing.startswith("remove"):
            return None
        if isinstance(self._archive, Exception):
            raise self._archive
        return iter([self._archive]), {}


def _archive() -> bytes:
    return pack([("packages.json", json.dumps(VERSIONS).encode(), False)])


def _installed(client: PlayedClient, home: Path) -> dict[str, str]:
    return installed(client, home, TAG, IMAGE)  # type: ignore[arg-type]


def test_list_is_read_once(tmp_path: Path) -> None:
    """The second time no container is made; the first one is removed."""
    client = PlayedClient(_archive())
    assert _installed(client, tmp_path) == VERSIONS
    assert client.asked == ["look", "read", "remove"]
    assert _installed(client, tmp_path) == VERSIONS
    assert client.asked == ["look", "read", "remove"]


def test_two_threads_that_look_at_one_image_do_not_disturb_each_other(tmp_path: Path) -> None:
    """Two images that copy from a third are built side by side."""
    for image in range(40):
        with ThreadPoolExecutor(4) as pool:
            waiting = [
                pool.submit(installed, PlayedClient(_archive()), tmp_path, TAG, f"sha256:{image}")  # type: ignore[arg-type]
                for _ in range(4)
            ]
        assert [one.result() for one in waiting] == [VERSIONS] * 4
    assert len(list((tmp_path / "images").iterdir())) == 40


def test_a_state_directory_that_takes_nothing_is_no_hindrance(tmp_path: Path) -> None:
    """What cannot be kept is read again the next time."""
    (tmp_path / "images").write_text("in the way")
    assert _installed(PlayedClient(_archive()), tmp_path) == VERSIONS


def _cut() -> bytes:
    return _archive()[:520]


def _folder() -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        member = tarfile.TarInfo("packages.json")
        member.type = tarfile.DIRTYPE
        archive.addfile(member)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("archive", "words"),
    [
        (_cut(), "cut off"),
        (b"", "damaged"),
        (b"x" * 2000, "damaged"),
        (_folder(), "is no file"),
        (GoneError("no such file"), f"has no {PACKAGES}"),
        (ConnectionResetError(104, "reset"), "gone or does not answer"),
        (pack([("packages.json", b"[]", False)]), "not a list of names and versions"),
    ],
)
def test_an_image_that_does_not_say_it_is_an_infrastructure_fault(
    tmp_path: Path, archive: bytes | Exception, words: str
) -> None:
    """Whatever comes instead of the list, nothing is kept of it and the container is removed."""
    client = PlayedClient(archive)
    with pytest.raises(InfrastructureError, match=words):
        _installed(client, tmp_path)
    assert client.asked[-1] == "remove"
    assert not (tmp_path / "images").exists()
