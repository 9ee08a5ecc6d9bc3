"""From a user's words to cells."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from crossmatrix.analysis.words import counted
from crossmatrix.catalog import Tier
from crossmatrix.errors import UsageError, nearest
from crossmatrix.matrix import expand, find_matrix
from crossmatrix.records import MEASURED_TIER
from crossmatrix.selectors import Selection
from crossmatrix.steps.sources import available_versions, source_specs

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from crossmatrix.api.options import Choice
    from crossmatrix.api.workspace import Workspace
    from crossmatrix.catalog import Cell, SourceSpec
    from crossmatrix.matrix import LeftOut
    from crossmatrix.steps.sources import Fetcher

_BENCH_TIMEOUT_S = 3600
_BENCH_ESTIMATE_S = 120


@dataclass(frozen=True, kw_only=True, slots=True)
class Chosen:
    """The cells that are meant, those of the matrix that are not run and why, and what has to be said.

    ``sources`` are what ``--source`` and ``--patch`` name, by library or series.
    """

    cells: tuple[Cell, ...]
    left_out: tuple[LeftOut, ...]
    notes: tuple[str, ...]
    sources: Mapping[str, SourceSpec]

    @property
    def not_run(self) -> tuple[tuple[str, str, str], ...]:
        """The cells that are not run: id, reason, link."""
        return tuple((item.id, item.reason, item.link) for item in self.left_out)


def choose(
    workspace: Workspace, choice: Choice, *, fetcher: Fetcher | None = None, algorithms: Sequence[str] = ()
) -> Chosen:
    """Expand a matrix and pick its cells.

    Args:
        workspace: whose recipes.
        choice: the user's words.
        fetcher: when given, a version series means the newest pinned release that can be had; without it, the
            newest pinned one.
        algorithms: that are to be measured, empty for all; cells whose library has none of them are not chosen.

    Raises:
        UsageError: a name is unknown, nothing is left, or a source or patch is of no use for what is left.
    """
    catalog = workspace.catalog
    workspace.mirrors(choice.mirrors)
    measuring = choice.tier == MEASURED_TIER
    specs = source_specs(catalog, choice.sources, choice.patches)
    expansion = expand(
        catalog,
        choice.matrix,
        sources=specs,
        selection=Selection.parse(choice.only, choice.skip, choice.cells),
        tier=None if measuring or not choice.tier else choice.tier,
        versions=available_versions(find_matrix(catalog, choice.matrix), catalog, fetcher) if fetcher else None,
    )
    cells, notes = expansion.cells, expansion.notes
    if measuring:
        cells = tuple(replace(cell, tier=bench_tier()) for cell in cells if cell.profile.must_fail is None)
        if not cells:
            raise UsageError("the cells chosen are negative controls: they fail by design and have no cost")
        check_algorithms(cells, algorithms)
        notes += _without_notes([cell for cell in cells if _has_none(cell, algorithms)], algorithms)
        cells = tuple(cell for cell in cells if not _has_none(cell, algorithms))
    _check_all_used(choice, specs, cells)
    return Chosen(cells=cells, left_out=expansion.left_out, notes=notes, sources=specs)


def _has_none(cell: Cell, algorithms: Sequence[str]) -> bool:
    """Whether a cell's library is known to have none of the algorithms that are asked for."""
    known = cell.build.library.algorithms
    return bool(algorithms and known) and not set(known).intersection(algorithms)


def _without_notes(cells: Sequence[Cell], algorithms: Sequence[str]) -> tuple[str, ...]:
    """Say for each library how many cells are not measured, since it has nothing of what is asked for."""
    counts = Counter(cell.build.library.name for cell in cells)
    names = ", ".join(algorithms)
    return tuple(
        f"{library}: {counted(count, 'cell')} left out, for it has none of the algorithms asked for ({names})"
        for library, count in counts.items()
    )


def _check_all_used(choice: Choice, specs: Mapping[str, SourceSpec], cells: Sequence[Cell]) -> None:
    """See that every ``--source`` and ``--patch`` reaches a cell: a run that tests something else is green for nothing.

    Raises:
        UsageError: with all that reach none.
    """
    used = {cell.build.source.digest for cell in cells}
    patched = {spec.library for spec in specs.values() if spec.patches and spec.digest in used}
    sources = [text for text in choice.sources if specs[name_of(text)].digest not in used]
    patches = [text for text in choice.patches if not any(is_of(name_of(text), library) for library in patched)]
    lost = [*(f"--source {text}" for text in sources), *(f"--patch {text}" for text in patches)]
    if lost:
        there = ", ".join(sorted({f"{cell.build.library.name} {cell.build.source.version}" for cell in cells}))
        raise UsageError(
            "\n".join(f"{words}: no chosen cell is of {name_of(words.partition(' ')[2])}" for words in lost),
            hint=f"chosen are cells of {there}; choose others with --matrix, --only or --cells, or leave it out",
        )


def name_of(text: str) -> str:
    """Give what stands before the equals sign: a library, or one with a version or series."""
    return text.partition("=")[0]


def is_of(name: str, library: str) -> bool:
    """Whether a name that stands before an equals sign is one of a library."""
    return name == library or name.startswith(f"{library}-")


def check_algorithms(cells: Sequence[Cell], names: Sequence[str]) -> None:
    """See that each name that is to be measured is one of an algorithm.

    Args:
        cells: that are measured; the recipes of their libraries have the names.
        names: the user's.

    Raises:
        UsageError: no library of the cells has one of that name; before anything is started.
    """
    libraries = {cell.build.library.name: cell.build.library for cell in cells}
    known = {name for library in libraries.values() for name in library.algorithms}
    told = all(library.algorithms for library in libraries.values())
    wrong = [name for name in names if told and name not in known]
    if wrong:
        owners = " and ".join(sorted(libraries))
        raise UsageError(
            "\n".join(f"--algorithms: no algorithm of {owners} is {name!r}; {_close(name, known)}" for name in wrong),
            hint="docs/reference/algorithms.md explains the names",
        )


def _close(name: str, known: Collection[str]) -> str:
    """Give the nearest name; to list all of them would bury the message."""
    close = nearest(name, known)
    return close if close.startswith("did") else f"there are {len(known)} others"


def bench_tier() -> Tier:
    """Give the tier of measuring jobs."""
    return Tier(name=MEASURED_TIER, tests=(), timeout_s=_BENCH_TIMEOUT_S, estimate_s=_BENCH_ESTIMATE_S)


def with_estimates(cells: Sequence[Cell], algorithms: Sequence[str]) -> tuple[Cell, ...]:
    """Give cells that are measured a time to be expected: a part of that for all, as many algorithms as are asked for.

    Args:
        cells: of the tier ``bench``.
        algorithms: that are measured; empty for all.
    """
    return tuple(replace(cell, tier=replace(cell.tier, estimate_s=_bench_s(cell, algorithms))) for cell in cells)


def _bench_s(cell: Cell, algorithms: Sequence[str]) -> int:
    known = cell.build.library.algorithms
    if not algorithms or not known:
        return _BENCH_ESTIMATE_S
    return max(1, round(_BENCH_ESTIMATE_S * len(set(known).intersection(algorithms)) / len(known)))
