"""What a disk refuses, in words of ours."""

from __future__ import annotations

import contextlib
import errno
from typing import TYPE_CHECKING

from crossmatrix.errors import InfrastructureError, NoSpaceError, StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
"""The disk is full, or what the user may have of it."""

_OF_THE_PLACE = frozenset(
    {
        *(errno.EACCES, errno.EPERM, errno.EROFS),
        *(errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.ELOOP, errno.ENAMETOOLONG, errno.EINVAL),
    }
)
"""Refusals that another place would not give."""

_NO_LOCKS = frozenset({errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOLCK})
"""A disk that knows no locks."""


@contextlib.contextmanager
def disk_faults(path: Path) -> Iterator[None]:
    """Turn the disk's refusals into errors that say what to do.

    Raises:
        NoSpaceError: the disk or the quota is full.
        StoreError: the place cannot be used.
        InfrastructureError: the disk is at fault.
    """
    try:
        yield
    except OSError as error:
        if error.errno in FULL:
            raise NoSpaceError(
                f"no space left while writing {path}",
                hint="free some space: `invoke clean --dry-run` shows what is ours",
            ) from error
        if error.errno in _OF_THE_PLACE:
            raise StoreError(
                f"cannot use {path}: {error.strerror}",
                hint="set CROSSMATRIX_HOME to a folder that you may write",
            ) from error
        if error.errno is None:
            # Not of the disk: libraries make errors of their own of this family.
            raise
        raise InfrastructureError(f"the disk does not give or take {path}: {error.strerror or error}") from error


@contextlib.contextmanager
def lock_faults(path: Path) -> Iterator[None]:
    """Turn what a lock file is refused into errors that say what to do; that another holds it is no refusal.

    Raises:
        StoreError: the disk knows no locks, or the file is another user's.
        InfrastructureError: the disk is at fault.
    """
    with disk_faults(path):
        try:
            yield
        except PermissionError as error:
            raise StoreError(
                f"cannot lock {path}: {error.strerror or error}",
                hint=f'after `sudo ./bootstrap`: `sudo chown -R "$USER" {path.parent.parent}`; '
                "else set CROSSMATRIX_HOME to a folder that you may write",
            ) from error
        except (NotImplementedError, OSError) as error:
            if isinstance(error, OSError) and error.errno not in _NO_LOCKS:
                raise
            raise StoreError(
                f"the disk of {path.parent} knows no locks (flock), so that two runs would disturb each other",
                hint="set CROSSMATRIX_HOME to a folder on a disk of this machine",
            ) from error
