"""What a run tells whoever watches: values, so that a live board, plain lines and a test can read the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crossmatrix.records import CellRecord


@dataclass(frozen=True, kw_only=True, slots=True)
class RunStarted:
    """The plan is known: ``jobs`` are (job, estimate in seconds) that will run, ``reused`` how many not.

    A job has the same name in all events: its kind and id.
    """

    run_id: str
    cells: tuple[str, ...]
    jobs: tuple[tuple[str, float], ...]
    reused: int
    parallel: int


@dataclass(frozen=True, kw_only=True, slots=True)
class JobStarted:
    """A job began, and why it is run."""

    job: str
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class StageStarted:
    """A stage of a job began."""

    job: str
    stage: str


@dataclass(frozen=True, kw_only=True, slots=True)
class StageProgress:
    """A line that a stage printed, for a board that shows the last one."""

    job: str
    stage: str
    line: str


@dataclass(frozen=True, kw_only=True, slots=True)
class JobFinished:
    """A job ended; ``ok`` is False where what hangs on it cannot run."""

    job: str
    ok: bool
    message: str
    duration_s: float


@dataclass(frozen=True, kw_only=True, slots=True)
class JobGivenUp:
    """A job of the plan will not begin: what it needs failed, or the run is being stopped."""

    job: str
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class CellFinished:
    """A cell has its verdict."""

    record: CellRecord


@dataclass(frozen=True, kw_only=True, slots=True)
class Note:
    """Something that the user should know: a fallback, a wait, a retry."""

    message: str


Event = RunStarted | JobStarted | StageStarted | StageProgress | JobFinished | JobGivenUp | CellFinished | Note
