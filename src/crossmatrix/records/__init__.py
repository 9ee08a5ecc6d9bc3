"""What a run leaves behind: the published, versioned records that every report is made of."""

from crossmatrix.records.cells import (
    LOG_OF_TEST,
    MEASURED_TIER,
    NO_EMULATOR,
    SCHEMA_VERSION,
    Artifact,
    CellRecord,
    ImageRecord,
    RunRecord,
    StageRecord,
    StageStatus,
    TestCounts,
    Verdict,
)
from crossmatrix.records.evidence import (
    BinaryEvidence,
    Evidence,
    Execution,
    LibraryWord,
    VectorFamily,
    Vectors,
)
from crossmatrix.records.figures import Figure, Figures
from crossmatrix.records.findings import Finding, FindingKind
from crossmatrix.records.outcomes import Outcome, OutcomeStatus, SuiteResult

__all__ = [
    "LOG_OF_TEST",
    "MEASURED_TIER",
    "NO_EMULATOR",
    "SCHEMA_VERSION",
    "Artifact",
    "BinaryEvidence",
    "CellRecord",
    "Evidence",
    "Execution",
    "Figure",
    "Figures",
    "Finding",
    "FindingKind",
    "ImageRecord",
    "LibraryWord",
    "Outcome",
    "OutcomeStatus",
    "RunRecord",
    "StageRecord",
    "StageStatus",
    "SuiteResult",
    "TestCounts",
    "VectorFamily",
    "Vectors",
    "Verdict",
]
