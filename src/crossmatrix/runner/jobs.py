"""One job: its tries, and the result that is kept of it."""

from __future__ import annotations

import shutil
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tenacity import (
    Retrying,
    retry_if_exception_type,
    stop_after_attempt,
    stop_any,
    stop_when_event_set,
    wait_exponential,
)
from tenacity.nap import sleep_using_event

from crossmatrix.errors import InfrastructureError, NoSpaceError, TransientError
from crossmatrix.events import Note
from crossmatrix.outcomes import FaultKind, main_fault
from crossmatrix.outcomes.case import TEST_STAGE
from crossmatrix.records import ImageRecord, StageRecord, StageStatus
from crossmatrix.runner.attempt import Attempt
from crossmatrix.runner.kept_files import end
from crossmatrix.runner.workshop import job_label
from crossmatrix.store import JobResult

if TYPE_CHECKING:
    from pathlib import Path

    from tenacity import RetryCallState

    from crossmatrix.engine.types import ImageRef
    from crossmatrix.plan import Job
    from crossmatrix.runner.workshop import Workshop

ATTEMPTS = 3
RETRY_WAIT = wait_exponential(multiplier=1, max=10)
_ENDS_OTHERWISE = frozenset({StageStatus.TIMED_OUT, StageStatus.INTERRUPTED})
"""Next time it may end otherwise. A stage that was not run for the failure of one before is a result."""
_TAIL_BYTES = 64 << 10


def execute(job: Job, shop: Workshop) -> JobResult:
    """Do a job and keep its result; infrastructure faults become a result that is not used again.

    Args:
        job: its needs have succeeded.
        shop: what the run's jobs share.

    Returns:
        The kept result.

    Raises:
        NoSpaceError: a disk is full; nothing of the job is kept.
    """
    started, clock = shop.world.now(), time.monotonic()
    folder = shop.world.state.results.new_folder()
    try:
        came = _tried(job, shop, folder)
    except NoSpaceError:
        # Every other job would fail alike, and what this one left takes room.
        shutil.rmtree(folder, ignore_errors=True)
        raise
    done = all(stage.status is StageStatus.OK for stage in came.stages)
    final = not any(stage.status in _ENDS_OTHERWISE for stage in came.stages)
    result = JobResult(
        key=job.key,
        kind=job.kind,
        id=job.id,
        run_id=shop.run_id,
        inputs=dict(job.inputs),
        ok=not came.fault and done,
        sound=not came.fault and final,
        fault=came.fault,
        hint=came.hint,
        stages=came.stages,
        image=_image_record(shop.images[job.image]),
        source_origin=shop.sources[job.build.source.digest][1] if job.build.source.digest in shop.sources else "",
        started=started.isoformat(),
        finished=shop.world.now().isoformat(),
        duration_s=round(time.monotonic() - clock, 2),
        notes=came.notes,
    )
    return shop.world.state.results.keep(folder, result)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Came:
    """What came of all tries at a job."""

    stages: tuple[StageRecord, ...]
    fault: str
    hint: str
    notes: tuple[str, ...]


def _tried(job: Job, shop: Workshop, folder: Path) -> _Came:
    """Try a job as often as makes sense; only a full disk is raised."""
    stages: tuple[StageRecord, ...] = ()
    notes: list[str] = []
    fault = hint = ""
    try:
        for attempt in _attempts(job, shop, notes):
            with attempt:
                stages = Attempt(job, shop, folder).carry_out()
    except NoSpaceError:
        raise
    except InfrastructureError as error:
        fault, hint = error.message, error.hint
    if not fault:
        fault = next((why for stage in stages if (why := _blamed(folder, stage))), "")
    return _Came(stages=stages, fault=fault, hint=hint, notes=tuple(notes))


def _attempts(job: Job, shop: Workshop, notes: list[str]) -> Retrying:
    """Give the tries at a job; a fault that passes by itself is told and noted, and a stopped run waits for nothing."""

    def tell(state: RetryCallState) -> None:
        error = state.outcome.exception() if state.outcome else None
        notes.append(f"try {state.attempt_number} of {ATTEMPTS} failed: {getattr(error, 'message', error)}")
        shop.world.listen(Note(message=f"{job_label(job)}: {notes[-1]}; it is tried again"))

    return Retrying(
        retry=retry_if_exception_type(TransientError),
        stop=stop_any(stop_after_attempt(ATTEMPTS), stop_when_event_set(shop.world.stop)),
        wait=RETRY_WAIT,
        sleep=sleep_using_event(shop.world.stop),
        before_sleep=tell,
        reraise=True,
    )


def _image_record(image: ImageRef) -> ImageRecord:
    """Give what is recorded of an image."""
    return ImageRecord(
        name=image.name,
        tag=image.tag,
        id=image.id,
        contents=image.contents,
        packages=dict(image.packages),
    )


def _blamed(folder: Path, stage: StageRecord) -> str:
    """Say why a stage that failed tells nothing of the library, or nothing; a suite's cases are judged one by one."""
    if stage.status is not StageStatus.FAILED or stage.name == TEST_STAGE:
        return ""
    fault = main_fault(end(folder / stage.log, _TAIL_BYTES))
    return f"{stage.name}: {fault.what}" if fault is not None and fault.kind is FaultKind.INFRASTRUCTURE else ""
