"""From a user's words to cells."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from crossmatrix.catalog import Tier
from crossmatrix.errors import UsageError
from crossmatrix.matrix import expand, find_matrix
from crossmatrix.runner.job_steps import BENCH_TIER
from crossmatrix.selectors import Selection
from crossmatrix.steps.sources import available_versions, source_specs

if TYPE_CHECKING:
    from crossmatrix.api.options import Choice
    from crossmatrix.api.workspace import Workspace
    from crossmatrix.catalog import Cell
    from crossmatrix.matrix import LeftOut
    from crossmatrix.steps.sources import Fetcher

_BENCH_TIMEOUT_S = 3600
_BENCH_ESTIMATE_S = 120


@dataclass(frozen=True, kw_only=True, slots=True)
class Chosen:
    """The cells that are meant, those of the matrix that are not run and why, and what has to be said."""

    cells: tuple[Cell, ...]
    left_out: tuple[LeftOut, ...]
    notes: tuple[str, ...]

    @property
    def not_run(self) -> tuple[tuple[str, str, str], ...]:
        """The cells that are not run: id, reason, link."""
        return tuple((item.id, item.reason, item.link) for item in self.left_out)


def choose(workspace: Workspace, choice: Choice, *, fetcher: Fetcher | None = None) -> Chosen:
    """Expand a matrix and pick its cells.

    Args:
        workspace: whose recipes.
        choice: the user's words.
        fetcher: when given, a version series means the newest pinned release that can be had; without it, the
            newest pinned one.

    Raises:
        UsageError: a name is unknown, or nothing is left.
    """
    catalog = workspace.catalog
    measuring = choice.tier == BENCH_TIER
    expansion = expand(
        catalog,
        choice.matrix,
        sources=source_specs(catalog, choice.sources, choice.patches),
        selection=Selection.parse(choice.only, choice.skip, choice.cells),
        tier=None if measuring or not choice.tier else choice.tier,
        versions=available_versions(find_matrix(catalog, choice.matrix), catalog, fetcher) if fetcher else None,
    )
    cells = expansion.cells
    if measuring:
        cells = tuple(replace(cell, tier=bench_tier()) for cell in cells if cell.profile.must_fail is None)
        if not cells:
            raise UsageError("the cells chosen are negative controls: they fail by design and have no cost")
    return Chosen(cells=cells, left_out=expansion.left_out, notes=expansion.notes)


def bench_tier() -> Tier:
    """Give the tier of measuring jobs."""
    return Tier(name=BENCH_TIER, tests=(), timeout_s=_BENCH_TIMEOUT_S, estimate_s=_BENCH_ESTIMATE_S)


def reproduce_words(choice: Choice) -> tuple[str, ...]:
    """Give the words that a command needs, besides a cell's id, to ask for the same cell."""
    words = [f"--matrix {shlex.quote(choice.matrix)}"]
    words += [f"--tier {shlex.quote(choice.tier)}"] if choice.tier not in {"", BENCH_TIER} else []
    words += [f"--source {shlex.quote(source)}" for source in choice.sources]
    words += [f"--patch {shlex.quote(patch)}" for patch in choice.patches]
    return tuple(words)
