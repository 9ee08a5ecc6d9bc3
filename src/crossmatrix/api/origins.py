"""Where base images and sources come from, and whether that can be reached from here."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import requests

from crossmatrix.engine.base import machine_apt, registry_reference
from crossmatrix.engine.suites import SUITES
from crossmatrix.errors import CrossmatrixError, nearest
from crossmatrix.matrix.sources import series_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from crossmatrix.catalog import Catalog, Release

REACH_S = 6.0
_NOT_FOUND = "answers 404"
_NOT_ALLOWED = "answers 401"
Status = Literal["ok", "missing", "warning"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """One prerequisite: ``status`` is ok, missing (nothing works without it) or warning; ``mend`` says what to do."""

    name: str
    status: Status
    detail: str
    mend: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Origin:
    """An address to ask for.

    Attributes:
        name: of the row.
        address: http or https.
        mend: what to do where it does not answer.
        not_there: what to do where it answers that it has no such thing; empty for the same.
        login: whether a demand for a login is an answer too.
    """

    name: str
    address: str
    mend: str
    not_there: str = ""
    login: bool = False


def reach(address: str) -> str:
    """Ask for the head of an address.

    Returns:
        Nothing where it answers, else why not, in a few words.
    """
    try:
        with requests.head(address, timeout=REACH_S, allow_redirects=True) as answer:
            return "" if answer.ok else f"answers {answer.status_code}"
    except requests.Timeout:
        return f"no answer within {REACH_S:.0f} s"
    except requests.RequestException:
        return "cannot be reached"


def origins(catalog: Catalog, environ: Mapping[str, str], root: Path) -> Iterator[Origin | Row]:
    """Give where base images and sources come from; a row where that is not even known.

    Args:
        catalog: which images and matrices there are.
        environ: may name a Debian mirror.
        root: checkout, with the pinned base images.
    """
    for suite in sorted({image.suite for image in catalog.images}):
        try:
            yield _base(suite, environ, root)
        except CrossmatrixError as error:
            yield Row(name=f"base {suite}", status="warning", detail=error.message, mend=error.hint)
    for library, release in _wanted(catalog):
        yield Origin(
            name=f"source {library} {release.version}",
            address=release.urls[0],
            mend="the next origin is tried: Debian's source package, or a folder that CROSSMATRIX_MIRROR names",
        )


def reached(asked: Iterator[Origin | Row], reach: Callable[[str], str]) -> list[Row]:
    """Ask, side by side, for all that has an address; gives a row each, in their order."""
    every = tuple(asked)
    with ThreadPoolExecutor(max_workers=8) as pool:
        return list(pool.map(lambda one: one if isinstance(one, Row) else _row(one, reach(one.address)), every))


def _row(origin: Origin, answer: str) -> Row:
    """Judge an answer."""
    if not answer or (origin.login and answer == _NOT_ALLOWED):
        return Row(name=origin.name, status="ok", detail=origin.address)
    mend = origin.not_there if answer == _NOT_FOUND and origin.not_there else origin.mend
    return Row(name=origin.name, status="warning", detail=f"{origin.address}: {answer}", mend=mend)


def _base(suite: str, environ: Mapping[str, str], root: Path) -> Origin | Row:
    """Give where the base image of a suite comes from."""
    pinned = registry_reference(root, suite)
    if pinned:
        host = registry_of(pinned)
        if not host:
            # Which registry that is, and its mirrors, the engine alone knows.
            return Row(name=f"base {suite}", status="ok", detail=f"pinned: {pinned}")
        return Origin(
            name=f"base {suite}",
            address=f"https://{host}/v2/",
            mend=f"without it {pinned} is not pulled, and the base image bootstrapped from this machine's own mirror",
            login=True,
        )
    return Origin(
        name=f"base {suite}",
        address=f"{machine_apt(suite, environ).main.uri}/dists/{suite}/Release",
        mend="check the network, proxies, and apt's own configuration",
        not_there=f"see whether `suite` in images/*/image.yaml is right: {nearest(suite, SUITES)}",
    )


def registry_of(reference: str) -> str:
    """Give the registry that an image reference names, ``registry.test:5000/debian@sha256:...``; empty for none.

    The first part is a host where it has a dot or a port, as for Docker; it answers to ``GET /v2/``.
    """
    first, slash, _ = reference.partition("/")
    return first if slash and (first == "localhost" or any(mark in first for mark in ".:")) else ""


def _wanted(catalog: Catalog) -> Iterator[tuple[str, Release]]:
    """Give the releases that matrices build, each once: of a series the newest."""
    series = dict.fromkeys(pair for matrix in catalog.matrices for pair in series_of(matrix))
    for library in catalog.libraries:
        found = [library.releases_of(wanted)[:1] for name, wanted in series if name == library.name]
        for release in dict.fromkeys(release for newest in found for release in newest):
            if release.urls:
                yield library.name, release
