"""From a user's words to the source that is asked for: ``--source`` and ``--patch``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from crossmatrix.catalog import Library, Release, SourceSpec
from crossmatrix.checksums import sha256_bytes, sha256_file, sha256_value
from crossmatrix.errors import UsageError, nearest
from crossmatrix.steps.sources.checkouts import git_tree
from crossmatrix.steps.sources.layout import check_archive, check_commit, check_directory
from crossmatrix.steps.sources.patching import is_patch
from crossmatrix.steps.sources.trees import directory_digest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from crossmatrix.catalog import Catalog


def source_specs(catalog: Catalog, sources: Sequence[str], patches: Sequence[str]) -> dict[str, SourceSpec]:
    """Read all ``--source`` and ``--patch`` words.

    Args:
        catalog: whose libraries are meant.
        sources: ``openssl=PATH@REF``, ``openssl=DIR``, ``openssl=FILE.tar.gz``; before ``=`` also a library with a
            version or series, ``openssl-3.0``.
        patches: ``openssl=FILE``, in order; applied to the library's own source where one was named, else to each of
            its pinned releases.

    Returns:
        By library, or by library and version or series, what stands in the place of the pinned releases.

    Raises:
        UsageError: a name is unknown, a path does not exist, or two sources are given for one name.
    """
    specs: dict[str, SourceSpec] = {}
    for text in sources:
        name, library, path = _split(catalog, text, "--source")
        if name in specs:
            raise UsageError(f"--source is given twice for {name}", hint="run the command once for each source")
        specs[name] = from_option(path, library)
    by_library: dict[str, list[Path]] = {}
    for text in patches:
        name, library, path = _split(catalog, text, "--patch")
        by_library.setdefault(library.name, []).append(_patch_file(path, f"--patch {name}"))
    for library in catalog.libraries:
        if files := by_library.get(library.name):
            own = {name: spec for name, spec in specs.items() if spec.library == library.name}
            chosen = own or _pinned_by_series(library)
            specs.update({name: with_patches(spec, files) for name, spec in chosen.items()})
    return specs


def pinned(library: Library, release: Release, patches: Sequence[Path] = ()) -> SourceSpec:
    """Give the spec of a pinned release with patches on top.

    Raises:
        UsageError: a patch cannot be read.
    """
    spec = SourceSpec(library=library.name, version=release.version, digest=release.sha256, release=release)
    return with_patches(spec, patches)


def from_option(text: str, library: Library) -> SourceSpec:
    """Read what ``--source`` says after ``=``.

    Args:
        text: ``PATH@REF`` for a git checkout, a directory, or a file.
        library: it is a source of.

    Raises:
        UsageError: it does not exist, cannot be read, is no source of the library, or the file has the name of a
            pinned release and not its checksum.
    """
    try:
        spec = _found(text, library)
    except (OSError, RuntimeError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise UsageError(f"--source {library.name}={text} cannot be read: {why}") from error
    if spec is not None:
        return spec
    raise UsageError(
        f"--source {library.name}={text}: there is no such directory or file",
        hint="forms: PATH@REF (a git checkout), DIRECTORY, FILE.tar.gz",
    )


def _found(text: str, library: Library) -> SourceSpec | None:
    path = Path(text).expanduser()
    if path.is_dir():
        return _directory(path.resolve(), library)
    if path.is_file():
        return _file(path.resolve(), library)
    place, _, ref = text.rpartition("@")
    checkout = Path(place).expanduser()
    if place and ref and checkout.is_dir():
        return _git(checkout.resolve(), ref, library)
    return None


def with_patches(spec: SourceSpec, patches: Sequence[Path]) -> SourceSpec:
    """Give a spec with patches on top, in order; digest and version change with them.

    Raises:
        UsageError: a patch cannot be read.
    """
    if not patches:
        return spec
    return replace(
        spec,
        version=f"{spec.version}+p{sha256_value(_sums(patches))[:8]}",
        digest=patched_digest(spec.digest, patches),
        patches=(*spec.patches, *(str(patch.absolute()) for patch in patches)),
    )


def patched_digest(base: str, patches: Sequence[Path]) -> str:
    """Give the digest of a source with patches on top; without patches that of the source.

    Raises:
        UsageError: a patch cannot be read.
    """
    return sha256_value([base, *_sums(patches)]) if patches else base


def git_digest(checkout: Path, ref: str) -> str:
    """Give the digest of a tree in a git checkout: the same for all commits that have it.

    Raises:
        UsageError: git cannot tell.
    """
    return sha256_value(["git-tree", git_tree(checkout, ref)[1]])


def _sums(patches: Sequence[Path]) -> list[str]:
    try:
        return [sha256_file(patch) for patch in patches]
    except OSError as error:
        raise UsageError(f"the patch {error.filename} cannot be read: {error.strerror}") from error


def _git(checkout: Path, ref: str, library: Library) -> SourceSpec:
    commit, tree = git_tree(checkout, ref)
    check_commit(checkout, commit, ref, library)
    return SourceSpec(
        library=library.name,
        version=f"git-{commit[:12]}",
        digest=sha256_value(["git-tree", tree]),
        directory=str(checkout),
        ref=commit,
    )


def _directory(path: Path, library: Library) -> SourceSpec:
    check_directory(path, library)
    digest = directory_digest(path)
    return SourceSpec(library=library.name, version=f"dir-{digest[:12]}", digest=digest, directory=str(path))


def _file(path: Path, library: Library) -> SourceSpec:
    digest = sha256_file(path)
    for release in library.releases:
        if release.sha256 == digest:
            return replace(pinned(library, release), directory=str(path))
        names = {release.file, release.debian.file if release.debian else release.file}
        if path.name in names:
            raise UsageError(
                f"{path} has the name of the pinned release {release.version} of {library.name} and another checksum: "
                f"sha256 {digest}, pinned {release.sha256}",
                hint="rename the file if it is meant to be something else",
            )
    check_archive(path, library)
    own = Release(version=f"file-{digest[:12]}", file=path.name, sha256=digest)
    return replace(pinned(library, own), directory=str(path))


def _split(catalog: Catalog, text: str, option: str) -> tuple[str, Library, str]:
    name, equals, path = text.partition("=")
    known = {library.name: library for library in catalog.libraries}
    if not equals or not path:
        raise UsageError(f"{option} {text!r} is not of the form LIBRARY=PATH; libraries: {', '.join(sorted(known))}")
    found = [library for word, library in known.items() if name == word or name.startswith(f"{word}-")]
    if not found:
        raise UsageError(f"{option}: unknown library {name!r}; {nearest(name, known)}")
    library = found[0]
    series = name.removeprefix(library.name).removeprefix("-")
    if series and not library.releases_of(series):
        versions = [release.version for release in library.releases]
        raise UsageError(f"{option}: no pinned release of {library.name} is {series!r}; {nearest(series, versions)}")
    return name, library, path


def _pinned_by_series(library: Library) -> Mapping[str, SourceSpec]:
    """Give pinned releases under every series that could be meant: 3.0.20 under 3.0.20, 3.0 and 3, the newest wins."""
    found: dict[str, SourceSpec] = {}
    for release in library.releases:
        parts = release.version.split(".")
        for length in range(1, len(parts) + 1):
            found.setdefault(f"{library.name}-{'.'.join(parts[:length])}", pinned(library, release))
    return found


def _patch_file(text: str, what: str) -> Path:
    path = Path(text).expanduser()
    try:
        if not path.is_file():
            raise UsageError(f"{what}={text}: there is no such file")
        content = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise UsageError(f"{what}={text} cannot be read: {error.strerror}") from error
    if not is_patch(content):
        raise UsageError(
            f"{what}={text}: this is {'no patch' if content.strip() else 'an empty file'}",
            hint="a patch is what `git diff` or `diff -u` writes, with one leading folder in its file names",
        )
    return path.absolute()


def describe_patch(path: str) -> str:
    """Give a patch's name and the first digits of its checksum, for messages and records."""
    try:
        return f"{Path(path).name} ({sha256_bytes(Path(path).read_bytes())[:8]})"
    except OSError:
        return Path(path).name
