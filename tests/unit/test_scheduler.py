"""Tasks are worked off in order of need, the longest chain first."""

from __future__ import annotations

import threading
import time
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crossmatrix.runner.scheduler import Task, priorities, work_off


class Work:
    """Records what was done and given up."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.given_up: dict[str, str] = {}
        self.stop = threading.Event()
        self.stopped = 0

    def task(self, key: str, *needs: str, ok: bool = True, priority: float = 0.0) -> Task:
        """Make a task that succeeds or not."""

        def action() -> bool:
            self.done.append(key)
            return ok

        return Task(
            key=key,
            needs=needs,
            priority=priority,
            action=action,
            give_up=lambda reason: self.given_up.update({key: reason}),
        )

    def work_off(self, *tasks: Task, slots: int = 1) -> None:
        """Do them."""
        work_off(tasks, slots=slots, stop=self.stop, on_stop=self._on_stop)

    def _on_stop(self) -> None:
        self.stopped += 1


def test_a_task_starts_after_what_it_needs() -> None:
    """Order of need beats priority."""
    work = Work()
    work.work_off(work.task("run", "build", priority=9), work.task("build"))
    assert work.done == ["build", "run"]


def test_the_longest_starts_first() -> None:
    """With one slot, tasks are done by falling priority."""
    work = Work()
    work.work_off(work.task("short", priority=1), work.task("long", priority=5), work.task("middle", priority=3))
    assert work.done == ["long", "middle", "short"]


def test_what_needs_a_failed_task_is_given_up_with_the_reason() -> None:
    """Failure spreads along the edges and nowhere else."""
    work = Work()
    work.work_off(work.task("a", ok=False), work.task("b", "a"), work.task("c", "b"), work.task("d"))
    assert work.done == ["a", "d"]
    assert work.given_up == {"b": "needs a, which failed", "c": "needs b, which failed"}


def test_a_need_that_is_no_task_counts_as_done() -> None:
    """What an earlier run has done is not waited for."""
    work = Work()
    work.work_off(work.task("run", "built before"))
    assert work.done == ["run"]


def test_nothing_starts_after_stop() -> None:
    """Once stopped, what has not begun is given up."""
    work = Work()
    work.stop.set()
    work.work_off(work.task("a"), work.task("b", "a"))
    assert work.done == []
    assert set(work.given_up) == {"a", "b"}


def test_stop_is_passed_on_once_while_tasks_run() -> None:
    """A running task is told to end, once, and its successors are given up."""
    work = Work()
    gone_on = threading.Event()

    def action() -> bool:
        work.stop.set()
        assert gone_on.wait(30)
        return False

    task = Task(key="long", needs=(), priority=0, action=action, give_up=lambda _reason: None)

    def on_stop() -> None:
        work.stopped += 1
        gone_on.set()

    work_off([task, work.task("next", "long")], slots=1, stop=work.stop, on_stop=on_stop)
    assert work.stopped == 1
    assert "next" in work.given_up


def test_what_waits_for_a_task_that_is_stopped_is_given_up_after_it() -> None:
    """Only then is it known how far the task came; what waits for nothing that runs is given up at once."""
    work = Work()
    order: list[str] = []
    gone_on = threading.Event()

    def action() -> bool:
        work.stop.set()
        assert gone_on.wait(30)
        order.append("long ended")
        return False

    def task(key: str, need: str) -> Task:
        return Task(key=key, needs=(need,), priority=0, action=lambda: True, give_up=lambda _reason: order.append(key))

    long = Task(key="long", needs=(), priority=1, action=action, give_up=lambda _reason: None)
    tasks = [long, task("next", "long"), work.task("free"), task("after free", "free")]
    work_off(tasks, slots=1, stop=work.stop, on_stop=gone_on.set)
    assert order.index("long ended") < order.index("next")
    assert {"free"} == set(work.given_up)
    assert set(order) == {"long ended", "next", "after free"}


def test_an_exception_stops_the_rest_and_is_raised_again() -> None:
    """A defect of ours is not swallowed."""
    work = Work()

    def action() -> bool:
        raise ZeroDivisionError

    bad = Task(key="bad", needs=(), priority=9, action=action, give_up=lambda _reason: None)
    with pytest.raises(ZeroDivisionError):
        work.work_off(bad, work.task("other"))
    assert work.done == []


def test_tasks_that_wait_for_each_other_are_an_error() -> None:
    """A cycle is reported, never waited for."""
    work = Work()
    with pytest.raises(RuntimeError, match="wait for each other"):
        work.work_off(work.task("a", "b"), work.task("b", "a"))


def test_as_many_run_at_a_time_as_there_are_slots() -> None:
    """Two slots let two tasks meet."""
    meeting = threading.Barrier(2, timeout=30)
    met: list[int] = []

    def action() -> bool:
        met.append(meeting.wait())
        return True

    tasks = [Task(key=str(n), needs=(), priority=0, action=action, give_up=lambda _reason: None) for n in range(2)]
    work_off(tasks, slots=2, stop=threading.Event(), on_stop=lambda: None)
    assert sorted(met) == [0, 1]


@given(st.lists(st.booleans(), min_size=1, max_size=12), st.integers(1, 4))
def test_nothing_runs_beside_a_task_that_runs_alone(alone: list[bool], slots: int) -> None:
    """Law: while such a task runs, it is the only one; all are done."""
    lock, running, beside = threading.Lock(), set(), []

    def action(name: str) -> bool:
        with lock:
            running.add(name)
            beside.append(frozenset(running))
        time.sleep(0.0005)
        with lock:
            running.discard(name)
        return True

    tasks = [
        Task(
            key=str(number),
            needs=(),
            priority=-number,
            action=partial(action, str(number)),
            give_up=lambda _reason: None,
            alone=yes,
        )
        for number, yes in enumerate(alone)
    ]
    work_off(tasks, slots=slots, stop=threading.Event(), on_stop=lambda: None)
    lonely = {str(number) for number, yes in enumerate(alone) if yes}
    assert len(beside) == len(alone)
    assert [names for names in beside if len(names) > 1 and names & lonely] == []


@given(st.lists(st.floats(min_value=0, max_value=1e6), min_size=1, max_size=20))
def test_a_chain_has_the_priority_of_all_that_hangs_on_it(times: list[float]) -> None:
    """Law: a task's priority is its own time plus the longest chain behind it."""
    names = [str(number) for number in range(len(times))]
    needs = {name: names[number - 1 : number] if number else [] for number, name in enumerate(names)}
    found = priorities(needs, dict(zip(names, times, strict=True)))
    assert found[names[0]] == pytest.approx(sum(times))
    assert found[names[-1]] == pytest.approx(times[-1])
