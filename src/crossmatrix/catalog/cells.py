"""A source, a build of it, and a cell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crossmatrix.catalog.libraries import Library, Release, Tier, Variant
    from crossmatrix.catalog.machines import Emulator, Profile, Target, Toolchain


@dataclass(frozen=True, kw_only=True, slots=True)
class SourceSpec:
    """Which tree of a library is asked for, before anything was fetched.

    Attributes:
        library: its name.
        version: what stands in cell ids: ``3.0.20``, ``git-1a2b3c4d5e6f``, ``dir-1a2b3c4d5e6f``, and with patches
            ``3.0.20+p1a2b3c4d``.
        digest: sha256 that decides everything in the tree: of the pinned file, of the git tree, or of the
            directory's content, combined with the patches'.
        release: where it is a pinned one.
        directory: of the local git checkout or directory otherwise.
        ref: in the git checkout; empty for a plain directory.
        patches: files, applied in order.
    """

    library: str
    version: str
    digest: str
    release: Release | None = None
    directory: str = ""
    ref: str = ""
    patches: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Build:
    """A source compiled once: source x variant x toolchain x target.

    ``suite`` are the tests, in words of the library's own harness, whose programs are built too; empty for all. Most of
    OpenSSL's build is test programs, each linked to the whole library, and a smoke tier runs few of them.
    """

    library: Library
    source: SourceSpec
    variant: Variant
    toolchain: Toolchain
    target: Target
    suite: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """The cell id's part before the profile."""
        return f"{self.library.name}-{self.source.version}/{self.variant.name}/{self.toolchain.name}/{self.target.name}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Cell:
    """A build run under a profile, with one tier of its suite. What the report has a field for."""

    build: Build
    profile: Profile
    emulator: Emulator
    tier: Tier

    @property
    def id(self) -> str:
        """One string everywhere: selector, folder, log name, report row, history key."""
        name = self.profile.name
        return self.build.id if name == "default" else f"{self.build.id}@{name}"
