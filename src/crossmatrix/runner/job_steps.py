"""What jobs do in their containers, and the digests of it that go into their keys."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from crossmatrix.plan import Job, JobKind
from crossmatrix.records import MEASURED_TIER
from crossmatrix.steps import bench_steps, build_steps, run_steps, steps_digest
from crossmatrix.steps.builds import workload_files
from crossmatrix.steps.surroundings import left_out_tests

if TYPE_CHECKING:
    from pathlib import Path

    from crossmatrix.catalog import Build, Cell
    from crossmatrix.steps.stage import InputFile, Steps


def measures_time(job: Job) -> bool:
    """Say whether a job measures time, so that nothing may run beside it: a measuring one without an emulator."""
    return job.cell is not None and job.cell.tier.name == MEASURED_TIER and job.build.target.native


@dataclass(frozen=True, kw_only=True, slots=True)
class JobSteps:
    """Makes steps from recipes; ``recipes`` is the folder that ``Library.workload`` is relative to.

    Workload files are read once: for speed, and so that a key names what is compiled, whoever edits meanwhile.
    """

    recipes: Path
    algorithms: tuple[str, ...] = ()
    _digests: dict[tuple[str, ...], str] = field(default_factory=dict)
    _workloads: dict[tuple[str, ...], tuple[InputFile, ...]] = field(default_factory=dict)

    def of(self, job: Job, *, processes: int) -> Steps:
        """Give a job's steps; ``processes`` is how many it may run side by side."""
        if job.kind is JobKind.BUILD:
            return self._build(job.build, processes)
        if job.cell is None:
            raise ValueError(f"the run job {job.id} has no cell")
        return self._run(job.cell, processes)

    def for_build(self, build: Build) -> str:
        """Give the digest of a build's steps."""
        seen = (build.id, *build.suite)
        if seen not in self._digests:
            self._digests[seen] = steps_digest(self._build(build, 1))
        return self._digests[seen]

    def for_run(self, cell: Cell) -> str:
        """Give the digest of a run's steps."""
        build = cell.build
        seen = (build.library.name, build.target.name, cell.profile.name, cell.tier.name, *left_out_tests(cell))
        if seen not in self._digests:
            self._digests[seen] = steps_digest(self._run(cell, 1))
        return self._digests[seen]

    def _build(self, build: Build, processes: int) -> Steps:
        paths = build.library.workload
        if paths not in self._workloads:
            self._workloads[paths] = tuple(workload_files(paths, self.recipes))
        return build_steps(build, recipes=self.recipes, processes=processes, workload=self._workloads[paths])

    def _run(self, cell: Cell, processes: int) -> Steps:
        if cell.tier.name == MEASURED_TIER:
            return bench_steps(cell, processes=processes, algorithms=self.algorithms)
        return run_steps(cell, processes=processes)
