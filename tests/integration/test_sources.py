"""Sources from their real origins: upstream where it can be reached, else Debian."""

from __future__ import annotations

import tarfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from crossmatrix.checksums import sha256_file
from crossmatrix.errors import SourceError
from crossmatrix.recipes import load_catalog
from crossmatrix.steps.sources import Fetcher, from_option, source_specs

if TYPE_CHECKING:
    from crossmatrix.catalog import Library, Release

CHECKOUT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def nettle() -> Library:
    """Give nettle as the recipes describe it."""
    return next(library for library in load_catalog(CHECKOUT).libraries if library.name == "nettle")


@pytest.fixture(scope="module")
def release(nettle: Library) -> Release:
    """Give the newest pinned release."""
    return nettle.releases[0]


@pytest.fixture(scope="module")
def fetched(release: Release, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give its file, fetched once into a folder with a blank and an umlaut in its name."""
    return Fetcher(home=tmp_path_factory.mktemp("home ä"), tell=print).release_file(release)


def test_a_pinned_release_can_be_had(release: Release, fetched: Path) -> None:
    """Some origin has the file, and it is the pinned one."""
    assert sha256_file(fetched) == release.sha256
    with tarfile.open(fetched) as tar:
        assert {name.split("/")[0] for name in tar.getnames()} == {f"nettle-{release.version}"}


def test_debian_alone_is_enough(release: Release, tmp_path: Path) -> None:
    """Without upstream the file comes out of Debian's source package, with a private apt configuration."""
    origin = Fetcher(home=tmp_path, tell=print).release(replace(release, urls=())).origin
    assert origin.startswith("Debian")
    assert (tmp_path / "apt").is_dir()


def test_another_checksum_is_never_taken(release: Release, tmp_path: Path) -> None:
    """A release whose checksum nobody has is an error that lists every origin; nothing is left behind."""
    wrong = replace(release, sha256="0" * 64)
    with pytest.raises(SourceError, match="cannot be had from any origin") as caught:
        Fetcher(home=tmp_path).release(wrong)
    assert caught.value.message.count("\n") == len(wrong.urls) + 1
    assert list((tmp_path / "sources").iterdir()) == []


def test_a_users_folder_serves_as_origin(release: Release, fetched: Path, tmp_path: Path) -> None:
    """A folder with the file is taken before anything else."""
    mirror = tmp_path / "mirror"
    mirror.mkdir()
    (mirror / release.file).write_bytes(fetched.read_bytes())
    found = Fetcher(home=tmp_path / "home", mirrors=(mirror,)).release(release)
    assert found.origin == f"mirror {mirror / release.file}"


def test_a_patched_release_is_another_source(nettle: Library, fetched: Path, tmp_path: Path) -> None:
    """A patch on the real tree changes the archive and the version, and nothing else in the tree."""
    with tarfile.open(fetched) as tar:
        member = next(one for one in tar.getmembers() if one.name.endswith("/AUTHORS"))
        body = tar.extractfile(member)
        assert body is not None
        first, second, third = body.read().decode().split("\n")[:3]
        count = len([one for one in tar.getmembers() if one.isfile() or one.issym()])
    patch = tmp_path / "authors.patch"
    hunk = f"@@ -1,3 +1,4 @@\n {first}\n+patched\n {second}\n {third}\n"
    patch.write_text(f"--- a/AUTHORS\n+++ b/AUTHORS\n{hunk}", encoding="utf-8")
    spec = from_option(str(fetched), nettle)
    patched = source_specs(load_catalog(CHECKOUT), (f"nettle={fetched}",), (f"nettle={patch}",))["nettle"]
    assert patched.version.startswith(f"{spec.version}+p")
    archive = Fetcher(home=tmp_path / "home").packed(patched).path
    with tarfile.open(archive) as tar:
        body = tar.extractfile("source/AUTHORS")
        assert body is not None
        assert body.read().decode().splitlines()[:2] == [first, "patched"]
        assert len(tar.getmembers()) == count
