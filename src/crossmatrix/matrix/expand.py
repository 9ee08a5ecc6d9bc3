"""Axes to cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from crossmatrix.matrix.cells import CellMaker, find_matrix
from crossmatrix.matrix.select import select
from crossmatrix.selectors import Selection, where_matches

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crossmatrix.catalog import Catalog, Cell, MatrixRecipe, SourceSpec


@dataclass(frozen=True, kw_only=True, slots=True)
class LeftOut:
    """A cell of the product that is not run.

    Attributes:
        cell: which one.
        kind: ``leave-out`` where the matrix does not want it, ``unsupported`` where it cannot be.
        reason: for a person.
        link: where upstream says so, or empty.
    """

    cell: Cell
    kind: str
    reason: str
    link: str = ""

    @property
    def id(self) -> str:
        """The cell's id."""
        return self.cell.id


@dataclass(frozen=True, kw_only=True, slots=True)
class Expansion:
    """The cells of a matrix that are meant, those of them that are left out, and what the user should know."""

    cells: tuple[Cell, ...]
    left_out: tuple[LeftOut, ...] = ()
    notes: tuple[str, ...] = ()


def expand(  # noqa: PLR0913 - all but the first two are choices of the user's, each with a default
    catalog: Catalog,
    matrix: str,
    *,
    sources: Mapping[str, SourceSpec] | None = None,
    selection: Selection | None = None,
    tier: str | None = None,
    versions: Mapping[tuple[str, str], str] | None = None,
) -> Expansion:
    """Give the cells of a matrix, in the order of its axes: library, variant, target, toolchain, profile.

    Args:
        catalog: of all recipes.
        matrix: name of one in it.
        sources: instead of the pinned releases, by library (``openssl``), or by library and the version or series
            that the matrix names (``openssl-3.0``).
        selection: which of the cells are meant.
        tier: of every library, instead of what matrix and libraries say.
        versions: by library and series, the pinned version to take where the newest cannot be had.

    Returns:
        The cells, each once, and what is left out with its reason.

    Raises:
        UsageError: matrix, tier, version, or a selector's value is unknown, or nothing is selected.
    """
    recipe = find_matrix(catalog, matrix)
    maker = CellMaker(catalog, recipe, sources=sources or {}, tier=tier, versions=versions or {})
    kept: list[Cell] = []
    left_out: list[LeftOut] = []
    for cell, facts in select(catalog, recipe, maker.cells(), selection or Selection()):
        why = _left_out(recipe, cell, facts)
        if why is None:
            kept.append(cell)
        else:
            left_out.append(why)
    return Expansion(cells=tuple(kept), left_out=tuple(left_out), notes=maker.notes())


def _left_out(recipe: MatrixRecipe, cell: Cell, facts: Mapping[str, str]) -> LeftOut | None:
    toolchain, target = cell.build.toolchain, cell.build.target
    if toolchain.tools_for(target.name) is None:
        reason = f"toolchain {toolchain.name!r} has no target {target.name!r}"
        return LeftOut(cell=cell, kind="unsupported", reason=reason)
    for exclusion in (*recipe.exclude, *cell.build.library.exclusions):
        whole_cell = not exclusion.tests and exclusion.kind != "expected-failure"
        if whole_cell and where_matches(exclusion.where, facts):
            return LeftOut(cell=cell, kind=exclusion.kind, reason=exclusion.reason, link=exclusion.link)
    return None
