"""Directories as sources: what is in them, its digest, and the archive made of it."""

from __future__ import annotations

import hashlib
import os
import stat
import tarfile
from typing import TYPE_CHECKING

from crossmatrix.disk import FULL
from crossmatrix.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_BLOCK_BYTES = 1 << 20
_LEFT_OUT = frozenset({".git", ".crossmatrix"})
"""Names that are no part of a source: what git keeps, and our own state directory."""


def tree_files(root: Path) -> Iterator[Path]:
    """Give all files and symbolic links below a directory, in a fixed order.

    Raises:
        UsageError: a folder cannot be read.
    """
    try:
        entries = sorted(os.scandir(root), key=lambda entry: entry.name)
    except OSError as error:
        raise UsageError(f"the source directory {error.filename} cannot be read: {error.strerror}") from error
    for entry in entries:
        if entry.name in _LEFT_OUT:
            continue
        if entry.is_dir(follow_symlinks=False):
            yield from tree_files(root / entry.name)
        elif entry.is_file(follow_symlinks=False) or entry.is_symlink():
            yield root / entry.name


def directory_digest(root: Path) -> str:
    """Give the sha256 over names, contents, executable bits and link targets below a directory; times do not count.

    Raises:
        UsageError: something cannot be read.
    """
    digest = hashlib.sha256(b"crossmatrix-directory-1\0")
    try:
        for path in tree_files(root):
            kind, content = _digest_of(path)
            name = os.fsencode(path.relative_to(root))
            digest.update(b"%s %d %s %s\n" % (kind, len(name), name, content))
    except OSError as error:
        raise UsageError(f"{error.filename} cannot be read: {error.strerror}") from error
    return digest.hexdigest()


def _digest_of(path: Path) -> tuple[bytes, bytes]:
    if path.is_symlink():
        return b"link", hashlib.sha256(os.fsencode(path.readlink())).hexdigest().encode()
    content = hashlib.sha256()
    with path.open("rb") as file:
        executable = bool(os.fstat(file.fileno()).st_mode & stat.S_IXUSR)
        while block := file.read(_BLOCK_BYTES):
            content.update(block)
    return b"exec" if executable else b"file", content.hexdigest().encode()


def pack_directory(root: Path, archive: Path) -> None:
    """Write a directory as a tar with one top folder, ``source``; owners are not kept, times are.

    Raises:
        UsageError: something cannot be read.
        OSError: the disk is full.
    """
    try:
        with tarfile.open(archive, "w", format=tarfile.GNU_FORMAT) as tar:
            for path in tree_files(root):
                info = tar.gettarinfo(path, arcname=f"source/{path.relative_to(root)}")
                if info.islnk():  # a second name of one file is a file of its own
                    info.type, info.linkname, info.size = tarfile.REGTYPE, "", path.stat().st_size
                info.uid = info.gid = 0
                info.uname = info.gname = ""
                if info.isreg():
                    with path.open("rb") as file:
                        tar.addfile(info, file)
                else:
                    tar.addfile(info)
    except OSError as error:
        if error.errno in FULL:
            raise
        raise UsageError(f"{error.filename} cannot be packed: {error.strerror}") from error
