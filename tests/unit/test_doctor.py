"""The doctor's rows, without an engine and with one that is played."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Self

import pytest
from tests.unit.recipe_samples import FILES, write

from crossmatrix.api import doctor
from crossmatrix.api.doctor import GIB, examine
from crossmatrix.engine.belongings import Belonging
from crossmatrix.engine.owners import HOME_LABEL, KEEP_LABEL, PID_LABEL, process_labels
from crossmatrix.engine.types import EngineInfo
from crossmatrix.errors import NamedEngineError, NoEngineError, StoreError
from crossmatrix.store import State

if TYPE_CHECKING:
    from crossmatrix.api.origins import Row
    from crossmatrix.engine import DockerEngine

INFO = EngineInfo(
    url="unix:///x",
    kind="docker",
    version="20.10.24",
    os="Debian",
    architecture="x86_64",
    cpus=2,
    memory_bytes=8 * GIB,
    root="/data",
    rootless=True,
    private=False,
)


class PlayedEngine:
    """An engine that only describes itself."""

    def __init__(self, info: EngineInfo, free: int | None = 100 * GIB) -> None:
        self.info = info
        self.client = object()
        self._free = free

    def free_bytes(self) -> int | None:
        """Give what the test wants."""
        return self._free

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return


def _none(*_: object, **__: object) -> DockerEngine:
    raise NoEngineError("No engine answers. Tried: x", hint="install one")


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a checkout with sample recipes; apt is not asked, and nothing is ours."""
    write(tmp_path / "checkout", FILES)
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.setattr(doctor, "belongings", lambda _: ())
    monkeypatch.setattr(doctor, "dockerd", lambda: None)
    return tmp_path / "checkout"


def _rows(root: Path, engine: PlayedEngine | None = None, home: Path | None = None, answer: str = "") -> dict[str, Row]:
    rows = examine(
        {"CROSSMATRIX_DEBIAN_MIRROR": "http://mirror.test"},
        home or root / "home",
        root,
        reach=lambda _: answer,
        find=_none if engine is None else lambda *_, **__: engine,  # type: ignore[arg-type]
    )
    return {row.name: row for row in rows}


def test_without_an_engine_all_other_rows_are_there(root: Path) -> None:
    """No engine is one row that is missing, with what to do; Python, disk, memory, base images have theirs."""
    rows = _rows(root)
    assert (rows["engine"].status, rows["engine"].mend) == ("missing", "install one")
    assert {"Python", "git", "state directory", "memory", "CPUs", "debootstrap", "recipes"} <= set(rows)
    assert any(name.startswith("base ") for name in rows)


def test_daemon_of_our_own_counts_as_an_engine(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As root with dockerd installed nothing is missing: a daemon of our own will be started."""
    monkeypatch.setattr(doctor, "dockerd", lambda: "/usr/sbin/dockerd")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert _rows(root)["engine"].status == "ok"


def test_a_dead_engine_that_the_user_named_is_missing(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No daemon of our own takes its place."""
    monkeypatch.setattr(doctor, "dockerd", lambda: "/usr/sbin/dockerd")
    monkeypatch.setattr(os, "geteuid", lambda: 0)

    def dead(*_: object, **__: object) -> DockerEngine:
        raise NamedEngineError("DOCKER_HOST names a dead one", hint="start it")

    rows = {row.name: row for row in examine({}, root / "home", root, reach=lambda _: "", find=dead)}
    assert (rows["engine"].status, rows["engine"].mend) == ("missing", "start it")


def test_engine_is_described(root: Path) -> None:
    """The engine's name, version, address and that it is rootless are told."""
    rows = _rows(root, PlayedEngine(INFO))
    assert rows["engine"].detail == "Docker 20.10.24 at unix:///x (rootless)"
    assert rows["CPUs"].detail == "2"
    assert rows["leftovers"].detail == "none"


def test_little_room_and_memory_are_told(root: Path) -> None:
    """A disk or a memory that is too small is no ok, and says what to do."""
    small = EngineInfo(**{field: getattr(INFO, field) for field in INFO.__slots__} | {"memory_bytes": GIB})
    rows = _rows(root, PlayedEngine(small, free=1 * GIB))
    assert (rows["engine's disk"].status, rows["memory"].status) == ("missing", "warning")
    assert "--jobs 1" in rows["memory"].mend


def test_unseen_disk_is_no_fault(root: Path) -> None:
    """The disk of a remote engine cannot be seen, and the row says so."""
    rows = _rows(root, PlayedEngine(INFO, free=None))
    assert rows["engine's disk"].status == "ok"
    assert "cannot be seen" in rows["engine's disk"].detail


def test_other_processor_is_a_warning(root: Path) -> None:
    """Our images are amd64: on another processor the row says that they are emulated."""
    other = EngineInfo(**{field: getattr(INFO, field) for field in INFO.__slots__} | {"architecture": "aarch64"})
    assert _rows(root, PlayedEngine(other))["processor"].status == "warning"


def test_leftovers_of_dead_runs_are_a_warning(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Containers whose run is dead are counted, and the row says how to remove them."""
    home = root / "home"
    labels = {**process_labels(), PID_LABEL: "4194999", HOME_LABEL: str(home)}
    item = Belonging(kind="container", id="1", name="x", labels=labels, created=0, size_bytes=None)
    other = Belonging(kind="volume", id="2", name="y", labels={HOME_LABEL: "/z"}, created=0, size_bytes=GIB)
    monkeypatch.setattr(doctor, "belongings", lambda _: (item, other))
    row = _rows(root, PlayedEngine(INFO), home)["leftovers"]
    assert row.status == "warning"
    assert row.detail.startswith("1 container, 1 volume, 1.0 GiB (1 of other state directories)")


def test_containers_that_were_kept_on_purpose_are_no_warning(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What --keep-container left is said to be that, and only what a dead run left asks to be removed."""
    home = root / "home"
    labels = {**process_labels(), PID_LABEL: "4194999", HOME_LABEL: str(home)}
    dead = Belonging(kind="container", id="1", name="x", labels=labels, created=0, size_bytes=None)
    kept = replace(dead, labels={**labels, KEEP_LABEL: "1"})
    monkeypatch.setattr(doctor, "belongings", lambda _: (kept, kept))
    row = _rows(root, PlayedEngine(INFO), home)["leftovers"]
    assert (row.status, row.mend) == ("ok", "")
    assert row.detail.endswith("2 containers kept by --keep-container")
    monkeypatch.setattr(doctor, "belongings", lambda _: (kept, dead))
    row = _rows(root, PlayedEngine(INFO), home)["leftovers"]
    assert row.status == "warning"
    assert row.detail.endswith("1 container kept by --keep-container; containers of dead runs among them")


def test_state_directory_that_cannot_be_made_is_missing(root: Path) -> None:
    """A state directory below a file, or where none can be made, is missing, with how to name another."""
    (root / "file").write_text("")
    for home in (root / "file" / "home", Path("/proc/nothing")):
        row = _rows(root, home=home)["state directory"]
        assert row.status == "missing"
        assert "CROSSMATRIX_HOME" in row.mend


@pytest.mark.parametrize("text", ["99", "garbage", "\0\1", "-1"])
def test_a_state_directory_that_no_command_takes_is_missing(root: Path, text: str) -> None:
    """Of a newer version, or with a format that is no number: what refuses a run is no ok here."""
    home = root / "home"
    home.mkdir()
    (home / "format").write_text(text)
    row = _rows(root, home=home)["state directory"]
    assert (row.status, bool(row.mend)) == ("missing", True)
    with pytest.raises(StoreError) as caught:
        State.open(home)
    assert row.detail == caught.value.message


def test_sources_are_those_that_matrices_build(root: Path) -> None:
    """Of each series that a matrix names the newest release is asked for, and no other."""
    recipe = root / "recipes" / "libraries" / "openssl.yaml"
    text = recipe.read_text()
    for version in ("3.0.20", "3.0.9", "3.5.7"):
        old = f'"{version}": {{file: openssl-{version}.tar.gz,'
        text = text.replace(old, f"{old} urls: ['https://upstream.test/{version}'],")
    recipe.write_text(text)
    rows = [row for name, row in _rows(root).items() if name.startswith("source ")]
    assert [(row.name, row.detail) for row in rows] == [("source openssl 3.0.20", "https://upstream.test/3.0.20")]


def test_looking_leaves_nothing(root: Path) -> None:
    """The doctor makes no state directory."""
    _rows(root, home=root / "a" / "b")
    assert not (root / "a").exists()


def test_origin_that_is_not_reached_is_a_warning(root: Path) -> None:
    """A source or a mirror that does not answer is a warning with what else there is."""
    rows = [row for name, row in _rows(root, answer="cannot be reached").items() if name.startswith(("source", "base"))]
    assert {row.status for row in rows} == {"warning"}
    assert all(row.mend and "cannot be reached" in row.detail for row in rows)


def test_a_suite_that_the_mirror_does_not_have_may_be_misspelt(root: Path) -> None:
    """Where it answers that there is none, the network is not to blame: the nearest right name stands there."""
    recipe = root / "images" / "qemu" / "image.yaml"
    recipe.write_text(recipe.read_text().replace("bookworm", "bookwrom"))
    assert "did you mean 'bookworm'?" in _rows(root, answer="answers 404")["base bookwrom"].mend
    assert "network" in _rows(root, answer="answers 503")["base bookwrom"].mend


@pytest.mark.parametrize(
    ("answer", "status"),
    [("", "ok"), ("answers 401", "ok"), ("answers 502", "warning"), ("cannot be reached", "warning")],
)
def test_the_registry_of_a_pinned_base_is_asked(root: Path, answer: str, status: str) -> None:
    """One that wants a login has answered; without it the base is bootstrapped, so that its lack is a warning."""
    base = root / "images" / "base.yaml"
    base.write_text(f"bookworm: registry.test:5000/debian:bookworm@sha256:{'0' * 64}\n")
    row = _rows(root, answer=answer)["base bookworm"]
    assert row.detail.startswith("https://registry.test:5000/v2/")
    assert (row.status, bool(row.mend)) == (status, status == "warning")
    base.write_text(f"bookworm: debian:bookworm@sha256:{'0' * 64}\n")
    assert _rows(root, answer=answer)["base bookworm"].status == "ok"


def test_broken_recipes_are_a_row(root: Path) -> None:
    """Recipes that cannot be read do not stop the doctor."""
    shutil.rmtree(root / "recipes")
    rows = _rows(root)
    assert rows["recipes"].status == "missing"
    assert "Python" in rows
