"""Tags of images, proxies and networks of builds, pinned bases."""

from __future__ import annotations

import errno
import os
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from crossmatrix.catalog import Catalog, ImageRecipe, Release
from crossmatrix.engine import base, image_specs, imagelocks
from crossmatrix.engine import images as images_module
from crossmatrix.engine.aptsources import AptEntry
from crossmatrix.engine.base import base_tag, registry_reference
from crossmatrix.engine.images import Images, build_network, proxy_arguments
from crossmatrix.engine.packages import parse_packages
from crossmatrix.engine.worksites import work_folder
from crossmatrix.errors import InfrastructureError, NoSpaceError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from crossmatrix.engine.types import ImageSpec


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Give a checkout with two image folders."""
    for name in ("tools", "extra"):
        (tmp_path / "images" / name).mkdir(parents=True)
        (tmp_path / "images" / name / "Dockerfile").write_text(f"FROM x\n# {name}\n")
    (tmp_path / "images" / "tools" / "run.sh").write_text("#!/bin/sh\n")
    return tmp_path


def _specs(root: Path, *recipes: ImageRecipe) -> Mapping[str, ImageSpec]:
    catalog = Catalog(
        libraries=(),
        targets=(),
        toolchains=(),
        emulators=(),
        profiles=(),
        images=recipes or (ImageRecipe(name="tools", suite="bookworm"),),
        matrices=(),
    )
    return image_specs(catalog, root)


def test_tag_is_stable_and_ignores_what_an_editor_leaves(root: Path) -> None:
    """The same files give the same tag; backup files do not change it."""
    before = _specs(root)["tools"].tag
    (root / "images" / "tools" / "run.sh~").write_text("old")
    (root / "images" / "tools" / "__pycache__").mkdir()
    (root / "images" / "tools" / "__pycache__" / "x").write_text("x")
    assert _specs(root)["tools"].tag == before
    assert before.startswith("crossmatrix/tools:")


def test_tag_changes_with_everything_that_goes_in(root: Path) -> None:
    """Content, mode and names of files, suite, sources and needed images each change the tag."""
    release = Release(version="1", file="x.tar", sha256="0" * 64)
    extra = ImageRecipe(name="extra", suite="bookworm")
    tags = [
        _specs(root)["tools"].tag,
        _specs(root, ImageRecipe(name="tools", suite="trixie"))["tools"].tag,
        _specs(root, ImageRecipe(name="tools", suite="bookworm", sources=(release,)))["tools"].tag,
        _specs(root, ImageRecipe(name="tools", suite="bookworm", needs=("extra",)), extra)["tools"].tag,
    ]
    (root / "images" / "extra" / "Dockerfile").write_text("FROM y\n")
    tags.append(_specs(root, ImageRecipe(name="tools", suite="bookworm", needs=("extra",)), extra)["tools"].tag)
    (root / "images" / "tools" / "run.sh").chmod(0o755)
    tags.append(_specs(root)["tools"].tag)
    (root / "images" / "tools" / "run.sh").rename(root / "images" / "tools" / "run")
    tags.append(_specs(root)["tools"].tag)
    (root / "images" / "tools" / "run").write_text("#!/bin/dash\n")
    tags.append(_specs(root)["tools"].tag)
    assert len(set(tags)) == len(tags)


def test_circle_of_images_is_told(root: Path) -> None:
    """Images that need each other are an error that names the circle."""
    recipes = (
        ImageRecipe(name="tools", suite="bookworm", needs=("extra",)),
        ImageRecipe(name="extra", suite="bookworm", needs=("tools",)),
    )
    with pytest.raises(UsageError, match="tools -> extra -> tools"):
        _specs(root, *recipes)


def test_unknown_needed_image_names_the_nearest(root: Path) -> None:
    """An image that is needed and not there is an error with the nearest name."""
    recipes = (
        ImageRecipe(name="tools", suite="bookworm", needs=("exta",)),
        ImageRecipe(name="extra", suite="bookworm"),
    )
    with pytest.raises(UsageError, match="did you mean 'extra'"):
        _specs(root, *recipes)


def test_missing_dockerfile_is_told(root: Path) -> None:
    """A recipe without its folder says which file is missing."""
    with pytest.raises(UsageError, match=r"images.none.Dockerfile"):
        _specs(root, ImageRecipe(name="none", suite="bookworm"))


def test_proxies_go_in_in_both_cases() -> None:
    """A proxy given in one case reaches the build in both."""
    found = proxy_arguments({"HTTPS_PROXY": "http://p:1", "no_proxy": "a,b", "http_proxy": ""})
    assert found == {
        "https_proxy": "http://p:1",
        "HTTPS_PROXY": "http://p:1",
        "no_proxy": "a,b",
        "NO_PROXY": "a,b",
    }


@pytest.mark.parametrize(
    ("proxies", "private", "network"),
    [
        ({}, False, "default"),
        ({}, True, "host"),
        ({"http_proxy": "http://proxy.test:3128"}, False, "default"),
        ({"http_proxy": "http://127.0.0.1:3128"}, False, "host"),
        ({"https_proxy": "http://localhost:3128"}, False, "host"),
        ({"no_proxy": "localhost"}, False, "default"),
    ],
)
def test_network_of_a_build(proxies: dict[str, str], private: bool, network: str) -> None:  # noqa: FBT001
    """A build uses the host's network on our own daemon, and where the proxy listens on this host alone."""
    assert build_network(proxies, private=private) == network


@pytest.mark.parametrize("data", [b"", b"[]", b"{}", b'{"a": 1}', b"{"])
def test_image_that_does_not_say_what_is_in_it_is_refused(data: bytes) -> None:
    """A list of packages that is none is an error that names the image."""
    with pytest.raises(InfrastructureError, match="crossmatrix/x:1"):
        parse_packages(data, "crossmatrix/x:1")


def test_pinned_base(root: Path) -> None:
    """A base image is pinned by digest in images/base.yaml; without the file, or the suite, none is."""
    assert registry_reference(root, "bookworm") == ""
    reference = f"debian:bookworm@sha256:{'0' * 64}"
    (root / "images" / "base.yaml").write_text(f"bookworm: {reference}\n")
    assert registry_reference(root, "bookworm") == reference
    assert registry_reference(root, "trixie") == ""
    assert base_tag("bookworm", reference) != base_tag("bookworm", "")


@pytest.mark.parametrize("text", ["bookworm: debian:bookworm\n", "- a\n", "bookworm: [a]\n", "a: {\n"])
def test_base_without_a_digest_is_refused(root: Path, text: str) -> None:
    """A reference by tag alone can move under us, and is refused like any other mistake in the file."""
    (root / "images" / "base.yaml").write_text(text)
    with pytest.raises(UsageError, match=r"base\.yaml"):
        registry_reference(root, "bookworm")


def test_bootstrap_avoids_paths_that_debootstrap_cannot_use(tmp_path: Path) -> None:
    """A state directory with blanks is fine: the tree is bootstrapped elsewhere."""
    assert work_folder(tmp_path / "plain", "bookworm").is_relative_to(tmp_path)
    assert " " not in str(work_folder(tmp_path / "zwölf Grüße", "bookworm"))


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), NoSpaceError),
        (OSError(errno.EDQUOT, "Disk quota exceeded"), NoSpaceError),
        (OSError(errno.EROFS, "Read-only file system", "/x"), InfrastructureError),
    ],
)
def test_a_disk_of_ours_that_refuses_is_an_infrastructure_fault(
    root: Path, monkeypatch: pytest.MonkeyPatch, error: OSError, kind: type[Exception]
) -> None:
    """Whatever cannot be written while an image is made, the run that wants it ends in good order."""
    images = Images(object(), home=root, root=root, environ={}, private=False, source_file=None)  # type: ignore[arg-type]
    monkeypatch.setattr(images, "find", lambda _spec: None)

    def refuse(*_words: object) -> None:
        raise error

    monkeypatch.setattr(images_module, "registry_reference", lambda *_words: "")
    monkeypatch.setattr(images_module, "image_lock", refuse)
    with pytest.raises(InfrastructureError, match=r"make image crossmatrix/tools:") as caught:
        images.build(_specs(root)["tools"], lambda _: None)
    assert type(caught.value) is kind
    assert caught.value.hint


@pytest.mark.parametrize("end", ["gpg", "pgp"])
def test_debians_keys_are_found_by_either_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: str) -> None:
    """The file's name changed between releases; what apt names itself goes before both."""
    monkeypatch.setattr(base, "_DEBIAN_KEYS", (tmp_path / "keys.gpg", tmp_path / "keys.pgp"))
    (tmp_path / f"keys.{end}").write_text("")
    entry = AptEntry(kind="deb", uri="http://mirror.test", suite="trixie", components=("main",))
    apt = base.AptSetup(entries=(entry,), settings=())
    assert f"--keyring={tmp_path}/keys.{end}" in base._command("trixie", apt, tmp_path)
    named = base.AptSetup(entries=(replace(entry, signed_by="/own.asc"),), settings=())
    assert "--keyring=/own.asc" in base._command("trixie", named, tmp_path)


def test_who_waits_for_an_image_can_be_stopped_at_any_moment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each round gives whoever listens the chance to end it, as Ctrl-C does; the words are always the same."""
    monkeypatch.setattr(imagelocks, "POLL_S", 0.01)
    said: list[str] = []

    def tell(line: str) -> None:
        said.append(line)
        if len(said) == 3:
            raise InfrastructureError("interrupted")

    with (
        imagelocks.image_lock(tmp_path, "crossmatrix/x:1", pytest.fail),
        pytest.raises(InfrastructureError, match="interrupted"),
        imagelocks.image_lock(tmp_path, "crossmatrix/x:1", tell),
    ):
        pytest.fail("two hold one lock")
    assert said == ["Waiting for another run, which builds crossmatrix/x:1"] * 3


def test_an_image_is_not_waited_for_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After hours that is told, with the lock's file; a lock that is free is then had as ever."""
    monkeypatch.setattr(imagelocks, "POLL_S", 0.01)
    monkeypatch.setattr(imagelocks, "WAIT_S", 0.05)
    with (
        imagelocks.image_lock(tmp_path, "x", pytest.fail),
        pytest.raises(InfrastructureError, match=r"for hours .*image-x\.lock"),
        imagelocks.image_lock(tmp_path, "x", lambda _: None),
    ):
        pytest.fail("two hold one lock")
    with imagelocks.image_lock(tmp_path, "x", pytest.fail):
        pass


def test_an_images_lock_of_another_user_is_a_fault_with_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After `sudo ./bootstrap` the image's cells say what to do, and the run goes on."""

    def closed(path: object, *_words: object, **_named: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(os, "open", closed)
    with pytest.raises(InfrastructureError, match="cannot lock") as caught, imagelocks.image_lock(tmp_path, "x", print):
        pytest.fail("nobody can hold it")
    assert "sudo chown" in caught.value.hint
