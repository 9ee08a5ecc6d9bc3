"""Files that are whole or not there: written beside their place, then renamed into it."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import tempfile
from typing import TYPE_CHECKING

from crossmatrix.errors import InfrastructureError, NoSpaceError, StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


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
        if error.errno in {errno.ENOSPC, errno.EDQUOT}:
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


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file so that a reader sees the old content or the new, never a part.

    Raises:
        NoSpaceError: the disk is full; the old content is still there.
        StoreError: the folder cannot be written.
    """
    with disk_faults(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.chmod(name, 0o644)  # noqa: PTH101 - mkstemp gives a name, and its mode is private
            os.replace(name, path)  # noqa: PTH105 - as above
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(name)  # noqa: PTH108 - as above
            raise


def write_text(path: Path, text: str) -> None:
    """Write a text file as UTF-8; see ``write_bytes``."""
    write_bytes(path, text.encode())


def link_or_copy(source: Path, target: Path) -> None:
    """Give a kept file a second name; where the file system has no hard links, a copy."""
    with disk_faults(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        target.unlink(missing_ok=True)
        try:
            os.link(source, target)
        except OSError as error:
            if error.errno in {errno.ENOSPC, errno.EDQUOT}:
                raise
            shutil.copyfile(source, target)
