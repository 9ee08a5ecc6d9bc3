"""What a record says of a cell besides its verdict, read from what its jobs left."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pydantic import ValidationError

from crossmatrix.analysis import figures_from_bench
from crossmatrix.records import (
    CellRecord,
    Figures,
    OutcomeStatus,
    StageRecord,
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
    from crossmatrix.runner.left import Left
    from crossmatrix.store import JobResult

_TAIL_LINES = 100
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


def log_tail(stages: tuple[StageRecord, ...], logs: Mapping[str, str]) -> str:
    """Give the end of the log of the first stage that did not end well, else of the last one."""
    broken = next((stage for stage in stages if stage.status not in {StageStatus.OK, StageStatus.NOT_RUN}), None)
    last = broken or next((stage for stage in reversed(stages) if stage.log), None)
    return tail(logs.get(last.name, ""), _TAIL_LINES) if last else ""


def blank(cell: Cell) -> CellRecord:
    """Give the record of a cell of which nothing is known yet."""
    build, profile = cell.build, cell.profile
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
        tier=cell.tier.name,
        source_digest=build.source.digest,
        verdict=Verdict.ABORTED,
        environment=environment,
    )


def told_by_jobs(cell: Cell, left: Left) -> dict[str, object]:
    """Give the fields of a record that say what ran, with what, when and for how long."""
    build, run, results = left.build, left.run, left.results
    return {
        "source_origin": build.source_origin if build else "",
        "stages": left.stages,
        "image": build.image if build else None,
        "run_image": run.image if run else None,
        "compiler": compiler_of(cell, build),
        "emulator": emulator_of(cell, run),
        "log_tail": log_tail(left.stages, left.logs),
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
        return "none: the engine's own CPU"
    version = run.image.packages.get("qemu-user", "") if run and run.image else ""
    return f"{cell.emulator.name} ({version})" if version else cell.emulator.name
