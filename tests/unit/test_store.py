"""The state directory: results by key, runs, locks, atomic files."""

from __future__ import annotations

import errno
import fcntl
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NoReturn

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.record_samples import cell_record

from crossmatrix.api.removable import locked
from crossmatrix.errors import InfrastructureError, NoSpaceError, StoreError, UsageError
from crossmatrix.plan import JobKind
from crossmatrix.records import RunRecord
from crossmatrix.runner.waiting import taken
from crossmatrix.store import JobResult, State, write_text

KEY = "ab" * 32


@pytest.fixture
def state(tmp_path: Path) -> State:
    """Give a new state directory, at a path with a space and other letters than ASCII."""
    return State.open(tmp_path / "état d'essai")


def result(**changes: object) -> JobResult:
    """Give a result of a build job."""
    given = {"key": KEY, "kind": JobKind.BUILD, "id": "nettle/asm", "run_id": "r1", "inputs": {"source": "x"}}
    return JobResult.model_validate({**given, "ok": True, "sound": True, **changes})


def run_record(run_id: str) -> RunRecord:
    """Give a run that has just begun."""
    return RunRecord(schema=1, run_id=run_id, matrix="quick", started="2026-01-01T00:00:00+00:00")


def test_a_kept_result_is_read_again_with_its_files(state: State) -> None:
    """What a job left is kept under its key, each file with size and checksum."""
    folder = state.results.new_folder()
    write_text(folder / "logs" / "build.log", "made\n")
    kept = state.results.keep(folder, result())
    assert state.results.load(KEY) == kept
    assert [(file.path, file.size_bytes) for file in kept.files] == [("logs/build.log", 5)]
    assert (state.results.folder(KEY) / "logs" / "build.log").read_text() == "made\n"


def test_a_second_result_of_a_key_takes_the_first_ones_place(state: State) -> None:
    """After --fresh the newer result counts, whole, and nothing is left of the older."""
    for run_id in ("r1", "r2"):
        folder = state.results.new_folder()
        write_text(folder / f"{run_id}.txt", run_id)
        state.results.keep(folder, result(run_id=run_id))
    assert [path.name for path in state.results.folder(KEY).glob("*.txt")] == ["r2.txt"]
    assert not list(state.results.root.glob(".new-*"))


def test_a_doubted_result_is_kept_but_not_sound(state: State) -> None:
    """A result that may end otherwise next time stays readable."""
    kept = state.results.keep(state.results.new_folder(), result())
    state.results.doubt(kept)
    again = state.results.load(KEY)
    assert again is not None
    assert not again.sound


def test_a_doubt_does_not_touch_a_newer_result(state: State) -> None:
    """Where another run has put its own result there meanwhile, that one stays as it is."""
    old = state.results.keep(state.results.new_folder(), result())
    newer = state.results.keep(state.results.new_folder(), result(run_id="r2"))
    state.results.doubt(old)
    assert state.results.load(KEY) == newer


def test_a_tree_that_goes_leaves_the_result(state: State) -> None:
    """The result may still be used; that its tree is whole holds again with the next result of the key."""
    state.results.keep(state.results.new_folder(), result())
    for _ in range(2):
        state.results.tree_goes(KEY)
        kept = state.results.load(KEY)
        assert kept is not None
        assert (kept.sound, kept.tree) == (True, False)
    assert state.results.keep(state.results.new_folder(), result()).tree
    state.results.tree_goes("cd" * 32)
    assert state.results.load("cd" * 32) is None


@pytest.mark.parametrize("others", [1, 2, 5])
def test_a_tree_is_shared_by_many_or_held_by_one(state: State, others: int) -> None:
    """Who makes it waits for all who test it, and they for it; each sees the other through the file alone."""
    testing = [state.tree_lock(KEY, alone=False) for _ in range(others)]
    making = state.tree_lock(KEY, alone=True)
    for lock in testing:
        assert lock.take()
        assert not making.take()
    assert locked(state.home)
    for lock in testing:
        assert not making.take()
        lock.release()
    assert making.take()
    assert not any(lock.take() for lock in (*testing, state.tree_lock(KEY, alone=True)))
    making.release()
    making.release()
    assert testing[0].take()
    assert state.tree_lock("cd" * 32, alone=True).take()


@pytest.mark.parametrize("kind", ["lock", "tree"])
@pytest.mark.parametrize(
    ("code", "words"),
    [
        (errno.ENOSYS, "knows no locks"),
        (errno.ENOLCK, "knows no locks"),
        (errno.ENOTSUP, "knows no locks"),
        (errno.EIO, "the disk does not give"),
    ],
)
def test_a_disk_without_locks_is_refused(
    state: State, monkeypatch: pytest.MonkeyPatch, kind: str, code: int, words: str
) -> None:
    """One rule for all locks: without them two runs would disturb each other, so that nothing is begun there."""
    error = InfrastructureError if code == errno.EIO else StoreError

    def flock(*_arguments: object) -> NoReturn:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(fcntl, "flock", flock)
    with pytest.raises(error, match=words) as caught:
        taken(state.lock("x")) if kind == "lock" else state.tree_lock(KEY, alone=True).take()
    assert str(state.home) in str(caught.value)


@pytest.mark.parametrize("kind", ["lock", "tree"])
def test_another_users_lock_says_what_to_do(state: State, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    """After `sudo ./bootstrap` the locks are root's: the error names the file and how to get the folder back."""
    lock, tree = state.lock("x"), state.tree_lock(KEY, alone=True)

    def closed(path: object, *_words: object, **_named: object) -> NoReturn:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))

    monkeypatch.setattr(os, "open", closed)
    with pytest.raises(StoreError, match=r"cannot lock .*\.lock") as caught:
        taken(lock) if kind == "lock" else tree.take()
    assert f'sudo chown -R "$USER" {state.home}' in caught.value.hint


def test_only_a_whole_key_names_a_result(state: State) -> None:
    """A folder of another name is none of ours, and is neither read nor removed."""
    for name in ("2024", "cafe", "AB" * 32, "ab" * 33, KEY):
        (state.results.root / name).mkdir(parents=True)
    assert state.results.kept_keys() == (KEY,)


def test_a_file_that_goes_away_is_not_given(state: State, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another run may take a result away between two files of it: the cell has fewer, and nothing ends."""
    folder = state.results.new_folder()
    for name in ("a.log", "b.log"):
        write_text(folder / "logs" / name, name)
    kept = state.results.keep(folder, result())
    state.runs.begin(run_record("20260101-1"))
    linked = os.link

    def link(source: Path, target: Path) -> None:
        source.unlink() if source.name == "a.log" else None
        linked(source, target)

    monkeypatch.setattr(os, "link", link)
    files = [(file.name, file) for file in kept.files]
    added = state.runs.add_files("20260101-1", "x", "logs", state.results.folder(KEY), files)
    assert [file.name for file in added] == ["b.log"]


def test_a_damaged_result_counts_as_none(state: State) -> None:
    """A file that is no result makes the job run again, never an exception."""
    state.results.keep(state.results.new_folder(), result())
    (state.results.folder(KEY) / "result.json").write_text('{"key": ')
    assert state.results.load(KEY) is None
    assert list(state.results.all()) == []


@pytest.mark.parametrize("left", [None, b"", b"mad", b"made\nand more"])
def test_a_result_whose_files_are_not_whole_counts_as_none(state: State, left: bytes | None) -> None:
    """Where power was lost, or somebody removed or changed a file, the job runs again instead of an error."""
    folder = state.results.new_folder()
    write_text(folder / "logs" / "build.log", "made\n")
    state.results.keep(folder, result())
    file = state.results.folder(KEY) / "logs" / "build.log"
    file.unlink()
    if left is not None:
        file.write_bytes(left)
    assert state.results.load(KEY) is None
    again = state.results.keep(state.results.new_folder(), result())
    assert state.results.load(KEY) == again


def test_the_last_inputs_of_a_job_are_known_by_kind_and_id(state: State) -> None:
    """A rerun can say what changed; a build and a run of one id are two things."""
    state.results.keep(state.results.new_folder(), result())
    assert state.results.last_inputs(JobKind.BUILD, "nettle/asm") == {"source": "x"}
    assert state.results.last_inputs(JobKind.RUN, "nettle/asm") is None


def test_a_judgement_is_kept_for_the_code_that_made_it(state: State) -> None:
    """Another version of the judging code does not find it."""
    state.results.keep(state.results.new_folder(), result())
    record = cell_record()
    state.results.keep_judged(KEY, "1" * 64, record)
    assert state.results.judged(KEY, "1" * 64) == record
    assert state.results.judged(KEY, "2" * 64) is None


def test_runs_that_begin_together_do_not_disturb_each_other(state: State) -> None:
    """Each run gets its folder, whoever else begins one, and `latest` points to one of them."""
    ids = [f"20260101-{number}" for number in range(40)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda run_id: state.runs.begin(run_record(run_id)), ids))
    assert state.runs.ids() == tuple(sorted(ids))
    assert (state.runs.root / "latest").readlink().name in ids
    assert [path.name for path in state.runs.root.glob(".latest*")] == []


def test_latest_points_to_the_newest_run(state: State) -> None:
    """The link is relative, so that the state directory can be moved, and follows removals."""
    for run_id in ("20260101-1", "20260102-1"):
        state.runs.begin(run_record(run_id))
    assert (state.runs.root / "latest").readlink() == Path("20260102-1")
    state.runs.remove("20260102-1")
    assert state.runs.resolve("latest") == "20260101-1"
    assert (state.runs.root / "latest" / "run.json").is_file()


def test_a_killed_run_shows_the_cells_that_had_finished(state: State) -> None:
    """Cells are written on their own, so that a run without an end has them."""
    state.runs.begin(run_record("20260101-1"))
    record = cell_record()
    state.runs.write_cell("20260101-1", record)
    assert state.runs.load("20260101-1").cells == (record,)


def test_a_run_can_be_named_by_its_beginning(state: State) -> None:
    """A unique beginning is enough; an ambiguous or unknown one says what there is."""
    for run_id in ("20260101-1", "20260102-1"):
        state.runs.begin(run_record(run_id))
    assert state.runs.resolve("20260102") == "20260102-1"
    with pytest.raises(UsageError, match="begins the ids of 2 runs"):
        state.runs.resolve("2026")
    with pytest.raises(UsageError, match=r"no run 'latst'.*\n.*latest"):
        state.runs.resolve("latst")


def test_no_run_at_all_says_how_to_make_one(state: State) -> None:
    """An empty state directory gives the command."""
    with pytest.raises(UsageError, match="invoke matrix"):
        state.runs.resolve("latest")


def test_two_runs_of_one_id_are_refused(state: State) -> None:
    """A run never writes into another's folder."""
    state.runs.begin(run_record("20260101-1"))
    with pytest.raises(StoreError, match="exists already"):
        state.runs.begin(run_record("20260101-1"))


@pytest.mark.parametrize(("text", "words"), [("2\n", "newer Crossmatrix"), ("x\n", "number of a format")])
def test_a_state_directory_of_another_format_is_refused_untouched(tmp_path: Path, text: str, words: str) -> None:
    """What a newer version wrote is neither read nor changed."""
    (tmp_path / "format").write_text(text)
    with pytest.raises(StoreError, match=words):
        State.open(tmp_path)
    assert os.listdir(tmp_path) == ["format"]  # noqa: PTH208 - names alone
    assert (tmp_path / "format").read_text() == text


def test_a_file_in_the_place_of_the_state_directory_is_refused(tmp_path: Path) -> None:
    """The error names the path and the variable that moves it."""
    (tmp_path / "home").write_text("")
    with pytest.raises(StoreError, match="CROSSMATRIX_HOME"):
        State.open(tmp_path / "home")


def test_a_record_of_a_newer_schema_is_refused(state: State) -> None:
    """The error names file and versions, whatever else the newer record holds."""
    state.runs.begin(run_record("20260101-1"))
    write_text(state.runs.folder("20260101-1") / "run.json", '{"schema": 99, "else": 1}')
    with pytest.raises(StoreError, match="schema 99"):
        state.runs.load("20260101-1")


def test_a_full_disk_leaves_the_old_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The new file is dropped, the error says what to do."""
    write_text(tmp_path / "record", "old")

    def full(_handle: int) -> NoReturn:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(NoSpaceError, match="invoke clean"):
        write_text(tmp_path / "record", "new")
    assert (tmp_path / "record").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["record"]


def test_a_lock_is_held_by_one(state: State) -> None:
    """A second holder in another place of the program waits."""
    with state.lock("job"):
        other = state.lock("job")
        with pytest.raises(TimeoutError):
            other.acquire(timeout=0.01)
    with state.lock("job") as again:
        assert again.is_locked


@given(st.binary(max_size=200))
def test_no_content_of_a_result_file_raises(data: bytes) -> None:
    """Law: whatever stands in a result's file, reading gives a result or None."""
    import tempfile  # noqa: PLC0415 - hypothesis and tmp_path do not go together

    with tempfile.TemporaryDirectory() as name:
        state = State.open(Path(name))
        state.results.folder(KEY).mkdir(parents=True)
        (state.results.folder(KEY) / "result.json").write_bytes(data)
        assert state.results.load(KEY) is None


def test_results_may_be_read_by_whoever_the_users_umask_lets(tmp_path: Path) -> None:
    """A kept result has the mode of any folder that the user makes, like the run's files that link to it."""
    results = State.open(tmp_path / "home").results
    plain = tmp_path / "plain"
    plain.mkdir()
    results.keep(results.new_folder(), result())
    assert results.folder(KEY).stat().st_mode == plain.stat().st_mode
