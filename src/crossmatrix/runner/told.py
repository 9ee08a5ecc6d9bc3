"""What a record says of a cell besides its verdict, read from what its jobs left."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import ValidationError

from crossmatrix.analysis import figures_from_bench
from crossmatrix.records import (
    Figures,
    OutcomeStatus,
    StageRecord,
    StageStatus,
    SuiteResult,
    TestCounts,
    Vectors,
)
from crossmatrix.runner.kept_files import tail

if TYPE_CHECKING:
    from crossmatrix.catalog import Cell
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


def log_tail(stages: tuple[StageRecord, ...], logs: dict[str, str]) -> str:
    """Give the end of the log of the first stage that did not end well, else of the last one."""
    broken = next((stage for stage in stages if stage.status not in {StageStatus.OK, StageStatus.NOT_RUN}), None)
    last = broken or next((stage for stage in reversed(stages) if stage.log), None)
    return tail(logs.get(last.name, ""), _TAIL_LINES) if last else ""


def compiler_of(cell: Cell, build: JobResult | None) -> str:
    """Say which compiler it was, by the package that its image records."""
    toolchain = cell.build.toolchain
    packages = build.image.packages if build and build.image else {}
    names = (f"{toolchain.family}-{toolchain.version}-aarch64-linux-gnu", f"{toolchain.family}-{toolchain.version}")
    version = next((packages[name] for name in names if name in packages), "")
    return f"{toolchain.name} ({version})" if version else toolchain.name


def emulator_of(cell: Cell, run: JobResult | None) -> str:
    """Say which emulator it was, by the package that its image records."""
    if cell.build.target.native:
        return "none: the engine's own CPU"
    version = run.image.packages.get("qemu-user", "") if run and run.image else ""
    return f"{cell.emulator.name} ({version})" if version else cell.emulator.name
