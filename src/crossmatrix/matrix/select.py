"""Applies the user's selection to the cells of a matrix, and explains words that pick nothing."""

from __future__ import annotations

from difflib import SequenceMatcher
from functools import lru_cache
from typing import TYPE_CHECKING

from crossmatrix.catalog import Endian
from crossmatrix.errors import UsageError, nearest
from crossmatrix.matrix.cells import matrices_with
from crossmatrix.selectors import Selection, Term, facts_of, glob_matches

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from crossmatrix.catalog import Catalog, Cell, MatrixRecipe


def select(
    catalog: Catalog,
    recipe: MatrixRecipe,
    cells: Sequence[Cell],
    selection: Selection,
) -> tuple[tuple[Cell, dict[str, str]], ...]:
    """Give the cells that are meant, each with its facts.

    Args:
        catalog: of all recipes, for names that the matrix does not have.
        recipe: the matrix.
        cells: all of the matrix, left-out ones too.
        selection: the user's.

    Raises:
        UsageError: a value is unknown or is nowhere in the matrix, a glob matches nothing, or nothing is left.
    """
    facts = [facts_of(cell) for cell in cells]
    _check_globs(catalog, recipe, facts, selection)
    _check_terms(catalog, recipe, facts, selection)
    meant = tuple((cell, known) for cell, known in zip(cells, facts, strict=True) if selection.matches(known))
    if not meant and cells:
        raise UsageError(
            f"the selection leaves none of the {len(cells)} cells of matrix {recipe.name!r}",
            hint=f"`invoke list --matrix {recipe.name}` shows them",
        )
    return meant


def _check_globs(
    catalog: Catalog,
    recipe: MatrixRecipe,
    facts: Sequence[Mapping[str, str]],
    selection: Selection,
) -> None:
    for glob in selection.globs:
        if any(glob_matches(glob, known["id"]) for known in facts):
            continue
        elsewhere = " or ".join(f"--matrix {name}" for name in matrices_with(catalog, glob))
        near = nearest_id(glob, [known["id"] for known in facts])
        raise UsageError(
            f"no cell of matrix {recipe.name!r} matches {glob!r}; the nearest is {near!r}",
            hint=f"use {elsewhere}, which has it" if elsewhere else f"`invoke list --matrix {recipe.name}` shows all",
        )


def nearest_id(glob: str, ids: Iterable[str]) -> str:
    """Give the id whose parts are most like those of a glob; empty where there are no ids.

    Parts are compared, not whole ids: there are few different ones, even where there are 10,000 ids.
    """
    wanted = _parts(glob)

    def likeness(known: str) -> float:
        return sum(_likeness(mine, other) for mine, other in zip(wanted, _parts(known), strict=False))

    return max(ids, key=likeness, default="")


def _parts(text: str) -> list[str]:
    path, _, profile = text.partition("@")
    return [*path.split("/"), profile] if profile else path.split("/")


@lru_cache(maxsize=65536)
def _likeness(left: str, right: str) -> float:
    return SequenceMatcher(None, left, right, autojunk=False).ratio()


def _check_terms(
    catalog: Catalog,
    recipe: MatrixRecipe,
    facts: Sequence[Mapping[str, str]],
    selection: Selection,
) -> None:
    for picks, groups in ((True, selection.only), (False, selection.skip)):
        for term in (term for terms in groups for term in terms):
            here = {known[term.key] for known in facts}
            for value in term.unknown(here):
                _explain(catalog, recipe, term, value, here, picks=picks)


def _explain(  # noqa: PLR0913 - one message is made of all of them
    catalog: Catalog,
    recipe: MatrixRecipe,
    term: Term,
    value: str,
    here: set[str],
    *,
    picks: bool,
) -> None:
    anywhere = _known(catalog, term.key)
    if Term(key=term.key, values=(value,)).unknown(anywhere):
        raise UsageError(f"unknown {term.key} {value!r} in selector '{term}'; {nearest(value, anywhere | here)}")
    if picks:
        raise UsageError(
            f"no cell of matrix {recipe.name!r} has {term.key}={value}",
            hint=f"it has {term.key}={'|'.join(sorted(here))}",
        )


def _known(catalog: Catalog, key: str) -> set[str]:
    libraries, toolchains, targets = catalog.libraries, catalog.toolchains, catalog.targets
    known = {
        "library": {library.name for library in libraries},
        "version": {release.version for library in libraries for release in library.releases},
        "variant": {variant.name for library in libraries for variant in library.variants},
        "toolchain": {toolchain.name for toolchain in toolchains},
        "compiler": {toolchain.family for toolchain in toolchains},
        "target": {target.name for target in targets},
        "endian": {endian.value for endian in Endian},
        "libc": {target.libc for target in targets},
        "profile": {profile.name for profile in catalog.profiles},
        "tier": {tier.name for library in libraries for tier in library.tiers},
    }
    return known.get(key, set())
