"""A lock that many share or one holds alone; the system frees it when its holder dies, however it dies."""

from __future__ import annotations

import errno
import fcntl
import os
from typing import TYPE_CHECKING

from crossmatrix.disk import lock_faults

if TYPE_CHECKING:
    from pathlib import Path

_TAKEN = frozenset({errno.EACCES, errno.EAGAIN, errno.EWOULDBLOCK})


class SharedLock:
    """One hold on a lock file."""

    def __init__(self, path: Path, *, alone: bool) -> None:
        self._path = path
        self._how = fcntl.LOCK_EX if alone else fcntl.LOCK_SH
        self._file: int | None = None

    def take(self) -> bool:
        """Take the lock where that can be done at once; gives whether it could.

        Raises:
            StoreError: the file cannot be opened, or the disk knows no locks.
            InfrastructureError: the disk is at fault.
        """
        with lock_faults(self._path):
            file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
            try:
                fcntl.flock(file, self._how | fcntl.LOCK_NB)
            except OSError as error:
                os.close(file)
                if error.errno in _TAKEN:
                    return False
                raise
        self._file = file
        return True

    def release(self) -> None:
        """Let others have it; one that is not held is no error."""
        file, self._file = self._file, None
        if file is not None:
            os.close(file)
