"""A whole run: supplies, plan, jobs, records."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import TYPE_CHECKING

from crossmatrix import __version__
from crossmatrix.analysis import findings
from crossmatrix.engine.types import LABEL
from crossmatrix.errors import ExitCode, InfrastructureError, NoSpaceError
from crossmatrix.events import CellFinished, JobFinished, JobStarted, Note, RunStarted
from crossmatrix.evidence import vacuous_by_neighbours
from crossmatrix.plan import Decision, Job, JobKind, decide, plan
from crossmatrix.records import CellRecord, RunRecord, Verdict
from crossmatrix.report.conclusion import conclude
from crossmatrix.runner.alive import living
from crossmatrix.runner.capacity import jobs_at_once, limits
from crossmatrix.runner.judging import Judge, exclusions_of
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
    from collections.abc import Sequence

    from crossmatrix.runner.request import Request, Surroundings
    from crossmatrix.store import JobResult


def carry_out(request: Request, world: Surroundings) -> RunRecord:
    """Do a run to its end, whatever happens in it.

    Args:
        request: which cells, and how.
        world: engine, state directory, clock, listener.

    Returns:
        The record, as it is in the store. Infrastructure faults are verdicts in it, never exceptions.
    """
    run = _Run(request, world)
    with living(world.state, run.id):
        return run.carry_out()


class _Run:
    """One run under way; its records are written as they come."""

    def __init__(self, request: Request, world: Surroundings) -> None:
        self._request = request
        self._world = world
        self._supplies = Supplies()
        self._results: dict[str, JobResult] = {}
        self._cells: dict[str, CellRecord] = {}
        self._full: NoSpaceError | None = None
        self._guard = Lock()
        now = world.now()
        info = world.engine.info
        self._record = RunRecord(
            schema=1,
            run_id=now.strftime("%Y%m%d-%H%M%S-%f"),
            matrix=request.matrix,
            tool=__version__,
            host=dict(world.host),
            engine={
                "url": info.url,
                "kind": info.kind,
                "version": info.version,
                "cpus": str(info.cpus),
                "memory_bytes": str(info.memory_bytes),
                "rootless": str(info.rootless).lower(),
            },
            command=request.command,
            started=now.isoformat(),
            notes=request.notes,
        )
        self._kept = Kept(state=world.state, engine=world.engine)
        self._judge = Judge(request=request, world=world)

    @property
    def id(self) -> str:
        """The run's id."""
        return self._record.run_id

    def carry_out(self) -> RunRecord:
        """Begin the record, do everything, end the record."""
        self._world.state.runs.begin(self._record)
        for note in self._request.notes:
            self._world.listen(Note(message=note))
        for item in self._request.left_out:
            self._keep(self._judge.left_out(item.cell, item.reason, item.link))
        try:
            decisions = self._prepare()
            self._work(decisions)
        except InfrastructureError as error:
            self._note(str(error))
            self._world.stop.set()
            self._give_up_rest(error)
        finally:
            self._leave_nothing()
        return self._conclude()

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
            run_id=self._record.run_id,
            request=self._request,
            world=self._world,
            images=self._supplies.images,
            sources=self._supplies.sources,
            limits=limits(self._world.engine.info, slots),
        )
        running = [item for item in decisions if item.run]
        self._world.listen(
            RunStarted(
                run_id=self._record.run_id,
                cells=tuple(cell.id for cell in self._request.cells),
                jobs=tuple((item.job.id, item.job.estimate_s) for item in running),
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
        )

    def _do(self, item: Decision, worker: Worker) -> bool:
        """Do one job; gives whether what needs it can run."""
        job = item.job
        clock = time.monotonic()
        self._world.listen(JobStarted(job=job_label(job), reason=item.reason))
        with worker.doing(job) as done:
            if isinstance(done.fault, NoSpaceError):
                self._no_space(done.fault)
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
        if job.kind is JobKind.RUN:
            self._finish_cell(job, None, cached=False, reason=reason)

    def _finish_cell(self, job: Job, result: JobResult | None, *, cached: bool, reason: str = "") -> None:
        """Judge one cell, write its record at once, and stop early where that was asked for."""
        if job.cell is None:
            raise ValueError(f"the job {job.id} runs no cell")
        try:
            if self._full is not None and (result is None or result.fault == self._full.message):
                raise self._full
            record = self._judge.cell(
                job,
                build=self._results.get(job.needs[0]),
                run=result,
                run_id=self._record.run_id,
                cached=cached,
                reason=reason,
            )
        except NoSpaceError as error:
            self._no_space(error)
            record = self._judge.fault(job.cell, error)
        self._keep(record)
        self._world.listen(CellFinished(record=record))
        if self._request.fail_fast and not record.verdict.as_expected:
            self._world.stop.set()

    def _give_up_rest(self, error: InfrastructureError) -> None:
        for cell in self._request.cells:
            if cell.id not in self._cells:
                self._keep(self._judge.fault(cell, error))

    def _keep(self, record: CellRecord) -> None:
        """Keep a cell's record at once, so that a run that is killed leaves it; a full disk does not lose it."""
        with self._guard:
            self._cells[record.id] = record
        try:
            self._world.state.runs.write_cell(self._record.run_id, record)
        except NoSpaceError as error:
            self._no_space(error)

    def _leave_nothing(self) -> None:
        """Stop what is still ours on the engine; kept containers stay only after a run that was not stopped."""
        if not self._request.keep_container or self._world.interrupted.is_set():
            self._stop_ours()

    def _stop_ours(self) -> None:
        try:
            self._world.engine.stop_containers({f"{LABEL}.run": self._record.run_id})
        except InfrastructureError as error:
            self._note(f"containers of this run may be left: {error}")

    def _no_space(self, error: NoSpaceError) -> None:
        """Stop for a full disk: everything else that has to be written would fail alike."""
        with self._guard:
            known, self._full = self._full, self._full or error
        self._world.stop.set()
        if known is None:
            self._note(f"stopped: {error}")

    def _note(self, message: str) -> None:
        with self._guard:
            self._record = self._record.model_copy(update={"notes": (*self._record.notes, message)})
        self._world.listen(Note(message=message))

    def _conclude(self) -> RunRecord:
        order = [cell.id for cell in self._request.cells] + [item.id for item in self._request.left_out]
        cells = [self._cells[cell_id] for cell_id in order if cell_id in self._cells]
        reasons = vacuous_by_neighbours(cells)
        judged = tuple(_with_neighbours(record, reasons.get(record.id, "")) for record in cells)
        for before, after in zip(cells, judged, strict=True):
            if before is not after:
                self._keep(after)
        found = findings(judged, excluded={cell.id: exclusions_of(cell) for cell in self._request.cells})
        code = conclude(judged, found, interrupted=self._world.interrupted.is_set())
        self._record = self._record.model_copy(
            update={
                "cells": judged,
                "findings": found,
                "finished": self._world.now().isoformat(),
                "state": "interrupted" if code is ExitCode.INTERRUPTED else "finished",
                "exit_code": int(code),
            },
        )
        try:
            self._world.state.runs.write(self._record)
        except NoSpaceError as error:
            self._no_space(error)
        return self._record


def _with_neighbours(record: CellRecord, reason: str) -> CellRecord:
    if not reason or record.verdict is not Verdict.PASSED:
        return record
    return record.model_copy(update={"verdict": Verdict.VACUOUS, "reason": reason})


def _words(result: JobResult) -> str:
    if result.fault:
        return result.fault.splitlines()[0]
    broken = next((stage for stage in result.stages if stage.status != "ok"), None)
    return "done" if broken is None else f"{broken.name}: {broken.status}"
