"""Archives that come out of containers are not trusted."""

from __future__ import annotations

import errno
import io
import shutil
import stat
import tarfile
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crossmatrix.engine.archives import pack, unpack
from crossmatrix.errors import InfrastructureError, NoSpaceError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def _chunks(data: bytes, size: int = 1000) -> Iterator[bytes]:
    return iter([data[start : start + size] for start in range(0, len(data), size)])


def _archive(*members: tuple[str, bytes, str]) -> bytes:
    """Make an archive: name, tar's type, and for a file its content, for a link its target."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, kind, text in members:
            member = tarfile.TarInfo(name)
            member.type = kind
            data = text.encode() if kind == tarfile.REGTYPE else b""
            member.size = len(data)
            member.linkname = "" if kind == tarfile.REGTYPE else text
            archive.addfile(member, io.BytesIO(data))
    return buffer.getvalue()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    files=st.dictionaries(st.integers(0, 9), st.tuples(st.binary(max_size=2000), st.booleans()), max_size=5),
    size=st.integers(1, 5000),
)
def test_what_goes_in_comes_out(
    files: dict[int, tuple[bytes, bool]],
    size: int,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """Packing and unpacking are inverse, however the archive is cut into chunks."""
    into = tmp_path_factory.mktemp("out")
    given_files = [(f"/work/ä {number}/file", data, executable) for number, (data, executable) in files.items()]
    written = unpack(_chunks(pack(given_files), size), into, strip=1)
    assert [
        (f"/work/{path.relative_to(into).as_posix()}", path.read_bytes(), bool(path.stat().st_mode & stat.S_IXUSR))
        for path in written
    ] == given_files


@pytest.mark.parametrize("name", ["../outside", "a/../../outside", "/etc/outside"])
def test_name_that_leads_out_is_refused(name: str, tmp_path: Path) -> None:
    """A name that leads out of the folder is an error, and nothing is written there."""
    with pytest.raises(InfrastructureError, match="leads out"):
        unpack(_chunks(_archive((name, tarfile.REGTYPE, "x"))), tmp_path / "in")
    assert not (tmp_path / "outside").exists()


def test_only_regular_files_come_out(tmp_path: Path) -> None:
    """Links, devices and pipes are left out; a hard link to a file of the archive becomes a copy."""
    data = _archive(
        ("./a", tarfile.REGTYPE, "text"),
        ("./same", tarfile.LNKTYPE, "./a"),
        ("./elsewhere", tarfile.LNKTYPE, "/etc/passwd"),
        ("./link", tarfile.SYMTYPE, "/etc/passwd"),
        ("./pipe", tarfile.FIFOTYPE, ""),
        ("./disk", tarfile.BLKTYPE, ""),
    )
    unpack(_chunks(data), tmp_path)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a": "text", "same": "text"}


def test_file_below_a_link_does_not_follow_it(tmp_path: Path) -> None:
    """A link and then a file below its name writes into our folder, not where the link points."""
    outside = tmp_path / "outside"
    outside.mkdir()
    data = _archive(("way", tarfile.SYMTYPE, str(outside)), ("way/file", tarfile.REGTYPE, "x"))
    unpack(_chunks(data), tmp_path / "in")
    assert list(outside.iterdir()) == []


def test_too_much_is_refused(tmp_path: Path) -> None:
    """A job that leaves more than the limit does not fill our disk."""
    data = _archive(("a", tarfile.REGTYPE, "x" * 600), ("b", tarfile.REGTYPE, "x" * 600))
    with pytest.raises(InfrastructureError, match="larger than"):
        unpack(_chunks(data), tmp_path, largest_bytes=1000)


def test_archive_that_is_cut_is_told(tmp_path: Path) -> None:
    """An archive that breaks off is an error, not a short file."""
    data = _archive(("a", tarfile.REGTYPE, "x" * 6000))
    with pytest.raises(InfrastructureError, match="damaged or cut off"):
        unpack(_chunks(data[:3000]), tmp_path)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_on_this_side_is_not_the_engine_s(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """The error names the folder that was written to, wherever the writing fails."""

    def full(*_files: object) -> None:
        raise OSError(number, "full")

    monkeypatch.setattr(shutil, "copyfileobj", full)
    with pytest.raises(NoSpaceError, match=f"to write {tmp_path / 'out'}") as caught:
        unpack(_chunks(_archive(("a", tarfile.REGTYPE, "x"))), tmp_path / "out")
    assert "engine" not in str(caught.value)


def test_a_folder_that_takes_nothing_is_named(tmp_path: Path) -> None:
    """What this side refuses is not taken for an engine that is gone; what names no file may be one."""
    (tmp_path / "out").write_text("in the way")
    with pytest.raises(InfrastructureError, match=f"could not write {tmp_path / 'out'} .*File exists") as caught:
        unpack(_chunks(_archive(("a", tarfile.REGTYPE, "x"))), tmp_path / "out")
    assert "engine" not in str(caught.value)

    def broken() -> Iterator[bytes]:
        yield b""
        raise ConnectionResetError(errno.ECONNRESET, "Connection reset by peer")

    with pytest.raises(ConnectionResetError):
        unpack(broken(), tmp_path / "other")
