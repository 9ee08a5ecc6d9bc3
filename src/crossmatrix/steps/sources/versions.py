"""A version series means the newest pinned release that can be had."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crossmatrix.errors import SourceError
from crossmatrix.matrix import series_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crossmatrix.catalog import Catalog, Library, MatrixRecipe, Release
    from crossmatrix.steps.sources.fetching import Fetcher


def newest_available(library: Library, series: str, fetcher: Fetcher) -> Release | None:
    """Give the newest pinned release of a series that can be had, or None where there is none.

    Args:
        library: whose releases.
        series: a version or series, ``3.0``.
        fetcher: what it gets is kept.
    """
    for release in library.releases_of(series):
        try:
            fetcher.release(release)
        except SourceError:
            continue
        return release
    return None


def available_versions(matrix: MatrixRecipe, catalog: Catalog, fetcher: Fetcher) -> Mapping[tuple[str, str], str]:
    """Give the versions that can be had of all series of a matrix, by library and series.

    A series of which nothing can be had is left out: its newest release is then asked for, and its absence becomes
    the cells' fault, with all reasons.
    """
    libraries = {library.name: library for library in catalog.libraries}
    found = {
        (name, series): newest_available(libraries[name], series, fetcher)
        for name, series in series_of(matrix)
        if len(libraries[name].releases_of(series)) > 1
    }
    return {pair: release.version for pair, release in found.items() if release is not None}
