"""Files on their way into and out of containers: archives made in memory, and taken apart without trust."""

from __future__ import annotations

import errno
import io
import shutil
import tarfile
from pathlib import PurePosixPath
from typing import IO, TYPE_CHECKING

from crossmatrix.engine.faults import local
from crossmatrix.errors import InfrastructureError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

LARGEST_BYTES = 2 << 30
"""All files of one folder together; a build keeps under 60 MB, so that more than this is a fault."""


class ChunkReader(io.RawIOBase):
    """Reads a sequence of chunks as one file, so that an archive can be unpacked while it comes in."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._rest = b""

    def readable(self) -> bool:
        """Say that it can be read."""
        return True

    def readinto(self, buffer: object) -> int:
        """Fill a buffer; 0 means the end."""
        view = memoryview(buffer)  # type: ignore[arg-type]
        while not self._rest:
            chunk = next(self._chunks, None)
            if chunk is None:
                return 0
            self._rest = chunk
        count = min(len(view), len(self._rest))
        view[:count] = self._rest[:count]
        self._rest = self._rest[count:]
        return count


def pack(files: Iterable[tuple[str, bytes, bool]]) -> bytes:
    """Make an archive of files.

    Args:
        files: path (a leading slash is taken off), content, whether executable.

    Returns:
        The tar archive, uncompressed; the same for the same files.
    """
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for path, data, executable in files:
            member = tarfile.TarInfo(path.lstrip("/"))
            member.size = len(data)
            member.mode = 0o755 if executable else 0o644
            archive.addfile(member, io.BytesIO(data))
    return buffer.getvalue()


def unpack(
    chunks: Iterator[bytes],
    into: Path,
    *,
    strip: int = 0,
    largest_bytes: int = LARGEST_BYTES,
) -> tuple[Path, ...]:
    """Unpack the regular files of an archive that comes from a container, which is not trusted.

    Links, devices and pipes are left out; names that lead out of the folder are refused; files are the caller's own.

    Args:
        chunks: the archive, uncompressed, as it comes in.
        into: folder, made where there is none.
        strip: leading path parts to take off.
        largest_bytes: limit of all files together.

    Returns:
        The files written, in the archive's order.

    Raises:
        InfrastructureError: the archive is cut, too large, or has a name that leads out of the folder; or the disk on
            this side refuses.
        NoSpaceError: the disk on this side is full.
    """
    try:
        return _unpacked(chunks, into, strip, largest_bytes)
    except OSError as error:
        # No connection gives these two, or names a file: it is this side that writes.
        if error.errno not in {errno.ENOSPC, errno.EDQUOT} and error.filename is None:
            raise
        raise local(error, f"write {into}") from error


def first_file(chunks: Iterator[bytes]) -> bytes | None:
    """Read the first regular file of an archive, or nothing where it has none.

    Args:
        chunks: the archive, uncompressed, as it comes in.

    Raises:
        InfrastructureError: the archive is cut.
    """
    reader = io.BufferedReader(ChunkReader(chunks), 1 << 16)
    try:
        with tarfile.open(fileobj=reader, mode="r|") as archive:
            for member in archive:
                content = archive.extractfile(member)
                if content is not None:
                    return content.read()
    except tarfile.TarError as error:
        raise InfrastructureError(f"A file of an image came out damaged or cut off: {error}") from error
    return None


def _unpacked(chunks: Iterator[bytes], into: Path, strip: int, largest_bytes: int) -> tuple[Path, ...]:
    into.mkdir(parents=True, exist_ok=True)
    written: dict[str, Path] = {}
    budget = largest_bytes
    reader = io.BufferedReader(ChunkReader(chunks), 1 << 16)
    try:
        with tarfile.open(fileobj=reader, mode="r|") as archive:
            for member in archive:
                name = _safe(member.name, strip)
                if name is None or not (member.isreg() or member.islnk()):
                    continue
                budget -= member.size
                if budget < 0:
                    raise InfrastructureError(
                        f"What a job left is larger than {largest_bytes >> 20} MiB; the rest is not taken out.",
                    )
                path = _write(archive, member, into / name, written)
                if path is not None:
                    written[member.name] = path
    except tarfile.TarError as error:
        raise InfrastructureError(f"The files of a job came out damaged or cut off: {error}") from error
    return tuple(dict.fromkeys(written.values()))


def _safe(name: str, strip: int) -> str | None:
    """Give the relative path to write, or None for what is only a folder above."""
    path = PurePosixPath(name)
    parts = [part for part in path.parts if part != "."][strip:]
    if path.is_absolute() or ".." in path.parts or "\0" in name:
        raise InfrastructureError(f"A job left a file whose name leads out of its folder: {name!r}; nothing is taken.")
    return "/".join(parts) or None


def _write(archive: tarfile.TarFile, member: tarfile.TarInfo, path: Path, written: dict[str, Path]) -> Path | None:
    """Write one member; a hard link becomes a copy of the file that came before it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if member.islnk():
        original = written.get(member.linkname)
        if original is None:
            return None
        shutil.copyfile(original, path)
    else:
        content: IO[bytes] | None = archive.extractfile(member)
        if content is None:
            return None
        with path.open("wb") as file:
            shutil.copyfileobj(content, file)
    path.chmod(0o755 if member.mode & 0o100 else 0o644)
    return path
