"""Runs in which something other than the library is at fault: never kept, blamed on what it is, and survived."""

from __future__ import annotations

import errno
import json
import os
from dataclasses import replace
from typing import TYPE_CHECKING, NoReturn

import pytest
from tenacity import wait_none
from tests.unit.fake_engine import Act
from tests.unit.runner_samples import RUN_FILES, SECOND_PROFILE, World, by_id, cell, other_source, verdicts, with_clang

from crossmatrix.errors import ExitCode, InfrastructureError, NoSpaceError, PatchError, TransientError
from crossmatrix.events import Note, RunStarted
from crossmatrix.records import Verdict
from crossmatrix.runner import attempt, jobs
from crossmatrix.store import Results, Runs, State, atomic
from crossmatrix.store.runs import RESERVED_BYTES

if TYPE_CHECKING:
    from pathlib import Path

    from crossmatrix.events import Event


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Try again at once."""
    monkeypatch.setattr(jobs, "RETRY_WAIT", wait_none())


def notes(world: World) -> list[str]:
    """Give what was told to the user."""
    return [event.message for event in world.of_kind(Note) if isinstance(event, Note)]


def test_an_engine_s_fault_is_never_the_library_s(world: World) -> None:
    """The cell says `infrastructure` with what to do, the exit code is 3, and the next run tries again."""
    error = InfrastructureError("the engine lost a container", hint="look at its log")
    world.engine.on("run * evidence", Act(error=error, times=1))
    record = world.run(cell())
    assert verdicts(record) == [Verdict.INFRASTRUCTURE]
    assert record.cells[0].reason == "the engine lost a container. look at its log"
    assert "--fresh" not in record.cells[0].reproduce
    assert record.exit_code == ExitCode.INFRASTRUCTURE
    second = world.again().run(cell())
    assert verdicts(second) == [Verdict.PASSED]
    assert not second.cells[0].cached


def test_what_passes_by_itself_is_tried_again_in_sight(world: World) -> None:
    """A transient fault costs another container, is told, is noted in the kept result, and leaves nothing behind."""
    world.engine.on("run * words", Act(error=TransientError("a hiccup"), times=2))
    record = world.run(cell())
    assert verdicts(record) == [Verdict.PASSED]
    assert len(world.engine.started) == 4
    assert [text for text in notes(world) if "a hiccup" in text and "tried again" in text]
    result = world.state.results.load(record.cells[0].keys["run"])
    assert result is not None
    assert [note.split(":")[0] for note in result.notes] == ["try 1 of 3 failed", "try 2 of 3 failed"]


def test_a_fault_that_stays_is_given_up(world: World) -> None:
    """Three tries, then the verdict."""
    world.engine.on("build * configure", Act(error=TransientError("a hiccup")))
    record = world.run(cell())
    assert verdicts(record) == [Verdict.INFRASTRUCTURE]
    assert len(world.engine.started) == 3
    assert record.exit_code == ExitCode.INFRASTRUCTURE


def test_a_plain_fault_is_not_tried_again(world: World) -> None:
    """Only what may pass by itself is."""
    world.engine.on("build * configure", Act(error=InfrastructureError("no such image")))
    world.run(cell())
    assert len(world.engine.started) == 1


def test_a_stage_that_fails_with_a_full_disk_s_words_is_not_blamed_on_the_library(world: World) -> None:
    """The compiler's `No space left on device` makes the cell `infrastructure`, and the result is not kept."""
    words = b"/tmp/x.s: fatal error: error writing to x.o: No space left on device\n"
    world.engine.on("build * build", Act(code=1, output=words, times=1))
    assert verdicts(world.run(cell())) == [Verdict.INFRASTRUCTURE]
    assert verdicts(world.again().run(cell())) == [Verdict.PASSED]


@pytest.mark.parametrize("stage", ["build * unpack", "build * collect", "run * emulator"])
def test_a_stage_of_ours_that_fails_is_never_kept(world: World, stage: str) -> None:
    """Moving files and starting the emulator say nothing of the library: the next run tries again."""
    world.engine.on(stage, Act(code=1, output=b"something broke\n", times=1))
    record = world.run(cell())
    assert (verdicts(record), record.exit_code) == ([Verdict.INFRASTRUCTURE], ExitCode.INFRASTRUCTURE)
    assert verdicts(world.again().run(cell())) == [Verdict.PASSED]


def test_a_real_failure_counts_more_than_an_engine_s_fault(world: World) -> None:
    """One failed cell beside one that could not be run: exit code 1."""
    world.engine.on("build *clang* configure", Act(error=InfrastructureError("gone")))
    world.engine.on("run *gcc* test", Act(code=1))
    world.engine.leaves("run *", {})
    record = world.run(cell(), with_clang())
    assert Verdict.INFRASTRUCTURE in verdicts(record)
    assert record.exit_code == ExitCode.UNEXPECTED


def test_a_source_that_cannot_be_had_hits_its_own_cells(world: World) -> None:
    """The others are built and tested; the reason says which source and what to do."""
    world.unfetchable.add("3.8.1")
    record = world.run(cell(), other_source())
    assert verdicts(record) == [Verdict.PASSED, Verdict.INFRASTRUCTURE]
    assert record.cells[1].reason == "3.8.1 cannot be had. give --mirror"
    assert record.exit_code == ExitCode.INFRASTRUCTURE
    assert world.fetched.count("3.8.1") == 1


def test_a_source_is_asked_for_once_also_beside_missing_images(world: World) -> None:
    """What could not be had while images were built is not waited for a second time."""
    world.engine.images.clear()
    world.unfetchable.add("3.8.1")
    record = world.run(cell(), other_source())
    assert verdicts(record) == [Verdict.PASSED, Verdict.INFRASTRUCTURE]
    assert sorted(world.fetched) == ["3.10.2", "3.8.1"]


def test_what_the_user_has_to_mend_first_leaves_no_run(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A source that changed under the run is told as an error; the newest run is the one before."""
    before = world.run(cell())

    def changed(_self: World, _spec: object) -> NoReturn:
        raise PatchError("the patch does not apply")

    monkeypatch.setattr(World, "_fetch", changed)
    with pytest.raises(PatchError):
        world.again().run(other_source())
    assert world.state.runs.ids() == (before.run_id,)
    assert (world.home / "runs" / "latest").readlink().name == before.run_id


def test_an_image_that_cannot_be_built_hits_its_own_cells(world: World) -> None:
    """Cells of the other toolchain are done."""
    world.engine.images.discard("clang-16")
    world.engine.image_faults["clang-16"] = InfrastructureError("no mirror answers", hint="mend the network")
    record = world.run(cell(), with_clang())
    assert verdicts(record) == [Verdict.PASSED, Verdict.INFRASTRUCTURE]
    assert record.cells[1].reason == "no mirror answers. mend the network"
    assert record.exit_code == ExitCode.INFRASTRUCTURE


def test_an_engine_that_dies_in_the_middle(world: World) -> None:
    """What had finished stays, the rest is `infrastructure`, and the record is whole."""
    dies = Act(error=TransientError("gone"), then=world.engine.die, times=1)
    world.engine.on(f"run *{SECOND_PROFILE.name} words", dies)
    record = world.run(cell(), cell(SECOND_PROFILE), with_clang())
    assert verdicts(record)[:2] == [Verdict.PASSED, Verdict.INFRASTRUCTURE]
    assert "the engine is gone" in record.cells[1].reason
    assert (record.state, record.exit_code) == ("finished", ExitCode.INFRASTRUCTURE)
    assert any("containers of this run may be left" in text for text in record.notes)
    world.engine.dead = False
    second = world.again().run(cell(), cell(SECOND_PROFILE))
    assert [one.cached for one in second.cells] == [True, False]
    assert verdicts(second) == [Verdict.PASSED, Verdict.PASSED]


def test_an_engine_that_is_gone_before_the_first_job(world: World) -> None:
    """All cells are `infrastructure`, and the run's record is there."""
    world.engine.dead = True
    record = world.run(cell(), other_source())
    assert verdicts(record) == [Verdict.INFRASTRUCTURE] * 2
    assert "start it again" in record.cells[0].reason
    assert world.state.runs.load(record.run_id).exit_code == ExitCode.INFRASTRUCTURE


def test_a_full_disk_of_the_engine_stops_the_run(world: World) -> None:
    """One NoSpaceError: nothing more is started, what had finished stays, the rest says why."""
    world.engine.on(f"run *{SECOND_PROFILE.name} words", Act(error=NoSpaceError("the engine's disk is full")))
    record = world.run(cell(), cell(SECOND_PROFILE), with_clang())
    assert verdicts(record) == [Verdict.PASSED, Verdict.INFRASTRUCTURE, Verdict.INFRASTRUCTURE]
    assert {one.reason for one in record.cells[1:]} == {"the engine's disk is full"}
    assert (record.state, record.exit_code) == ("finished", ExitCode.INFRASTRUCTURE)
    assert record.notes == ("stopped: the engine's disk is full",)
    assert not list(world.state.results.root.glob(".new-*"))


def fill(monkeypatch: pytest.MonkeyPatch, home: Path, *, room: int) -> None:
    """Let the disk be full: a file can be written only in what the run had kept for its end, or in ``room`` bytes."""
    write = atomic.write_bytes

    def refuse(path: Path, data: bytes) -> None:
        if any(home.glob("runs/*/.reserve")) or len(data) > room:
            raise NoSpaceError(f"no space left while writing {path}")
        write(path, data)

    monkeypatch.setattr(atomic, "write_bytes", refuse)


@pytest.mark.parametrize(("room", "cells"), [(RESERVED_BYTES, 2), (2000, 0)])
def test_a_disk_that_is_full_to_the_last_does_not_leave_a_run_without_an_end(
    world: World, monkeypatch: pytest.MonkeyPatch, room: int, cells: int
) -> None:
    """The last record has space of its own; where that is too little, at least how the run ended is written."""
    world.engine.on("build * configure", Act(then=lambda: fill(monkeypatch, world.home, room=room)))
    record = world.run(cell(), cell(SECOND_PROFILE))
    monkeypatch.undo()
    assert verdicts(record) == [Verdict.INFRASTRUCTURE] * 2
    stored = json.loads((world.state.runs.folder(record.run_id) / "run.json").read_text())
    assert (stored["state"], stored["exit_code"], bool(stored["finished"])) == ("finished", 3, True)
    assert "no space left" in stored["notes"][0]
    assert len(stored["cells"]) == cells
    assert not list(world.home.glob("runs/*/.reserve"))


def test_a_disk_that_gives_no_space_to_keep_is_no_reason_not_to_begin(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether a run has room is asked elsewhere."""

    def refuse(*_words: object) -> NoReturn:
        raise NoSpaceError("full")

    monkeypatch.setattr(Runs, "reserve", refuse)
    assert verdicts(world.run(cell())) == [Verdict.PASSED]


def test_a_full_disk_stops_before_a_build_too(world: World) -> None:
    """When it is the build that finds the disk full, its cells are `infrastructure`, not merely aborted."""
    world.engine.on("build * build", Act(error=NoSpaceError("the engine's disk is full")))
    record = world.run(cell(), cell(SECOND_PROFILE), other_source())
    assert verdicts(record) == [Verdict.INFRASTRUCTURE] * 3
    assert len(world.engine.started) == 1
    assert record.exit_code == ExitCode.INFRASTRUCTURE


def test_a_full_disk_of_ours_leaves_a_record_and_a_sound_store(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Results and records that cannot be written end the run in order; with room again the next one goes on."""
    world.run(cell())
    full = NoSpaceError("no space left while writing a result")

    def refuse(*_args: object) -> NoReturn:
        raise full

    with monkeypatch.context() as patch:
        patch.setattr(Results, "keep", refuse)
        patch.setattr(Runs, "write_cell", refuse)
        patch.setattr(Runs, "write", lambda _self, record: refuse() if record.finished else None)
        record = world.again().run(cell(), cell(SECOND_PROFILE))
    assert verdicts(record) == [Verdict.PASSED, Verdict.INFRASTRUCTURE]
    assert record.exit_code == ExitCode.INFRASTRUCTURE
    assert record.notes == (f"stopped: {full}",)
    assert world.engine.live == []
    second = world.again().run(cell(), cell(SECOND_PROFILE))
    assert [(one.cached, one.verdict) for one in second.cells] == [(True, Verdict.PASSED), (False, Verdict.PASSED)]


def test_a_log_that_cannot_be_written_is_our_own_full_disk(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names our file, not the engine's disk, and is no traceback."""

    def tee(path: Path, _write: object, _tell: object) -> object:
        def full(_data: bytes) -> NoReturn:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        return real(path, full, lambda _data: None)

    real = attempt._tee
    monkeypatch.setattr(attempt, "_tee", tee)
    record = world.run(cell())
    assert verdicts(record) == [Verdict.INFRASTRUCTURE]
    assert "unpack.log" in record.cells[0].reason
    assert "invoke clean" in record.cells[0].reason


def test_files_of_an_earlier_result_do_not_speak_for_a_job_that_never_began(world: World) -> None:
    """A cell that could not be run shows no evidence, tests or figures of the time before."""
    world.run(cell())
    again = world.again()
    again.engine.images.discard("qemu-7.2")
    again.engine.image_faults["qemu-7.2"] = InfrastructureError("no mirror answers")
    record = again.run(cell(), fresh=True)
    one = record.cells[0]
    assert one.verdict is Verdict.INFRASTRUCTURE
    assert (one.vectors, one.outcomes, one.evidence.execution) == (None, (), None)
    assert not any(file.name == "suite.log" for file in one.artifacts)


def test_a_second_try_starts_with_empty_hands(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a first try left is not taken for what the second one made."""
    taken: list[str] = []
    real = world.engine.files_for

    def files_for(script: str) -> dict[str, bytes]:
        if script.startswith("run "):
            taken.append(script)
            if len(taken) == 1:
                return {**real(script), "stale.txt": b"of the first try"}
        return real(script)

    monkeypatch.setattr(world.engine, "files_for", files_for)
    first = attempt.Attempt.carry_out
    failed: list[str] = []

    def carry_out(tried: attempt.Attempt) -> object:
        stages = first(tried)
        if tried._job.cell is not None and not failed:
            failed.append(tried._job.id)
            raise TransientError("lost at the very end")
        return stages

    monkeypatch.setattr(attempt.Attempt, "carry_out", carry_out)
    record = world.run(cell())
    assert len(taken) == 2
    assert verdicts(record) == [Verdict.PASSED]
    assert not any(file.name == "stale.txt" for file in record.cells[0].artifacts)


def test_a_second_try_has_no_logs_of_the_first(world: World) -> None:
    """A stage that only the first try came to has no log in what is kept, as it has no record."""
    world.engine.on("build * collect", Act(error=TransientError("lost"), times=1))
    world.engine.on("build * unpack", Act(code=1, output=b"no tar\n"))
    world.engine.on("build * unpack", Act(times=1))
    record = world.run(cell())
    folder = world.state.results.folder(record.cells[0].keys["build"])
    assert [path.name for path in (folder / "logs").iterdir()] == ["unpack.log"]


def test_a_defect_of_ours_leaves_no_container(world: World) -> None:
    """An exception that nobody expected is raised, after everything of the run was stopped."""

    def break_down(event: Event) -> None:
        if type(event).__name__ == "CellFinished":
            raise ZeroDivisionError

    world.on_event = break_down
    with pytest.raises(ZeroDivisionError):
        world.run(cell(), with_clang())
    assert world.engine.live == []
    assert not list(world.home.rglob(".reserve"))


def test_a_lock_that_may_not_be_taken_hits_its_own_job(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """After `sudo ./bootstrap` some locks are root's: those cells say what to do, and the run comes to its end."""
    real, jobs_seen = State.lock, []

    class Closed:
        lock_file = str(world.home / "locks" / "job-x.lock")

        def acquire(self, **_named: object) -> NoReturn:
            raise PermissionError(errno.EACCES, "Permission denied", self.lock_file)

    def lock(state: State, name: str) -> object:
        jobs_seen.append(name) if name.startswith("job-") else None
        return Closed() if name in jobs_seen[2:3] else real(state, name)

    monkeypatch.setattr(State, "lock", lock)
    record = world.run(cell(), cell(SECOND_PROFILE))
    assert verdicts(record) == [Verdict.PASSED, Verdict.INFRASTRUCTURE]
    assert any("cannot lock" in one.reason and "sudo chown" in one.reason for one in record.cells)
    assert (record.state, record.exit_code) == ("finished", ExitCode.INFRASTRUCTURE)


def test_files_that_vanish_while_a_cell_is_reused_are_nobodys_failure(world: World) -> None:
    """Another run may replace a result at any moment: the cell is `infrastructure` and says so, the others are done."""
    world.run(cell(), cell(SECOND_PROFILE))
    again = world.again()

    def vanish(event: Event) -> None:
        if isinstance(event, RunStarted):
            key = next(one.key for one in world.state.results.all() if one.id == cell(SECOND_PROFILE).id)
            folder = world.state.results.folder(key)
            for path in (folder / "out" / "suite.log", *folder.glob("judged-*")):
                path.unlink()

    again.on_event = vanish
    record = again.run(cell(), cell(SECOND_PROFILE))
    assert verdicts(record) == [Verdict.PASSED, Verdict.INFRASTRUCTURE]
    assert "out/suite.log of the kept result" in record.cells[1].reason
    assert record.exit_code == ExitCode.INFRASTRUCTURE
    assert verdicts(world.again().run(cell(SECOND_PROFILE))) == [Verdict.PASSED]


def test_every_cell_has_a_record(world: World) -> None:
    """No cell is lost, whatever became of its jobs."""
    world.engine.leaves("run *", RUN_FILES)
    world.engine.on("build *clang* configure", Act(code=1))
    world.unfetchable.add("3.8.1")
    record = world.run(cell(), cell(SECOND_PROFILE), with_clang(), other_source())
    assert list(by_id(record)) == [one.id for one in (cell(), cell(SECOND_PROFILE), with_clang(), other_source())]


def test_a_cell_that_is_another_one_in_all_but_name_is_not_lost(world: World) -> None:
    """Two profiles with equal settings are two cells, each run and recorded."""
    twin = cell(replace(cell().profile, name="twin"))
    record = world.run(cell(), twin)
    assert verdicts(record) == [Verdict.PASSED, Verdict.PASSED]
    assert [one.id for one in record.cells] == [cell().id, twin.id]
