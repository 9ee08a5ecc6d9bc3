"""What exists: libraries, targets, toolchains, emulators, profiles. Values alone; nothing here touches the world."""

from crossmatrix.catalog.cells import Build, Cell, SourceSpec
from crossmatrix.catalog.libraries import DebianSource, Exclusion, Library, Release, Tier, Variant, in_series
from crossmatrix.catalog.machines import Emulator, Endian, MustFail, Profile, Target, Toolchain, Tools
from crossmatrix.catalog.matrices import Catalog, ImageRecipe, MatrixBlock, MatrixRecipe

__all__ = [
    "Build",
    "Catalog",
    "Cell",
    "DebianSource",
    "Emulator",
    "Endian",
    "Exclusion",
    "ImageRecipe",
    "Library",
    "MatrixBlock",
    "MatrixRecipe",
    "MustFail",
    "Profile",
    "Release",
    "SourceSpec",
    "Target",
    "Tier",
    "Toolchain",
    "Tools",
    "Variant",
    "in_series",
]
