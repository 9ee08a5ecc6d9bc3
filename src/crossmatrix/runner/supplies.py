"""What a run needs before its first job: images and sources, made ready side by side."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from crossmatrix.errors import InfrastructureError
from crossmatrix.events import JobFinished, JobStarted, StageProgress
from crossmatrix.plan import ImageState

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from crossmatrix.catalog import Cell, SourceSpec
    from crossmatrix.engine.types import Engine, ImageRef, ImageSpec
    from crossmatrix.runner.request import Surroundings

IMAGES_AT_ONCE = 3


def image_names(cells: Iterable[Cell]) -> tuple[str, ...]:
    """Give the names of the images that cells are built and run in, each once, in their order."""
    names = dict.fromkeys(name for cell in cells for name in (cell.build.toolchain.image, cell.emulator.image))
    return tuple(names)


def image_states(
    names: Iterable[str],
    specs: Mapping[str, ImageSpec],
    refs: Mapping[str, ImageRef],
) -> dict[str, ImageState]:
    """Give what planning needs to know of images.

    Args:
        names: of the images.
        specs: of all images.
        refs: of those that exist.

    Returns:
        By name.
    """
    return {
        name: ImageState(name=name, tag=specs[name].tag, contents=refs[name].contents if name in refs else "")
        for name in names
    }


@dataclass(frozen=True, kw_only=True, slots=True)
class Supplies:
    """What could be made ready, and why the rest could not.

    ``images`` by name; ``sources`` by digest: the archive and the words that say where it came from.
    """

    images: dict[str, ImageRef] = field(default_factory=dict)
    sources: dict[str, tuple[Path, str]] = field(default_factory=dict)
    faults: dict[str, InfrastructureError] = field(default_factory=dict)


def present_images(names: Iterable[str], engine: Engine, specs: Mapping[str, ImageSpec]) -> dict[str, ImageRef]:
    """Find the images that exist, by name."""
    return {name: ref for name in dict.fromkeys(names) if (ref := engine.image(specs[name])) is not None}


def ready_images(names: Iterable[str], world: Surroundings, supplies: Supplies) -> None:
    """Build the images that are missing, side by side; the engine builds those they copy from first.

    Args:
        names: of the images.
        world: whose engine builds.
        supplies: gets the images, or under an image's name the fault.
    """
    missing = [name for name in dict.fromkeys(names) if name not in supplies.images and not world.stop.is_set()]
    with ThreadPoolExecutor(max_workers=IMAGES_AT_ONCE, thread_name_prefix="image") as pool:
        futures = {name: pool.submit(_build, world.images[name], world) for name in missing}
        for name, future in futures.items():
            try:
                supplies.images[name] = future.result()
            except InfrastructureError as error:
                supplies.faults[name] = error


def _build(spec: ImageSpec, world: Surroundings) -> ImageRef:
    job = f"image {spec.name}"
    started = world.now()
    world.listen(JobStarted(job=job, reason="not built yet"))
    ok = False
    last = ""

    def tell(line: str) -> None:
        nonlocal last
        if world.stop.is_set():
            raise InfrastructureError(f"image {spec.name}: interrupted while it was built")
        if line == last:
            # Said again while it waits, so that it can be ended here.
            return
        last = line
        world.listen(StageProgress(job=job, stage="build", line=line[:200]))

    try:
        ref = world.engine.build_image(spec, on_line=tell)
        ok = True
        return ref
    finally:
        seconds = (world.now() - started).total_seconds()
        world.listen(JobFinished(job=job, ok=ok, message="built" if ok else "could not be built", duration_s=seconds))


def ready_sources(specs: Iterable[SourceSpec], world: Surroundings, supplies: Supplies) -> None:
    """Fetch sources, each once, also where that failed before; a stopped run needs none.

    Args:
        specs: of the builds that have to run.
        world: that fetches.
        supplies: gets the sources, or under a source's digest the fault.
    """
    done = supplies.sources.keys() | supplies.faults.keys()
    for spec in {spec.digest: spec for spec in specs if spec.digest not in done}.values():
        if world.stop.is_set():
            return
        try:
            supplies.sources[spec.digest] = world.fetch(spec)
        except InfrastructureError as error:
            supplies.faults[spec.digest] = error
