"""Cells -> jobs: cells that differ only in how they run share one build."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from crossmatrix.plan.jobs import Decision, ImageState, Job, JobKind, Plan
from crossmatrix.plan.keys import UNSEEN, build_inputs, changed, key_of, run_inputs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from crossmatrix.catalog import Build, Cell


class Scripts(Protocol):
    """Digests of what jobs do in their containers."""

    def for_build(self, build: Build) -> str:
        """Give the digest of a build's steps."""

    def for_run(self, cell: Cell) -> str:
        """Give the digest of a run's steps."""


class Known(Protocol):
    """What earlier runs left."""

    def has_result(self, key: str) -> bool:
        """Whether a result of this key is kept that may be used again."""

    def failed(self, key: str) -> bool:
        """Whether the kept result says that what hangs on the job cannot run."""

    def last_inputs(self, kind: JobKind, job_id: str) -> Mapping[str, str] | None:
        """Give the inputs with which this job last ran."""

    def doubt(self, key: str) -> str:
        """Say why a kept result of this key is not used again; empty where none is kept."""

    def has_tree(self, key: str) -> bool:
        """Whether the build tree of this key is still whole on the engine."""


def plan(cells: Sequence[Cell], images: Mapping[str, ImageState], scripts: Scripts) -> Plan:
    """Make the jobs of a matrix.

    Args:
        cells: in the order of the report.
        images: what is known of every image that the cells name.
        scripts: digests of the steps.

    Returns:
        One build job for each distinct build, one run job for each cell, each after what it needs.
    """
    builds: dict[str, Job] = {}
    runs: list[Job] = []
    for cell in cells:
        build = builds.get(cell.build.id)
        if build is None:
            build = builds[cell.build.id] = _build_job(cell.build, images, scripts)
        inputs = run_inputs(cell, build.key, images[cell.emulator.image], scripts.for_run(cell))
        runs.append(
            Job(
                kind=JobKind.RUN,
                id=cell.id,
                key=key_of(inputs),
                inputs=inputs,
                needs=(build.key,),
                estimate_s=cell.tier.estimate_s,
                image=cell.emulator.image,
                build=cell.build,
                cell=cell,
            ),
        )
    return Plan(cells=tuple(cells), jobs=(*builds.values(), *runs))


def _build_job(build: Build, images: Mapping[str, ImageState], scripts: Scripts) -> Job:
    inputs = build_inputs(build, images[build.toolchain.image], scripts.for_build(build))
    return Job(
        kind=JobKind.BUILD,
        id=build.id,
        key=key_of(inputs),
        inputs=inputs,
        needs=(),
        estimate_s=build.library.build_estimate_s,
        image=build.toolchain.image,
        build=build,
    )


def decide(plan: Plan, known: Known, *, fresh: bool = False) -> tuple[Decision, ...]:
    """Say of each job whether it is run, and why.

    Args:
        plan: the jobs.
        known: what earlier runs left.
        fresh: run everything again.

    Returns:
        Decisions in the plan's order. A build is run when its result is missing, or when a run job that has to
        run needs its tree and the tree is gone.
    """
    runs = {job.key: _decide_one(job, known, fresh=fresh) for job in plan.jobs if job.kind is JobKind.RUN}
    wanted = {need for decision in runs.values() if decision.run for need in decision.job.needs}
    builds = {}
    for job in plan.jobs:
        if job.kind is not JobKind.BUILD:
            continue
        decision = _decide_one(job, known, fresh=fresh)
        if not decision.run and job.key in wanted and not known.failed(job.key) and not known.has_tree(job.key):
            decision = Decision(
                job=job, run=True, reason="its tree is no longer whole on the engine, and a run needs it"
            )
        builds[job.key] = decision
    return tuple(builds.get(job.key) or _after(runs[job.key], builds) for job in plan.jobs)


def _after(decision: Decision, builds: Mapping[str, Decision]) -> Decision:
    """Run again what hangs on a build whose own inputs made it run again, with the build's reason."""
    build = builds.get(decision.job.needs[0]) if decision.job.needs else None
    if decision.run and build is not None and build.run and decision.reason in {"changed: build", UNSEEN}:
        return Decision(job=decision.job, run=True, reason=f"its build is made again ({build.reason})")
    return decision


def _decide_one(job: Job, known: Known, *, fresh: bool) -> Decision:
    if fresh:
        return Decision(job=job, run=True, reason="asked for by --fresh")
    if known.has_result(job.key):
        return Decision(job=job, run=False, reason="same key as an earlier run")
    before = known.last_inputs(job.kind, job.id)
    if before is None:
        return Decision(job=job, run=True, reason="never run before")
    return Decision(job=job, run=True, reason=_why_again(job, known, before))


def _why_again(job: Job, known: Known, before: Mapping[str, str]) -> str:
    return changed(before, job.inputs) or known.doubt(job.key) or "its last result was not kept"
