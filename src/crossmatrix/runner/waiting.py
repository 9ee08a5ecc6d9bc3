"""Waits for a lock that another process holds: in words, and no longer than the run goes on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from filelock import Timeout

from crossmatrix.disk import lock_faults
from crossmatrix.events import Note

if TYPE_CHECKING:
    from collections.abc import Callable

    from filelock import BaseFileLock

    from crossmatrix.runner.request import Surroundings

POLL_S = 0.5


def waited(take: Callable[[], bool], world: Surroundings, words: str) -> bool:
    """Wait for a lock.

    Args:
        take: takes it where that can be done at once, and says whether it could.
        world: that is told, once, where there is something to wait for.
        words: who waits for whom.

    Returns:
        False where the run was stopped before.
    """
    told = False
    while not take():
        if world.stop.is_set():
            return False
        if not told:
            world.listen(Note(message=words))
            told = True
        world.stop.wait(POLL_S)
    return True


def taken(lock: BaseFileLock) -> bool:
    """Take a lock where that can be done at once; gives whether it could.

    Raises:
        StoreError: the lock's file is another user's, or its disk knows no locks.
        InfrastructureError: the disk is at fault.
    """
    try:
        with lock_faults(Path(lock.lock_file)):
            lock.acquire(timeout=0)
    except Timeout:
        return False
    return True
