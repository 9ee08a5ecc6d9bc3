"""Checks the selector words that recipes hold, in exclusions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crossmatrix.catalog import Endian
from crossmatrix.errors import UsageError, nearest
from crossmatrix.recipes.models import LibraryModel, TargetModel, ToolchainModel
from crossmatrix.recipes.shapes import UNKNOWN
from crossmatrix.recipes.things import every
from crossmatrix.selectors import parse_terms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crossmatrix.errors import Problem
    from crossmatrix.recipes.document import Node
    from crossmatrix.recipes.things import Things

_DEFINED_IN = {"libc": "target", "compiler": "toolchain"} | dict.fromkeys(("version", "variant", "tier"), "library")
"""Keys whose values are defined inside of recipes of another kind."""


def check_where(things: Things, owner: Node, where: Sequence[str], problems: list[Problem]) -> None:
    """Check that all words of an exclusion can be read and mean something that exists."""
    for i, word in enumerate(where):
        if word == UNKNOWN:
            continue
        place = owner.find(["where", i]).place
        try:
            terms = parse_terms(word)
        except UsageError as error:
            problems.append(place.problem(error.message))
            continue
        for term in terms:
            known = _known(things, term.key)
            problems.extend(
                place.problem(f"unknown {term.key} {value!r} in {word!r}; {nearest(value, known)}")
                for value in (term.unknown(known) if known else ())
            )


def _known(things: Things, key: str) -> set[str]:
    """Give all values of a key; ids are not checked, since which there are depends on the matrix."""
    if _DEFINED_IN.get(key, key) in things.unread:
        return set()
    libraries = [library.model for library in every(things, things.libraries, LibraryModel)]
    toolchains = [toolchain.model for toolchain in every(things, things.toolchains, ToolchainModel)]
    known: dict[str, set[str]] = {
        "version": {version for library in libraries for version in library.releases},
        "variant": {variant for library in libraries for variant in library.variants},
        "tier": {tier for library in libraries for tier in library.tiers},
        "compiler": {toolchain.family for toolchain in toolchains},
        "endian": {endian.value for endian in Endian},
        "libc": {target.model.libc for target in every(things, things.targets, TargetModel)},
    }
    found = known.get(key) or set(things.names.get(key, ()))
    return set() if UNKNOWN in found else found
