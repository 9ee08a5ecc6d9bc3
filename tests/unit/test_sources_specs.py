"""From --source and --patch to the source that is asked for."""

from __future__ import annotations

import gzip
import os
import subprocess
import tarfile
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.unit.plan_samples import LIBRARY, RELEASE

from crossmatrix.catalog import Catalog, DebianSource, Release
from crossmatrix.checksums import sha256_bytes
from crossmatrix.errors import UsageError
from crossmatrix.steps.sources import from_option, pinned, source_specs, with_patches
from crossmatrix.steps.sources.checkouts import git_archive
from crossmatrix.steps.sources.patching import explain
from crossmatrix.steps.sources.trees import directory_digest

if TYPE_CHECKING:
    from crossmatrix.catalog import Library

OLD = Release(version="3.8.1", file="nettle-3.8.1.tar.gz", sha256="b" * 64)
NETTLE = replace(LIBRARY, releases=(RELEASE, OLD))
OPENSSL = replace(LIBRARY, name="openssl", title="OpenSSL", releases=(replace(OLD, version="3.0.20"),))
CATALOG = Catalog(
    libraries=(NETTLE, OPENSSL),
    targets=(),
    toolchains=(),
    emulators=(),
    profiles=(),
    images=(),
    matrices=(),
)


def patch_file(folder: Path, name: str, text: str) -> Path:
    """Write a file that stands for a patch."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def source_tree(folder: Path) -> Path:
    """Make a folder that could be a source of either library."""
    folder.mkdir(exist_ok=True)
    for name in ("configure", "Configure"):
        patch_file(folder, name, "exit 0")
    return folder


def source_archive(path: Path, *names: str, mode: Literal["w:gz", "w:xz", "w"] = "w:gz") -> Path:
    """Write an archive with empty files of these names."""
    with tarfile.open(path, mode) as tar:
        for name in names:
            tar.addfile(tarfile.TarInfo(name))
    return path


def git(folder: Path, *words: str) -> str:
    """Run git with an identity of its own and none of the machine's configuration."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1"}
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    command = ["git", "-C", str(folder), *who, *words]
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, check=True, timeout=30
    ).stdout.strip()


def test_a_pinned_release_has_its_own_checksum_and_version() -> None:
    """Without patches the digest is the file's pinned checksum."""
    spec = pinned(NETTLE, RELEASE)
    assert (spec.version, spec.digest, spec.release) == ("3.10.2", "a" * 64, RELEASE)


def test_patches_change_digest_and_version_by_content_and_order(tmp_path: Path) -> None:
    """Another content, another order, another number of patches: each is another source; the file's name is not."""
    one, two = patch_file(tmp_path, "one", "1"), patch_file(tmp_path, "two", "2")
    same = patch_file(tmp_path, "same", "1")
    specs = [pinned(NETTLE, RELEASE, patches) for patches in ((), (one,), (two,), (one, two), (two, one))]
    assert len({spec.digest for spec in specs}) == len({spec.version for spec in specs}) == 5
    assert specs[1].version.startswith("3.10.2+p")
    assert len(specs[1].version) == len("3.10.2+p") + 8
    assert pinned(NETTLE, RELEASE, (same,)).digest == specs[1].digest
    assert specs[3].patches == (str(one), str(two))


def test_a_patch_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    """A missing patch is the user's error and stands in the message."""
    with pytest.raises(UsageError, match="none cannot be read"):
        with_patches(pinned(NETTLE, RELEASE), (tmp_path / "none",))


def test_a_file_with_a_pinned_checksum_is_that_release(tmp_path: Path) -> None:
    """A file the user names is the pinned release when its checksum says so, whatever it is called."""
    file = patch_file(tmp_path, "anything.tar.gz", "content")
    library = replace(NETTLE, releases=(replace(RELEASE, sha256=sha256_bytes(b"content")),))
    spec = from_option(str(file), library)
    assert (spec.version, spec.directory) == ("3.10.2", str(file))


@pytest.mark.parametrize("name", ["nettle-3.10.2.tar.gz", "nettle_3.10.2.orig.tar.gz"])
def test_a_file_with_a_pinned_name_and_another_checksum_is_refused(tmp_path: Path, name: str) -> None:
    """Both checksums stand in the message."""
    debian = DebianSource(package="nettle", suite="sid", file="nettle_3.10.2.orig.tar.gz")
    library = replace(NETTLE, releases=(replace(RELEASE, debian=debian),))
    file = patch_file(tmp_path, name, "content")
    with pytest.raises(UsageError, match=f"sha256 {sha256_bytes(b'content')}, pinned {'a' * 64}"):
        from_option(str(file), library)


def test_any_other_file_is_a_source_of_its_own(tmp_path: Path) -> None:
    """Its version is the beginning of its checksum."""
    file = source_archive(tmp_path / "mine.tar.gz", "top/configure", "top/a.c")
    digest = sha256_bytes(file.read_bytes())
    spec = from_option(str(file), NETTLE)
    assert (spec.version, spec.digest) == (f"file-{digest[:12]}", digest)


def test_a_directory_is_known_by_its_content(tmp_path: Path) -> None:
    """Contents, names, executable bits and links count; times and git's own files do not."""
    (tmp_path / "configure").write_text("")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.c").write_text("int a;")
    before = from_option(str(tmp_path), NETTLE)
    assert before.version == f"dir-{before.digest[:12]}"
    os.utime(tmp_path / "sub" / "a.c", (1, 1))
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("ref")
    assert directory_digest(tmp_path) == before.digest
    (tmp_path / "sub" / "a.c").chmod(0o755)
    executable = directory_digest(tmp_path)
    (tmp_path / "link").symlink_to("sub")
    assert len({before.digest, executable, directory_digest(tmp_path)}) == 3


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25, deadline=None)
@given(st.dictionaries(st.sampled_from("abcdef"), st.binary(max_size=8), min_size=1), st.data())
def test_no_two_directories_share_a_digest(tmp_path: Path, files: dict[str, bytes], data: st.DataObject) -> None:
    """Changing the content of any file changes the digest; writing it back restores it."""
    folder = tmp_path / "tree"
    folder.mkdir(exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    for name, content in files.items():
        (folder / name).write_bytes(content)
    before = directory_digest(folder)
    chosen = data.draw(st.sampled_from(sorted(files)))
    (folder / chosen).write_bytes(files[chosen] + b"!")
    assert directory_digest(folder) != before
    (folder / chosen).write_bytes(files[chosen])
    assert directory_digest(folder) == before


@pytest.mark.programs
def test_a_git_ref_is_known_by_its_tree(tmp_path: Path) -> None:
    """Two commits with one tree have one digest and two versions; a path may hold an @."""
    checkout = tmp_path / "my@checkout"
    checkout.mkdir()
    git(checkout, "init", "-q")
    (checkout / "configure").write_text("exit 0")
    git(checkout, "add", "configure")
    git(checkout, "commit", "-q", "-m", "one")
    git(checkout, "tag", "first")
    git(checkout, "commit", "-q", "--allow-empty", "-m", "two")
    first = from_option(f"{checkout}@first", NETTLE)
    second = from_option(f"{checkout}@HEAD", NETTLE)
    assert first.digest == second.digest
    assert first.version == f"git-{git(checkout, 'rev-parse', 'first')[:12]}" != second.version
    assert first.ref == git(checkout, "rev-parse", "first")


@pytest.mark.programs
def test_an_unknown_ref_is_named(tmp_path: Path) -> None:
    """A ref that is not there is an error with the way to list those that are."""
    git(tmp_path, "init", "-q")
    with pytest.raises(UsageError, match="has no ref 'nowhere'") as caught:
        from_option(f"{tmp_path}@nowhere", NETTLE)
    assert "branch -a" in caught.value.hint


@pytest.mark.parametrize("text", ["/nowhere", "/nowhere@main", "@main"])
def test_a_path_that_is_not_there_is_named(text: str) -> None:
    """The message holds what was written, the hint the possible forms."""
    with pytest.raises(UsageError, match=f"nettle={text}") as caught:
        from_option(text, NETTLE)
    assert "PATH@REF" in caught.value.hint


def test_sources_are_given_by_library_or_series(tmp_path: Path) -> None:
    """The key is what stands before the equals sign."""
    source_tree(tmp_path)
    specs = source_specs(CATALOG, (f"openssl={tmp_path}", f"nettle-3.8={tmp_path}"), ())
    assert sorted(specs) == ["nettle-3.8", "openssl"]
    assert specs["nettle-3.8"].library == "nettle"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("opensll=/x", "unknown library 'opensll'; did you mean 'openssl'"),
        ("openssl-9.9=/x", "no pinned release of openssl is '9.9'"),
        ("openssl", "not of the form LIBRARY=PATH"),
        ("openssl=", "not of the form LIBRARY=PATH"),
    ],
)
def test_words_that_make_no_sense(text: str, message: str) -> None:
    """Each is an error that says what is wrong, with the nearest right name."""
    with pytest.raises(UsageError, match=message):
        source_specs(CATALOG, (text,), ())


def test_one_source_for_a_name(tmp_path: Path) -> None:
    """Two sources for one name are an error."""
    source_tree(tmp_path)
    with pytest.raises(UsageError, match="given twice for openssl"):
        source_specs(CATALOG, (f"openssl={tmp_path}", f"openssl={tmp_path}"), ())


def test_patches_go_on_the_named_source_or_on_every_pinned_release(tmp_path: Path) -> None:
    """With --source they go on it; without, each release and series of the library gets them, the newest first."""
    patch = patch_file(tmp_path, "fix.patch", "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-1\n+2\n")
    tree = source_tree(tmp_path / "tree")
    own = source_specs(CATALOG, (f"nettle={tree}",), (f"nettle={patch}",))
    assert list(own) == ["nettle"]
    assert "+p" in own["nettle"].version
    every = source_specs(CATALOG, (), (f"nettle={patch}",))
    assert every["nettle-3.10"].version.startswith("3.10.2+p")
    assert every["nettle-3"].version == every["nettle-3.10.2"].version
    assert every["nettle-3.8.1"].version.startswith("3.8.1+p")
    assert not any(name.startswith("openssl") for name in every)


@pytest.mark.parametrize(
    ("library", "name", "there"),
    [(NETTLE, "configure", True), (NETTLE, "Configure", False), (OPENSSL, "Configure", True), (OPENSSL, "x", False)],
)
def test_a_source_has_what_configures_it(tmp_path: Path, library: Library, name: str, there: bool) -> None:  # noqa: FBT001 - a table
    """A directory and an archive of any kind are each a source exactly where the script is in the top folder."""
    tree = tmp_path / "tree"
    tree.mkdir()
    patch_file(tree, name, "exit 0")
    archives = [
        source_archive(tmp_path / "a.tar.gz", f"top/{name}"),
        source_archive(tmp_path / "a.tar.xz", f"./top/{name}", mode="w:xz"),
    ]
    for text in (str(tree), *map(str, archives)):
        if there:
            assert from_option(text, library).library == library.name
        else:
            with pytest.raises(UsageError, match=r"there is no [Cc]onfigure here"):
                from_option(text, library)


@pytest.mark.parametrize(
    "content", [b"", b"root:x:0:0:", b"\x1f\x8bbroken", b"PK\x03\x04", gzip.compress(b"x" * 9999)[:-20]]
)
def test_a_file_that_is_no_archive_is_no_source(tmp_path: Path, content: bytes) -> None:
    """It is refused before any cell has its name."""
    file = tmp_path / "passwd"
    file.write_bytes(content)
    with pytest.raises(UsageError, match="passwd: this is no tar archive"):
        from_option(str(file), NETTLE)


def test_an_archive_that_only_the_containers_tar_reads_is_not_judged(tmp_path: Path) -> None:
    """Zstandard is unknown to Python; the build will see what is in it."""
    file = tmp_path / "x.tar.zst"
    file.write_bytes(b"\x28\xb5\x2f\xfd and more")
    assert from_option(str(file), NETTLE).version.startswith("file-")


def test_a_tree_that_still_has_to_be_bootstrapped_says_how(tmp_path: Path) -> None:
    """A checkout with configure.ac alone is told what makes configure."""
    patch_file(tmp_path, "configure.ac", "")
    with pytest.raises(UsageError, match="there is no configure here") as caught:
        from_option(str(tmp_path), NETTLE)
    assert "autoreconf" in caught.value.hint


@pytest.mark.programs
def test_git_repositories_are_sources_by_ref_alone(tmp_path: Path) -> None:
    """A bare one asks for a ref, and a ref without the script is refused; with both it is a source."""
    work, bare = tmp_path / "work", tmp_path / "bare.git"
    work.mkdir()
    git(work, "init", "-q")
    patch_file(work, "a.c", "int a;")
    git(work, "add", "-A")
    git(work, "commit", "-q", "-m", "without")
    git(work, "tag", "without")
    patch_file(work, "configure", "exit 0")
    git(work, "add", "-A")
    git(work, "commit", "-q", "-m", "with")
    git(work, "tag", "with")
    git(tmp_path, "clone", "-q", "--bare", str(work), str(bare))
    with pytest.raises(UsageError, match="bare git repository") as caught:
        from_option(str(bare), NETTLE)
    assert f"{bare}@REF" in caught.value.hint
    with pytest.raises(UsageError, match="there is no configure here"):
        from_option(f"{bare}@without", NETTLE)
    assert from_option(f"{bare}@with", NETTLE).digest == from_option(f"{work}@with", NETTLE).digest


@pytest.mark.programs
def test_what_is_no_repository_is_not_said_to_lack_a_ref(tmp_path: Path) -> None:
    """The cause that git gives stands in the message."""
    folder = source_tree(tmp_path / "plain")
    with pytest.raises(UsageError, match=r"git cannot read .*not a git repository"):
        from_option(f"{folder}@main", NETTLE)


@pytest.mark.programs
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a checkout of another user's")
def test_root_reads_somebodys_checkout(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Its owner's checkout is read and packed as it is for its owner; nothing that it configures runs as root."""
    with tempfile.TemporaryDirectory() as place:
        Path(place).chmod(0o755)
        checkout = source_tree(Path(place) / "theirs")
        git(checkout, "init", "-q")
        git(checkout, "add", "-A")
        git(checkout, "commit", "-q", "-m", "one")
        own = from_option(f"{checkout}@HEAD", NETTLE)
        for path in (checkout, *checkout.rglob("*")):
            os.chown(path, 65534, 65534)
        theirs = from_option(f"{checkout}@HEAD", NETTLE)
        assert theirs == own
        archive = tmp_path_factory.mktemp("out") / "x.tar"
        git_archive(checkout, theirs.ref, archive)
        with tarfile.open(archive) as tar:
            assert "source/configure" in tar.getnames()


def test_a_refusal_of_gits_is_explained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who may not read another's checkout is told whose it is, and both ways out."""
    said = b"fatal: detected dubious ownership in repository at '/x'\nTo add an exception:\n\tgit config ...\n"
    refused = subprocess.CompletedProcess(["git"], 128, b"", said)
    monkeypatch.setattr(subprocess, "run", lambda *_words, **_options: refused)
    with pytest.raises(UsageError, match=r"which belongs to .* and not to you") as caught:
        from_option(f"{tmp_path}@v1", NETTLE)
    assert f"safe.directory {tmp_path}" in caught.value.hint
    assert "no ref" not in caught.value.message


@pytest.mark.parametrize("text", ["", " \n", "not a patch\n", "diff of a and b\n"])
def test_what_is_no_patch_is_refused(tmp_path: Path, text: str) -> None:
    """An empty file and any text are refused before anything is fetched, in our words and not in git's."""
    file = patch_file(tmp_path, "fix.patch", text)
    with pytest.raises(UsageError, match=r"this is (no patch|an empty file)") as caught:
        source_specs(CATALOG, (), (f"nettle={file}",))
    assert "allow-empty" not in str(caught.value)


def test_nobody_is_told_of_options_that_are_gits_own() -> None:
    """What git says of an input without patches comes without its advice."""
    said = 'error: No valid patches in input (allow with "--allow-empty")\n'
    assert (
        explain("x.patch", "diff --git a/x b/x\n", said)
        == "the patch x.patch does not apply: No valid patches in input"
    )


def test_what_cannot_be_read_is_an_error_of_usage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A path behind a closed folder, or a file that breaks off, is named with the reason."""

    def closed(_self: Path, **_options: object) -> bool:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "is_dir", closed)
    with pytest.raises(UsageError, match="cannot be read: Permission denied"):
        from_option(str(tmp_path / "x"), NETTLE)
