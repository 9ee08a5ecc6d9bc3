"""One job at a time under its lock, so that two runs never do the same job at once."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from crossmatrix.errors import CrossmatrixError, InfrastructureError, StoreError
from crossmatrix.plan import JobKind
from crossmatrix.runner.jobs import execute
from crossmatrix.runner.waiting import taken, waited
from crossmatrix.runner.workshop import job_label, tree_key
from crossmatrix.store import JobResult

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from crossmatrix.plan import Job
    from crossmatrix.runner.kept import Kept
    from crossmatrix.runner.supplies import Supplies
    from crossmatrix.runner.workshop import Workshop


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
        kept: what earlier runs left when this one was planned.
    """

    shop: Workshop
    supplies: Supplies
    kept: Kept

    @contextmanager
    def doing(self, job: Job) -> Iterator[Done]:
        """Do a job, or take over what another run has done of it since; faults become a result, never an exception.

        Yields:
            What came of it. Until the caller has read that, no other run puts a result of its own in the place.
        """
        with ExitStack() as held:
            yield self._do(job, held)

    def _do(self, job: Job, held: ExitStack) -> Done:
        fault = self.supplies.faults.get(job.image) or self.supplies.faults.get(job.build.source.digest)
        if fault is not None:
            return Done(result=self._faulty(job, fault), fault=fault)
        try:
            return self._locked(job, held)
        except (InfrastructureError, StoreError) as error:
            return Done(result=self._faulty(job, error), fault=error)

    def _locked(self, job: Job, held: ExitStack) -> Done:
        """Do a job while no other run does the same one, makes its tree anew or, of a build, tests the old tree."""
        state, building = self.shop.world.state, job.kind is JobKind.BUILD
        own = state.lock(f"job-{job.key[:40]}")
        self._wait(lambda: taken(own), job, "that does the same job")
        held.callback(own.release)
        news = self._news(job)
        if news is not None:
            return Done(result=news, cached=True)
        tree = state.tree_lock(tree_key(job), alone=building)
        self._wait(tree.take, job, "that tests the old tree" if building else "that makes its tree anew")
        held.callback(tree.release)
        if self.shop.world.stop.is_set():
            # Nothing is taken away for what will not be done.
            raise InfrastructureError("interrupted")
        if not building:
            self._see_tree(job.needs[0])
        return Done(result=execute(job, self.shop))

    def _wait(self, take: Callable[[], bool], job: Job, who: str) -> None:
        if not waited(take, self.shop.world, f"{job_label(job)}: waits for another run {who}"):
            raise InfrastructureError("interrupted")

    def _news(self, job: Job) -> JobResult | None:
        """Give what another run has made of a job since this one was planned, where it can be used."""
        result, before = self.shop.world.state.results.load(job.key), self.kept.result(job.key)
        if result is None or not result.sound or (before is not None and result.run_id == before.run_id):
            return None
        return result if job.kind is JobKind.RUN or self.kept.has_tree(job.key) else None

    def _see_tree(self, key: str) -> None:
        """See that the tree to be tested is there: another run may have taken it away and not come to its end."""
        build = self.shop.world.state.results.load(key)
        if build is None or not build.ok or not self.kept.has_tree(key):
            raise InfrastructureError(
                "another run began to make the build's tree anew and did not get it ready, or kept a container of it",
                hint="give the same command again",
            )

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
