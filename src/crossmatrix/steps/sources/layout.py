"""Whether what a user names can be a source of a library at all: seen before a cell has a name, not in its build."""

from __future__ import annotations

import gzip
import lzma
import tarfile
import zlib
from typing import TYPE_CHECKING

from crossmatrix.errors import UsageError
from crossmatrix.steps.sources.checkouts import has_file, is_bare

if TYPE_CHECKING:
    from pathlib import Path

    from crossmatrix.catalog import Library

_CONFIGURE = {"openssl": "Configure"}
"""The script by which a library is configured, where it is not called ``configure``."""

_OTHER_TARS = (b"\x28\xb5\x2f\xfd", b"LZIP", b"\x1f\x9d")
"""How archives begin that tar in the container reads and Python does not: zstd, lzip, compress."""

_BROKEN = (tarfile.TarError, EOFError, ValueError, zlib.error, lzma.LZMAError, gzip.BadGzipFile)
_TOP_DEPTH = 2


def check_directory(path: Path, library: Library) -> None:
    """See that a directory is a source tree.

    Raises:
        UsageError: it is not.
    """
    name = _CONFIGURE.get(library.name, "configure")
    if (path / name).is_file():
        return
    if is_bare(path):
        raise UsageError(
            f"--source {library.name}={path}: this is a bare git repository",
            hint=f"name a ref of it: --source {library.name}={path}@REF",
        )
    raise _nothing_here(library, str(path), bootstrap=(path / "configure.ac").is_file())


def check_commit(checkout: Path, commit: str, ref: str, library: Library) -> None:
    """See that a commit is a source tree.

    Raises:
        UsageError: it is not.
    """
    if not has_file(checkout, commit, _CONFIGURE.get(library.name, "configure")):
        raise _nothing_here(library, f"{checkout}@{ref}", bootstrap=has_file(checkout, commit, "configure.ac"))


def check_archive(path: Path, library: Library) -> None:
    """See that a file is an archive of a source tree with one top folder.

    Raises:
        UsageError: it is not.
    """
    name = _CONFIGURE.get(library.name, "configure")
    bootstrap = False
    with path.open("rb") as file:
        if file.read(8).startswith(_OTHER_TARS):
            return
    try:
        with tarfile.open(path) as tar:
            for member in tar:
                parts = [part for part in member.name.split("/") if part != "."]
                if len(parts) == _TOP_DEPTH and parts[1] == name:
                    return
                bootstrap = bootstrap or (len(parts) == _TOP_DEPTH and parts[1] == "configure.ac")
    except _BROKEN as error:
        # Where nothing can read it at all, Python lists every method that it tried.
        why = "" if "\n" in str(error) else f": {error}"
        raise UsageError(
            f"--source {library.name}={path}: this is no tar archive{why}",
            hint="forms: PATH@REF (a git checkout), DIRECTORY, FILE.tar.gz",
        ) from error
    raise _nothing_here(library, f"{path}", bootstrap=bootstrap)


def _nothing_here(library: Library, what: str, *, bootstrap: bool) -> UsageError:
    name = _CONFIGURE.get(library.name, "configure")
    hint = f"name the top folder of {library.title}'s source, or an archive with one top folder"
    if bootstrap:
        hint = f"there is a configure.ac: run ./.bootstrap or autoreconf, and name the directory that then has {name}"
    return UsageError(f"--source {library.name}={what}: there is no {name} here", hint=hint)
