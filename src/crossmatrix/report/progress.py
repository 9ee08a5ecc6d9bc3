"""What a run is doing, told by its events: what runs, what waits, how long it will take."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from crossmatrix.events import (
    CellFinished,
    Event,
    JobFinished,
    JobGivenUp,
    JobStarted,
    RunStarted,
    StageProgress,
    StageStarted,
)
from crossmatrix.report.words import duration

if TYPE_CHECKING:
    from crossmatrix.records import CellRecord

_LEAST_FACTOR, _MOST_FACTOR = 0.1, 20.0


@dataclass(kw_only=True, slots=True)
class Running:
    """A job at work. Times are seconds on the caller's clock."""

    started: float
    estimate_s: float
    stage: str = ""
    line: str = ""


@dataclass(kw_only=True, slots=True)
class Progress:
    """Where a run stands; ``follow`` takes one event after the other. Not thread-safe by itself.

    Attributes:
        began: on the caller's clock.
        cells: ids of all cells of the run, in order.
        parallel: jobs at a time.
        total: jobs to run; each of them waits, runs or is done.
        reused: jobs whose results are taken from the store.
        waiting: estimates of the jobs that have not begun, by job.
        running: jobs at work.
        done: jobs that ended, or were given up.
        records: verdicts so far, by cell.
    """

    began: float
    cells: tuple[str, ...] = ()
    parallel: int = 1
    total: int = 0
    reused: int = 0
    waiting: dict[str, float] = field(default_factory=dict)
    running: dict[str, Running] = field(default_factory=dict)
    done: int = 0
    records: dict[str, CellRecord] = field(default_factory=dict)
    _estimated_s: float = 0.0
    _measured_s: float = 0.0

    @property
    def waits(self) -> int:
        """How many jobs have not begun."""
        return len(self.waiting)

    def follow(self, event: Event, now: float) -> None:
        """Take one event; ``now`` is the caller's clock in seconds."""
        match event:
            case RunStarted():
                self._start(event)
            case JobStarted(job=job):
                self.running[job] = Running(started=now, estimate_s=self.waiting.pop(job, 0.0))
            case StageStarted(job=job, stage=stage):
                if running := self.running.get(job):
                    running.stage, running.line = stage, ""
            case StageProgress(job=job, line=line) if line.strip():
                if running := self.running.get(job):
                    running.line = line
            case JobFinished():
                self._finish(event)
            case JobGivenUp(job=job):
                self.waiting.pop(job, None)
                self.done += 1
            case CellFinished(record=record):
                self.records[record.id] = record
            case _:
                pass

    def time_left(self, now: float) -> float | None:
        """Estimate the seconds until the run ends, or None where there is nothing to go by.

        Jobs' estimates are for two idle cores; this machine's pace is what finished jobs took over what was estimated.
        """
        pace = min(max(self._measured_s / self._estimated_s, _LEAST_FACTOR), _MOST_FACTOR) if self._estimated_s else 1.0
        running = [max(job.estimate_s * pace - (now - job.started), 0.0) for job in self.running.values()]
        waiting = [estimate * pace for estimate in self.waiting.values()]
        parts = running + waiting
        if not any(parts):
            return None
        return max(*parts, sum(parts) / max(self.parallel, 1)) if len(parts) > 1 else parts[0]

    def outlook(self, now: float) -> str:
        """Say how long it will take: ``about 12 min left``, or nothing."""
        left = self.time_left(now)
        if left is None:
            return ""
        whole = 60 * max(1, round(left / 60))
        return "under a minute left" if left < whole == 60 else f"about {duration(whole).removesuffix(' 00 s')} left"  # noqa: PLR2004

    def _start(self, event: RunStarted) -> None:
        self.cells, self.parallel, self.reused = event.cells, event.parallel, event.reused
        self.waiting = dict(event.jobs)
        # Images that were built before are no jobs of the plan.
        self.total, self.done = len(event.jobs), 0

    def _finish(self, event: JobFinished) -> None:
        job = self.running.pop(event.job, None)
        self.done += 1
        if job is not None and event.ok and job.estimate_s > 0:
            self._estimated_s += job.estimate_s
            self._measured_s += event.duration_s
