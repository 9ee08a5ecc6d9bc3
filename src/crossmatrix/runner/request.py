"""What a run is asked to do, and what it works with."""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Event as Flag
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime
    from pathlib import Path

    from crossmatrix.catalog import Cell, SourceSpec
    from crossmatrix.engine.types import Engine, ImageSpec
    from crossmatrix.events import Event
    from crossmatrix.matrix import LeftOut
    from crossmatrix.runner.job_steps import JobSteps
    from crossmatrix.store import State


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """One run.

    Attributes:
        matrix: its name, for the record.
        cells: in the order of the report.
        left_out: cells of the matrix that are not run, with reasons.
        notes: what was said while the cells were chosen.
        command: with which the user asked for it.
        jobs: how many at a time; None for what suits the engine.
        fresh: run all jobs again.
        fail_fast: end with the first cell that is not as expected: what runs is stopped, nothing more is started.
        keep_container: leave the container of a job that failed.
        program: how a command that asks for the same begins: variables of the environment, and the program.
        reproduce: by cell, words that such a command needs besides the cell's id.
    """

    matrix: str
    cells: tuple[Cell, ...]
    left_out: tuple[LeftOut, ...] = ()
    notes: tuple[str, ...] = ()
    command: str = ""
    jobs: int | None = None
    fresh: bool = False
    fail_fast: bool = False
    keep_container: bool = False
    program: str = "./bootstrap"
    reproduce: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class Surroundings:
    """The world as a run sees it; a test brings its own.

    Attributes:
        engine: that answers.
        state: the state directory.
        images: specs by name.
        steps: what jobs do in their containers.
        fetch: gets a source: its archive, patched, and words that say from where.
        listen: is told what happens, from several threads.
        now: the time, in UTC.
        pid: of this process, for labels.
        host: facts of the machine, for the record.
        stop: set when nothing more is to be started.
        interrupted: set too when it was the user who wanted that.
    """

    engine: Engine
    state: State
    images: Mapping[str, ImageSpec]
    steps: JobSteps
    fetch: Callable[[SourceSpec], tuple[Path, str]]
    listen: Callable[[Event], None]
    now: Callable[[], datetime]
    pid: int
    host: Mapping[str, str]
    stop: Flag = field(default_factory=Flag)
    interrupted: Flag = field(default_factory=Flag)
