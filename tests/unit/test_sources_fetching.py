"""Where sources come from, in which order, and what is said when they do not come."""

from __future__ import annotations

import tarfile
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import pytest
import requests
from tests.unit.plan_samples import LIBRARY, RELEASE

from crossmatrix.catalog import DebianSource, Release
from crossmatrix.checksums import sha256_bytes
from crossmatrix.errors import PatchError, SourceError
from crossmatrix.steps.sources import Fetcher, from_option, newest_available, pinned
from crossmatrix.steps.sources.debian import (
    fetch_from_debian,
    mirror_roots,
    parse_showsrc,
    pool_folder,
    prepare,
    roots_from,
)
from crossmatrix.steps.sources.download import UnreachableError, download
from crossmatrix.steps.sources.patching import explain, find_hunk, touched_files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    Run = Callable[[Sequence[str], Path], str]

CONTENT = b"the release"
GOOD = replace(
    RELEASE,
    sha256=sha256_bytes(CONTENT),
    urls=("https://up.example.org/a.tar.gz", "https://up.example.org/b.tar.gz", "https://two.example.org/a.tar.gz"),
    debian=DebianSource(package="nettle", suite="sid", file="nettle_3.10.2.orig.tar.gz"),
)


@dataclass
class World:
    """Upstream and Debian as scripted: by address what happens; anything else is a test's mistake."""

    answers: dict[str, bytes | Exception]
    asked: list[str] = field(default_factory=list)

    def get(self, url: str, into: Path) -> None:
        """Give what is scripted for an address."""
        self._give(url, into)

    def debian(self, source: DebianSource, sha256: str, into: Path, folder: Path) -> str:
        """Give what is scripted for Debian."""
        assert len(sha256) == 64
        assert folder.name == "apt"
        self._give(f"debian {source.suite}", into)
        return f"Debian {source.suite}, source package {source.package}"

    def _give(self, name: str, into: Path) -> None:
        self.asked.append(name)
        answer = self.answers[name]
        if isinstance(answer, Exception):
            raise answer
        into.write_bytes(answer)

    def fetcher(self, home: Path, *mirrors: Path) -> Fetcher:
        """Give a fetcher in this world."""
        return Fetcher(home=home, mirrors=mirrors, get=self.get, debian=self.debian)


def test_upstream_comes_first_and_is_kept(tmp_path: Path) -> None:
    """The first origin that has the file is used; afterwards nothing is asked, and the origin is still known."""
    world = World({GOOD.urls[0]: CONTENT})
    fetcher = world.fetcher(tmp_path)
    first, again = fetcher.release(GOOD), fetcher.release(GOOD)
    assert first.path.read_bytes() == CONTENT
    assert first.origin == again.origin == f"upstream, {GOOD.urls[0]}"
    assert world.asked == [GOOD.urls[0]]


def test_a_kept_file_that_was_damaged_is_fetched_again(tmp_path: Path) -> None:
    """A kept file counts only with its checksum."""
    world = World({GOOD.urls[0]: CONTENT})
    fetcher = world.fetcher(tmp_path)
    fetcher.release(GOOD).path.write_bytes(b"damaged")
    assert fetcher.release(GOOD).path.read_bytes() == CONTENT
    assert len(world.asked) == 2


@pytest.mark.parametrize("name", [GOOD.file, "nettle_3.10.2.orig.tar.gz"])
def test_the_users_mirror_comes_before_upstream(tmp_path: Path, name: str) -> None:
    """A folder with the file under upstream's name or Debian's is enough, and no network is used."""
    mirror = tmp_path / "spiegel ä"
    mirror.mkdir()
    (mirror / name).write_bytes(CONTENT)
    world = World({})
    fetched = world.fetcher(tmp_path / "home", mirror).release(GOOD)
    assert fetched.path.read_bytes() == CONTENT
    assert fetched.origin == f"mirror {mirror / name}"
    assert world.asked == []


def test_an_unreachable_host_is_asked_once(tmp_path: Path) -> None:
    """The host's second address and the next release are not tried; other hosts and Debian are."""
    gone = UnreachableError("up.example.org cannot be reached: no such host")
    world = World({GOOD.urls[0]: gone, GOOD.urls[2]: SourceError("HTTP status 404"), "debian sid": CONTENT})
    fetcher = world.fetcher(tmp_path)
    fetched = fetcher.release(GOOD)
    assert fetched.origin == "Debian sid, source package nettle"
    assert world.asked == [GOOD.urls[0], GOOD.urls[2], "debian sid"]
    assert "not tried again" in fetched.notes[1]
    other = replace(GOOD, file="other.tar.gz", sha256=sha256_bytes(b"other"), urls=GOOD.urls[:1])
    world.answers["debian sid"] = b"other"
    assert fetcher.release(other).path.read_bytes() == b"other"
    assert world.asked.count(GOOD.urls[0]) == 1


def test_a_wrong_checksum_names_file_origin_and_both_sums(tmp_path: Path) -> None:
    """It is asked for once, nothing is kept, and the next origin is tried."""
    release = replace(GOOD, urls=GOOD.urls[:1], debian=None)
    world = World({GOOD.urls[0]: b"evil"})
    with pytest.raises(SourceError) as caught:
        world.fetcher(tmp_path).release(release)
    for part in (release.file, GOOD.urls[0], sha256_bytes(b"evil"), release.sha256, "wrong checksum"):
        assert part in caught.value.message
    assert world.asked == [GOOD.urls[0]]
    assert list((tmp_path / "sources").iterdir()) == []
    world.answers["debian sid"] = CONTENT
    assert world.fetcher(tmp_path).release(replace(GOOD, urls=GOOD.urls[:1])).path.read_bytes() == CONTENT


def test_all_origins_failing_are_all_named(tmp_path: Path) -> None:
    """One error lists each origin with its reason, and says what to do."""
    answers: dict[str, bytes | Exception] = {url: SourceError(f"reason {n}") for n, url in enumerate(GOOD.urls)}
    world = World({**answers, "debian sid": SourceError("reason 3")})
    with pytest.raises(SourceError) as caught:
        world.fetcher(tmp_path).release(GOOD)
    assert [f"reason {n}" in caught.value.message for n in range(4)] == [True] * 4
    assert "--mirror DIR" in caught.value.hint


def test_a_series_falls_back_to_what_can_be_had(tmp_path: Path) -> None:
    """The newest pinned release is tried first; where it cannot be had, the next; where none can, nothing is said."""
    newest = Release(version="3.10.2", file="new.tar.gz", sha256="c" * 64, urls=("https://new.example.org/",))
    older = replace(GOOD, version="3.10.1", urls=GOOD.urls[:1])
    library = replace(LIBRARY, releases=(newest, older))
    world = World({newest.urls[0]: SourceError("HTTP status 404"), GOOD.urls[0]: CONTENT})
    fetcher = world.fetcher(tmp_path)
    assert newest_available(library, "3.10", fetcher) == older
    assert newest_available(library, "3.10.2", fetcher) is None


def archive(path: Path, files: Mapping[str, str]) -> Path:
    """Write a tar with these files in one top folder."""
    top = path.parent / "top-1.0"
    for name, text in files.items():
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(text, encoding="utf-8")
    with tarfile.open(path, "w:gz") as tar:
        tar.add(top, "top-1.0")
    return path


PATCH = """--- a/sub/a.c\t2024-01-01
+++ b/sub/a.c\t2024-01-02
@@ -1,3 +1,3 @@
 one
-two
+zwei
 three
@@ -11,3 +11,3 @@ function
 eleven
-twelve
+zwölf
 thirteen
"""
LINES = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen"]


@pytest.mark.programs
def test_a_patched_source_is_packed_with_its_patch(tmp_path: Path) -> None:
    """The archive holds the patched file with its old time, and its origin names the patch."""
    file = archive(tmp_path / "x.tar.gz", {"sub/a.c": "\n".join(LINES) + "\n", "configure": "b"})
    patch = tmp_path / "fix.patch"
    patch.write_text(PATCH, encoding="utf-8")
    spec = from_option(str(file), LIBRARY)
    spec = replace(pinned(LIBRARY, spec.release or RELEASE, (patch,)), directory=str(file))
    fetched = Fetcher(home=tmp_path / "home").packed(spec)
    with tarfile.open(fetched.path) as tar, tarfile.open(file) as before:
        body = tar.extractfile("source/sub/a.c")
        assert body is not None
        assert "zwei" in body.read().decode()
        assert int(tar.getmember("source/sub/a.c").mtime) == int(before.getmember("top-1.0/sub/a.c").mtime)
        assert sorted(tar.getnames()) == ["source/configure", "source/sub/a.c"]
    assert "fix.patch (" in fetched.origin


@pytest.mark.programs
def test_a_patch_that_does_not_apply_names_the_hunk(tmp_path: Path) -> None:
    """File, number, header and line of the first hunk that fails stand in the message."""
    lines = [line if line != "twelve" else "else" for line in LINES]
    file = archive(tmp_path / "x.tar.gz", {"sub/a.c": "\n".join(lines) + "\n", "configure": ""})
    patch = tmp_path / "fix.patch"
    patch.write_text(PATCH, encoding="utf-8")
    spec = replace(pinned(LIBRARY, RELEASE, (patch,)), directory=str(file), release=None)
    spec = replace(spec, release=from_option(str(file), LIBRARY).release)
    with pytest.raises(PatchError, match=r"fix\.patch .*hunk 2 \(@@ -11,3 .* function\) of sub/a\.c fails at line 11"):
        Fetcher(home=tmp_path / "home").packed(spec)


def test_what_a_patch_touches() -> None:
    """Names come without their leading folder and time stamp."""
    assert touched_files(PATCH) == ("sub/a.c",)
    assert find_hunk(PATCH, "sub/a.c", 11)[0] == 2
    assert find_hunk(PATCH, "other.c", 11) == (0, "")


def test_a_patch_error_without_a_hunk_gives_gits_reason() -> None:
    """A missing file or a garbled patch is explained in git's own words."""
    text = explain("x.patch", PATCH, "error: sub/a.c: No such file or directory\n")
    assert text == "the patch x.patch does not apply: sub/a.c: No such file or directory"


@dataclass
class Answer:
    """A response as scripted."""

    status_code: int = 200
    body: tuple[bytes | Exception, ...] = (CONTENT,)
    headers: Mapping[str, str] = field(default_factory=dict)

    def iter_content(self, chunk_size: int) -> Iterator[bytes]:
        """Give the body, or what breaks it."""
        assert chunk_size > 0
        for block in self.body:
            if isinstance(block, Exception):
                raise block
            yield block


class Wire:
    """Answers in order; one more request than scripted is a test's mistake."""

    def __init__(self, *answers: Answer | Exception) -> None:
        self.answers = list(answers)
        self.waits: list[float] = []

    @contextmanager
    def open(self, _url: str) -> Iterator[Answer]:
        """Give the next answer."""
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        yield answer

    def get(self, into: Path, *, clock: Sequence[float] = (0.0,)) -> None:
        """Download by this wire."""
        ticks = list(clock)
        download(
            "https://up.example.org/x",
            into,
            open_=self.open,
            sleep=self.waits.append,
            clock=lambda: ticks.pop(0) if len(ticks) > 1 else ticks[0],
        )


@pytest.mark.parametrize(
    "trouble",
    [
        Answer(status_code=503),
        Answer(status_code=429),
        Answer(body=(b"the", requests.exceptions.ChunkedEncodingError("cut"))),
        Answer(body=(b"the",), headers={"Content-Length": "11"}),
        requests.exceptions.ReadTimeout("slow"),
    ],
)
def test_what_is_transient_is_tried_again(tmp_path: Path, trouble: Answer | Exception) -> None:
    """Overload, a broken or cut answer, a slow one: the next try may do, after a wait."""
    wire = Wire(trouble, Answer())
    wire.get(tmp_path / "x")
    assert (tmp_path / "x").read_bytes() == CONTENT
    assert len(wire.waits) == 1


def test_tries_come_to_an_end(tmp_path: Path) -> None:
    """After the last try the reason and the number of tries are said."""
    with pytest.raises(SourceError, match=r"HTTP status 503 \(3 tries\)"):
        Wire(*[Answer(status_code=503)] * 3).get(tmp_path / "x")


@pytest.mark.parametrize(
    ("trouble", "error", "message"),
    [
        (Answer(status_code=404), SourceError, "HTTP status 404"),
        (Answer(status_code=403), SourceError, "HTTP status 403"),
        (requests.exceptions.ConnectTimeout("x"), UnreachableError, r"up\.example\.org cannot be reached"),
        (requests.exceptions.ConnectionError("x"), UnreachableError, r"up\.example\.org cannot be reached"),
        (requests.exceptions.ProxyError("x"), UnreachableError, r"up\.example\.org cannot be reached"),
        (requests.exceptions.InvalidSchema("x"), SourceError, "the address cannot be used"),
    ],
)
def test_what_is_not_transient_is_not_tried_again(
    tmp_path: Path,
    trouble: Answer | Exception,
    error: type[SourceError],
    message: str,
) -> None:
    """A missing file and a host that cannot be reached are said at once."""
    wire = Wire(trouble)
    with pytest.raises(error, match=message):
        wire.get(tmp_path / "x")
    assert wire.waits == []


def test_a_download_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that is too large or takes too long is ended."""
    with pytest.raises(SourceError, match="longer than 600 s"):
        Wire(Answer(body=(b"a", b"b"))).get(tmp_path / "x", clock=(0.0, 1.0, 700.0))
    monkeypatch.setattr("crossmatrix.steps.sources.download.LARGEST_BYTES", 4)
    with pytest.raises(SourceError, match="larger than"):
        Wire(Answer()).get(tmp_path / "x")


SHOWSRC = """Package: nettle
Version: 3.10.1-1
Directory: pool/main/n/nettle
Checksums-Sha256:
 1111 10 nettle_3.10.1.orig.tar.gz
 2222 10 nettle_3.10.1-1.dsc

Package: nettle
Version: 3.10.2-1
Directory: pool/main/n/nettle
Checksums-Sha256:
 3333 10 nettle_3.10.2.orig.tar.gz
"""


def test_showsrc_is_read() -> None:
    """Versions with the file come first, with the index's checksum of it."""
    found = parse_showsrc(SHOWSRC, "nettle_3.10.2.orig.tar.gz")
    assert [(one.version, one.sha256) for one in found] == [("3.10.2-1", "3333"), ("3.10.1-1", "")]
    assert parse_showsrc("", "x") == ()


def test_the_machines_archives_are_taken_for_other_suites(tmp_path: Path) -> None:
    """Own suite and its pockets give the addresses; other archives and components are left alone."""
    printed = """https://deb.example.org/debian/|bookworm|main
https://deb.example.org/debian/|bookworm|contrib
https://deb.example.org/debian/|bookworm-updates|main
https://sec.example.org/|bookworm-security|main
https://other.example.org/|nodistro|main
"""
    roots = roots_from(printed, "bookworm")
    assert roots == (
        ("https://deb.example.org/debian/", ""),
        ("https://sec.example.org/", "-security"),
        ("https://deb.example.org/debian/", "-updates"),
    )
    prepare(tmp_path / "apt ä", "sid", roots)
    assert (tmp_path / "apt ä" / "sid" / "sources.list").read_text().count("deb-src") == 1
    options = prepare(tmp_path / "apt", "bullseye", roots)
    text = (tmp_path / "apt" / "bullseye" / "sources.list").read_text()
    assert "https://sec.example.org/ bullseye-security main\n" in text
    assert f"Dir::State={tmp_path}/apt/bullseye/state" in options


def test_a_named_mirror_needs_no_apt_configuration(tmp_path: Path) -> None:
    """The variable replaces the machine's own mirrors."""

    def no_program(command: Sequence[str], _folder: Path) -> str:
        pytest.fail(f"{command} was started")

    roots = mirror_roots(no_program, tmp_path, {"CROSSMATRIX_DEBIAN_MIRROR": "https://m.example.org/debian/"})
    assert roots == (("https://m.example.org/debian/", ""),)


@pytest.mark.parametrize(("package", "folder"), [("nettle", "pool/main/n/nettle"), ("libx", "pool/main/libx/libx")])
def test_pool_folders(package: str, folder: str) -> None:
    """Libraries lie in folders of their own."""
    assert pool_folder(package) == folder


@dataclass
class Apt:
    """Apt's programs as scripted: whether the package's file can be had by the index, and by its address."""

    by_index: bool
    by_address: bool
    commands: list[str] = field(default_factory=list)

    def run(self, command: Sequence[str], folder: Path) -> str:
        """Do what a command would."""
        plain = [word for n, word in enumerate(command) if word != "-o" and (n == 0 or command[n - 1] != "-o")]
        self.commands.append(" ".join(plain))
        if plain[0] == "apt-cache":
            return SHOWSRC
        if "source" in plain and not self.by_index:
            raise SourceError("apt-get failed: E: 404")
        if "source" in plain:
            (folder / "nettle_3.10.2.orig.tar.gz").write_bytes(CONTENT)
        if "download-file" in plain and not self.by_address:
            raise SourceError("apt-helper failed: E: 404")
        return ""


DEBIAN = DebianSource(package="nettle", suite="sid", file="nettle_3.10.2.orig.tar.gz")
MIRROR = {"CROSSMATRIX_DEBIAN_MIRROR": "https://m.example.org/debian"}


def test_debian_gives_the_version_that_the_index_names(tmp_path: Path) -> None:
    """The version with the pinned file is asked for by name, through apt's chain of signatures."""
    apt = Apt(by_index=True, by_address=False)
    into = tmp_path / "part"
    words = fetch_from_debian(DEBIAN, "3333", into, folder=tmp_path / "apt", environ=MIRROR, run=ensure(apt, tmp_path))
    assert words == "Debian sid, source package nettle 3.10.2-1"
    assert into.read_bytes() == CONTENT
    assert apt.commands[-1].endswith("--download-only --tar-only --only-source nettle=3.10.2-1")


@pytest.mark.parametrize("sha256", ["3333", "4444"])
def test_a_pool_ahead_of_the_index_is_asked_by_address(tmp_path: Path, sha256: str) -> None:
    """Where the index is stale or has another file, the pool is asked, checked by the pinned sum; then it is said."""
    into = tmp_path / "part"
    apt = Apt(by_index=False, by_address=True)
    fetch_from_debian(DEBIAN, sha256, into, folder=tmp_path / "apt", environ=MIRROR, run=ensure(apt, tmp_path))
    assert apt.commands[-1].endswith(
        f"https://m.example.org/debian/pool/main/n/nettle/nettle_3.10.2.orig.tar.gz {into} SHA256:{sha256}",
    )
    with pytest.raises(SourceError, match=r"does not have nettle_3\.10\.2\.orig\.tar\.gz: apt-helper failed"):
        fetch_from_debian(
            DEBIAN,
            sha256,
            into,
            folder=tmp_path / "apt",
            environ=MIRROR,
            run=ensure(Apt(by_index=False, by_address=False), tmp_path),
        )


@pytest.mark.parametrize(
    ("updated", "message"),
    [
        (
            "Err:1 https://m.example.org/debian sid InRelease\n  Could not resolve 'm.example.org'\n",
            "the index of Debian sid cannot be fetched: Could not resolve 'm.example.org'",
        ),
        (
            "Err:1 https://m.example.org/debian sid InRelease",
            "the index of Debian sid cannot be fetched: Err:1 https://m.example.org/debian sid InRelease",
        ),
        ("Hit:1 https://m.example.org/debian sid InRelease\n", "apt-cache failed: E: put some 'deb-src' URIs"),
    ],
)
def test_an_index_that_cannot_be_fetched_is_told_as_such(tmp_path: Path, updated: str, message: str) -> None:
    """Apt goes on without it and then complains of sources.list, where nothing is wrong."""

    def run(command: Sequence[str], _folder: Path) -> str:
        if command[0] == "apt-cache":
            raise SourceError("apt-cache failed: E: put some 'deb-src' URIs")
        return updated

    (tmp_path / "apt").mkdir()
    with pytest.raises(SourceError) as caught:
        fetch_from_debian(DEBIAN, "3333", tmp_path / "part", folder=tmp_path / "apt", environ=MIRROR, run=run)
    assert caught.value.message == message


def ensure(apt: Apt, folder: Path) -> Run:
    """Give apt's runner, with the folder that it works in made as the real one does."""
    (folder / "apt").mkdir(exist_ok=True)
    return apt.run
