"""The exact versions behind a run: compilers, emulators, sources and images, each once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crossmatrix.records import NO_EMULATOR
from crossmatrix.report.pageviews import images

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crossmatrix.records import RunRecord


def versions(run: RunRecord) -> tuple[tuple[str, str, str], ...]:
    """Give each version that some cell used, in the order compilers, emulators, sources, images.

    Returns:
        What it is (``compiler``, ``emulator``, ``source`` or ``image``), its name with where it comes from, and the
        digest that identifies a source or an image.
    """
    return tuple(dict.fromkeys((*_programs(run), *_sources(run), *_images(run))))


def _programs(run: RunRecord) -> Iterator[tuple[str, str, str]]:
    compilers = {record.compiler: None for record in run.cells if record.compiler}
    emulators = {record.emulator: None for record in run.cells if record.emulator not in {"", NO_EMULATOR}}
    for what, names in (("compiler", compilers), ("emulator", emulators)):
        yield from ((what, name, "") for name in names if not _is_known_better(name, names))


def _is_known_better(name: str, names: Iterable[str]) -> bool:
    """Whether another cell's record has the exact version too: one that was not built does not know it."""
    return any(other.startswith(f"{name} (") for other in names)


def _sources(run: RunRecord) -> Iterator[tuple[str, str, str]]:
    origins: dict[tuple[str, str, str], str] = {}
    for record in run.cells:
        key = record.library, record.version, record.source_digest
        origins[key] = origins.get(key) or record.source_origin
    for (library, version, digest), origin in origins.items():
        yield "source", f"{library} {version}{f' from {origin}' if origin else ''}", digest


def _images(run: RunRecord) -> Iterator[tuple[str, str, str]]:
    return (("image", image.tag, name) for name, image in images(run).items())
