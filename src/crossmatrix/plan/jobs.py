"""The values a plan is made of."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crossmatrix.catalog import Build, Cell


class JobKind(StrEnum):
    """A build compiles a source once; a run tests or measures one build under one profile."""

    BUILD = "build"
    RUN = "run"


@dataclass(frozen=True, kw_only=True, slots=True)
class ImageState:
    """What is known of an image before jobs are planned.

    Attributes:
        name: of the image recipe.
        tag: checksum tag of everything that goes into it.
        contents: digest of what was installed in it; empty while it has not been built.
    """

    name: str
    tag: str
    contents: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Job:
    """One unit of work.

    Attributes:
        kind: build or run.
        id: the build's or the cell's id.
        key: sha256 of ``inputs``: same key, same result.
        inputs: all that decides the result, by name, so that a changed key can be explained.
        needs: keys of the jobs that must have succeeded before.
        estimate_s: on two idle cores; decides order alone.
        image: name of the image it runs in.
        build: what is compiled (of a run job: what is run).
        cell: of a run job.
    """

    kind: JobKind
    id: str
    key: str
    inputs: tuple[tuple[str, str], ...]
    needs: tuple[str, ...]
    estimate_s: float
    image: str
    build: Build
    cell: Cell | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """Jobs in an order in which each comes after those it needs."""

    cells: tuple[Cell, ...]
    jobs: tuple[Job, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Decision:
    """Whether a job is run, and the reason in words."""

    job: Job
    run: bool
    reason: str
