"""From a version or series to the source that is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crossmatrix.catalog import SourceSpec
from crossmatrix.errors import UsageError, nearest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crossmatrix.catalog import Library, MatrixRecipe


def series_of(matrix: MatrixRecipe) -> tuple[tuple[str, str], ...]:
    """Give the libraries and versions or series that a matrix names, each pair once."""
    return tuple(dict.fromkeys(pair for block in matrix.blocks for pair in block.libraries))


def pinned_source(library: Library, series: str, versions: Mapping[tuple[str, str], str] | None = None) -> SourceSpec:
    """Give the newest pinned release of a series, or the one that the caller could get instead.

    Raises:
        UsageError: no pinned release is of that series, or the wanted one is not.
    """
    releases = library.releases_of(series)
    known = [release.version for release in library.releases]
    if not releases:
        raise UsageError(f"no pinned release of {library.name} is {series!r}; {nearest(series, known)}")
    wanted = (versions or {}).get((library.name, series), releases[0].version)
    release = next((release for release in releases if release.version == wanted), None)
    if release is None:
        versions_of_series = [release.version for release in releases]
        raise UsageError(
            f"{library.name} {wanted!r} is no pinned release of {series!r}; {nearest(wanted, versions_of_series)}",
        )
    return SourceSpec(library=library.name, version=release.version, digest=release.sha256, release=release)


def fallback_note(library: Library, series: str, source: SourceSpec) -> str:
    """Say that a source is not the newest pinned release of its series; empty where it is."""
    releases = library.releases_of(series)
    if source.release is None or not releases or releases[0].version == source.version:
        return ""
    newest = releases[0].version
    return f"{library.title} {series}: {source.version} is used; {newest}, the newest pinned release, cannot be had"
