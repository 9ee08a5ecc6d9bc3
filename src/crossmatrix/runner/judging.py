"""From the results of a build job and a run job to a cell's record."""

from __future__ import annotations

import hashlib
import shlex
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from crossmatrix.checksums import sha256_value
from crossmatrix.evidence import fault_lines, gather, vacuous
from crossmatrix.outcomes import judge, parse_suite
from crossmatrix.outcomes.case import TEST_STAGE
from crossmatrix.records import (
    CellRecord,
    Evidence,
    StageStatus,
    SuiteResult,
    Verdict,
)
from crossmatrix.runner.cell_files import with_files
from crossmatrix.runner.job_steps import BENCH_TIER
from crossmatrix.runner.kept import stopped_words
from crossmatrix.runner.kept_files import out_files, stage_logs, text
from crossmatrix.runner.told import compiler_of, counts_of, emulator_of, figures_of, log_tail, vectors_of
from crossmatrix.selectors import facts_of, where_matches

if TYPE_CHECKING:
    from crossmatrix.catalog import Cell, Exclusion
    from crossmatrix.errors import CrossmatrixError
    from crossmatrix.plan import Job
    from crossmatrix.runner.request import Request, Surroundings
    from crossmatrix.store import JobResult, Results

_TRY_AGAIN = {Verdict.INFRASTRUCTURE, Verdict.ABORTED, Verdict.TIMED_OUT, Verdict.EMULATOR_CRASHED}
"""What may end otherwise next time, so that the result is not used again."""
_JUDGING_ROOMS = ("outcomes", "evidence", "analysis", "records", "runner")


@cache
def judging_digest() -> str:
    """Give the checksum of the code that judges, so that a kept judgement is never older than its rules."""
    digest = hashlib.sha256()
    for room in _JUDGING_ROOMS:
        for file in sorted(files("crossmatrix").joinpath(room).iterdir(), key=lambda item: item.name):
            if file.name.endswith(".py"):
                digest.update(file.read_bytes())
    return digest.hexdigest()


class Judge:
    """Makes the records of a run's cells."""

    def __init__(self, request: Request, world: Surroundings) -> None:
        self._request = request
        self._world = world

    def cell(  # noqa: PLR0913 - each is one fact about how the cell came about
        self,
        job: Job,
        *,
        build: JobResult | None,
        run: JobResult | None,
        run_id: str,
        cached: bool,
        reason: str = "",
    ) -> CellRecord:
        """Judge a cell and give it its files in the run's folder.

        Args:
            job: the run job.
            build: result of its build job, where there is one.
            run: result of the run job; None where it did not run.
            run_id: of the run.
            cached: nothing was run for this cell now.
            reason: why the run job did not run, where nothing else says it.

        Returns:
            The cell's record.
        """
        if job.cell is None:
            raise ValueError(f"the job {job.id} runs no cell")
        if self._world.stop.is_set() and not _whole(build, run):
            record = self._stopped(job, job.cell, build, run, reason)
        else:
            record = self._kept(job.cell, run, build) or self._judged(job, job.cell, build, run, reason)
        record = record.model_copy(
            update={"id": job.id, "cached": cached, "reproduce": self._reproduce(job.cell, record.verdict)},
        )
        return with_files(self._world.state, record, (build, run), run_id)

    def fault(self, cell: Cell, error: CrossmatrixError) -> CellRecord:
        """Give the record of a cell that an infrastructure fault kept from being run."""
        return self._blank(cell).model_copy(
            update={
                "verdict": Verdict.INFRASTRUCTURE,
                "reason": " ".join(str(error).split()),
                "reproduce": self._reproduce(cell, Verdict.INFRASTRUCTURE),
            },
        )

    def left_out(self, cell: Cell, reason: str, link: str) -> CellRecord:
        """Give the record of a cell that is not run, and why."""
        links = (link,) if link else ()
        return self._blank(cell).model_copy(
            update={"verdict": Verdict.UNSUPPORTED, "reason": reason, "links": links},
        )

    def _kept(self, cell: Cell, run: JobResult | None, build: JobResult | None) -> CellRecord | None:
        """Read the judgement made before of the same results by the same code and rules."""
        if run is None or not run.sound:
            return None
        record = self._world.state.results.judged(run.key, _rules(cell))
        same = record is not None and record.finished == run.finished and (build is None or build.sound)
        return record if same else None

    def _judged(
        self,
        job: Job,
        cell: Cell,
        build: JobResult | None,
        run: JobResult | None,
        reason: str,
    ) -> CellRecord:
        results = self._world.state.results
        build_folder = results.folder(job.needs[0])
        build_stages = build.stages if build is not None else ()
        run_stages = run.stages if run is not None else ()
        logs = dict(stage_logs(build_folder, build_stages)) if build is not None else {}
        files: dict[str, bytes] = {}
        if run is not None:
            logs |= stage_logs(results.folder(run.key), run_stages)
            files = _left(results, run)
        suite = self._suite(cell, run, files)
        build_files = _left(results, build) if build is not None and run is not None else {}
        if run is not None:
            # Where the workload died, the emulator's core says at which instruction.
            program = {"workload": build_files.get("artifacts/workload", b"")}
            logs["evidence"] = "\n".join((logs.get("evidence", ""), *fault_lines(files, program)))
        evidence = gather(cell, build=build_files, run=files) if files else Evidence()
        vectors = vectors_of(files)
        measuring = cell.tier.name == BENCH_TIER
        exclusions = exclusions_of(cell)
        judgement = judge(
            cell,
            build_stages=build_stages,
            run_stages=run_stages,
            suite=suite,
            logs=logs,
            vacuous=() if measuring or run is None else vacuous(cell, evidence, suite=suite, vectors=vectors),
            exclusions=exclusions,
            infrastructure=_fault(build) or _fault(run) or ("" if run or build else reason),
        )
        record = self._blank(cell).model_copy(
            update={
                "source_origin": build.source_origin if build else "",
                "verdict": judgement.verdict,
                "reason": judgement.reason,
                "tests": counts_of(suite),
                "outcomes": suite.outcomes if suite else (),
                "cut": suite.cut if suite else "",
                "stages": (*build_stages, *run_stages),
                "image": build.image if build else None,
                "run_image": run.image if run else None,
                "compiler": compiler_of(cell, build),
                "emulator": emulator_of(cell, run),
                "keys": {"build": job.needs[0], "run": job.key},
                "evidence": evidence,
                "vectors": vectors,
                "figures": figures_of(files),
                "log_tail": log_tail((*build_stages, *run_stages), logs),
                "links": tuple(dict.fromkeys(item.link for item in exclusions if item.link)),
                "started": build.started if build else "",
                "finished": run.finished if run else "",
                "duration_s": round(sum(result.duration_s for result in (build, run) if result), 2),
            },
        )
        if record.verdict in _TRY_AGAIN:
            for result in (run, build if build is not None and not build.ok else None):
                if result is not None and result.sound:
                    results.doubt(result)
        elif run is not None and run.sound:
            results.keep_judged(run.key, _rules(cell), record)
        return record

    def _stopped(
        self,
        job: Job,
        cell: Cell,
        build: JobResult | None,
        run: JobResult | None,
        reason: str,
    ) -> CellRecord:
        """Give the record of a cell whose run was stopped: how far it came, and the log of where it was stopped."""
        results = [result for result in (build, run) if result is not None]
        stages = tuple(stage for result in results for stage in result.stages)
        logs: dict[str, str] = {}
        for result in results:
            logs |= stage_logs(self._world.state.results.folder(result.key), result.stages)
        return self._blank(cell).model_copy(
            update={
                "reason": stopped_words(build, run) or reason or "stopped before it had ended",
                "source_origin": build.source_origin if build else "",
                "stages": stages,
                "image": build.image if build else None,
                "run_image": run.image if run else None,
                "compiler": compiler_of(cell, build),
                "keys": {"build": job.needs[0], "run": job.key},
                "log_tail": log_tail(stages, logs),
                "started": build.started if build else "",
                "finished": results[-1].finished if results else "",
                "duration_s": round(sum(result.duration_s for result in results), 2),
            },
        )

    def _suite(self, cell: Cell, run: JobResult | None, files: dict[str, bytes]) -> SuiteResult | None:
        """Read the suite's log: the file it left, or what came by while it ran where the container was killed."""
        if run is None or cell.tier.name == BENCH_TIER:
            return None
        stage = next((stage for stage in run.stages if stage.name == TEST_STAGE), None)
        if stage is None or stage.status is StageStatus.NOT_RUN:
            return None
        log = files.get("suite.log", b"").decode("utf-8", errors="replace")
        return parse_suite(
            cell.build.library.name,
            log or text(self._world.state.results.folder(run.key) / stage.log),
        )

    def _blank(self, cell: Cell) -> CellRecord:
        build = cell.build
        return CellRecord(
            id=cell.id,
            library=build.library.name,
            version=build.source.version,
            variant=build.variant.name,
            toolchain=build.toolchain.name,
            target=build.target.name,
            endian=build.target.endian.value,
            profile=cell.profile.name,
            tier=cell.tier.name,
            source_digest=build.source.digest,
            verdict=Verdict.ABORTED,
            environment=dict(cell.profile.environment) | ({"QEMU_CPU": cell.profile.cpu} if cell.profile.cpu else {}),
        )

    def _reproduce(self, cell: Cell, verdict: Verdict) -> str:
        """Give the command that runs this cell alone; a result that is kept is run again only when asked for."""
        task = "bench" if cell.tier.name == BENCH_TIER else "matrix"
        words = ["./bootstrap", task, *self._request.reproduce, "--only", shlex.quote(f"id={cell.id}")]
        if verdict not in {Verdict.ABORTED, Verdict.INFRASTRUCTURE}:
            words.append("--fresh")
        return " ".join(words)


def exclusions_of(cell: Cell) -> tuple[Exclusion, ...]:
    """Give the exclusions of its library that apply to a cell."""
    facts = facts_of(cell)
    return tuple(item for item in cell.build.library.exclusions if where_matches(item.where, facts))


def _rules(cell: Cell) -> str:
    """Give the checksum of all that decides a verdict besides what the jobs left: the code, and the recipes' words."""
    build = cell.build
    asked = (build.variant, build.target, build.toolchain, cell.emulator, cell.profile, exclusions_of(cell))
    return sha256_value((judging_digest(), build.source.version, *map(repr, asked)))


def _left(results: Results, result: JobResult) -> dict[str, bytes]:
    """Read what a job left; where it never began, its folder holds what an earlier one of the same key left."""
    return out_files(results.folder(result.key)) if result.files else {}


def _whole(build: JobResult | None, run: JobResult | None) -> bool:
    """Whether a cell's jobs came to an end that says something, also when the run was stopped meanwhile."""
    return (run is not None and run.sound) or (build is not None and build.sound and not build.ok)


def _fault(result: JobResult | None) -> str:
    if result is None or not result.fault:
        return ""
    return f"{result.fault}. {result.hint}" if result.hint else result.fault
