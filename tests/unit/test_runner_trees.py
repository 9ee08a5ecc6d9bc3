"""Build trees: who makes one is alone with it, and a half of one is never tested."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from tests.unit.fake_engine import PATIENCE_S, Act, FakeContainer
from tests.unit.runner_samples import SECOND_PROFILE, World, cell, verdicts

from crossmatrix.errors import ExitCode, InfrastructureError
from crossmatrix.events import CellFinished, JobStarted, Note, RunStarted
from crossmatrix.records import Verdict
from crossmatrix.runner import attempt

if TYPE_CHECKING:
    from collections.abc import Callable

    from crossmatrix.events import Event
    from crossmatrix.records import RunRecord

pytestmark = pytest.mark.usefixtures("short_polls")


def on_note(words: str, do: Callable[[], None]) -> Callable[[Event], None]:
    """Give a listener that does something when a note with these words is told."""
    return lambda event: do() if isinstance(event, Note) and words in event.message else None


def started(work: Callable[[], RunRecord], into: list[RunRecord]) -> threading.Thread:
    """Carry out a run beside the test."""
    thread = threading.Thread(target=lambda: into.append(work()))
    thread.start()
    return thread


def kinds(world: World) -> list[str]:
    """Give the kinds of all containers, in order."""
    return [one.spec.labels["crossmatrix.kind"] for one in world.engine.started]


def test_a_fresh_build_waits_until_the_old_tree_is_tested(world: World) -> None:
    """It says so, and both runs come to their end."""
    world.run(cell())
    testing, waits = threading.Event(), threading.Event()

    def hold() -> None:
        testing.set()
        assert waits.wait(PATIENCE_S)

    world.engine.on(f"run *{SECOND_PROFILE.name} evidence", Act(then=hold, times=1))
    first = world.again()
    records: list[RunRecord] = []
    thread = started(lambda: first.run(cell(SECOND_PROFILE)), records)
    assert testing.wait(PATIENCE_S)
    fresh = world.again()
    fresh.on_event = on_note("waits for another run that tests the old tree", waits.set)
    record = fresh.run(cell(), fresh=True)
    thread.join(PATIENCE_S)
    assert verdicts(record) == verdicts(records[0]) == [Verdict.PASSED]
    assert kinds(world) == ["build", "run", "run", "build", "run"]


def beside_a_fresh_build(world: World) -> tuple[RunRecord, RunRecord]:
    """Let a run with --fresh take the tree away between two tests of another run; give both records."""
    world.run(cell())
    building, waits = threading.Event(), threading.Event()

    def hold() -> None:
        building.set()
        assert waits.wait(PATIENCE_S)

    first, fresh = world.again(), world.again()
    records: list[RunRecord] = []
    threads: list[threading.Thread] = []
    told = on_note("waits for another run that makes its tree anew", waits.set)

    def listen(event: Event) -> None:
        told(event)
        if isinstance(event, CellFinished) and not threads:
            world.engine.on("build * configure", Act(then=hold, times=1))
            threads.append(started(lambda: fresh.run(cell(), fresh=True), records))
            assert building.wait(PATIENCE_S)

    first.on_event = listen
    record = first.run(cell(), cell(SECOND_PROFILE))
    threads[0].join(PATIENCE_S)
    return record, records[0]


def test_a_test_waits_while_its_tree_is_made_anew(world: World) -> None:
    """A tree that --fresh takes away between two tests of another run is waited for, and no cell suffers."""
    other, fresh = beside_a_fresh_build(world)
    assert verdicts(other) == [Verdict.PASSED, Verdict.PASSED]
    assert verdicts(fresh) == [Verdict.PASSED]
    assert kinds(world) == ["build", "run", "build", *["run"] * 2]


def test_a_tree_that_was_not_made_ready_is_not_tested(world: World) -> None:
    """Where the fresh build comes to no good end, the other run's cell is `infrastructure` and says why."""
    world.engine.on("build * build", Act(error=InfrastructureError("the engine coughed"), times=1))
    world.engine.on("build * build", Act(times=1))  # of the first run of all, which goes well
    other, fresh = beside_a_fresh_build(world)
    assert verdicts(fresh) == [Verdict.INFRASTRUCTURE]
    assert verdicts(other) == [Verdict.PASSED, Verdict.INFRASTRUCTURE]
    assert "another run began to make the build's tree anew" in other.cells[1].reason
    assert verdicts(world.again().run(cell(), cell(SECOND_PROFILE))) == [Verdict.PASSED] * 2


def test_a_result_that_is_replaced_while_it_is_taken_over_ends_no_run(world: World) -> None:
    """A cell of which another run has just made less has fewer files, and keeps its verdict."""
    world.run(cell())
    fresh, again = world.again(), world.again()

    def listen(event: Event) -> None:
        if isinstance(event, RunStarted):
            world.engine.on("build * unpack", Act(error=InfrastructureError("the engine coughed"), times=1))
            fresh.run(cell(), fresh=True)

    again.on_event = listen
    record = again.run(cell())
    assert verdicts(record) == [Verdict.PASSED]
    assert not any(file.path.endswith("build.log") for file in record.cells[0].artifacts)


def killed_while_building(world: World) -> None:
    """Do what SIGKILL does in the middle of a build that is made anew: nothing of it is written any more."""
    world.run(cell())
    world.engine.on("build * build", Act(error=ZeroDivisionError(), times=1))
    with pytest.raises(ZeroDivisionError):
        world.again().run(cell(), fresh=True)
    assert world.engine.volumes


def test_half_a_tree_is_never_tested(world: World) -> None:
    """A build that was killed while it was made anew is made again before anything is run on its tree."""
    killed_while_building(world)
    before = len(world.engine.started)
    again = world.again()
    assert verdicts(again.run(cell(SECOND_PROFILE))) == [Verdict.PASSED]
    assert kinds(world)[before:] == ["build", "run"]
    reasons = [event.reason for event in again.of_kind(JobStarted) if isinstance(event, JobStarted)]
    assert reasons[0] == "its tree is no longer whole on the engine, and a run needs it"


def test_half_a_tree_harms_no_result_that_is_kept(world: World) -> None:
    """Where no cell needs the tree, nothing is made again for it."""
    killed_while_building(world)
    before = len(world.engine.started)
    assert [one.cached for one in world.again().run(cell()).cells] == [True]
    assert len(world.engine.started) == before


def test_a_tree_that_somebody_may_have_changed_is_never_tested(world: World) -> None:
    """Who looks into a kept build container can write to its tree: the next run that needs it makes it anew."""
    assert verdicts(world.run(cell(), keep_container=True)) == [Verdict.PASSED]
    before = len(world.engine.started)
    assert [one.cached for one in world.again().run(cell()).cells] == [True]
    assert len(world.engine.live) == before
    assert verdicts(world.again().run(cell(), cell(SECOND_PROFILE))) == [Verdict.PASSED] * 2
    assert kinds(world)[before:] == ["build", "run"]
    assert verdicts(world.again().run(cell(), cell(SECOND_PROFILE))) == [Verdict.PASSED] * 2
    assert kinds(world)[before:] == ["build", "run"]


def test_a_kept_container_does_not_stop_a_fresh_build(world: World) -> None:
    """What --keep-container left is removed with the tree that it holds, in words; nobody waits for it."""
    world.run(cell(), cell(SECOND_PROFILE), keep_container=True)
    again = world.again()
    assert verdicts(again.run(cell(), fresh=True)) == [Verdict.PASSED]
    notes = [event.message for event in again.of_kind(Note) if isinstance(event, Note)]
    assert notes == [f"build {cell().build.id}: 2 kept containers are removed with the old tree"]
    assert world.engine.live == []


def held_by_a_stranger(world: World) -> FakeContainer:
    """Leave a tree that is held by a container of which no lock of ours tells."""
    world.run(cell())
    stranger = FakeContainer(world.engine, replace(world.engine.started[0].spec, name="stranger", labels={}))
    world.engine.live.append(stranger)
    return stranger


def test_a_tree_that_a_dead_run_holds_is_had_back(world: World) -> None:
    """A run that died after this one connected lets its container go when the tree is needed, not when all is over."""
    world.engine.orphans.add(held_by_a_stranger(world).id)
    again = world.again()
    assert verdicts(again.run(cell(), fresh=True)) == [Verdict.PASSED]
    assert world.engine.live == []
    assert not [event for event in again.of_kind(Note) if isinstance(event, Note) and "waits" in event.message]


@pytest.mark.parametrize("swept", [0, InfrastructureError("the sweep cannot remove another container")])
def test_a_tree_that_nobody_lets_go_is_not_waited_for_for_ever(
    world: World, monkeypatch: pytest.MonkeyPatch, swept: int | Exception
) -> None:
    """After a limit the engine's own words are the verdict."""
    held_by_a_stranger(world)
    monkeypatch.setattr(attempt, "_IN_USE_S", 0.05)

    def sweep() -> int:
        if isinstance(swept, Exception):
            raise swept
        return swept

    monkeypatch.setattr(world.engine, "sweep", sweep)
    record = world.again().run(cell(), fresh=True)
    assert verdicts(record) == [Verdict.INFRASTRUCTURE]
    assert "volume is in use" in record.cells[0].reason


def test_a_run_that_is_stopped_takes_no_tree_away(world: World) -> None:
    """Ctrl-C before a build begins: the old tree and its result are as good as they were, though the lock was free."""
    world.run(cell())
    again = world.again()
    again.on_event = lambda event: again.interrupt() if isinstance(event, JobStarted) else None
    record = again.run(cell(), fresh=True)
    assert (verdicts(record), record.exit_code) == ([Verdict.ABORTED], ExitCode.INTERRUPTED)
    kept = world.state.results.load(record.cells[0].keys["build"])
    assert kept is not None
    assert (kept.sound, kept.tree) == (True, True)
    assert verdicts(world.again().run(cell(), cell(SECOND_PROFILE))) == [Verdict.PASSED] * 2
    assert kinds(world) == ["build", "run", "run"]
