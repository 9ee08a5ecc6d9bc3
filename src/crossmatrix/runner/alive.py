"""Which runs still work: each holds a lock, which the system frees when its process ends, however it ends."""

from __future__ import annotations

import fcntl
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from crossmatrix.disk import lock_faults
from crossmatrix.runner.waiting import taken, waited
from crossmatrix.store import TREE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from filelock import BaseFileLock

    from crossmatrix.runner.request import Surroundings
    from crossmatrix.store import State


BEGIN = "begin"
"""The lock that a run holds while it begins; who holds it longer lets none begin."""
_WAITS = "the run waits: an `invoke clean` is at work here, or another run begins at this moment"


@contextmanager
def living(world: Surroundings, run_id: str) -> Iterator[None]:
    """Hold a run's lock, so that `clean` and other runs see that it works.

    Where no other run works, what killed ones had begun to collect is removed first. A run that is stopped while it
    waits for a `clean` touches nothing that matters to that, and goes on to its end.
    """
    state = world.state
    own, begin = state.lock(f"run-{run_id}"), state.lock(BEGIN)
    if waited(lambda: taken(begin), world, _WAITS):
        try:
            if not any(is_held(path) for path in sorted((state.home / "locks").glob("run-*.lock"))):
                state.results.sweep()
            _take(own)
        finally:
            begin.release()
    else:
        _take(own)
    try:
        yield
    finally:
        own.release()
        Path(own.lock_file).unlink(missing_ok=True)


def _take(own: BaseFileLock) -> None:
    """Take a run's own lock; who looks whether the run works may have it for a moment."""
    with lock_faults(Path(own.lock_file)):
        own.acquire()


def is_alive(state: State, run_id: str) -> bool:
    """Whether a run still works; writes nothing, so that it can be asked of a folder that is read-only."""
    return is_held(state.home / "locks" / f"run-{run_id}.lock")


def is_held(path: Path) -> bool:
    """Whether somebody holds a lock, alone or with others; one that nobody may read is held by nobody.

    To ask is to take it for a moment, shared with all others who ask. A tree's lock is asked for once more, alone,
    since those who test the tree share it; over NFS that can only who may write.
    """
    shared = path.name.startswith(TREE)
    for how in (fcntl.LOCK_SH, fcntl.LOCK_EX) if shared else (fcntl.LOCK_SH,):
        try:
            with path.open("rb") as file:
                fcntl.flock(file, how | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except OSError:
            return False
    return False
