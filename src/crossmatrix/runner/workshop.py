"""What all jobs of a run share, and the names by which what they make is known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from crossmatrix.checksums import sha256_bytes
from crossmatrix.engine.types import LABEL
from crossmatrix.plan import Job, JobKind

if TYPE_CHECKING:
    from pathlib import Path

    from crossmatrix.engine.types import ImageRef
    from crossmatrix.runner.request import Request, Surroundings


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """What one job's container may use."""

    memory_bytes: int
    cpus: float
    processes: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Workshop:
    """What all jobs of a run share."""

    run_id: str
    request: Request
    world: Surroundings
    images: dict[str, ImageRef]
    sources: dict[str, tuple[Path, str]]
    limits: Limits

    def labels(self, kind: str, key: str, *, tree: str = "") -> dict[str, str]:
        """Give the labels by which what a job makes is known to be ours; ``tree`` is the key of the build it uses."""
        return ({f"{LABEL}.tree": tree} if tree else {}) | {
            f"{LABEL}.kind": kind,
            f"{LABEL}.run": self.run_id,
            f"{LABEL}.job": key,
            f"{LABEL}.home": str(self.world.state.home),
            f"{LABEL}.pid": str(self.world.pid),
        }


def job_label(job: Job) -> str:
    """Give the name by which events speak of a job."""
    return f"{job.kind} {job.id}"


def tree_key(job: Job) -> str:
    """Give the key of the build whose tree a job makes or uses."""
    return job.key if job.kind is JobKind.BUILD else job.needs[0]


def build_volume(job_key: str, home: str) -> str:
    """Give the name of the volume with a build's tree; other state directories on one engine have others."""
    return f"{volume_prefix(home)}-build-{job_key[:24]}"


def volume_prefix(home: str) -> str:
    """Give how the names of all volumes of a state directory begin."""
    return f"crossmatrix-{sha256_bytes(home.encode())[:8]}"
