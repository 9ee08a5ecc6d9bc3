"""Works tasks off side by side: each after those it needs, the longest first."""

from __future__ import annotations

import contextlib
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from threading import Event

_POLL_S = 0.2
"""How long a signal may have to wait for the main thread."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Task:
    """A piece of work.

    Attributes:
        key: its name.
        needs: keys of tasks that must have succeeded; a key that is no task counts as done.
        priority: the greater starts first.
        action: does the work; gives whether what needs it can go on.
        give_up: called instead, with the reason, when a need failed or the work was stopped.
        alone: nothing runs beside it, whatever the number of slots.
    """

    key: str
    needs: tuple[str, ...]
    priority: float
    action: Callable[[], bool]
    give_up: Callable[[str], None]
    alone: bool = False


def priorities(needs: Mapping[str, Sequence[str]], estimates: Mapping[str, float]) -> dict[str, float]:
    """Give each task the time from its start to the end of the longest chain that hangs on it.

    Args:
        needs: by task, the tasks it needs.
        estimates: by task, its time in seconds.

    Returns:
        Seconds by task.
    """
    dependants: dict[str, list[str]] = {key: [] for key in needs}
    for key, wanted in needs.items():
        for need in wanted:
            dependants.setdefault(need, []).append(key)
    found: dict[str, float] = {}

    def length(key: str) -> float:
        if key not in found:
            found[key] = estimates.get(key, 0.0) + max(map(length, dependants.get(key, ())), default=0.0)
        return found[key]

    return {key: length(key) for key in needs}


def work_off(tasks: Sequence[Task], *, slots: int, stop: Event, on_stop: Callable[[], None]) -> None:
    """Do all tasks, at most ``slots`` at a time, in the calling thread's sight.

    An exception in an action is raised again here, after ``stop`` was set and what runs has ended.

    Args:
        tasks: no two with the same key.
        slots: how many at a time.
        stop: when set, nothing more is started; what has not begun is given up.
        on_stop: called once when that is seen while tasks run, to end what they wait for.
    """
    waiting = sorted(tasks, key=lambda task: -task.priority)
    open_keys = {task.key for task in tasks}
    failed: set[str] = set()
    running: dict[Future[bool], Task] = {}
    fault: BaseException | None = None
    told = False
    with ThreadPoolExecutor(max_workers=slots, thread_name_prefix="job") as pool, _ended(running, stop, on_stop):
        while waiting or running:
            waiting = _given_up(waiting, running.values(), open_keys, failed, stop)
            waiting = _start(waiting, running, pool, open_keys, slots)
            if not running:
                if waiting:
                    msg = f"tasks wait for each other: {', '.join(task.key for task in waiting[:5])}"
                    raise RuntimeError(msg)
                break
            if stop.is_set() and not told:
                told = True
                on_stop()
            done, _ = wait(running, timeout=_POLL_S, return_when=FIRST_COMPLETED)
            for future in done:
                task = running.pop(future)
                open_keys.discard(task.key)
                error = future.exception()
                if error is not None:
                    fault = fault or error
                    stop.set()
                if error is not None or not future.result():
                    failed.add(task.key)
    if fault is not None:
        raise fault


@contextlib.contextmanager
def _ended(running: Mapping[Future[bool], Task], stop: Event, on_stop: Callable[[], None]) -> Iterator[None]:
    """Let an error in the scheduling itself end what runs: leaving the pool would wait for it as long as it takes."""
    try:
        yield
    except BaseException:
        stop.set()
        if running:
            on_stop()
        raise


def _given_up(
    waiting: Sequence[Task],
    running: Iterable[Task],
    open_keys: set[str],
    failed: set[str],
    stop: Event,
) -> list[Task]:
    """Give up what cannot be started any more, and give what still can.

    Before anything is started: giving up may be what stops the run. What waits for a task that is being stopped is
    given up after it, so that it can be told how far that came.
    """
    left = list(waiting)
    busy = {task.key for task in running}
    while True:
        stopped = stop.is_set()
        gone = [t for t in left if failed.intersection(t.needs) or (stopped and not busy.intersection(t.needs))]
        if not gone:
            return left
        names = {task.key for task in gone}
        left = [task for task in left if task.key not in names]
        for task in gone:
            broken = next((need for need in task.needs if need in failed), None)
            open_keys.discard(task.key)
            failed.add(task.key)
            task.give_up("stopped before it began" if stopped else f"needs {broken}, which failed")


def _start(
    waiting: Sequence[Task],
    running: dict[Future[bool], Task],
    pool: ThreadPoolExecutor,
    open_keys: set[str],
    slots: int,
) -> list[Task]:
    """Start what can be started, and give what still waits."""
    left = []
    for task in waiting:
        if _has_room(task, running.values(), slots) and not open_keys.intersection(task.needs):
            running[pool.submit(task.action)] = task
        else:
            left.append(task)
    return left


def _has_room(task: Task, running: Collection[Task], slots: int) -> bool:
    if task.alone or any(other.alone for other in running):
        return not running
    return len(running) < slots
