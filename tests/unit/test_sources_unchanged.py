"""What is packed belongs to the digest that was asked for, and a full disk is nobody's fault but the disk's."""

from __future__ import annotations

import errno
import os
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from tests.unit.plan_samples import LIBRARY, RELEASE

from crossmatrix.checksums import sha256_bytes
from crossmatrix.errors import NoSpaceError, UsageError
from crossmatrix.steps.sources import Fetcher, fetching, from_option, pinned, trees, with_patches

if TYPE_CHECKING:
    from pathlib import Path

    from crossmatrix.catalog import SourceSpec

PATCH = "--- a/part.c\n+++ b/part.c\n@@ -1 +1 @@\n-one\n+two\n"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Give a directory that can be a source."""
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "configure").write_text("")
    (tree / "part.c").write_text("one\n")
    return tree


@pytest.fixture
def patch(tmp_path: Path) -> Path:
    """Give a patch that applies to it."""
    file = tmp_path / "fix.patch"
    file.write_text(PATCH)
    return file


@pytest.mark.parametrize("moment", ["before", "meanwhile"])
def test_a_directory_that_changes_is_told(tree: Path, moment: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before it was packed or while it was: what is in the archive must be what the key says."""
    spec = from_option(str(tree), LIBRARY)
    pack = trees.pack_directory

    def change_and_pack(root: Path, archive: Path) -> None:
        if moment == "before":
            (root / "part.c").write_text("changed\n")
        pack(root, archive)
        (root / "part.c").write_text("changed\n")

    monkeypatch.setattr(fetching, "pack_directory", change_and_pack)
    with pytest.raises(UsageError, match="tree changed while the run was prepared"):
        Fetcher(home=tree.parent / "home").packed(spec)


@pytest.mark.programs
@pytest.mark.parametrize("changed", ["configure", "../fix.patch"])
def test_a_patched_directory_that_changes_is_told(tree: Path, patch: Path, changed: str) -> None:
    """The tree below the patches counts as much as the patches."""
    spec = with_patches(from_option(str(tree), LIBRARY), (patch,))
    fetcher = Fetcher(home=tree.parent / "home")
    assert fetcher.packed(spec).path.is_file()
    with (tree / changed).open("a") as file:
        file.write("\n")
    with pytest.raises(UsageError, match=r"tree or .*fix\.patch changed while the run was prepared"):
        fetcher.packed(spec)


def test_a_release_whose_patch_changes_is_told(tmp_path: Path, patch: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the patch can have changed, so only the patch is named."""
    release = replace(RELEASE, sha256=sha256_bytes(b"x"))
    (tmp_path / release.file).write_bytes(b"x")
    spec = pinned(LIBRARY, release, (patch,))
    monkeypatch.setattr(Fetcher, "_patched", lambda _self, _spec, fetched: fetched)
    fetcher = Fetcher(home=tmp_path / "home", mirrors=(tmp_path,))
    assert fetcher.packed(spec).path.is_file()
    patch.write_text(PATCH.replace("two", "three"))
    with pytest.raises(UsageError, match=r"^\S*fix\.patch changed while the run was prepared"):
        fetcher.packed(spec)


def specs(tree: Path, patch: Path, mirror: Path) -> dict[str, SourceSpec]:
    """Give one source of each kind that is written on its way."""
    release = replace(RELEASE, sha256=sha256_bytes(b"x"))
    (mirror / release.file).write_bytes(b"x")
    local = from_option(str(tree), LIBRARY)
    return {"release": pinned(LIBRARY, release), "directory": local, "patched": with_patches(local, (patch,))}


@pytest.mark.parametrize("kind", ["release", "directory", "patched"])
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_is_no_fault_of_the_source(
    tree: Path, patch: Path, kind: str, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither origins nor the user's files are blamed, and the error says how to make room."""

    def full(*_arguments: object, **_named: object) -> object:
        raise OSError(code, os.strerror(code))

    spec = specs(tree, patch, tree.parent)[kind]
    monkeypatch.setattr("shutil.copyfile", full)
    monkeypatch.setattr("tarfile.TarFile.addfile", full)
    with pytest.raises(NoSpaceError) as caught:
        Fetcher(home=tree.parent / "home", mirrors=(tree.parent,)).packed(spec)
    assert "invoke clean" in caught.value.hint
