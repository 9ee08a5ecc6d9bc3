"""What there is of ours that could be removed, on an engine and in a state directory, and what has to stay for now."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from crossmatrix.engine.belongings import CONTAINER, IMAGE, VOLUME, belongings, remove_belonging
from crossmatrix.engine.mounts import mounts_below, unmount_below
from crossmatrix.engine.owners import IMAGE_LABEL, is_live
from crossmatrix.engine.worksites import work_folders
from crossmatrix.errors import CrossmatrixError, StoreError
from crossmatrix.runner.alive import BEGIN, is_held
from crossmatrix.store import State, is_state
from crossmatrix.store.runs import size_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from crossmatrix.engine import DockerEngine
    from crossmatrix.engine.belongings import Belonging

RUN, RESULT, TEMPORARY = "run", "result", "temporary"
_ORDER = (CONTAINER, VOLUME, IMAGE, RUN, RESULT, TEMPORARY)
_BUILD_S = 7200.0
"""How long an image build may take; it counts where nobody can be asked whether one works."""
_LIVE = "a run works in this state directory"
_CLOSED = "it is another user's: you may not remove it"


@dataclass(frozen=True, kw_only=True, slots=True)
class Item:
    """One thing that was, or would be, removed or kept.

    Attributes:
        kind: ``container``, ``volume``, ``image``, ``run``, ``result`` or ``temporary``.
        name: of it.
        size_bytes: None where it cannot be told.
        age_s: None where it cannot be told.
        kept: why it was not removed; empty where it was.
    """

    kind: str
    name: str
    size_bytes: int | None
    age_s: float | None
    kept: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Candidate:
    """An item, and how to remove it."""

    item: Item
    remove: Callable[[], None]


def locked(home: Path) -> bool:
    """Whether a run works in a state directory: it holds a lock there, which the system frees when it dies.

    Writes nothing: locks may be those of another user, whose run is as alive as one of ours.
    """
    return any(is_held(path) for path in _locks(home, "*.lock") if path.stem != BEGIN)


def builds_image(home: Path) -> bool:
    """Whether an image is being built from a state directory: the builder holds the image's lock there."""
    return any(is_held(path) for path in _locks(home, "image-*.lock"))


def _locks(home: Path, pattern: str) -> list[Path]:
    """List locks of a state directory; none where they may not be seen, as in another user's private folder."""
    try:
        return sorted((home / "locks").glob(pattern))
    except OSError:
        return []


def _seen(home: Path) -> bool:
    """Whether the locks of a state directory can be looked at from here: it may be another machine's or user's."""
    try:
        return os.access(home / "locks", os.R_OK | os.X_OK)
    except OSError:
        return False


def of_engine(
    engine: DockerEngine | None,
    home: Path,
    now: float,
    *,
    live: bool,
    everything: bool,
) -> Iterator[Candidate]:
    """List what is ours in the engine."""
    if engine is None:
        return
    client = engine.client
    mine = str(home.absolute())
    every = belongings(client)
    ours = [item for item in every if everything or item.home == mine]
    busy = {item.home for item in every if item.kind == CONTAINER and is_live(item.labels)}
    busy |= {one for one in {item.home for item in ours} if one and one != mine and locked(Path(one))}
    busy |= {mine} if live else set()
    others = {item.home for item in every if item.home} - {mine}
    building = {one for one in (mine, *others) if builds_image(Path(one))}
    unseen = {one for one in others if not _seen(Path(one))}
    shared = not everything and any(item.kind == IMAGE and item.home != mine for item in every)
    for item in sorted(ours, key=lambda one: _ORDER.index(one.kind)):
        kept = _why_unfinished(item, building, unseen, now) if item.unfinished else ""
        kept = kept or _why_kept(item, busy | building, shared=shared)
        shown = _engine_item(item, now, kept)
        if everything:
            shown = replace(shown, name=f"{item.name} of {item.home or 'an unknown state directory'}")
        yield Candidate(item=shown, remove=partial(remove_belonging, client, item))


def _why_unfinished(item: Belonging, building: Collection[str], unseen: Collection[str], now: float) -> str:
    """Say why an image without a name is kept; its labels are those of its base, whoever builds on that.

    Locks tell whether an image is being built, where they can be seen: of state directories of other machines that
    share the engine they cannot, and there the age has to do.
    """
    if building:
        return f"an image is being built from {min(building)}"
    if unseen and now - item.created < _BUILD_S:
        return f"{min(unseen)} is not to be seen from here, and may be where it is being built from"
    return ""


def _why_kept(item: Belonging, busy: set[str], *, shared: bool) -> str:
    """Say why a thing of the engine's is kept; empty where it may go.

    Images are looked up by what is in them, so that a run of any state directory may use those of another.
    """
    if item.kind == CONTAINER:
        return "its run works" if is_live(item.labels) else ""
    if item.home in busy:
        return _LIVE
    if item.kind != IMAGE:
        return ""
    reasons = (
        (bool(busy), "a run works on this engine"),
        (
            shared and not item.unfinished and item.labels.get(IMAGE_LABEL, "").startswith("base-"),
            "images of other state directories are built on it",
        ),
    )
    return next((reason for holds, reason in reasons if holds), "")


def _engine_item(item: Belonging, now: float, kept: str) -> Item:
    """Describe one thing of the engine's."""
    return Item(
        kind=item.kind,
        name=item.name,
        size_bytes=item.size_bytes,
        age_s=max(0.0, now - item.created) if item.created else None,
        kept=kept,
    )


def of_home(home: Path, now: float, *, live: bool) -> Iterator[Candidate]:
    """List what lies in the state directory: runs, results, and what interrupted jobs had begun.

    Nothing of a folder that is none: it was named by mistake, and has ``results`` or ``tmp`` of somebody's own.
    """
    if not is_state(home):
        return
    state = State.open(home, writable=False)
    for kind, root in ((RUN, state.runs.root), (RESULT, state.results.root)):
        if root.is_dir() and not _may(root, os.R_OK | os.X_OK):
            yield _of_folder(Item(kind=kind, name=f"all in {root}", size_bytes=None, age_s=None, kept=_CLOSED), root)
    for run_id in state.runs.ids():
        folder = state.runs.folder(run_id)
        yield _of_folder(_run_item(state, run_id, now, live=live), folder, partial(state.runs.remove, run_id))
    for key in state.results.kept_keys():
        folder = state.results.folder(key)
        yield _of_folder(_result_item(state, folder, now, live=live), folder)
    for path in sorted(state.results.root.glob(".new-*")):
        yield _of_folder(_begun_item(home, path, now, live=live), path)
    for path in work_folders(home):
        yield _of_folder(_begun_item(home, path, now, live=live), path, partial(_remove_bootstrapped, path))


def _begun_item(home: Path, path: Path, now: float, *, live: bool) -> Item:
    """Describe a folder that an interrupted job or image build left half-made."""
    inside = path.is_relative_to(home)
    return Item(
        kind=TEMPORARY,
        name=path.relative_to(home).as_posix() if inside else str(path),
        # What debootstrap had mounted in its tree has no size of ours.
        size_bytes=None if mounts_below(path) else size_bytes([path]),
        age_s=_untouched_s(path, now),
        kept=_LIVE if live else "",
    )


def _remove_bootstrapped(path: Path) -> None:
    """Remove what debootstrap had begun, after what is mounted in it: the kernel's /proc is not to be removed.

    Raises:
        InfrastructureError: something cannot be unmounted; nothing is removed.
    """
    unmount_below(path)
    shutil.rmtree(path)


def _of_folder(item: Item, folder: Path, remove: Callable[[], None] | None = None) -> Candidate:
    """Give the candidate for a folder of ours; what this user may not remove is kept, and says so."""
    writable = _may(folder.parent, os.W_OK | os.X_OK) and _may(folder, os.W_OK | os.X_OK)
    kept = item.kept or ("" if writable else _CLOSED)

    def go() -> None:
        try:
            (remove or partial(shutil.rmtree, folder))()
        except CrossmatrixError:
            # What else had to be done, such as to lead `latest` elsewhere, does not bring it back.
            if folder.exists():
                raise
        if folder.exists():
            raise OSError(_CLOSED)

    return Candidate(item=replace(item, kept=kept), remove=go)


def _may(path: Path, mode: int) -> bool:
    return os.access(path, mode)


def _result_item(state: State, folder: Path, now: float, *, live: bool) -> Item:
    """Describe a kept result; one whose record cannot be read is one all the same."""
    result = state.results.load(folder.name)
    return Item(
        kind=RESULT,
        name=f"{result.id} ({result.kind})" if result else f"{folder.name[:16]} (its record cannot be read)",
        size_bytes=size_bytes([folder]) if _may(folder, os.R_OK | os.X_OK) else None,
        age_s=_age(result.finished, now) if result else _untouched_s(folder, now),
        kept=_LIVE if live else "",
    )


def _run_item(state: State, run_id: str, now: float, *, live: bool) -> Item:
    """Describe a run; one that was killed says for ever that it works, so the locks decide."""
    try:
        record = state.runs.load(run_id)
    except StoreError as error:
        return Item(kind=RUN, name=run_id, size_bytes=None, age_s=None, kept=error.message)
    return Item(
        kind=RUN,
        name=run_id,
        size_bytes=size_bytes([state.runs.folder(run_id)]),
        age_s=_age(record.finished or record.started, now),
        kept="it works" if live and not record.finished else "",
    )


def _age(text: str, now: float) -> float | None:
    """Give the age of a moment in ISO 8601, in seconds."""
    try:
        return max(0.0, now - datetime.fromisoformat(text).timestamp())
    except ValueError:
        return None


def _untouched_s(path: Path, now: float) -> float | None:
    """Give how long ago a folder changed; a run that works may have moved it away meanwhile."""
    try:
        return max(0.0, now - path.stat().st_mtime)
    except OSError:
        return None
