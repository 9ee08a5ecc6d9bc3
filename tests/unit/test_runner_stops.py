"""Runs that are stopped, killed, cut short, or not alone."""

from __future__ import annotations

import fcntl
import threading
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, NoReturn

import pytest
from tests.unit.fake_engine import PATIENCE_S, Act, UnscriptedError
from tests.unit.runner_samples import SECOND_PROFILE, World, cell, other_source, verdicts, with_clang

from crossmatrix.errors import ExitCode, InfrastructureError, TransientError
from crossmatrix.events import JobStarted, Note, StageProgress
from crossmatrix.records import StageStatus, Verdict
from crossmatrix.runner import attempt
from crossmatrix.runner.alive import BEGIN, is_alive, is_held
from crossmatrix.store import write_text

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from crossmatrix.events import Event
    from crossmatrix.records import RunRecord

pytestmark = pytest.mark.usefixtures("short_polls")


def test_ctrl_c_while_a_job_runs(world: World) -> None:
    """Running cells are aborted with 130, no container is left, and what had finished is taken over next time."""
    world.engine.on(f"run *{SECOND_PROFILE.name} evidence", Act(then=world.interrupt, hangs=True, times=1))
    record = world.run(cell(), cell(SECOND_PROFILE), with_clang())
    assert verdicts(record) == [Verdict.PASSED, Verdict.ABORTED, Verdict.ABORTED]
    assert record.cells[1].reason.startswith("tests stopped after ")
    assert record.cells[1].reason.endswith(" s, in stage evidence")
    assert record.cells[2].reason == "stopped after its build, before its tests began"
    assert (record.state, record.exit_code) == ("interrupted", ExitCode.INTERRUPTED)
    assert world.engine.live == []
    before = len(world.engine.started)
    second = world.again().run(cell(), cell(SECOND_PROFILE))
    assert [(one.verdict, one.cached) for one in second.cells] == [(Verdict.PASSED, True), (Verdict.PASSED, False)]
    assert len(world.engine.started) == before + 1


def test_ctrl_c_while_a_build_runs(world: World) -> None:
    """All its cells are aborted and say how far it came; nothing of the build is taken for a result."""
    world.engine.on("build * build", Act(output=b"make: 1\n", then=world.interrupt, hangs=True, times=1))
    record = world.run(cell(), cell(SECOND_PROFILE))
    assert verdicts(record) == [Verdict.ABORTED] * 2
    assert record.exit_code == ExitCode.INTERRUPTED
    for one in record.cells:
        assert one.reason.startswith("build stopped after ")
        assert one.reason.endswith(" s, in stage build")
        assert one.log_tail == "make: 1"
        assert [stage.status for stage in one.stages][:3] == [
            StageStatus.OK,
            StageStatus.OK,
            StageStatus.INTERRUPTED,
        ]
        assert (world.state.runs.folder(record.run_id) / one.stages[2].log).read_text() == "make: 1\n"
    assert verdicts(world.again().run(cell())) == [Verdict.PASSED]


def test_ctrl_c_between_two_stages(world: World) -> None:
    """A stop that no stage noticed still makes no result: what follows was never run."""
    world.engine.on("run * vectors", Act(then=world.interrupt, times=1))
    record = world.run(cell())
    assert verdicts(record) == [Verdict.ABORTED]
    assert [stage.status for stage in record.cells[0].stages][-1] is StageStatus.INTERRUPTED
    assert verdicts(world.again().run(cell())) == [Verdict.PASSED]


def test_ctrl_c_at_the_last_moment_loses_nothing(world: World) -> None:
    """A job whose last stage had ended is whole: its files are taken out, and the result is kept with them."""
    world.engine.on("run * test", Act(then=world.interrupt, times=1))
    record = world.run(cell())
    assert verdicts(record) == [Verdict.PASSED]
    assert record.exit_code == ExitCode.INTERRUPTED
    second = world.again().run(cell())
    assert (second.cells[0].cached, second.cells[0].verdict) == (True, Verdict.PASSED)
    assert any(file.name == "suite.log" for file in second.cells[0].artifacts)


def test_ctrl_c_while_images_are_built(world: World) -> None:
    """No job begins, and all cells are aborted."""
    world.engine.images.clear()

    def stop(event: Event) -> None:
        if isinstance(event, JobStarted) and event.job == "image gcc-12":
            world.interrupt()

    world.on_event = stop
    record = world.run(cell(), other_source())
    assert verdicts(record) == [Verdict.ABORTED] * 2
    assert record.exit_code == ExitCode.INTERRUPTED
    assert world.engine.started == []


def test_ctrl_c_while_another_run_builds_the_image(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is waited for is told once, and the wait ends with the run."""
    world.engine.images.clear()

    def waits(_spec: object, *, on_line: Callable[[str], None]) -> NoReturn:
        for _ in range(3):
            on_line("Waiting for another run, which builds it")
        world.interrupt()
        on_line("Waiting for another run, which builds it")
        raise UnscriptedError("nobody ended the wait")

    monkeypatch.setattr(world.engine, "build_image", waits)
    record = world.run(cell())
    assert (verdicts(record), record.exit_code) == ([Verdict.ABORTED], ExitCode.INTERRUPTED)
    told = Counter(event.job for event in world.of_kind(StageProgress) if isinstance(event, StageProgress))
    assert set(told.values()) == {1}


def test_ctrl_c_before_anything_was_made_ready(world: World) -> None:
    """Neither images nor sources are made ready for a run that is stopped."""
    world.engine.images.clear()
    world.interrupt()
    record = world.run(cell(), other_source())
    assert verdicts(record) == [Verdict.ABORTED] * 2
    assert (world.engine.built, world.fetched) == ([], [])


def test_ctrl_c_ends_the_wait_before_another_try(world: World) -> None:
    """Nobody waits for a retry after an interruption."""
    world.engine.on("build * configure", Act(error=TransientError("a hiccup"), then=world.interrupt))
    record = world.run(cell())
    assert record.exit_code == ExitCode.INTERRUPTED
    assert len(world.engine.started) == 1


def test_an_interrupted_run_keeps_no_container(world: World) -> None:
    """Also with --keep-container: who interrupts wants it gone."""
    world.engine.on("build * configure", Act(then=world.interrupt, hangs=True))
    world.run(cell(), keep_container=True)
    assert world.engine.live == []


def test_fail_fast_ends_with_the_first_cell_that_is_not_as_expected(world: World) -> None:
    """What has not begun is aborted, and the exit code is the failure's."""
    world.engine.on("build * build", Act(code=1, output=b"error: x\n"))
    record = world.run(cell(), other_source(), with_clang(), fail_fast=True)
    assert verdicts(record).count(Verdict.BUILD_FAILED) == 1
    assert verdicts(record).count(Verdict.ABORTED) == 2
    assert (record.state, record.exit_code) == ("finished", ExitCode.UNEXPECTED)


def test_fail_fast_counts_failures_of_earlier_runs(world: World) -> None:
    """A kept failure is as good as a new one: nothing is started for the others."""
    world.engine.on("build *gcc* build", Act(code=1, output=b"error: x\n"))
    world.run(cell())
    before = len(world.engine.started)
    record = world.again().run(cell(), with_clang(), fail_fast=True)
    assert verdicts(record) == [Verdict.BUILD_FAILED, Verdict.ABORTED]
    assert len(world.engine.started) == before


def test_without_fail_fast_everything_is_done(world: World) -> None:
    """A failure of one build says nothing of the others."""
    world.engine.on("build *clang* build", Act(code=1, output=b"error: x\n"))
    record = world.run(with_clang(), cell(), cell(SECOND_PROFILE))
    assert verdicts(record) == [Verdict.BUILD_FAILED, Verdict.PASSED, Verdict.PASSED]


def test_two_runs_at_once_share_their_work(world: World) -> None:
    """The second waits for the first one's job, says so, and takes the results over: one build, one test."""
    begun, waits = threading.Event(), threading.Event()

    def hold() -> None:
        begun.set()
        assert waits.wait(PATIENCE_S)

    world.engine.on("build * configure", Act(then=hold, times=1))
    other = world.again()
    other.on_event = lambda event: waits.set() if isinstance(event, Note) and "waits" in event.message else None
    records: list[RunRecord] = []
    first = threading.Thread(target=lambda: records.append(world.run(cell())))
    first.start()
    assert begun.wait(PATIENCE_S)
    record = other.run(cell())
    first.join(PATIENCE_S)
    assert [one.spec.labels["crossmatrix.kind"] for one in world.engine.started] == ["build", "run"]
    assert verdicts(record) == verdicts(records[0]) == [Verdict.PASSED]
    assert records[0].run_id != record.run_id
    assert (record.exit_code, records[0].exit_code) == (0, 0)


def test_what_another_run_finished_since_the_plan_is_taken_over(world: World) -> None:
    """Between plan and job a result may have come: it is used, not made a second time."""
    other = world.again()

    def meanwhile(event: Event) -> None:
        if isinstance(event, JobStarted) and event.job.startswith("build") and not other.events:
            other.run(cell())

    world.on_event = meanwhile
    record = world.run(cell())
    assert len(world.engine.started) == 2
    assert (record.cells[0].verdict, record.cells[0].cached) == (Verdict.PASSED, True)


def test_a_fresh_build_waits_for_whoever_holds_the_old_tree(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine refuses to remove a tree in use: that is waited for, once told, and blamed on nobody."""
    monkeypatch.setattr(attempt, "_IN_USE_POLL_S", 0.01)
    world.run(cell())
    refusals = [InfrastructureError("Could not remove volume x: volume is in use - [1]")] * 3
    remove = world.engine.remove_volume

    def refuse(name: str) -> None:
        if refusals:
            raise refusals.pop()
        remove(name)

    monkeypatch.setattr(world.engine, "remove_volume", refuse)
    again = world.again()
    record = again.run(cell(), fresh=True)
    assert verdicts(record) == [Verdict.PASSED]
    notes = [note.message for note in again.of_kind(Note) if isinstance(note, Note)]
    assert sum("waits for a container that holds the old tree" in message for message in notes) == 1


def test_a_second_run_that_waits_can_be_interrupted(world: World) -> None:
    """Waiting for another's job ends at once with 130, and the first run is not disturbed."""
    begun, gone = threading.Event(), threading.Event()

    def hold() -> None:
        begun.set()
        assert gone.wait(PATIENCE_S)

    world.engine.on("build * configure", Act(then=hold, times=1))
    other = world.again()
    other.on_event = lambda event: other.interrupt() if isinstance(event, Note) and "waits" in event.message else None
    records: list[RunRecord] = []
    first = threading.Thread(target=lambda: records.append(world.run(cell())))
    first.start()
    assert begun.wait(PATIENCE_S)
    record = other.run(cell())
    gone.set()
    first.join(PATIENCE_S)
    assert (verdicts(record), record.exit_code) == ([Verdict.ABORTED], ExitCode.INTERRUPTED)
    assert verdicts(records[0]) == [Verdict.PASSED]


def test_a_run_waits_for_a_clean_that_works(world: World) -> None:
    """It says what it waits for, and begins when nothing is removed any more."""
    lock = world.state.lock(BEGIN)
    lock.acquire()
    world.on_event = lambda event: (
        lock.release() if isinstance(event, Note) and "invoke clean" in event.message else None
    )
    assert verdicts(world.run(cell())) == [Verdict.PASSED]
    (note,) = [event.message for event in world.of_kind(Note) if isinstance(event, Note)]
    assert "another run begins" in note


def test_a_run_that_waits_for_a_clean_can_be_interrupted(world: World) -> None:
    """It ends with 130 at once, and has started nothing."""
    with world.state.lock(BEGIN):
        world.on_event = lambda event: world.interrupt() if isinstance(event, Note) else None
        record = world.run(cell())
    assert (verdicts(record), record.exit_code) == ([Verdict.ABORTED], ExitCode.INTERRUPTED)
    assert world.engine.started == []


def killed(world: World) -> str:
    """Leave a state directory as a run that was killed in its second cell leaves it; give the run's id."""
    finished = world.run(cell())
    state = world.state
    run_id = "20250101-000000-000000"
    state.runs.begin(finished.model_copy(update={"run_id": run_id, "cells": (), "state": "running", "finished": ""}))
    state.runs.write_cell(run_id, finished.cells[0])
    write_text(state.results.new_folder() / "logs" / "configure.log", "half a li")
    (state.home / "locks" / f"run-{run_id}.lock").touch()
    return run_id


def test_a_run_goes_on_from_one_that_was_killed(world: World) -> None:
    """What had finished is taken over, what it had begun to collect is removed, its record stays readable."""
    run_id = killed(world)
    record = world.again().run(cell(), cell(SECOND_PROFILE))
    assert [(one.verdict, one.cached) for one in record.cells] == [(Verdict.PASSED, True), (Verdict.PASSED, False)]
    assert not list(world.state.results.root.glob(".new-*"))
    assert [one.id for one in world.state.runs.load(run_id).cells] == [cell().id]
    assert not is_alive(world.state, run_id)


def test_what_a_living_run_collects_is_left_alone(world: World) -> None:
    """A second run sweeps nothing while another works."""
    seen: list[int] = []
    other = world.again()

    def meanwhile() -> None:
        other.run(replace(cell(), build=with_clang().build))
        seen.append(len(list(world.state.results.root.glob(".new-*"))))

    world.engine.on("build *gcc* configure", Act(then=meanwhile, times=1))
    assert verdicts(world.run(cell())) == [Verdict.PASSED]
    assert seen == [1]


def test_a_run_is_alive_while_it_works_and_not_after(world: World) -> None:
    """Its lock says so to whoever asks, and is gone in the end."""
    seen: list[bool] = []

    def look(event: Event) -> None:
        if isinstance(event, JobStarted):
            seen.append(is_alive(world.state, world.state.runs.resolve("latest")))

    world.on_event = look
    record = world.run(cell())
    assert seen == [True, True]
    assert not is_alive(world.state, record.run_id)
    assert not list((world.home / "locks").glob("run-*"))


@pytest.mark.parametrize(
    ("name", "how", "held"),
    [
        *[(f"{name}-x", fcntl.LOCK_SH, False) for name in ("run", "image", "job", BEGIN)],
        *[(f"{name}-x", fcntl.LOCK_EX, True) for name in ("run", "image", "job", BEGIN, "tree")],
        ("tree-x", fcntl.LOCK_SH, True),
    ],
)
def test_who_asks_for_a_lock_is_not_taken_for_its_holder(tmp_path: Path, name: str, how: int, held: bool) -> None:  # noqa: FBT001 - a parameter
    """To ask takes a lock for a moment, shared: two who ask at once do not see each other, save of a tree's."""
    path = tmp_path / f"{name}.lock"
    path.touch()
    with path.open("rb") as other:
        fcntl.flock(other, how)
        assert is_held(path) is held
    assert not is_held(path)


def test_a_half_written_result_is_made_again(world: World) -> None:
    """A result whose file is damaged counts as none."""
    record = world.run(cell())
    key = record.cells[0].keys["run"]
    (world.state.results.folder(key) / "result.json").write_text('{"key": "')
    second = world.again().run(cell())
    assert (second.cells[0].verdict, second.cells[0].cached) == (Verdict.PASSED, False)
    assert len(world.engine.started) == 3
