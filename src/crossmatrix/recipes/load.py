"""Reads all recipes and hands out the catalog, or everything that is wrong with them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crossmatrix.errors import RecipeError
from crossmatrix.recipes.check_images import check_images
from crossmatrix.recipes.check_matrix import check_matrices
from crossmatrix.recipes.checks import check_things
from crossmatrix.recipes.convert import catalog_of
from crossmatrix.recipes.layers import read_sources
from crossmatrix.recipes.things import read_things

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from crossmatrix.catalog import Catalog


def load_catalog(root: Path, extra: Sequence[Path] = ()) -> Catalog:
    """Read the recipes of a checkout.

    Args:
        root: the checkout, with ``recipes/`` and ``images/``.
        extra: additional recipe folders with the layout of ``recipes/``. What they name anew is added; what has the
            name of an earlier thing stands in its place, and takes over its keys where it says ``extends: NAME`` with
            its own name. Images come from the checkout alone.

    Returns:
        The catalog, checked.

    Raises:
        RecipeError: with every problem there is, by file and line.
    """
    sources = read_sources(root, extra)
    problems = sources.problems
    things = read_things(sources, problems)
    check_things(things, problems)
    check_matrices(things, problems)
    check_images(things, root, problems)
    if problems:
        unique = {(problem.file, problem.line, problem.message): problem for problem in problems}
        raise RecipeError([unique[key] for key in sorted(unique)])
    return catalog_of(things, root / "recipes")
