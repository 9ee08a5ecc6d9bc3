"""Misspelt Debian suites are told before anything is built. The mirrors here do not exist."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import requests

from crossmatrix.engine import images as images_module
from crossmatrix.engine import suites
from crossmatrix.engine.aptsources import AptEntry
from crossmatrix.engine.base import AptSetup, base_tag
from crossmatrix.engine.faults import GoneError
from crossmatrix.engine.images import Images
from crossmatrix.engine.suites import check_suite
from crossmatrix.engine.types import ImageSpec
from crossmatrix.errors import InfrastructureError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

MIRROR = "http://mirror.test/debian"


def _apt(suite: str = "x", uri: str = MIRROR, **settings: str) -> AptSetup:
    entry = AptEntry(kind="deb", uri=uri, suite=suite, components=("main",))
    return AptSetup(entries=(entry,), settings=tuple(settings.items()))


class Mirror:
    """Has some files, and notes what it was asked for."""

    def __init__(self, *files: str, status: int | None = 404) -> None:
        self.asked: list[str] = []
        self.proxies: dict[str, str] = {}
        self._files = files
        self._status = status

    def head(self, url: str, proxies: Mapping[str, str]) -> int | None:
        """Give 200 for a file that is there."""
        self.asked.append(url)
        self.proxies = dict(proxies)
        return 200 if url.removeprefix(f"{MIRROR}/dists/") in self._files else self._status


def test_a_misspelt_suite_says_where_and_the_nearest_right_name() -> None:
    """The recipe's file, the word, the mirror, the nearest suite and what to do."""
    with pytest.raises(UsageError) as caught:
        check_suite("bookwrom", _apt(), ["gcc-12"], ask=Mirror().head)
    for words in ("images/gcc-12/image.yaml", "'bookwrom'", MIRROR, "did you mean 'bookworm'?", "MIRROR="):
        assert words in str(caught.value)


@pytest.mark.parametrize("file", ["InRelease", "Release"])
def test_a_suite_newer_than_this_code_is_taken(file: str) -> None:
    """What the mirror has is a suite, whatever its name."""
    check_suite("duke", _apt(), ["gcc-20"], ask=Mirror(f"duke/{file}").head)


@pytest.mark.parametrize("status", [None, 200, 403, 405, 500, 503])
def test_a_mirror_that_does_not_tell_is_no_reason_to_refuse(status: int | None) -> None:
    """No network, a proxy's refusal, a mirror that takes no such question: debootstrap has the last word."""
    check_suite("bookworm", _apt(), ["gcc-12"], ask=Mirror(status=status).head)


def test_a_mirror_that_is_no_web_server_is_not_asked() -> None:
    """A folder or a disc is left to debootstrap."""
    check_suite("bookwrom", _apt(uri="file:/srv/debian"), ["gcc-12"], ask=Mirror().head)


def test_the_mirror_is_asked_through_the_proxy_of_apt() -> None:
    """A machine whose apt needs a proxy reaches its mirror by it; DIRECT is none."""
    settings = {"Acquire::http::Proxy": "http://proxy.test:3128", "Acquire::https::Proxy": "DIRECT"}
    mirror = Mirror("bookworm/InRelease")
    check_suite("bookworm", _apt(**settings), [], ask=mirror.head)
    assert mirror.proxies == {"http": "http://proxy.test:3128"}


def test_what_hinders_asking_is_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever goes wrong on the way to the mirror gives no status."""

    def broken(*_words: object, **_options: object) -> requests.Response:
        raise requests.exceptions.SSLError("self-signed")

    monkeypatch.setattr(requests, "head", broken)
    assert suites.head(MIRROR, {}) is None


class PlayedClient:
    """An engine that has some images by their tags."""

    def __init__(self, *tags: str) -> None:
        self._tags = tags

    def ask(self, doing: str, _call: Callable[..., object]) -> dict[str, object]:
        """Answer for an image, or say that there is none."""
        if doing.removeprefix("look at image ") in self._tags:
            return {"Id": "sha256:1"}
        raise GoneError(doing)


def _images(root: Path, *tags: str) -> Images:
    client = PlayedClient(*tags)
    return Images(client, home=root, root=root, environ={}, private=False, source_file=None)  # type: ignore[arg-type]


def _spec(name: str, suite: str, *needs: ImageSpec) -> ImageSpec:
    return ImageSpec(name=name, tag=f"crossmatrix/{name}:1", suite=suite, needs=needs)


@pytest.fixture
def mirror(monkeypatch: pytest.MonkeyPatch) -> Mirror:
    """Let every suite's packages come from a mirror that has bookworm."""
    played = Mirror("bookworm/InRelease")
    monkeypatch.setattr(images_module, "machine_apt", lambda suite, _environ: _apt(suite))
    monkeypatch.setattr(
        images_module, "check_suite", lambda suite, apt, names: check_suite(suite, apt, names, ask=played.head)
    )
    return played


def test_all_wrong_suites_are_told_at_once(tmp_path: Path, mirror: Mirror) -> None:
    """Also those of images that others only copy from, and each with all its images."""
    sysroot = _spec("sysroot", "trixi")
    specs = [_spec("gcc", "bookwrom", sysroot), _spec("clang", "bookwrom", sysroot), _spec("qemu", "bookworm")]
    with pytest.raises(UsageError) as caught:
        _images(tmp_path).check(specs)
    lines = sorted(caught.value.message.splitlines())
    assert len(lines) == 2
    assert lines[0].startswith("images/clang/image.yaml, images/gcc/image.yaml: ")
    assert lines[1].startswith("images/sysroot/image.yaml: ")
    assert mirror.asked


def test_nothing_is_asked_for_what_is_there(tmp_path: Path, mirror: Mirror) -> None:
    """Neither where the image exists, nor where its base does, nor where the base is pinned."""
    gcc, clang = _spec("gcc", "gone", _spec("sysroot", "gone-too")), _spec("clang", "made")
    (tmp_path / "images").mkdir()
    (tmp_path / "images" / "base.yaml").write_text(f"pinned: x@sha256:{'0' * 64}\n")
    made = base_tag("made", _apt("made").digest)
    _images(tmp_path, gcc.tag, made).check([gcc, clang, _spec("qemu", "pinned")])
    assert mirror.asked == []


def test_a_machine_without_a_mirror_is_told_by_the_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A mirror that nobody knows is no mistake in a recipe."""

    def none(*_words: object) -> AptSetup:
        raise InfrastructureError("no mirror is known")

    monkeypatch.setattr(images_module, "machine_apt", none)
    _images(tmp_path).check([_spec("gcc", "bookwrom")])
