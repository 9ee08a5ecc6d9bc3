"""From the results of a build job and a run job to a cell's record."""

from __future__ import annotations

import hashlib
import shlex
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from crossmatrix.analysis.words import listed
from crossmatrix.checksums import sha256_value
from crossmatrix.evidence import gather, not_in_build, unmeasured, vacuous
from crossmatrix.outcomes import Case, judge
from crossmatrix.records import MEASURED_TIER, CellRecord, Evidence, Verdict
from crossmatrix.runner.cell_files import with_files
from crossmatrix.runner.kept import stopped_words
from crossmatrix.runner.left import read_left, read_stages
from crossmatrix.runner.told import blank, counts_of, figures_of, told_by_jobs, vectors_of
from crossmatrix.selectors import facts_of, where_matches

if TYPE_CHECKING:
    from crossmatrix.catalog import Cell, Exclusion
    from crossmatrix.errors import CrossmatrixError
    from crossmatrix.outcomes.verdicts import Judgement
    from crossmatrix.plan import Job
    from crossmatrix.records import Figures, Vectors
    from crossmatrix.runner.left import Left
    from crossmatrix.runner.request import Request, Surroundings
    from crossmatrix.store import JobResult

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
        results = self._world.state.results
        record = None
        if self._world.stop.is_set() and not _whole(build, run):
            record = _stopped(job.cell, read_stages(results, build, run), reason)
        record = record or self._kept(job.cell, run, build)
        record = record or self._judged(job.cell, read_left(results, job.cell, build, run), reason)
        record = record.model_copy(
            update={
                "id": job.id,
                "keys": {"build": job.needs[0], "run": job.key},
                "cached": cached,
                "reproduce": self._reproduce(job.cell, record.verdict),
            },
        )
        return with_files(self._world.state, record, (build, run), run_id)

    def fault(self, cell: Cell, error: CrossmatrixError) -> CellRecord:
        """Give the record of a cell that an infrastructure fault kept from being run."""
        return blank(cell).model_copy(
            update={
                "verdict": Verdict.INFRASTRUCTURE,
                "reason": " ".join(str(error).split()),
                "reproduce": self._reproduce(cell, Verdict.INFRASTRUCTURE),
            },
        )

    def pending(self, cell: Cell) -> CellRecord:
        """Give the record that a cell has until it has its own: what a run that is killed leaves of it."""
        return blank(cell).model_copy(
            update={
                "reason": "the run ended before this cell had its verdict",
                "reproduce": self._reproduce(cell, Verdict.ABORTED),
            },
        )

    def left_out(self, cell: Cell, reason: str, link: str) -> CellRecord:
        """Give the record of a cell that is not run, and why."""
        links = (link,) if link else ()
        return blank(cell).model_copy(
            update={"verdict": Verdict.UNSUPPORTED, "reason": reason, "links": links},
        )

    def _kept(self, cell: Cell, run: JobResult | None, build: JobResult | None) -> CellRecord | None:
        """Read the judgement made before of the same results by the same code and rules."""
        if run is None or not run.sound:
            return None
        record = self._world.state.results.judged(run.key, _rules(cell))
        same = record is not None and record.finished == run.finished and (build is None or build.sound)
        return record if same else None

    def _judged(self, cell: Cell, left: Left, reason: str) -> CellRecord:
        """Judge what a cell's jobs left, and note what that says of their results."""
        evidence = gather(cell, build=left.build_files, run=left.files) if left.files else Evidence()
        vectors = vectors_of(left.files)
        judgement = _judgement(cell, left, evidence, vectors, reason)
        record = blank(cell).model_copy(
            update={
                **told_by_jobs(cell, left, judgement),
                "verdict": judgement.verdict,
                "reason": judgement.reason,
                "tests": counts_of(left.suite),
                "outcomes": left.suite.outcomes if left.suite else (),
                "cut": left.suite.cut if left.suite else "",
                "evidence": evidence,
                "vectors": vectors,
                "figures": figures_of(left.files),
                "links": tuple(dict.fromkeys(item.link for item in exclusions_of(cell) if item.link)),
            },
        )
        self._remember(record, cell, left)
        return record

    def _remember(self, record: CellRecord, cell: Cell, left: Left) -> None:
        """Keep a judgement beside the result that it is of; doubt the results of one that may end otherwise."""
        results, build, run = self._world.state.results, left.build, left.run
        if record.verdict not in _TRY_AGAIN:
            if run is not None and run.sound:
                results.keep_judged(run.key, _rules(cell), record)
            return
        for result in (run, build if build is not None and not build.ok else None):
            if result is not None and result.sound:
                results.doubt(result)

    def _reproduce(self, cell: Cell, verdict: Verdict) -> str:
        """Give the command that runs this cell alone; a result that is kept is run again only when asked for."""
        task = "bench" if cell.tier.name == MEASURED_TIER else "matrix"
        words = [
            self._request.program,
            task,
            *self._request.reproduce.get(cell.id, ()),
            "--only",
            shlex.quote(f"id={cell.id}"),
        ]
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


def _judgement(cell: Cell, left: Left, evidence: Evidence, vectors: Vectors | None, reason: str) -> Judgement:
    """Judge; ``reason`` says why no job ran, where nothing else does."""
    build, run = left.build, left.run
    doubts: tuple[str, ...] = ()
    figures = figures_of(left.files)
    if run is not None and cell.tier.name == MEASURED_TIER:
        doubts = unmeasured(cell, evidence, figures)
    elif run is not None:
        doubts = vacuous(cell, evidence, suite=left.suite, vectors=vectors)
    case = Case(
        cell=cell,
        build_stages=build.stages if build is not None else (),
        run_stages=run.stages if run is not None else (),
        suite=left.suite,
        logs=left.logs,
        vacuous=doubts,
        exclusions=exclusions_of(cell),
        infrastructure=_fault(build) or _fault(run) or ("" if left.results else reason),
    )
    judgement = judge(case)
    return _with_lacking(judgement, figures) if figures is not None else judgement


def _with_lacking(judgement: Judgement, figures: Figures) -> Judgement:
    """Say of a measured cell what its build does not have; one that has nothing of what was asked was not measured."""
    lacking = not_in_build(figures)
    if judgement.verdict is not Verdict.PASSED or not lacking:
        return judgement
    if not figures.figures:
        return replace(
            judgement,
            verdict=Verdict.UNSUPPORTED,
            reason=f"this build has none of what is asked for: {listed(lacking)}",
        )
    return replace(judgement, reason=f"{judgement.reason}; not in this build: {listed(lacking)}")


def _stopped(cell: Cell, left: Left, reason: str) -> CellRecord:
    """Give the record of a cell whose run was stopped: how far it came, and the log of where it was stopped."""
    words = stopped_words(left.build, left.run) or reason or "stopped before it had ended"
    return blank(cell).model_copy(update={**told_by_jobs(cell, left), "reason": words})


def _whole(build: JobResult | None, run: JobResult | None) -> bool:
    """Whether a cell's jobs came to an end that says something, also when the run was stopped meanwhile."""
    return (run is not None and run.sound) or (build is not None and build.sound and not build.ok)


def _fault(result: JobResult | None) -> str:
    if result is None or not result.fault:
        return ""
    return f"{result.fault}. {result.hint}" if result.hint else result.fault
