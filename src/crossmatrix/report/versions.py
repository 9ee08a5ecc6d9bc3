"""The exact versions behind a run: compilers, emulators, sources and images, each once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crossmatrix.report.pageviews import images

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crossmatrix.records import RunRecord


def versions(run: RunRecord) -> tuple[tuple[str, str, str], ...]:
    """Give each version that some cell used, in the order compilers, emulators, sources, images.

    Returns:
        What it is (``compiler``, ``emulator``, ``source`` or ``image``), its name with where it comes from, and the
        digest that identifies a source or an image.
    """
    return tuple(dict.fromkeys((*_programs(run), *_sources(run), *_images(run))))


def _programs(run: RunRecord) -> Iterator[tuple[str, str, str]]:
    for what in ("compiler", "emulator"):
        yield from ((what, getattr(record, what), "") for record in run.cells if getattr(record, what))


def _sources(run: RunRecord) -> Iterator[tuple[str, str, str]]:
    for record in run.cells:
        origin = f" from {record.source_origin}" if record.source_origin else ""
        yield "source", f"{record.library} {record.version}{origin}", record.source_digest


def _images(run: RunRecord) -> Iterator[tuple[str, str, str]]:
    return (("image", image.tag, name) for name, image in images(run).items())
