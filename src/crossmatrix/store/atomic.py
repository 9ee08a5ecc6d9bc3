"""Files that are whole or not there: written beside their place, then renamed into it."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from typing import TYPE_CHECKING

from crossmatrix.disk import FULL, disk_faults

if TYPE_CHECKING:
    from pathlib import Path


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


def link_or_copy(source: Path, target: Path) -> bool:
    """Give a kept file a second name; where the file system has no hard links, a copy.

    Returns:
        False where the file is not there, or not any more.

    Raises:
        NoSpaceError: the disk is full.
        StoreError: the target cannot be written.
    """
    with disk_faults(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        target.unlink(missing_ok=True)
        try:
            os.link(source, target)
        except OSError as error:
            if error.errno in FULL:
                raise
            try:
                shutil.copyfile(source, target)
            except FileNotFoundError:
                if source.exists():
                    raise
                return False
    return True
