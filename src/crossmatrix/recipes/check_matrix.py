"""Checks matrices: every axis names what exists, and the product names something."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crossmatrix.catalog import Profile, in_series
from crossmatrix.errors import nearest
from crossmatrix.recipes.checks import Checker
from crossmatrix.recipes.models import MatrixModel
from crossmatrix.recipes.selections import check_where
from crossmatrix.recipes.shapes import UNKNOWN
from crossmatrix.recipes.things import AXES, blocks_of, every, named_by, variants_of
from crossmatrix.selectors import is_glob

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crossmatrix.errors import Problem
    from crossmatrix.recipes.things import Block, Thing, Things


def check_matrices(things: Things, problems: list[Problem]) -> None:
    """Check all matrices against the other recipes."""
    checker = Checker(things=things, problems=problems)
    for matrix in every(things, things.matrices, MatrixModel):
        _check_matrix(checker, matrix)


def _check_matrix(checker: Checker, matrix: Thing[MatrixModel]) -> None:
    node, things = matrix.node, checker.things
    for block in blocks_of(matrix):
        _check_block(checker, matrix, block)
    for library, tier in matrix.model.tiers.items():
        place = node.find(["tiers", library])
        if checker.name(place, "library", library) and library in things.libraries:
            checker.name(place, f"{library} tier", tier, things.libraries[library].model.tiers)
    for i, exclusion in enumerate(matrix.model.exclude):
        check_where(things, node.find(["exclude", i]), exclusion.where, checker.problems)


def _check_block(checker: Checker, matrix: Thing[MatrixModel], block: Block) -> None:
    before = len(checker.problems)
    things = checker.things
    for axis in AXES:
        if matrix.whole and not getattr(block, axis):
            checker.add(block.nodes[axis], f"matrix {matrix.name!r} names nothing: it has no {axis}")
    _check_libraries(checker, block)
    libraries = things.names["library"] if "variants" in block.shared else tuple(block.libraries)
    if all(library in things.libraries for library in libraries):
        _check_axis(checker, block, "variants", "variant", variants_of(things, libraries))
    for axis, kind in (("targets", "target"), ("toolchains", "toolchain"), ("profiles", "profile")):
        _check_axis(checker, block, axis, kind, things.names[kind])
    if matrix.whole and not checker.things.unread and len(checker.problems) == before:
        _check_product(checker, matrix.name, block)


def _check_libraries(checker: Checker, block: Block) -> None:
    node = block.nodes["libraries"]
    for library, series in block.libraries.items():
        place = node.find([library])
        if not checker.name(place, "library", library) or library not in checker.things.libraries:
            continue
        releases = checker.things.libraries[library].model.releases
        checker.once(node, library, series)
        for i, wanted in enumerate(series):
            if wanted != UNKNOWN and not any(in_series(version, wanted) for version in releases):
                message = f"no pinned release of {library} is {wanted!r}; {nearest(wanted, releases)}"
                checker.add(place.find([i]), message)


def _check_axis(checker: Checker, block: Block, axis: str, kind: str, known: Iterable[str]) -> None:
    names = tuple(known)
    patterns: tuple[str, ...] = getattr(block, axis)
    owner = block.nodes[axis]
    for i, pattern in enumerate(patterns):
        place = owner.find([i])
        if pattern in patterns[:i] and pattern != UNKNOWN:
            checker.add(place, f"{pattern!r} stands in {axis!r} twice")
        elif is_glob(pattern) and kind not in checker.things.unread and not named_by((pattern,), names):
            checker.add(place, f"{pattern!r} matches no {kind}; {nearest(pattern, names)}")
        elif not is_glob(pattern):
            checker.name(place, kind, pattern, names)


def _check_product(checker: Checker, matrix: str, block: Block) -> None:
    things = checker.things
    targets = named_by(block.targets, things.names["target"])
    toolchains = named_by(block.toolchains, things.names["toolchain"])
    whole = (
        all(name in things.libraries for name in block.libraries)
        and all(name in things.targets for name in targets)
        and all(name in things.toolchains for name in toolchains)
    )
    if not whole:
        return
    if not any(target in things.toolchains[name].model.targets for name in toolchains for target in targets):
        words = "no toolchain of it has one of its targets"
        checker.add(block.nodes["toolchains"], f"matrix {matrix!r} names nothing: {words}")
    variants = named_by(block.variants, variants_of(things, block.libraries))
    for library in block.libraries:
        if not set(variants) & set(things.libraries[library].model.variants):
            place = block.nodes["libraries"].find([library])
            checker.add(place, f"library {library!r} has none of the variants {', '.join(variants)}")
    arches = {things.targets[name].model.arch for name in targets}
    _check_profiles(checker, block, variants, arches)


def _check_profiles(checker: Checker, block: Block, variants: Iterable[str], arches: Iterable[str]) -> None:
    things, fitting = checker.things, 0
    for i, pattern in enumerate(block.profiles):
        names = named_by((pattern,), things.names["profile"])
        if not all(name in things.profiles for name in names):
            return
        if any(_applies(things, name, block, variants, arches) for name in names):
            fitting += 1
        elif "profiles" not in block.shared:
            place = block.nodes["profiles"].find([i])
            checker.add(place, f"profile {pattern!r} applies to no library, variant and target of the matrix")
    if not fitting and "profiles" in block.shared:
        checker.add(block.node, "the block names nothing: no profile of the matrix applies to it")


def _applies(things: Things, name: str, block: Block, variants: Iterable[str], arches: Iterable[str]) -> bool:
    model = things.profiles[name].model
    profile = Profile(
        name=name,
        description="",
        emulator="",
        cpu="",
        libraries=model.libraries,
        targets=model.targets,
        variants=model.variants,
    )
    return any(
        profile.applies_to(library, variant, arch)
        for library in block.libraries
        for variant in set(variants) & set(things.libraries[library].model.variants)
        for arch in arches
    )
