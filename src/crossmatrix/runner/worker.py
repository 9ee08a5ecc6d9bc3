"""One job at a time under its lock, so that two runs never do the same job at once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from filelock import Timeout

from crossmatrix.errors import CrossmatrixError, InfrastructureError
from crossmatrix.events import Note
from crossmatrix.plan import JobKind
from crossmatrix.runner.jobs import execute
from crossmatrix.runner.workshop import job_label
from crossmatrix.store import JobResult

if TYPE_CHECKING:
    from crossmatrix.plan import Job
    from crossmatrix.runner.kept import Kept
    from crossmatrix.runner.supplies import Supplies
    from crossmatrix.runner.workshop import Workshop

_LOCK_POLL_S = 0.5


@dataclass(frozen=True, kw_only=True, slots=True)
class Done:
    """What came of a job: its result, whether another run made it meanwhile, and the fault that kept it from it."""

    result: JobResult
    cached: bool = False
    fault: CrossmatrixError | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Worker:
    """Does jobs.

    Attributes:
        shop: what the run's jobs share.
        supplies: with the faults of images and sources that could not be made ready.
        kept: what earlier runs left.
        seen: by job key, the run whose result was there when this run was planned.
    """

    shop: Workshop
    supplies: Supplies
    kept: Kept
    seen: dict[str, str] = field(default_factory=dict)

    def do(self, job: Job) -> Done:
        """Do a job, or take over what another run has done of it since; faults become a result, never an exception."""
        fault = self.supplies.faults.get(job.image) or self.supplies.faults.get(job.build.source.digest)
        if fault is not None:
            return Done(result=self._faulty(job, fault), fault=fault)
        try:
            return self._locked(job)
        except InfrastructureError as error:
            return Done(result=self._faulty(job, error), fault=error)

    def _locked(self, job: Job) -> Done:
        world = self.shop.world
        lock = world.state.lock(f"job-{job.key[:40]}")
        told = False
        while True:
            try:
                lock.acquire(timeout=_LOCK_POLL_S)
                break
            except Timeout:
                if world.stop.is_set():
                    return Done(result=self._faulty(job, InfrastructureError("interrupted")))
                if not told:
                    world.listen(Note(message=f"{job_label(job)}: waits for another run that does the same job"))
                    told = True
        try:
            after = world.state.results.load(job.key)
            news = after is not None and after.sound and after.run_id != self.seen.get(job.key)
            if after is not None and news and (job.kind is JobKind.RUN or self.kept.has_tree(job.key)):
                return Done(result=after, cached=True)
            return Done(result=execute(job, self.shop))
        finally:
            lock.release()

    def _faulty(self, job: Job, error: CrossmatrixError) -> JobResult:
        return JobResult(
            key=job.key,
            kind=job.kind,
            id=job.id,
            run_id=self.shop.run_id,
            inputs=dict(job.inputs),
            ok=False,
            sound=False,
            fault=error.message,
            hint=error.hint,
        )
