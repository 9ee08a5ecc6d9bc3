"""What ``invoke clean`` removes: containers, volumes and images with our labels, results, runs; nothing else, ever."""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from filelock import Timeout

from crossmatrix.api.removable import locked, of_engine, of_home
from crossmatrix.errors import CrossmatrixError, InfrastructureError
from crossmatrix.runner.alive import BEGIN
from crossmatrix.store import State, is_state

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from crossmatrix.api.removable import Candidate, Item
    from crossmatrix.engine import DockerEngine

BEGIN_S = 600.0
"""How long another `clean` is waited for."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Cleaned:
    """What was removed (or would be, with ``dry_run``) and what was kept, with the reason."""

    removed: tuple[Item, ...]
    kept: tuple[Item, ...]
    dry_run: bool

    @property
    def freed_bytes(self) -> int:
        """The sizes of all that was removed, as far as they are known; layers and files shared count each time."""
        return sum(item.size_bytes or 0 for item in self.removed)


def clean(  # noqa: PLR0913 - each is an option of the command
    engine: DockerEngine | None,
    home: Path,
    *,
    dry_run: bool,
    older_than_s: float | None,
    keep_bytes: int | None,
    everything: bool,
) -> Cleaned:
    """Remove what is ours.

    What belongs to a live run stays: its containers and, while any run works in the state directory, volumes,
    images and results as well, since that run may be about to use them.

    Args:
        engine: None where none answers; then only files are removed.
        home: state directory.
        dry_run: remove nothing, only say what would be.
        older_than_s: only what is older than this many seconds; None for any age.
        keep_bytes: remove the oldest until no more than this is left; None for all.
        everything: also containers, volumes and images of other state directories on this engine.

    Returns:
        What was removed and what was kept.

    Raises:
        InfrastructureError: the engine stops answering.
    """
    with contextlib.nullcontext() if dry_run else _no_run_begins(home):
        now = time.time()
        live = locked(home)
        found = [*of_engine(engine, home, now, live=live, everything=everything), *of_home(home, now, live=live)]
        chosen = choose([candidate.item for candidate in found], older_than_s=older_than_s, keep_bytes=keep_bytes)
        done: list[Item] = []
        for candidate, item in zip(found, chosen, strict=True):
            done.append(item if item.kept or dry_run else _removed(candidate, item))
    return Cleaned(
        removed=tuple(item for item in done if not item.kept),
        kept=tuple(item for item in done if item.kept),
        dry_run=dry_run,
    )


def choose(items: Sequence[Item], *, older_than_s: float | None, keep_bytes: int | None) -> tuple[Item, ...]:
    """Decide what is kept for its age or to leave a certain amount; order and length stay.

    Args:
        items: some may be kept already, for another reason.
        older_than_s: younger ones are kept, and those whose age is not known.
        keep_bytes: the newest that fit into this are kept; containers have no size and go.

    Returns:
        The same items, with the reason where one is kept.
    """
    marked = [
        replace(item, kept="not old enough")
        if not item.kept and older_than_s is not None and (item.age_s is None or item.age_s < older_than_s)
        else item
        for item in items
    ]
    if keep_bytes is None:
        return tuple(marked)
    left = keep_bytes - sum(item.size_bytes or 0 for item in marked if item.kept)
    for index in sorted(range(len(marked)), key=lambda index: marked[index].age_s or 0.0):
        item = marked[index]
        if item.kept or item.size_bytes is None:
            continue
        if item.size_bytes <= left:
            left -= item.size_bytes
            marked[index] = replace(item, kept="within what is to be kept")
        else:
            left = -1
    return tuple(marked)


@contextlib.contextmanager
def _no_run_begins(home: Path) -> Iterator[None]:
    """Let no run begin here meanwhile: what it found and meant to use would be removed under it.

    Raises:
        InfrastructureError: another `clean` takes very long.
    """
    if not is_state(home):
        # No state directory: it gets nothing from us, a lock neither.
        yield
        return
    try:
        lock = State.open(home, writable=False).lock(BEGIN)
        lock.acquire(timeout=BEGIN_S)
    except Timeout as error:
        raise InfrastructureError(
            f"another `invoke clean` has been at work in {home} for {BEGIN_S / 60:.0f} minutes",
            hint="see what it does, or end it, and try again",
        ) from error
    except (OSError, CrossmatrixError):
        # A folder that this user may not write: nothing in it can be removed either.
        yield
        return
    try:
        yield
    finally:
        lock.release()


def _removed(candidate: Candidate, item: Item) -> Item:
    """Remove one; what is in use, or cannot be removed, is kept with the reason."""
    try:
        candidate.remove()
    except CrossmatrixError as error:
        return replace(item, kept=error.message.splitlines()[0])
    except OSError as error:
        return replace(item, kept=str(error.strerror or error))
    return item
