"""What a cell's jobs left, read for judging."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from crossmatrix.errors import InfrastructureError
from crossmatrix.evidence import fault_lines
from crossmatrix.outcomes import parse_suite
from crossmatrix.outcomes.case import TEST_STAGE
from crossmatrix.records import MEASURED_TIER, StageRecord, StageStatus, SuiteResult
from crossmatrix.runner.kept_files import out_files, stage_logs, text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crossmatrix.catalog import Cell
    from crossmatrix.store import JobResult, Results

_OUT = "out/"


@dataclass(frozen=True, kw_only=True, slots=True)
class Left:
    """What a cell's jobs left.

    Attributes:
        build: result of the build job, where there is one.
        run: result of the run job; None where it did not run.
        logs: the end of each stage's log, by stage.
        files: of the run job's output folder, by path.
        build_files: the same of the build job, where there was a run of it.
        suite: what the test suite's log says, where the suite began.
    """

    build: JobResult | None
    run: JobResult | None
    logs: Mapping[str, str]
    files: dict[str, bytes]
    build_files: dict[str, bytes]
    suite: SuiteResult | None

    @property
    def results(self) -> tuple[JobResult, ...]:
        """The results that there are, the build's first."""
        return tuple(result for result in (self.build, self.run) if result is not None)

    @property
    def stages(self) -> tuple[StageRecord, ...]:
        """The stages of both jobs."""
        return tuple(stage for result in self.results for stage in result.stages)


def read_stages(results: Results, build: JobResult | None, run: JobResult | None) -> Left:
    """Read the logs alone: all that a cell that was stopped has to tell."""
    logs: dict[str, str] = {}
    for result in (build, run):
        if result is not None:
            logs |= stage_logs(results.folder(result.key), result.stages)
    return Left(build=build, run=run, logs=logs, files={}, build_files={}, suite=None)


def read_left(results: Results, cell: Cell, build: JobResult | None, run: JobResult | None) -> Left:
    """Read all that a cell's jobs left."""
    left = read_stages(results, build, run)
    if run is None:
        return left
    files = _files(results, run, whole=run.sound)
    build_files = _files(results, build, whole=run.sound) if build is not None else {}
    # Where the workload died, the emulator's core says at which instruction.
    died = fault_lines(files, {"workload": build_files.get("artifacts/workload", b"")})
    logs = {**left.logs, "evidence": "\n".join((left.logs.get("evidence", ""), *died))}
    return replace(left, logs=logs, files=files, build_files=build_files, suite=_suite(results, cell, run, files))


def _files(results: Results, result: JobResult, *, whole: bool) -> dict[str, bytes]:
    """Read what a job left; where it never began, its folder holds what an earlier one of the same key left.

    Raises:
        InfrastructureError: they are to be ``whole``, and one is gone: the rest would tell lies of the library.
    """
    if not result.files:
        return {}
    files = out_files(results.folder(result.key))
    for file in result.files if whole else ():
        if file.path.startswith(_OUT) and file.path.removeprefix(_OUT) not in files:
            raise InfrastructureError(
                f"{file.path} of the kept result of {result.id} is gone: another run put its own in the place",
                hint="give the same command again",
            )
    return files


def _suite(results: Results, cell: Cell, run: JobResult, files: dict[str, bytes]) -> SuiteResult | None:
    """Read the suite's log: the file it left, or what came by while it ran where the container was killed."""
    if cell.tier.name == MEASURED_TIER:
        return None
    stage = next((stage for stage in run.stages if stage.name == TEST_STAGE), None)
    if stage is None or stage.status is StageStatus.NOT_RUN:
        return None
    log = files.get("suite.log", b"").decode("utf-8", errors="replace")
    return parse_suite(cell.build.library.name, log or text(results.folder(run.key) / stage.log))
