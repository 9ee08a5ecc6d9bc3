"""A whole run: supplies, plan, jobs, records."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import TYPE_CHECKING

from crossmatrix.engine.types import LABEL
from crossmatrix.errors import InfrastructureError, NoSpaceError, UsageError
from crossmatrix.events import CellFinished, JobFinished, JobGivenUp, JobStarted, RunStarted
from crossmatrix.plan import Decision, Job, JobKind, decide, plan
from crossmatrix.runner.alive import living
from crossmatrix.runner.book import Book
from crossmatrix.runner.capacity import jobs_at_once, limits
from crossmatrix.runner.job_steps import measures_time
from crossmatrix.runner.judging import Judge
from crossmatrix.runner.kept import Kept
from crossmatrix.runner.scheduler import Task, priorities, work_off
from crossmatrix.runner.supplies import (
    Supplies,
    image_names,
    image_states,
    present_images,
    ready_images,
    ready_sources,
)
from crossmatrix.runner.worker import Worker
from crossmatrix.runner.workshop import Workshop, job_label

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from crossmatrix.records import RunRecord
    from crossmatrix.runner.request import Request, Surroundings
    from crossmatrix.store import JobResult


def carry_out(
    request: Request, world: Surroundings, *, then: Callable[[RunRecord], None] = lambda _record: None
) -> RunRecord:
    """Do a run to its end, whatever happens in it.

    Args:
        request: which cells, and how.
        world: engine, state directory, clock, listener.
        then: is given the record while the run still counts as alive, so that nobody removes its folder meanwhile.

    Returns:
        The record, as it is in the store. Infrastructure faults are verdicts in it, never exceptions.
    """
    run = _Run(request, world)
    with living(world, run.id):
        record = run.carry_out()
        then(record)
        return record


class _Run:
    """One run under way."""

    def __init__(self, request: Request, world: Surroundings) -> None:
        self._request = request
        self._world = world
        self._supplies = Supplies()
        self._results: dict[str, JobResult] = {}
        self._guard = Lock()
        self._book = Book(request=request, world=world)
        self._kept = Kept(state=world.state, engine=world.engine)
        self._judge = Judge(request=request, world=world)

    @property
    def id(self) -> str:
        """The run's id."""
        return self._book.id

    def carry_out(self) -> RunRecord:
        """Begin the record, do everything, end the record; the space kept for the end is given back in any case."""
        try:
            return self._carried_out()
        finally:
            self._world.state.runs.release(self.id)

    def _carried_out(self) -> RunRecord:
        self._book.begin(tuple(map(self._judge.pending, self._request.cells)))
        for item in self._request.left_out:
            self._book.keep(self._judge.left_out(item.cell, item.reason, item.link))
        try:
            self._work(self._planned())
        except InfrastructureError as error:
            self._book.note(str(error))
            self._world.stop.set()
            self._give_up_rest(error)
        finally:
            self._leave_nothing()
        return self._book.conclude()

    def _planned(self) -> tuple[Decision, ...]:
        """Prepare; what the user has to mend first leaves no run behind, since none has begun."""
        try:
            return self._prepare()
        except UsageError:
            self._world.state.runs.remove(self.id)
            raise

    def _prepare(self) -> tuple[Decision, ...]:
        """Make images and sources ready and decide what has to run."""
        names = image_names(self._request.cells)
        self._supplies.images.update(present_images(names, self._world.engine, self._world.images))
        specs = [cell.build.source for cell in self._request.cells]
        if len(self._supplies.images) < len(names):
            with ThreadPoolExecutor(1, thread_name_prefix="sources") as pool:
                fetching = pool.submit(ready_sources, specs, self._world, self._supplies)
                ready_images(names, self._world, self._supplies)
                fetching.result()
        states = image_states(names, self._world.images, self._supplies.images)
        jobs = plan(self._request.cells, states, self._world.steps)
        for job in jobs.jobs:
            # With --fresh nothing is asked of what is kept, and still it must be known what was there before.
            self._kept.result(job.key)
        decisions = decide(jobs, self._kept, fresh=self._request.fresh)
        needed = [item.job.build.source for item in decisions if item.run and item.job.kind is JobKind.BUILD]
        ready_sources(needed, self._world, self._supplies)
        return decisions

    def _work(self, decisions: Sequence[Decision]) -> None:
        slots = jobs_at_once(self._world.engine.info, self._request.jobs)
        shop = Workshop(
            run_id=self.id,
            request=self._request,
            world=self._world,
            images=self._supplies.images,
            sources=self._supplies.sources,
            limits=limits(self._world.engine.info, slots),
        )
        running = [item for item in decisions if item.run]
        self._world.listen(
            RunStarted(
                run_id=self.id,
                cells=tuple(cell.id for cell in self._request.cells),
                jobs=tuple((job_label(item.job), item.job.estimate_s) for item in running),
                reused=len(decisions) - len(running),
                parallel=slots,
            ),
        )
        self._reuse(decisions)
        order = priorities(
            {item.job.key: item.job.needs for item in running},
            {item.job.key: item.job.estimate_s for item in running},
        )
        worker = Worker(shop=shop, supplies=self._supplies, kept=self._kept)
        tasks = [self._task(item, order[item.job.key], worker) for item in running if self._can_run(item.job)]
        work_off(tasks, slots=slots, stop=self._world.stop, on_stop=self._stop_ours)

    def _can_run(self, job: Job) -> bool:
        """Whether a job's build is there; a build that failed in an earlier run decides its cells at once."""
        failed = job.cell is not None and job.needs[0] in self._results and not self._results[job.needs[0]].ok
        if failed and job.cell is not None:
            self._world.listen(JobGivenUp(job=job_label(job), reason="its build failed in an earlier run"))
            self._finish_cell(job, None, cached=True)
        return not failed

    def _reuse(self, decisions: Sequence[Decision]) -> None:
        """Take over what need not run."""
        for item in decisions:
            if not item.run and (result := self._kept.result(item.job.key)) is not None:
                self._results[item.job.key] = result
        for item in decisions:
            if not item.run and item.job.kind is JobKind.RUN:
                self._finish_cell(item.job, self._results[item.job.key], cached=True)

    def _task(self, item: Decision, priority: float, worker: Worker) -> Task:
        return Task(
            key=item.job.key,
            needs=item.job.needs,
            priority=priority,
            action=lambda: self._do(item, worker),
            give_up=lambda reason: self._give_up(item.job, reason),
            alone=measures_time(item.job),
        )

    def _do(self, item: Decision, worker: Worker) -> bool:
        """Do one job; gives whether what needs it can run."""
        job = item.job
        clock = time.monotonic()
        self._world.listen(JobStarted(job=job_label(job), reason=item.reason))
        with worker.doing(job) as done:
            if isinstance(done.fault, NoSpaceError):
                self._book.no_space(done.fault)
            result = done.result
            with self._guard:
                self._results[job.key] = result
            ended = "done by another run meanwhile" if done.cached else _words(result)
            self._world.listen(
                JobFinished(job=job_label(job), ok=result.ok, message=ended, duration_s=time.monotonic() - clock),
            )
            if job.kind is JobKind.RUN:
                self._finish_cell(job, result, cached=done.cached)
        return result.ok

    def _give_up(self, job: Job, reason: str) -> None:
        """Give the cells of a job that will not run their verdict."""
        self._world.listen(JobGivenUp(job=job_label(job), reason=reason))
        if job.kind is JobKind.RUN:
            self._finish_cell(job, None, cached=False, reason=reason)

    def _finish_cell(self, job: Job, result: JobResult | None, *, cached: bool, reason: str = "") -> None:
        """Judge one cell, write its record at once, and stop early where that was asked for."""
        if job.cell is None:
            raise ValueError(f"the job {job.id} runs no cell")
        try:
            full = self._book.full
            if full is not None and (result is None or result.fault == full.message):
                raise full
            record = self._judge.cell(
                job,
                build=self._results.get(job.needs[0]),
                run=result,
                run_id=self.id,
                cached=cached,
                reason=reason,
            )
        except NoSpaceError as error:
            self._book.no_space(error)
            record = self._judge.fault(job.cell, error)
        except InfrastructureError as error:
            record = self._judge.fault(job.cell, error)
        self._book.keep(record)
        self._world.listen(CellFinished(record=record))
        if self._request.fail_fast and not record.verdict.as_expected:
            self._world.stop.set()

    def _give_up_rest(self, error: InfrastructureError) -> None:
        for cell in self._request.cells:
            if not self._book.has(cell.id):
                self._book.keep(self._judge.fault(cell, error))

    def _leave_nothing(self) -> None:
        """Stop what is still ours on the engine; kept containers stay only after a run that was not stopped."""
        if not self._request.keep_container or self._world.interrupted.is_set():
            self._stop_ours()
        else:
            self._distrust_trees()

    def _distrust_trees(self) -> None:
        """Note whose containers were kept: who looks into one can change its tree, which then belongs to no key."""
        try:
            for key, result in self._results.items():
                if result.kind is JobKind.BUILD and result.run_id == self.id:
                    self._world.state.results.tree_goes(key)
        except NoSpaceError as error:
            self._book.no_space(error)

    def _stop_ours(self) -> None:
        try:
            self._world.engine.stop_containers({f"{LABEL}.run": self.id})
        except InfrastructureError as error:
            self._book.note(f"containers of this run may be left: {error}")


def _words(result: JobResult) -> str:
    if result.fault:
        return result.fault.splitlines()[0]
    broken = next((stage for stage in result.stages if stage.status != "ok"), None)
    return "done" if broken is None else f"{broken.name}: {broken.status}"
