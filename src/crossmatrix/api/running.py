"""Runs: choose, connect, carry out, write the reports."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from crossmatrix.api.choosing import choose, with_estimates
from crossmatrix.api.repeating import Asked, program_words
from crossmatrix.api.world import surroundings
from crossmatrix.errors import InfrastructureError, NoSpaceError, StoreError
from crossmatrix.events import Note
from crossmatrix.records import MEASURED_TIER
from crossmatrix.report.files import write_reports
from crossmatrix.runner.request import Request
from crossmatrix.runner.run import carry_out
from crossmatrix.runner.supplies import image_names

if TYPE_CHECKING:
    import types
    from collections.abc import Callable, Iterator

    from crossmatrix.api.choosing import Chosen
    from crossmatrix.api.options import Choice, Manner
    from crossmatrix.api.workspace import Workspace
    from crossmatrix.engine.types import Engine
    from crossmatrix.events import Event
    from crossmatrix.records import RunRecord
    from crossmatrix.store import State

LEAST_FREE_BYTES = 3 << 30
"""Less free space than this, on our disk or the engine's, and a run is not begun: one OpenSSL tree takes 0.9 GB."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Done:
    """A run that came to its end: its record and its folder with the reports."""

    record: RunRecord
    folder: Path


def run_matrix(workspace: Workspace, choice: Choice, manner: Manner, listen: Callable[[Event], None]) -> Done:
    """Do what `invoke matrix` does.

    Args:
        workspace: where.
        choice: which cells.
        manner: how.
        listen: is told what happens, from several threads.

    Raises:
        UsageError: something asked for does not exist; nothing was started.
        InfrastructureError: no engine, or no room; nothing was started.
    """
    fetcher = workspace.fetcher(mirrors=choice.mirrors, tell=lambda text: listen(Note(message=text)))
    state = workspace.state()
    choose(workspace, choice, algorithms=manner.algorithms)
    ensure_room(workspace.home)
    with workspace.engine(fetcher, tell=lambda text: listen(Note(message=text))) as engine:
        ensure_engine_room(engine)
        chosen = choose(workspace, choice, fetcher=fetcher, algorithms=manner.algorithms)
        if choice.tier == MEASURED_TIER:
            chosen = replace(chosen, cells=with_estimates(chosen.cells, manner.algorithms))
        specs = workspace.image_specs()
        engine.check_images(specs[name] for name in image_names(chosen.cells))
        for spec in {cell.build.source.digest: cell.build.source for cell in chosen.cells}.values():
            if spec.patches:
                # A patch that does not apply is the user's to mend, before anything long begins.
                fetcher.packed(spec)
        world = surroundings(
            workspace,
            engine=engine,
            state=state,
            fetcher=fetcher,
            listen=listen,
            algorithms=manner.algorithms,
        )
        with stopped_by_signals(world.stop, world.interrupted, listen):
            record = carry_out(
                _request(workspace, choice, manner, chosen),
                world,
                then=lambda record: _report(record, state, listen),
            )
    return Done(record=record, folder=state.runs.folder(record.run_id))


def _report(record: RunRecord, state: State, listen: Callable[[Event], None]) -> None:
    """Write a run's reports; where a disk filled up meanwhile, what the run found is still told."""
    try:
        write_reports(record, state.runs.folder(record.run_id))
    except (StoreError, InfrastructureError) as error:
        listen(Note(message=str(error)))


def _request(workspace: Workspace, choice: Choice, manner: Manner, chosen: Chosen) -> Request:
    current = Path.cwd()
    asked = Asked(
        choice=choice, algorithms=manner.algorithms, sources=chosen.sources, root=workspace.root, current=current
    )
    return Request(
        matrix=choice.matrix,
        cells=chosen.cells,
        left_out=chosen.left_out,
        notes=chosen.notes,
        command=manner.command,
        jobs=manner.jobs,
        fresh=manner.fresh,
        fail_fast=manner.fail_fast,
        keep_container=manner.keep_container,
        program=program_words(workspace, current),
        reproduce={cell.id: asked.words(cell) for cell in chosen.cells},
    )


def ensure_room(home: Path) -> None:
    """See that a run has room in the state directory; before an engine of our own is started, which lies there too.

    Raises:
        NoSpaceError: there is less than ``LEAST_FREE_BYTES``.
    """
    status = os.statvfs(home)
    _ensure_free(f"the state directory {home}", status.f_bavail * status.f_frsize)


def ensure_engine_room(engine: Engine) -> None:
    """See that a run has room on the engine's disk, where that can be told.

    Raises:
        NoSpaceError: there is less than ``LEAST_FREE_BYTES``.
    """
    free = engine.free_bytes()
    if free is not None:
        _ensure_free(f"the engine's folder {engine.info.root}", free)


def _ensure_free(place: str, bytes_: int) -> None:
    if bytes_ < LEAST_FREE_BYTES:
        raise NoSpaceError(
            f"{bytes_ / 2**30:.1f} GiB free in {place}, but a run needs {LEAST_FREE_BYTES / 2**30:.0f} GiB",
            hint="free some space: `invoke clean --dry-run` shows what is ours",
        )


@contextlib.contextmanager
def stopped_by_signals(
    stop: threading.Event,
    interrupted: threading.Event,
    listen: Callable[[Event], None],
) -> Iterator[None]:
    """Let Ctrl-C and termination end a run in good order: once, however often they come."""

    def handler(number: int, _frame: types.FrameType | None) -> None:
        if not interrupted.is_set():
            interrupted.set()
            stop.set()
            listen(Note(message=f"{signal.Signals(number).name}: stopping; what has finished is kept"))

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, handler) for number in numbers}
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)
