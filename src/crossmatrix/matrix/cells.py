"""The cells that a matrix names, before anything is selected or left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crossmatrix.catalog import Build, Cell
from crossmatrix.errors import UsageError, nearest
from crossmatrix.matrix.sources import fallback_note, pinned_source
from crossmatrix.selectors import glob_matches

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from crossmatrix.catalog import (
        Catalog,
        Emulator,
        Library,
        MatrixBlock,
        MatrixRecipe,
        SourceSpec,
        Target,
        Tier,
        Toolchain,
    )


def find_matrix(catalog: Catalog, name: str) -> MatrixRecipe:
    """Give a matrix by name.

    Raises:
        UsageError: there is none of that name.
    """
    found = next((matrix for matrix in catalog.matrices if matrix.name == name), None)
    if found is None:
        raise UsageError(f"unknown matrix {name!r}; {nearest(name, (matrix.name for matrix in catalog.matrices))}")
    return found


def matrices_with(catalog: Catalog, glob: str) -> tuple[str, ...]:
    """Give the names of all matrices that have a cell whose id matches a glob."""
    return tuple(
        recipe.name
        for recipe in catalog.matrices
        if any(
            glob_matches(glob, cell.id)
            for cell in CellMaker(catalog, recipe, sources={}, tier=None, versions={}).cells()
        )
    )


class CellMaker:
    """Makes the cells of one matrix; holds what stays the same over all of them."""

    def __init__(
        self,
        catalog: Catalog,
        recipe: MatrixRecipe,
        *,
        sources: Mapping[str, SourceSpec],
        tier: str | None,
        versions: Mapping[tuple[str, str], str],
    ) -> None:
        self._recipe = recipe
        self._sources = sources
        self._versions = versions
        self._libraries = {library.name: library for library in catalog.libraries}
        self._targets = {target.name: target for target in catalog.targets}
        self._toolchains = {toolchain.name: toolchain for toolchain in catalog.toolchains}
        self._emulators = {emulator.name: emulator for emulator in catalog.emulators}
        self._profiles = {profile.name: profile for profile in catalog.profiles}
        self._tiers = self._choose_tiers(tier)
        self._notes: dict[str, None] = {}

    def notes(self) -> tuple[str, ...]:
        """Give what the user should know of the versions chosen, once the cells were made."""
        return tuple(self._notes)

    def cells(self) -> tuple[Cell, ...]:
        """Give the cells of the matrix, those that cannot be too, each once."""
        unique: dict[str, Cell] = {}
        for cell in self._cells():
            unique.setdefault(cell.id, cell)
        return tuple(unique.values())

    def _cells(self) -> Iterator[Cell]:
        for block in self._recipe.blocks:
            targets = [self._targets[name] for name in block.targets]
            toolchains = [self._toolchains[name] for name in block.toolchains]
            profiles = [(self._profiles[name], self._emulator_of(name)) for name in block.profiles]
            for build in self._builds(block, targets, toolchains):
                tier = self._tiers[build.library.name]
                for profile, emulator in profiles:
                    if profile.applies_to(build.library.name, build.variant.name, build.target.arch):
                        yield Cell(build=build, profile=profile, emulator=emulator, tier=tier)

    def _emulator_of(self, profile: str) -> Emulator:
        return self._emulators[self._profiles[profile].emulator]

    def _builds(self, block: MatrixBlock, targets: list[Target], toolchains: list[Toolchain]) -> Iterator[Build]:
        for name, series in block.libraries:
            library = self._libraries[name]
            source = self._source(library, series)
            variants = {variant.name: variant for variant in library.variants}
            for variant in (variants[wanted] for wanted in block.variants if wanted in variants):
                for target in targets:
                    for toolchain in toolchains:
                        yield Build(
                            library=library,
                            source=source,
                            variant=variant,
                            toolchain=toolchain,
                            target=target,
                            suite=self._tiers[name].tests,
                        )

    def _source(self, library: Library, series: str) -> SourceSpec:
        source = pinned_source(library, series, self._versions)
        names = (f"{library.name}-{series}", f"{library.name}-{source.version}", library.name)
        own = next((self._sources[name] for name in names if name in self._sources), None)
        if own is not None:
            return own
        note = fallback_note(library, series, source)
        if note:
            self._notes[note] = None
        return source

    def _choose_tiers(self, tier: str | None) -> dict[str, Tier]:
        chosen = dict(self._recipe.tiers)
        names = dict.fromkeys(name for block in self._recipe.blocks for name, _ in block.libraries)
        tiers: dict[str, Tier] = {}
        for name in names:
            library = self._libraries[name]
            wanted = tier or chosen.get(name) or library.default_tier
            known = {one.name: one for one in library.tiers}
            if wanted not in known:
                raise UsageError(f"{library.title} has no tier {wanted!r}; {nearest(wanted, known)}")
            tiers[name] = known[wanted]
        return tiers
