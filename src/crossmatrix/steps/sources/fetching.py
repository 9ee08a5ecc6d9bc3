"""Sources from their origins, in order: kept file, mirrors, upstream, Debian."""

from __future__ import annotations

import shutil
import tarfile
import tempfile
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from crossmatrix.checksums import sha256_file
from crossmatrix.disk import FULL, disk_faults
from crossmatrix.errors import SourceError, UsageError
from crossmatrix.steps.sources.checkouts import git_archive
from crossmatrix.steps.sources.debian import fetch_from_debian
from crossmatrix.steps.sources.download import UnreachableError, download, host_of
from crossmatrix.steps.sources.patching import apply_patches
from crossmatrix.steps.sources.specs import describe_patch, git_digest, patched_digest
from crossmatrix.steps.sources.trees import directory_digest, pack_directory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from crossmatrix.catalog import DebianSource, Release, SourceSpec


@dataclass(frozen=True, kw_only=True, slots=True)
class Fetched:
    """A file that is here. ``origin`` says in words where it came from, ``notes`` what went wrong on the way."""

    path: Path
    origin: str
    notes: tuple[str, ...] = ()


def _ignore(_text: str) -> None:
    """Tell nobody."""


@dataclass(frozen=True, kw_only=True)
class Fetcher:
    """Fetches sources into a state directory; may be used by several threads.

    Attributes:
        home: the state directory; files are kept in ``sources/`` there.
        mirrors: folders of the user's that are tried before upstream.
        tell: is told what is fetched from where.
        get: gets an address into a file.
        debian: gets a file of a Debian source package and says where it came from.
    """

    home: Path
    mirrors: tuple[Path, ...] = ()
    tell: Callable[[str], None] = _ignore
    get: Callable[[str, Path], None] = download
    debian: Callable[[DebianSource, str, Path, Path], str] | None = None
    _unreachable: dict[str, str] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def release_file(self, release: Release) -> Path:
        """Give the file of a release, fetched and checked.

        Raises:
            SourceError: no origin has it.
        """
        return self.release(release).path

    def release(self, release: Release) -> Fetched:
        """Fetch a release's file.

        Raises:
            SourceError: no origin has it; the message names each and why.
        """
        with self._lock, disk_faults(self._folder()):
            kept = self._folder() / f"{release.sha256[:16]}-{release.file}"
            if kept.is_file() and sha256_file(kept) == release.sha256:
                return Fetched(path=kept, origin=_read(_origin_file(kept)) or "kept file")
            return self._fetch_release(release, kept)

    def packed(self, spec: SourceSpec) -> Fetched:
        """Give the archive of a source with its patches applied: a tar with one top folder.

        Raises:
            SourceError: it cannot be had.
            PatchError: a patch does not apply.
            UsageError: a local source or a patch is not what it was when it was looked at.
            NoSpaceError: the disk is full.
        """
        with disk_faults(self._folder()):
            fetched = self._packed(spec)
        if spec.patches or (spec.directory and spec.release is None and not spec.ref):
            # In the end and not before: what was packed meanwhile must belong to the key, too.
            _check_unchanged(spec)
        return fetched

    def _packed(self, spec: SourceSpec) -> Fetched:
        if spec.directory and (spec.release is None):
            fetched = self._local(spec)
        elif spec.directory and spec.release is not None:
            fetched = Fetched(path=_checked_file(Path(spec.directory), spec.release), origin=f"file {spec.directory}")
        elif spec.release is not None:
            fetched = self.release(spec.release)
        else:
            raise SourceError(f"the source {spec.library} {spec.version} names neither a release nor a directory")
        return self._patched(spec, fetched) if spec.patches else fetched

    def _fetch_release(self, release: Release, kept: Path) -> Fetched:
        reasons: list[str] = []
        for words, get in self._origins(release):
            with tempfile.TemporaryDirectory(dir=kept.parent, prefix="tmp-") as scratch:
                part = Path(scratch) / "part"
                self.tell(f"fetching {release.file} from {words}")
                try:
                    origin = get(part) or words
                    _check(part, release, words)
                except (SourceError, OSError) as error:
                    if isinstance(error, OSError) and error.errno in FULL:
                        raise
                    reasons.append(f"{words}: {error.message if isinstance(error, SourceError) else error}")
                    continue
                part.replace(kept)
                _origin_file(kept).write_text(origin, encoding="utf-8")
            return Fetched(path=kept, origin=origin, notes=tuple(reasons))
        raise SourceError(
            f"{release.file} cannot be had from any origin:\n" + "\n".join(f"  - {reason}" for reason in reasons),
            hint="put the file into a folder and name it with --mirror DIR or CROSSMATRIX_MIRROR",
        )

    def _origins(self, release: Release) -> Iterator[tuple[str, Callable[[Path], str]]]:
        names = dict.fromkeys((release.file, *((release.debian.file,) if release.debian else ())))
        for folder in self.mirrors:
            for file in (folder / name for name in names):
                if file.is_file():
                    yield f"mirror {file}", lambda part, file=file: _copy(file, part)  # type: ignore[misc]
        for url in release.urls:
            yield url, lambda part, url=url: self._from_upstream(url, part)  # type: ignore[misc]
        if (source := release.debian) is not None:
            yield f"Debian {source.suite}", lambda part: self._from_debian(source, release.sha256, part)

    def _from_upstream(self, url: str, part: Path) -> str:
        host = host_of(url)
        if host in self._unreachable:
            raise SourceError(f"not tried again, {self._unreachable[host]}")
        try:
            self.get(url, part)
        except UnreachableError as error:
            self._unreachable[host] = error.message
            raise
        return f"upstream, {url}"

    def _from_debian(self, source: DebianSource, sha256: str, part: Path) -> str:
        folder = self.home / "apt"
        if self.debian is not None:
            return self.debian(source, sha256, part, folder)
        return fetch_from_debian(source, sha256, part, folder=folder)

    def _local(self, spec: SourceSpec) -> Fetched:
        place = Path(spec.directory)
        archive = self._folder() / f"{spec.digest[:16]}-{spec.library}-{spec.version}.tar"
        with tempfile.TemporaryDirectory(dir=archive.parent, prefix="tmp-") as scratch:
            part = Path(scratch) / "part.tar"
            if spec.ref:
                git_archive(place, spec.ref, part)
                origin = f"git {place} at {spec.ref[:12]}"
            else:
                pack_directory(place, part)
                origin = f"directory {place}"
            part.replace(archive)
        return Fetched(path=archive, origin=origin)

    def _patched(self, spec: SourceSpec, fetched: Fetched) -> Fetched:
        archive = self._folder() / f"{spec.digest[:16]}-{spec.library}-{spec.version}-patched.tar"
        patches = ", ".join(describe_patch(patch) for patch in spec.patches)
        with tempfile.TemporaryDirectory(dir=archive.parent, prefix="tmp-") as scratch:
            tree = _unpack(fetched.path, Path(scratch))
            apply_patches(tree, spec.patches)
            part = Path(scratch) / "part.tar"
            pack_directory(tree, part)
            part.replace(archive)
        return Fetched(path=archive, origin=f"{fetched.origin}; patches {patches}", notes=fetched.notes)

    def _folder(self) -> Path:
        folder = self.home / "sources"
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise SourceError(f"{folder} cannot be made: {error.strerror}") from error
        return folder


def _origin_file(kept: Path) -> Path:
    return kept.with_name(f"{kept.name}.origin")


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        return ""


def _copy(file: Path, part: Path) -> str:
    shutil.copyfile(file, part)
    return f"mirror {file}"


def _check(file: Path, release: Release, origin: str) -> None:
    found = sha256_file(file)
    if found != release.sha256:
        raise SourceError(
            f"wrong checksum: {release.file} from {origin} has sha256 {found}, pinned is {release.sha256}"
        )


def _check_unchanged(spec: SourceSpec) -> None:
    """See that a local source and the patches are still what the digest says.

    Raises:
        UsageError: they are not.
    """
    place = Path(spec.directory)
    if spec.release is not None:
        base = spec.release.sha256
    else:
        base = git_digest(place, spec.ref) if spec.ref else directory_digest(place)
    if patched_digest(base, [Path(patch) for patch in spec.patches]) != spec.digest:
        what = [spec.directory] if spec.directory and not (spec.ref or spec.release) else []
        raise UsageError(
            f"{' or '.join((*what, *spec.patches))} changed while the run was prepared", hint="run the command again"
        )


def _checked_file(file: Path, release: Release) -> Path:
    try:
        _check(file, release, str(file))
    except OSError as error:
        raise SourceError(f"{file} cannot be read: {error.strerror}") from error
    return file


def _unpack(archive: Path, into: Path) -> Path:
    """Unpack an archive and give its top folder; nothing in it can reach outside.

    Raises:
        SourceError: it is no archive, or has not exactly one top folder.
    """
    place = into / "tree"
    try:
        with tarfile.open(archive) as tar:
            tar.extractall(place, filter="tar")
        tops = sorted(place.iterdir())
    except (OSError, tarfile.TarError) as error:
        if isinstance(error, OSError) and error.errno in FULL:
            raise
        raise SourceError(f"{archive} cannot be unpacked: {error}") from error
    if len(tops) != 1 or not tops[0].is_dir():
        raise SourceError(f"{archive} does not have exactly one top folder")
    return tops[0]
