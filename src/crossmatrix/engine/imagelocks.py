"""The lock that who builds an image holds in the state directory."""

from __future__ import annotations

import re
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from filelock import FileLock, Timeout

from crossmatrix.disk import lock_faults
from crossmatrix.errors import InfrastructureError, StoreError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

WAIT_S = 7200.0
POLL_S = 1.0


@contextmanager
def image_lock(home: Path, tag: str, on_line: Callable[[str], None]) -> Iterator[None]:
    """Hold an image's lock in the state directory.

    Args:
        home: state directory.
        tag: of the image.
        on_line: gets a line, the same again and again, while it has to wait; what it raises ends that.

    Raises:
        InfrastructureError: another process holds it for hours, or it cannot be taken.
    """
    path = home / "locks" / f"image-{re.sub(r'[^A-Za-z0-9._-]', '_', tag)}.lock"
    try:
        with lock_faults(path):
            path.parent.mkdir(parents=True, exist_ok=True)
        lock = FileLock(path, fallback_to_soft=False)
        _take(lock, path, tag, on_line)
    except StoreError as error:
        raise InfrastructureError(error.message, hint=error.hint) from error
    try:
        yield
    finally:
        lock.release()


def _take(lock: FileLock, path: Path, tag: str, on_line: Callable[[str], None]) -> None:
    """Take a lock, however long that takes, in short waits: who was interrupted must not wait for hours."""
    deadline = time.monotonic() + WAIT_S
    patience = 0.0
    while True:
        try:
            with lock_faults(path):
                lock.acquire(timeout=patience)
        except Timeout as error:
            if time.monotonic() >= deadline:
                raise InfrastructureError(
                    f"Another run has been building {tag} for hours ({path}).",
                    hint="See what it does, or end it, and try again.",
                ) from error
        else:
            return
        on_line(f"Waiting for another run, which builds {tag}")
        patience = POLL_S
