"""Images on their own, before or without a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crossmatrix.api.choosing import choose
from crossmatrix.api.running import ensure_engine_room, ensure_room, stopped_by_signals
from crossmatrix.api.world import surroundings
from crossmatrix.errors import InfrastructureError, UsageError, nearest
from crossmatrix.events import Note
from crossmatrix.runner.supplies import Supplies, image_names, present_images, ready_images

if TYPE_CHECKING:
    from collections.abc import Callable

    from crossmatrix.api.options import Choice
    from crossmatrix.api.workspace import Workspace
    from crossmatrix.engine.types import ImageRef
    from crossmatrix.events import Event


def ready(
    workspace: Workspace,
    choice: Choice,
    names: tuple[str, ...],
    listen: Callable[[Event], None],
) -> tuple[ImageRef, ...]:
    """Build images where they are missing.

    Args:
        workspace: where.
        choice: whose cells' images, where no names are given.
        names: of images.
        listen: is told what happens.

    Raises:
        UsageError: there is no such image.
        InfrastructureError: one cannot be built.
    """
    specs = workspace.image_specs()
    for name in names:
        if name not in specs:
            raise UsageError(f"unknown image {name!r}; {nearest(name, specs)}")
    workspace.mirrors()
    wanted = names or image_names(choose(workspace, choice).cells)
    fetcher = workspace.fetcher(mirrors=choice.mirrors, tell=lambda text: listen(Note(message=text)))
    state = workspace.state()
    supplies = Supplies()
    ensure_room(workspace.home)
    with workspace.engine(fetcher, tell=lambda text: listen(Note(message=text))) as engine:
        ensure_engine_room(engine)
        engine.check_images(specs[name] for name in wanted)
        world = surroundings(workspace, engine=engine, state=state, fetcher=fetcher, listen=listen)
        supplies.images.update(present_images(wanted, engine, specs))
        with stopped_by_signals(world.stop, world.interrupted, listen):
            ready_images(wanted, world, supplies)
    if world.interrupted.is_set():
        raise KeyboardInterrupt
    if len({str(error) for error in supplies.faults.values()}) > 1:
        raise InfrastructureError("\n".join(f"{name}: {error}" for name, error in supplies.faults.items()))
    for error in supplies.faults.values():
        raise error
    return tuple(supplies.images[name] for name in wanted)
