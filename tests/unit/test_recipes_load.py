"""What right recipes become."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.recipe_samples import FILES, SHA, added, changed, problems_of, write

from crossmatrix.catalog import Endian, in_series
from crossmatrix.recipes import load_catalog, version_key

if TYPE_CHECKING:
    from pathlib import Path

PROFILES = "recipes/profiles.yaml"
OPENSSL = "recipes/libraries/openssl.yaml"
QUICK = "recipes/matrices/quick.yaml"


def test_unset_and_empty_are_two_values(tmp_path: Path) -> None:
    """In an environment, null and ~ mean unset, and an empty text means set and empty."""
    text = 'environment: {A: null, B: ~, C: "", D: "0"}'
    catalog = load_catalog(changed(tmp_path, PROFILES, 'environment: {OPENSSL_armcap: "0"}', text))
    profile = next(profile for profile in catalog.profiles if profile.name == "armcap=0")
    assert profile.environment == (("A", None), ("B", None), ("C", ""), ("D", "0"))


def test_a_library_cannot_unset_a_variable(tmp_path: Path) -> None:
    """A library's environment starts empty, so that null makes no sense in it."""
    root = changed(tmp_path, OPENSSL, "title: OpenSSL", "title: OpenSSL\nenvironment: {SEED: null}")
    assert any("to have it unset, leave it out" in problem for problem in problems_of(root))


def test_extends_takes_over_what_is_not_given(tmp_path: Path) -> None:
    """A target that extends another has its own keys and the other's for the rest."""
    catalog = load_catalog(write(tmp_path, FILES))
    little, big = catalog.targets
    assert (little.name, big.name) == ("little", "big")
    assert (big.arch, big.endian, big.machine) == ("aarch64_be", Endian.BIG, little.machine)
    assert dict(big.configure) == {"openssl": "linux-aarch64", "nettle": "big"}


def test_extends_merges_mappings_and_replaces_lists(tmp_path: Path) -> None:
    """Environments are merged name by name; a list is replaced as a whole."""
    text = """\
base:
  extends: default
  description: Base
  environment: {A: "1", B: "2"}
  asks: [NEON, AES]
child:
  extends: base
  environment: {B: null, C: ""}
  asks: [SHA1]
"""
    catalog = load_catalog(added(tmp_path, PROFILES, text))
    child = catalog.profiles[-1]
    assert child.environment == (("A", "1"), ("B", None), ("C", ""))
    assert child.asks == ("SHA1",)


def test_a_name_with_a_dot_is_a_template(tmp_path: Path) -> None:
    """What begins with a dot need not be whole, and is no part of the catalog."""
    text = ".half:\n  emulator: qemu\nwhole:\n  extends: .half\n  description: Whole\n"
    catalog = load_catalog(added(tmp_path, PROFILES, text))
    assert [profile.name for profile in catalog.profiles] == ["default", "armcap=0", "whole"]


def test_variants_extend_each_other_inside_a_library(tmp_path: Path) -> None:
    """A variant takes over from another of the same library."""
    old = "  no-asm: {description: In C, options: [no-asm], assembly: false}"
    root = changed(tmp_path, OPENSSL, old, f"{old}\n  small: {{extends: no-asm, description: Small}}")
    variant = load_catalog(root).libraries[1].variants[-1]
    assert (variant.name, variant.options, variant.assembly) == ("small", ("no-asm",), False)


def test_a_matrix_extends_another(tmp_path: Path) -> None:
    """A matrix can be another one with one axis changed."""
    text = "extends: quick\ndescription: Big alone\ntargets: [big]\n"
    catalog = load_catalog(added(tmp_path, "recipes/matrices/big.yaml", text))
    big, quick = catalog.matrices
    assert big.blocks[0].targets == ("big",)
    assert big.blocks[0].libraries == quick.blocks[0].libraries


def test_blocks_share_the_axes_of_their_matrix(tmp_path: Path) -> None:
    """An axis of the matrix stands for each block that does not give it itself."""
    text = """\
description: Two products
targets: [big]
toolchains: [gcc-12]
variants: [asm, no-asm]
blocks:
  - {libraries: {nettle: "3.10"}, targets: ["*"]}
  - {libraries: {openssl: ["3.0", "3.5.7"]}, profiles: [default, "arm*"]}
"""
    catalog = load_catalog(added(tmp_path, "recipes/matrices/two.yaml", text))
    nettle, openssl = next(matrix for matrix in catalog.matrices if matrix.name == "two").blocks
    assert (nettle.targets, nettle.profiles) == (("little", "big"), ("default",))
    assert (openssl.targets, openssl.profiles) == (("big",), ("default", "armcap=0"))
    assert openssl.libraries == (("openssl", "3.0"), ("openssl", "3.5.7"))


def test_tools_are_made_from_the_targets_name(tmp_path: Path) -> None:
    """``{target}`` becomes the target's name, and one target may have its own command and flags."""
    catalog = load_catalog(write(tmp_path, FILES))
    gcc, clang = catalog.toolchains
    big, little = gcc.tools_for("big"), clang.tools_for("little")
    assert big is not None
    assert little is not None
    assert (big.cc, big.ar, big.flags) == ("big-gcc", "big-ar", ())
    assert (little.cc, little.cxx, little.flags) == ("clang", "little-g++", ("--target=little",))
    assert clang.tools_for("big") is None


def test_releases_are_the_newest_first(tmp_path: Path) -> None:
    """3.0.20 is newer than 3.0.9, whatever their order in the file."""
    openssl = load_catalog(write(tmp_path, FILES)).libraries[1]
    assert [release.version for release in openssl.releases] == ["3.5.7", "3.0.20", "3.0.9"]
    assert [release.version for release in openssl.releases_of("3.0")] == ["3.0.20", "3.0.9"]


@pytest.mark.parametrize(
    ("version", "series", "is_of_it"),
    [
        ("3.0.20", "3.0", True),
        ("3.0.20", "3", True),
        ("3.0.20", "3.0.20", True),
        ("3.0.20", "3.0.2", False),
        ("3.10.2", "3.1", False),
        ("1.1.1w", "1.1.1", True),
        ("1.1.1w", "1.1", True),
        ("3.0.20", "", False),
        ("3.0.20+p1a2b3c4d", "3.0.20", True),
        ("3.0.20+p1a2b3c4d", "3.0", True),
        ("3.0.20+p1a2b3c4d", "3.0.2", False),
        ("3.0.20+p1a2b3c4d", "3.0.20+p1a2b", False),
    ],
)
def test_a_series_is_made_of_whole_parts(version: str, series: str, is_of_it: bool) -> None:  # noqa: FBT001 - a table
    """A series is a version's beginning, ended at a dot, before a letter or before the patches on top."""
    assert in_series(version, series) is is_of_it


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40), st.sampled_from(["", "a", "w"])), min_size=1))
def test_versions_are_ordered_like_their_parts(parts: list[tuple[int, int, str]]) -> None:
    """Numbers count as numbers, and a letter makes a version newer than the same without it."""
    versions = [f"{major}.{minor}{letter}" for major, minor, letter in parts]
    by_key = sorted(versions, key=version_key)
    assert by_key == [f"{major}.{minor}{letter}" for major, minor, letter in sorted(parts)]


class TestExtraFolders:
    """Additional recipe folders add to the checkout's recipes and override them."""

    def test_a_new_thing_is_added(self, tmp_path: Path) -> None:
        """A matrix of the user's own is there beside the shipped ones."""
        root = write(tmp_path / "checkout", FILES)
        extra = write(tmp_path / "own recipes", {"matrices/mine.yaml": "extends: quick\ndescription: Mine\n"})
        assert [matrix.name for matrix in load_catalog(root, [extra]).matrices] == ["quick", "mine"]

    def test_the_same_name_overrides(self, tmp_path: Path) -> None:
        """A thing of the same name stands in the place of the earlier one, whole."""
        root = write(tmp_path / "checkout", FILES)
        extra = write(tmp_path / "own", {"profiles.yaml": "armcap=0: {description: Mine, emulator: qemu}\n"})
        profile = load_catalog(root, [extra]).profiles[1]
        assert (profile.name, profile.description, profile.libraries) == ("armcap=0", "Mine", ())

    def test_extending_ones_own_name_adds_to_the_earlier_thing(self, tmp_path: Path) -> None:
        """A release can be added to a library in three lines, and a later folder goes on from an earlier one."""
        root = write(tmp_path / "checkout", FILES)
        release = f'releases: {{"3.0.21": {{file: o.tar.gz, sha256: "{SHA}"}}}}\n'
        first = write(tmp_path / "a", {"libraries/openssl.yaml": f"extends: openssl\n{release}"})
        second = write(tmp_path / "b", {"libraries/openssl.yaml": "extends: openssl\ntitle: Mine\n"})
        openssl = next(one for one in load_catalog(root, [first, second]).libraries if one.name == "openssl")
        assert openssl.title == "Mine"
        assert openssl.releases_of("3.0")[0].version == "3.0.21"
        assert openssl.workload == ("libraries/work.c",)

    def test_a_workload_of_its_own_is_an_absolute_path(self, tmp_path: Path) -> None:
        """A workload file that an additional folder brings is found there."""
        root = write(tmp_path / "checkout", FILES)
        text = "extends: openssl\nworkload: [mine.c]\n"
        extra = write(tmp_path / "own", {"libraries/openssl.yaml": text, "mine.c": ""})
        openssl = next(one for one in load_catalog(root, [extra]).libraries if one.name == "openssl")
        assert openssl.workload == (str((extra / "mine.c").resolve()),)

    def test_problems_name_the_folder_as_it_was_given(self, tmp_path: Path) -> None:
        """A fault in an additional folder is shown with that folder's path."""
        root = write(tmp_path / "checkout", FILES)
        extra = write(tmp_path / "own", {"matrices/mine.yaml": "extends: quik\ndescription: Mine\n"})
        assert f"{extra}/matrices/mine.yaml:1: extends unknown matrix 'quik'; did you mean 'quick'?" in problems_of(
            root,
            [extra],
        )

    def test_a_folder_that_is_not_there_is_a_problem(self, tmp_path: Path) -> None:
        """A misspelt folder is not silently no folder."""
        root = write(tmp_path / "checkout", FILES)
        missing = tmp_path / "missing"
        assert problems_of(root, [missing]) == [f"{missing}:1: there is no such recipe folder"]


def test_a_workload_can_be_a_glob(tmp_path: Path) -> None:
    """A glob in ``workload`` means all files that match it, sorted, each once."""
    root = changed(tmp_path, OPENSSL, "[libraries/work.c]", '["libraries/*.[ch]", libraries/work.c]')
    write(root, {"recipes/libraries/a.h": "", "recipes/libraries/other.txt": ""})
    assert load_catalog(root).libraries[1].workload == ("libraries/a.h", "libraries/work.c")


def test_a_workload_glob_without_files_is_a_problem(tmp_path: Path) -> None:
    """A glob in ``workload`` that matches nothing is named."""
    root = changed(tmp_path, OPENSSL, "[libraries/work.c]", '["lib/*.c"]')
    assert any("workload file 'lib/*.c' does not exist" in problem for problem in problems_of(root))
