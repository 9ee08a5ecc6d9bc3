"""What a record says of a cell besides its verdict, read from what its jobs left."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pydantic import ValidationError

from crossmatrix.analysis import figures_from_bench
from crossmatrix.outcomes.case import BENCH_STAGE
from crossmatrix.records import (
    LOG_OF_TEST,
    NO_EMULATOR,
    CellRecord,
    Figures,
    OutcomeStatus,
    StageStatus,
    SuiteResult,
    TestCounts,
    Vectors,
    Verdict,
)
from crossmatrix.runner.kept_files import tail

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crossmatrix.catalog import Cell
    from crossmatrix.outcomes import Judgement
    from crossmatrix.runner.left import Left
    from crossmatrix.store import JobResult

_TAIL_LINES = 100
_GREEN_BUT = {Verdict.VACUOUS, Verdict.UNEXPECTED_PASS}
BENCH_FILE = "bench.json"


def counts_of(suite: SuiteResult | None) -> TestCounts:
    """Count how the cases of a suite ended."""
    statuses = [outcome.status for outcome in suite.outcomes] if suite else []
    return TestCounts(
        passed=statuses.count(OutcomeStatus.PASSED),
        failed=statuses.count(OutcomeStatus.FAILED),
        skipped=statuses.count(OutcomeStatus.SKIPPED),
    )


def vectors_of(files: dict[str, bytes]) -> Vectors | None:
    """Read what the vectors stage left; a part is as good as nothing."""
    try:
        return Vectors.model_validate_json(files["vectors.json"])
    except (KeyError, ValidationError):
        return None


def figures_of(files: dict[str, bytes]) -> Figures | None:
    """Read the figures of what the bench stage left, where there are any."""
    data = files.get(BENCH_FILE)
    return figures_from_bench(data.decode("utf-8", errors="replace")) if data else None


def explaining_log(left: Left, judgement: Judgement | None = None) -> tuple[str, str]:
    """Give the last lines of the log that a verdict is about, and what it is the log of; both empty where none is.

    It is what the first failed test case printed, else the log of the first stage that did not end well, else of the
    last one. Where everything passed and that proves nothing, the end of the suite's log says nothing on why.
    """
    judged = judgement.verdict if judgement is not None else None
    cases = left.suite.outcomes if left.suite is not None else ()
    case = next((c for c in cases if judgement is not None and c.name == judgement.test and c.output), None)
    if case is not None:
        return case.output, f"{LOG_OF_TEST}{case.name}"
    if judgement is not None and judged in _GREEN_BUT and not _about_log(left, judgement.reason):
        return "", ""
    broken = next((stage for stage in left.stages if stage.status not in {StageStatus.OK, StageStatus.NOT_RUN}), None)
    last = broken or next((stage for stage in reversed(left.stages) if stage.log), None)
    lines = tail(left.logs.get(last.name, ""), _TAIL_LINES) if last else ""
    return (lines, f"stage {last.name}") if last and lines else ("", "")


def _about_log(left: Left, reason: str) -> bool:
    """Whether the reason of a doubt is what a log lacks, or what was measured: the log's end shows it."""
    measured = any(stage.name == BENCH_STAGE for stage in left.stages)
    return measured or left.suite is None or bool(left.suite.cut and left.suite.cut in reason)


def blank(cell: Cell) -> CellRecord:
    """Give the record of a cell of which nothing is known yet."""
    build, profile, must_fail = cell.build, cell.profile, cell.profile.must_fail
    environment = dict(profile.environment)
    if profile.cpu and not build.target.native:
        environment["QEMU_CPU"] = profile.cpu
    return CellRecord(
        id=cell.id,
        library=build.library.name,
        version=build.source.version,
        variant=build.variant.name,
        toolchain=build.toolchain.name,
        target=build.target.name,
        endian=build.target.endian.value,
        profile=profile.name,
        must_fail=f"{must_fail.signal} in {must_fail.function}" if must_fail is not None else "",
        tier=cell.tier.name,
        source_digest=build.source.digest,
        verdict=Verdict.ABORTED,
        environment=environment,
    )


def told_by_jobs(cell: Cell, left: Left, judgement: Judgement | None = None) -> dict[str, object]:
    """Give the fields of a record that say what ran, with what, when and for how long."""
    build, run, results = left.build, left.run, left.results
    lines, log_of = explaining_log(left, judgement)
    return {
        "source_origin": build.source_origin if build else "",
        "stages": left.stages,
        "image": build.image if build else None,
        "run_image": run.image if run else None,
        "compiler": compiler_of(cell, build),
        "emulator": emulator_of(cell, run),
        "log_tail": lines,
        "log_of": log_of,
        "started": build.started if build else "",
        "finished": results[-1].finished if results else "",
        "duration_s": round(sum(result.duration_s for result in results), 2),
    }


def compiler_of(cell: Cell, build: JobResult | None) -> str:
    """Say which compiler it was, by the package that its image records."""
    toolchain = cell.build.toolchain
    version = _package_version(cell, build.image.packages if build and build.image else {})
    return f"{toolchain.name} ({version})" if version else toolchain.name


def _package_version(cell: Cell, packages: Mapping[str, str]) -> str:
    """Give the version of the package that crosses to the target's architecture, else of the compiler's plain one.

    The one that crosses to aarch64 also compiles for aarch64_be.
    """
    toolchain, target = cell.build.toolchain, cell.build.target
    plain = f"{toolchain.family}-{toolchain.version}"
    crossing = re.compile(rf"{re.escape(plain)}-([\w-]+)-linux-gnu\w*")
    crosses = {found[1].replace("-", "_"): name for name in packages if (found := crossing.fullmatch(name))}
    own = max((arch for arch in crosses if target.arch.startswith(arch)), key=len, default="")
    names = (crosses.get(own, plain), plain, *crosses.values())
    return next((packages[name] for name in names if name in packages), "")


def emulator_of(cell: Cell, run: JobResult | None) -> str:
    """Say which emulator it was, by the package that its image records."""
    if cell.build.target.native:
        return NO_EMULATOR
    version = run.image.packages.get("qemu-user", "") if run and run.image else ""
    return f"{cell.emulator.name} ({version})" if version else cell.emulator.name
