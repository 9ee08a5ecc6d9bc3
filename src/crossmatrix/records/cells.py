"""Records of a cell and of a run."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from crossmatrix.records.evidence import Evidence, Vectors
from crossmatrix.records.figures import Figures
from crossmatrix.records.findings import Finding
from crossmatrix.records.model import Record
from crossmatrix.records.outcomes import Outcome

SCHEMA_VERSION = 1

MEASURED_TIER = "bench"
"""The tier of cells that are measured and not tested; recipes cannot use the name."""

NO_EMULATOR = "none: the engine's own CPU"
"""What ``CellRecord.emulator`` says of a native cell."""

LOG_OF_TEST = "test "
"""With what ``CellRecord.log_of`` begins where it names a test case."""


class Verdict(StrEnum):
    """The conclusion on one cell."""

    PASSED = "passed"
    FAILED = "failed"
    BUILD_FAILED = "build-failed"
    CONFIGURE_FAILED = "configure-failed"
    CRASHED = "crashed"
    EMULATOR_CRASHED = "emulator-crashed"
    TIMED_OUT = "timed-out"
    VACUOUS = "vacuous"
    UNSUPPORTED = "unsupported"
    EXPECTED_FAILURE = "expected-failure"
    UNEXPECTED_PASS = "unexpected-pass"  # noqa: S105 - a verdict, no password
    INFRASTRUCTURE = "infrastructure"
    ABORTED = "aborted"

    @property
    def as_expected(self) -> bool:
        """Whether a run with only such cells ends with exit code 0."""
        return self in {Verdict.PASSED, Verdict.EXPECTED_FAILURE, Verdict.UNSUPPORTED}

    @property
    def ended(self) -> bool:
        """Whether the cell came to an end; else nobody knows how it would have ended."""
        return self not in {Verdict.ABORTED, Verdict.INFRASTRUCTURE}


class StageStatus(StrEnum):
    """How a stage ended."""

    OK = "ok"
    FAILED = "failed"
    TIMED_OUT = "timed-out"
    INTERRUPTED = "interrupted"
    NOT_RUN = "not-run"


class StageRecord(Record):
    """One stage of a job: ``configure``, ``build``, ``test``...

    ``exit_code`` is None where it did not end by itself; ``log`` is relative to the run's folder, ``reused`` says
    that the stage belongs to an earlier run whose result was taken.
    """

    name: str
    status: StageStatus
    exit_code: int | None = None
    duration_s: float = 0.0
    log: str = ""
    reused: bool = False


class TestCounts(Record):
    """How many test cases ended how."""

    __test__ = False

    passed: int = 0
    failed: int = 0
    skipped: int = 0


class Artifact(Record):
    """A file that a cell left: ``path`` relative to the run's folder."""

    name: str
    path: str
    size_bytes: int
    sha256: str


class ImageRecord(Record):
    """The image that a job ran in: ``packages`` maps what was installed to its exact version."""

    name: str
    tag: str
    id: str
    contents: str = ""
    packages: dict[str, str] = Field(default_factory=dict)


class CellRecord(Record):
    """One cell of a run.

    ``reason`` says in one line why the verdict is what it is, ``cached`` that nothing ran, ``log_of`` whose last lines
    ``log_tail`` has: ``test aes-test`` or ``stage build``. ``must_fail`` says of a negative control how it must fail:
    ``SIGILL in aes_v8_encrypt``.
    """

    schema_version: int = SCHEMA_VERSION
    id: str
    library: str
    version: str
    variant: str
    toolchain: str
    target: str
    endian: str
    profile: str
    must_fail: str = ""
    tier: str
    source_digest: str = ""
    source_origin: str = ""
    verdict: Verdict
    reason: str = ""
    cached: bool = False
    flaky: bool = False
    tests: TestCounts = TestCounts()
    outcomes: tuple[Outcome, ...] = ()
    cut: str = ""
    stages: tuple[StageRecord, ...] = ()
    image: ImageRecord | None = None
    run_image: ImageRecord | None = None
    compiler: str = ""
    emulator: str = ""
    environment: dict[str, str | None] = Field(default_factory=dict)
    keys: dict[str, str] = Field(default_factory=dict)
    evidence: Evidence = Evidence()
    vectors: Vectors | None = None
    figures: Figures | None = None
    artifacts: tuple[Artifact, ...] = ()
    log_tail: str = ""
    log_of: str = ""
    links: tuple[str, ...] = ()
    reproduce: str = ""
    started: str = ""
    finished: str = ""
    duration_s: float = 0.0

    @property
    def measured(self) -> bool:
        """Whether the cell is one that is measured and not tested, so that it says nothing of tests."""
        return self.tier == MEASURED_TIER


class RunRecord(Record):
    """One run: ``finished`` is empty while it works; times are ISO 8601 in UTC."""

    schema_version: int = Field(default=SCHEMA_VERSION, alias="schema", serialization_alias="schema")
    run_id: str
    matrix: str
    tool: str = ""
    host: dict[str, str] = Field(default_factory=dict)
    engine: dict[str, str] = Field(default_factory=dict)
    command: str = ""
    started: str
    finished: str = ""
    state: str = "running"
    exit_code: int | None = None
    notes: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    cells: tuple[CellRecord, ...] = ()
