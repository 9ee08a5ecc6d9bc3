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
