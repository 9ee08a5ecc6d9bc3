"""What clean removes and what it keeps."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import pytest
from filelock import FileLock
from hypothesis import given
from hypothesis import strategies as st

from crossmatrix.api import clean as clean_module
from crossmatrix.api import removable
from crossmatrix.api.clean import Cleaned, choose, clean
from crossmatrix.api.removable import Item, locked
from crossmatrix.engine import mounts, worksites
from crossmatrix.engine.belongings import Belonging, belongings
from crossmatrix.engine.owners import HOME_LABEL, PID_LABEL, process_labels
from crossmatrix.errors import InfrastructureError, StoreError
from crossmatrix.plan import JobKind
from crossmatrix.records import RunRecord
from crossmatrix.runner.alive import BEGIN, is_held
from crossmatrix.store import JobResult, Runs, State

if TYPE_CHECKING:
    from crossmatrix.engine import DockerEngine
    from crossmatrix.engine.client import Client

KEYS = ("aa" * 32, "bb" * 32)
DEAD = {**process_labels(), PID_LABEL: "4194999"}

ITEMS = st.lists(
    st.builds(
        Item,
        kind=st.just("image"),
        name=st.text("abc", max_size=3),
        size_bytes=st.integers(0, 100),
        age_s=st.floats(0, 1000),
    ),
    max_size=10,
)


class PlayedEngine:
    """An engine with things of ours in it."""

    def __init__(self, *items: Belonging, in_use: str = "") -> None:
        self.client = self
        self.items = items
        self.removed: list[str] = []
        self._in_use = in_use

    def remove(self, item: Belonging) -> None:
        """Remove, or refuse what is in use."""
        if item.name == self._in_use:
            raise InfrastructureError(f"{item.name} is in use")
        self.removed.append(item.name)


@pytest.fixture(autouse=True)
def _played(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(removable, "belongings", lambda client: client.items)
    monkeypatch.setattr(removable, "remove_belonging", lambda client, item: client.remove(item))


def _thing(kind: str, name: str, home: Path, **labels: str) -> Belonging:
    return Belonging(
        kind=kind,
        id=name,
        name=name,
        labels={HOME_LABEL: str(home), **{f"crossmatrix.{key}": value for key, value in labels.items()}},
        created=1.0,
        size_bytes=10,
    )


def _clean(engine: PlayedEngine | None, home: Path, **options: object) -> Cleaned:
    given_options: dict[str, object] = {
        "dry_run": False,
        "older_than_s": None,
        "keep_bytes": None,
        "everything": False,
    }
    real: DockerEngine | None = engine  # type: ignore[assignment]
    return clean(real, home, **(given_options | options))  # type: ignore[arg-type]


def _dead(name: str, home: Path) -> Belonging:
    item = _thing("container", name, home)
    return Belonging(kind="container", id=name, name=name, labels={**DEAD, **item.labels}, created=1.0, size_bytes=None)


def test_only_this_state_directorys_things_go(tmp_path: Path) -> None:
    """What belongs to another state directory stays, unless everything is asked for."""
    mine, other = _thing("volume", "mine", tmp_path), _thing("volume", "other", Path("/other"))
    engine = PlayedEngine(mine, other)
    assert [item.name for item in _clean(engine, tmp_path).removed] == ["mine"]
    assert engine.removed == ["mine"]
    assert {item.name for item in _clean(engine, tmp_path, everything=True).removed} == {
        f"mine of {tmp_path}",
        "other of /other",
    }


def test_containers_go_before_volumes_and_images(tmp_path: Path) -> None:
    """The order is such that nothing is still in use by what goes later."""
    engine = PlayedEngine(_thing("image", "i", tmp_path), _thing("volume", "v", tmp_path), _dead("c", tmp_path))
    _clean(engine, tmp_path)
    assert engine.removed == ["c", "v", "i"]


def test_dry_run_removes_nothing(tmp_path: Path) -> None:
    """With dry_run the same things are named, and all are still there."""
    engine = PlayedEngine(_thing("volume", "v", tmp_path))
    cleaned = _clean(engine, tmp_path, dry_run=True)
    assert ([item.name for item in cleaned.removed], cleaned.freed_bytes, engine.removed) == (["v"], 10, [])


def test_live_run_keeps_what_it_uses(tmp_path: Path) -> None:
    """A container of a living process stays, and with it the volumes and images of its state directory."""
    item = _thing("container", "c", tmp_path)
    alive = Belonging(
        kind="container",
        id="c",
        name="c",
        labels={**process_labels(), **item.labels},
        created=1.0,
        size_bytes=None,
    )
    engine = PlayedEngine(
        alive, _dead("old", tmp_path), _thing("volume", "v", tmp_path), _thing("image", "i", tmp_path)
    )
    cleaned = _clean(engine, tmp_path)
    assert engine.removed == ["old"]
    assert {item.name for item in cleaned.kept} == {"c", "v", "i"}


def test_images_are_kept_for_other_state_directories(tmp_path: Path) -> None:
    """A base on which others' images are built stays, and every image while anybody's run works on the engine."""
    base = _thing("image", "base", tmp_path, image="base-bookworm")
    mine, other = _thing("image", "mine", tmp_path, image="gcc"), _thing("image", "other", Path("/other"), image="gcc")
    assert [item.name for item in _clean(PlayedEngine(base, mine, other), tmp_path).removed] == ["mine"]
    assert [item.name for item in _clean(PlayedEngine(base, mine), tmp_path).removed] == ["base", "mine"]
    labels = {**process_labels(), HOME_LABEL: "/other"}
    alive = Belonging(kind="container", id="c", name="c", labels=labels, created=1.0, size_bytes=None)
    assert _clean(PlayedEngine(base, mine, alive), tmp_path).removed == ()


def _unfinished(home: Path, *, age_s: float = 0.0) -> Belonging:
    """Give an image without a name; its labels are those of the base that it is built on."""
    labels = _thing("image", "", home, image="base-bookworm").labels
    created = time.time() - age_s
    return Belonging(kind="image", id="u", name="<unfinished u>", labels=labels, created=created, size_bytes=1)


@pytest.mark.parametrize("everything", [False, True])
def test_an_unfinished_image_goes_where_nothing_builds(tmp_path: Path, everything: bool) -> None:  # noqa: FBT001 - a parameter
    """However young, an image without a name is rubbish while no state directory that is known builds one."""
    other = _thing("image", "other", tmp_path / "other", image="gcc")
    (tmp_path / "other" / "locks").mkdir(parents=True)
    cleaned = _clean(PlayedEngine(_unfinished(tmp_path), other), tmp_path, everything=everything)
    assert [item.name.split(" of ")[0] for item in cleaned.kept] == []
    assert "<unfinished u>" in cleaned.removed[0].name


@pytest.mark.parametrize("builder", ["mine", "other"])
@pytest.mark.parametrize("age_s", [0.0, 1e6])
def test_an_unfinished_image_stays_while_one_is_being_built(tmp_path: Path, builder: str, age_s: float) -> None:
    """The lock of an image tells that it is being built, also from a state directory whose label it does not carry."""
    mine, other = tmp_path / "mine", tmp_path / "other"
    for home in (mine, other):
        (home / "locks").mkdir(parents=True)
    base = _thing("image", "base", mine, image="base-bookworm")
    engine = PlayedEngine(_unfinished(mine, age_s=age_s), base, _thing("volume", "v", other))
    with FileLock(tmp_path / builder / "locks" / "image-x.lock", thread_local=False):
        kept = {item.name: item.kept for item in _clean(engine, mine).kept}
        assert kept["<unfinished u>"]
        assert kept["<unfinished u>"] == f"an image is being built from {tmp_path / builder}"
        assert kept["base"]
    assert [item.name for item in _clean(engine, mine).removed] == ["<unfinished u>", "base"]


def test_where_locks_cannot_be_seen_the_age_decides(tmp_path: Path) -> None:
    """A state directory of another machine may build on our base: a young image stays, an old one is rubbish."""
    far = _thing("volume", "v", Path("/nowhere/state"))
    kept = _clean(PlayedEngine(_unfinished(tmp_path), far), tmp_path).kept
    assert [item.name for item in kept] == ["<unfinished u>"]
    assert "/nowhere/state" in kept[0].kept
    engine = PlayedEngine(_unfinished(tmp_path, age_s=7201), far)
    assert [item.name for item in _clean(engine, tmp_path).removed] == ["<unfinished u>"]


@pytest.mark.parametrize("everything", [False, True])
def test_another_users_private_folder_is_one_that_cannot_be_seen(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    everything: bool,  # noqa: FBT001 - a parameter
) -> None:
    """A state directory of mode 0700 of somebody else's on the engine ends no clean; root stands for nobody here."""
    private = tmp_path / "private" / "state"
    real_access, real_glob, real_stat = os.access, Path.glob, Path.stat

    def within(path: object) -> bool:
        return str(path).startswith(str(private))

    def glob(path: Path, pattern: str) -> object:
        if within(path):
            raise PermissionError(13, "Permission denied", str(path))
        return real_glob(path, pattern)

    def stat(path: Path, **named: bool) -> os.stat_result:
        if within(path):
            raise PermissionError(13, "Permission denied", str(path))
        return real_stat(path, **named)

    monkeypatch.setattr(Path, "glob", glob)
    monkeypatch.setattr(Path, "stat", stat)
    monkeypatch.setattr(os, "access", lambda path, mode: not within(path) and real_access(path, mode))
    mine, other = _thing("volume", "v", tmp_path), _thing("image", "other", private, image="gcc")
    cleaned = _clean(PlayedEngine(_unfinished(tmp_path), mine, other), tmp_path, everything=everything)
    assert "v" in {item.name.split(" of ")[0] for item in cleaned.removed}
    kept = {item.name.split(" of ")[0]: item.kept for item in cleaned.kept}
    assert f"{private} is not to be seen from here" in kept["<unfinished u>"]


def test_images_without_a_name_go_before_those_they_are_built_on() -> None:
    """Newest first, and of one second those without a name: else the base would only lose its name."""
    rows = [
        {"Id": "sha256:b", "RepoTags": ["crossmatrix/base-bookworm:1"], "Created": 5, "Labels": {}},
        {"Id": "sha256:u", "RepoTags": None, "Created": 5, "Labels": {}},
        {"Id": "sha256:g", "RepoTags": ["crossmatrix/gcc-12:1"], "Created": 6, "Labels": {}},
    ]

    class Answering:
        def ask(self, doing: str, _call: object) -> object:
            return rows if "images" in doing else {} if "volumes" in doing else []

    client: Client = Answering()  # type: ignore[assignment]
    assert [item.id[-1] for item in belongings(client)] == ["g", "u", "b"]


@pytest.mark.parametrize("dry_run", [True, False])
def test_a_folder_that_is_not_ours_loses_nothing(tmp_path: Path, dry_run: bool) -> None:  # noqa: FBT001 - a parameter
    """A project with folders that are named like ours keeps all that is in them, a lock file's folder too."""
    key = "ab" * 32
    names = ("tmp/a/x", "tmp/base-a/x", "results/2024/x", f"results/{key}/x", "results/.new-1/x", "runs/x/run.json")
    for name in (*names, "locks/mine.lock"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("{}")
    before = sorted(tmp_path.rglob("*"))
    cleaned = _clean(PlayedEngine(), tmp_path, dry_run=dry_run)
    assert (cleaned.removed, cleaned.kept) == ((), ())
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("name", ["tmp/notes", "results/2024", "results/cafe", "runs/x"])
def test_in_our_folder_too_only_what_we_made_goes(tmp_path: Path, name: str) -> None:
    """Folders of other names than those that we give are somebody's own."""
    State.open(tmp_path)
    (tmp_path / name).mkdir(parents=True)
    assert _clean(None, tmp_path).removed == ()
    assert (tmp_path / name).is_dir()


def _bootstrap_tree(home: Path, elsewhere: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Leave what a killed bootstrap leaves, where the state directory's path lets it lie."""
    State.open(home)
    monkeypatch.setattr(worksites, "_ELSEWHERE", elsewhere)
    elsewhere.mkdir(exist_ok=True)
    tree = worksites.work_folder(home, "bookworm")
    (tree / "proc").mkdir(parents=True)
    return tree


@pytest.mark.parametrize("name", ["plain", "zwölf Grüße"])
def test_half_a_bootstrapped_tree_goes_wherever_it_lies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """What another state directory left beside it stays, and so does a link and what another user made."""
    home, elsewhere = tmp_path / name, tmp_path / "elsewhere"
    tree = _bootstrap_tree(home, elsewhere, monkeypatch)
    other = _bootstrap_tree(tmp_path / "other süß", elsewhere, monkeypatch)
    (elsewhere / "precious").mkdir()
    link = tree.with_name(f"{tree.name}0")
    link.symlink_to(elsewhere / "precious")
    with State.open(home).lock("image-base-bookworm"):
        assert [item.kept for item in _clean(None, home).kept] == ["a run works in this state directory"]
    cleaned = _clean(None, home)
    assert [(item.kind, Path(item.name).name) for item in cleaned.removed] == [("temporary", tree.name)]
    assert (tree.exists(), link.is_symlink(), other.is_dir()) == (False, True, True)
    monkeypatch.setattr(os, "geteuid", lambda: 4242)
    assert _clean(None, tmp_path / "other süß").removed == ()


@pytest.mark.parametrize("busy", [False, True])
def test_nothing_is_removed_through_a_mount(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, busy: bool) -> None:  # noqa: FBT001 - a parameter
    """What debootstrap had mounted is unmounted first; where that fails, the tree stays and says why."""
    tree = _bootstrap_tree(tmp_path / "home", tmp_path / "elsewhere", monkeypatch)
    points = [tree / "proc"]

    def unmount(folder: Path) -> int:
        assert folder == tree
        if busy:
            raise InfrastructureError(f"Could not unmount {points[0]}: target is busy")
        assert folder.is_dir()
        points.clear()
        return 1

    monkeypatch.setattr(mounts, "mount_points", lambda: tuple(points))
    monkeypatch.setattr(removable, "unmount_below", unmount)
    cleaned = _clean(None, tmp_path / "home")
    (item,) = cleaned.kept if busy else cleaned.removed
    assert item.size_bytes is None
    assert (tree.is_dir(), "target is busy" in item.kept) == (busy, busy)


@pytest.mark.parametrize("error", [subprocess.TimeoutExpired("umount", 60), FileNotFoundError(2, "No such file")])
def test_an_unmount_that_comes_to_no_end_is_a_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    """Whatever keeps `umount` from its work, the tree stays, and the rest of the list is told."""
    tree = _bootstrap_tree(tmp_path / "home", tmp_path / "elsewhere", monkeypatch)

    def run(command: list[str], **_named: object) -> NoReturn:
        assert command[0] == "umount"
        raise error

    monkeypatch.setattr(mounts, "mount_points", lambda: (tree / "proc",))
    monkeypatch.setattr(subprocess, "run", run)
    (item,) = _clean(None, tmp_path / "home").kept
    assert item.kept.startswith(f"Could not unmount {tree / 'proc'}: ")
    assert tree.is_dir()


@pytest.mark.parametrize("gone", [False, True])
def test_an_error_on_the_way_does_not_hide_what_was_removed(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    gone: bool,  # noqa: FBT001 - a parameter
) -> None:
    """Where `latest` cannot be led elsewhere, the list of what went is told, with the run only where it is gone."""
    _state_with_one_of_each(tmp_path)
    remove = Runs.remove

    def refuse(runs: Runs, run_id: str) -> None:
        if gone:
            remove(runs, run_id)
        raise StoreError("cannot use latest: Permission denied")

    monkeypatch.setattr(Runs, "remove", refuse)
    cleaned = _clean(None, tmp_path)
    assert sorted(item.kind for item in cleaned.removed) == sorted(["result", "result", "temporary", *["run"] * gone])
    assert [item.kept for item in cleaned.kept] == ([] if gone else ["cannot use latest: Permission denied"])


@pytest.mark.parametrize("dry_run", [True, False])
def test_a_folder_that_is_not_ours_gets_nothing(tmp_path: Path, dry_run: bool) -> None:  # noqa: FBT001 - a parameter
    """To look over, or clean, a folder that was named by mistake leaves it as it is."""
    (tmp_path / "thesis.txt").write_text("my only copy")
    _clean(PlayedEngine(), tmp_path, dry_run=dry_run)
    assert [path.name for path in tmp_path.rglob("*")] == ["thesis.txt"]


def test_held_lock_keeps_volumes_images_and_results(tmp_path: Path) -> None:
    """A run that works, or an image that is built, holds a lock: nothing that it may use is removed."""
    (tmp_path / "locks").mkdir()
    engine = PlayedEngine(_thing("image", "i", tmp_path))
    with FileLock(tmp_path / "locks" / "image-x.lock", thread_local=False):
        assert locked(tmp_path)
        assert [item.kept for item in _clean(engine, tmp_path).kept] == ["a run works in this state directory"]
    assert not locked(tmp_path)
    assert [item.name for item in _clean(engine, tmp_path).removed] == ["i"]


def test_a_lock_of_another_users_run_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A lock file that may only be read tells as much as one's own."""
    (tmp_path / "locks").mkdir()
    opened = os.open

    def read_only(path: str, flags: int, *words: int, **named: int) -> int:
        if str(path).endswith(".lock") and flags & (os.O_RDWR | os.O_WRONLY):
            raise PermissionError(13, "Permission denied", path)
        return opened(path, flags, *words, **named)

    with FileLock(tmp_path / "locks" / "run-x.lock", thread_local=False):
        monkeypatch.setattr(os, "open", read_only)
        assert locked(tmp_path)
    assert not locked(tmp_path)


@pytest.mark.parametrize("dry_run", [True, False])
def test_no_run_begins_while_things_are_removed(tmp_path: Path, dry_run: bool) -> None:  # noqa: FBT001 - a parameter
    """A run that began meanwhile would find a result that is gone a moment later; only to look hinders nobody."""
    held: list[bool] = []
    begin = State.open(tmp_path).home / "locks" / f"{BEGIN}.lock"

    class Watching(PlayedEngine):
        def remove(self, item: Belonging) -> None:
            held.append(is_held(begin))
            super().remove(item)

    cleaned = _clean(Watching(_thing("image", "i", tmp_path)), tmp_path, dry_run=dry_run)
    assert [item.name for item in cleaned.removed] == ["i"]
    assert held == ([] if dry_run else [True])
    assert not is_held(begin)


def test_two_cleans_follow_each_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second does not take the first for a run; one that never ends is told, with what to do."""
    monkeypatch.setattr(clean_module, "BEGIN_S", 0.01)
    with State.open(tmp_path).lock(BEGIN):
        assert not locked(tmp_path)
        with pytest.raises(InfrastructureError, match="another `invoke clean`") as caught:
            _clean(None, tmp_path)
    assert caught.value.hint


def test_what_a_run_moves_away_meanwhile_is_no_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A job that ends while `clean --dry-run` looks takes its half-made folder with it."""
    begun = State.open(tmp_path).results.new_folder()

    def gone(_paths: object) -> int:
        begun.rmdir() if begun.is_dir() else None
        return 0

    monkeypatch.setattr(removable, "size_bytes", gone)
    assert [item.age_s for item in _clean(None, tmp_path, dry_run=True).kept] == [None]


def test_what_is_in_use_is_kept_with_the_reason(tmp_path: Path) -> None:
    """The engine's refusal is shown, and the rest is removed all the same."""
    engine = PlayedEngine(_thing("image", "a", tmp_path), _thing("image", "b", tmp_path), in_use="a")
    cleaned = _clean(engine, tmp_path)
    assert [(item.name, item.kept) for item in cleaned.kept] == [("a", "a is in use")]
    assert engine.removed == ["b"]


def test_runs_and_what_was_begun_go(tmp_path: Path) -> None:
    """Runs and half-made folders are removed, also without an engine; nothing else in the folder is touched."""
    state = State.open(tmp_path)
    for run_id in ("20250101-a", "20250102-b"):
        started = f"{run_id[:4]}-01-01T00:00:00+00:00"
        state.runs.begin(RunRecord(run_id=run_id, matrix="m", started=started, finished=started))
    (tmp_path / "results" / ".new-x").mkdir(parents=True)
    (tmp_path / "sources").mkdir()
    (tmp_path / "sources" / "tarball").write_text("x")
    cleaned = _clean(None, tmp_path)
    assert [(item.kind, item.name) for item in cleaned.removed] == [
        ("run", "20250101-a"),
        ("run", "20250102-b"),
        ("temporary", "results/.new-x"),
    ]
    assert state.runs.ids() == ()
    assert (tmp_path / "sources" / "tarball").exists()


def test_state_directory_that_is_not_there(tmp_path: Path) -> None:
    """Nothing to clean is no error, and makes no folder."""
    assert _clean(None, tmp_path / "none").removed == ()
    assert not (tmp_path / "none").exists()


@given(items=ITEMS, older_than_s=st.floats(0, 1000))
def test_age_decides(items: list[Item], older_than_s: float) -> None:
    """What goes is older than asked for, what stays is younger; nothing is lost or reordered."""
    chosen = choose(items, older_than_s=older_than_s, keep_bytes=None)
    assert [item.name for item in chosen] == [item.name for item in items]
    assert all(bool(item.kept) == ((item.age_s or 0) < older_than_s) for item in chosen)


@given(items=ITEMS, keep_bytes=st.integers(0, 400))
def test_what_stays_fits_and_is_the_newest(items: list[Item], keep_bytes: int) -> None:
    """What is kept is no more than asked for, and nothing kept is older than what goes."""
    chosen = choose(items, older_than_s=None, keep_bytes=keep_bytes)
    kept = [item for item in chosen if item.kept]
    gone = [item for item in chosen if not item.kept]
    assert sum(item.size_bytes or 0 for item in kept) <= keep_bytes
    assert all((a.age_s or 0) <= (b.age_s or 0) for a in kept for b in gone)


def test_unknown_age_is_kept_when_age_is_asked_for() -> None:
    """Where an age cannot be told, nothing is removed for it."""
    item = Item(kind="volume", name="x", size_bytes=1, age_s=None)
    assert choose([item], older_than_s=5, keep_bytes=None)[0].kept


def _state_with_one_of_each(home: Path) -> State:
    """Leave a run, a result, a result whose record is damaged, and something begun."""
    state = State.open(home)
    started = "2025-01-01T00:00:00+00:00"
    state.runs.begin(RunRecord(run_id="20250101-a", matrix="m", started=started, finished=started))
    for key in KEYS:
        result = JobResult(key=key, kind=JobKind.RUN, id="x/y", run_id="r", inputs={}, ok=True, sound=True)
        state.results.keep(state.results.new_folder(), result)
    (state.results.folder(KEYS[1]) / "result.json").write_text("damaged")
    state.results.new_folder()
    return state


def test_what_this_user_may_not_remove_is_kept_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of another user's state directory nothing is said to go, with --dry-run or without, and nothing is left out."""
    _state_with_one_of_each(tmp_path)
    monkeypatch.setattr(removable, "_may", lambda _path, mode: not mode & os.W_OK)
    for dry_run in (True, False):
        cleaned = _clean(None, tmp_path, dry_run=dry_run)
        assert cleaned.removed == ()
        assert sorted(item.kind for item in cleaned.kept) == ["result", "result", "run", "temporary"]
        assert {item.kept for item in cleaned.kept} == {"it is another user's: you may not remove it"}


def test_folders_that_may_not_be_read_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the results or the runs cannot even be listed, that is a line."""
    state = _state_with_one_of_each(tmp_path)
    monkeypatch.setattr(removable, "_may", lambda path, _mode: path not in {state.results.root, state.runs.root})
    names = {item.name for item in _clean(None, tmp_path, dry_run=True).kept}
    assert {f"all in {state.results.root}", f"all in {state.runs.root}"} <= names


def test_what_could_not_be_removed_is_not_said_to_be_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A removal that silently leaves the folder is no removal."""
    _state_with_one_of_each(tmp_path)
    monkeypatch.setattr("shutil.rmtree", lambda *_words, **_options: None)
    cleaned = _clean(None, tmp_path)
    assert cleaned.removed == ()
    assert len(cleaned.kept) == 4


def test_a_damaged_result_goes_too(tmp_path: Path) -> None:
    """A result whose record cannot be read takes room like any other."""
    state = _state_with_one_of_each(tmp_path)
    assert len(_clean(None, tmp_path).removed) == 4
    assert not state.results.folder(KEYS[1]).exists()


def test_everything_says_whose_each_is(tmp_path: Path) -> None:
    """Of all state directories, each line has its own; without --everything there is only one."""
    mine, other = _thing("volume", "v", tmp_path), _thing("volume", "w", Path("/other"))
    engine = PlayedEngine(mine, other)
    names = [item.name for item in _clean(engine, tmp_path, everything=True, dry_run=True).removed]
    assert names == [f"v of {tmp_path}", "w of /other"]
