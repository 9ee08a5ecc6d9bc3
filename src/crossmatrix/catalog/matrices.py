"""Images, matrices, and the catalog of all recipes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crossmatrix.catalog.libraries import Exclusion, Library, Release
    from crossmatrix.catalog.machines import Emulator, Profile, Target, Toolchain


@dataclass(frozen=True, kw_only=True, slots=True)
class ImageRecipe:
    """A folder under ``images/``: what it is built from.

    Attributes:
        name: of the folder.
        suite: Debian's, of the base image.
        needs: other images of ours that its Dockerfile copies from; each is passed as build argument
            ``<NAME>_IMAGE`` (upper case, other characters than letters and digits as ``_``).
        sources: releases that are put into the build context as ``sources/<file>``.
    """

    name: str
    suite: str
    needs: tuple[str, ...] = ()
    sources: tuple[Release, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class MatrixBlock:
    """One product of axes.

    ``libraries`` are pairs of name and version or version series (``3.0``). A variant that a library does not have,
    or a profile that does not apply, is no part of the product.
    """

    libraries: tuple[tuple[str, str], ...]
    variants: tuple[str, ...]
    targets: tuple[str, ...]
    toolchains: tuple[str, ...]
    profiles: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class MatrixRecipe:
    """A named set of cells: the products of its blocks, one after the other, less what it leaves out.

    ``tiers`` are pairs of library and tier; a cell that two blocks name is there once.
    """

    name: str
    description: str
    blocks: tuple[MatrixBlock, ...]
    tiers: tuple[tuple[str, str], ...] = ()
    exclude: tuple[Exclusion, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Catalog:
    """All recipes, checked against each other."""

    libraries: tuple[Library, ...]
    targets: tuple[Target, ...]
    toolchains: tuple[Toolchain, ...]
    emulators: tuple[Emulator, ...]
    profiles: tuple[Profile, ...]
    images: tuple[ImageRecipe, ...]
    matrices: tuple[MatrixRecipe, ...]
