"""A world in which runs can be carried out without an engine: cells, what their jobs leave, steps, a clock."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import TYPE_CHECKING, cast

from tests.unit.evidence_samples import VECTORS, green
from tests.unit.fake_engine import Act, FakeEngine

from crossmatrix.catalog import Profile, SourceSpec
from crossmatrix.engine.types import ImageSpec
from crossmatrix.errors import SourceError
from crossmatrix.plan import JobKind
from crossmatrix.records import MEASURED_TIER
from crossmatrix.runner.request import Request, Surroundings
from crossmatrix.runner.run import carry_out
from crossmatrix.steps.stage import InputFile, Stage, Steps
from crossmatrix.store import State

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from crossmatrix.catalog import Build, Cell
    from crossmatrix.events import Event
    from crossmatrix.plan import Job
    from crossmatrix.records import CellRecord, RunRecord, Verdict
    from crossmatrix.runner.job_steps import JobSteps

BUILD_STAGES = ("unpack", "configure", "build", "collect", "workload")
RUN_STAGES = ("emulator", "words", "evidence", "vectors", "test")
MEASURE_STAGES = ("emulator", "words", "bench")
MAY_FAIL = {"words", "evidence", "vectors", "test"}
IMAGES = {
    name: ImageSpec(name=name, tag=f"crossmatrix/{name}:0123456789abcdef", suite="bookworm")
    for name in ("gcc-12", "clang-16", "qemu-7.2")
}
GREEN = green("nettle")
SECOND_PROFILE = replace(GREEN.cell.profile, name="second", environment=(("LEVEL", "2"),))
LOG = (
    GREEN.log.replace("=== PLAN 2\n", "=== PLAN 3\n")
    + """\
=== RUN sha1-test
=== BEGIN sha1-test
PASS: sha1
=== END sha1-test exit=0 seconds=0.011
"""
)
RUN_FILES = GREEN.run | {"suite.log": LOG.encode(), "vectors.json": VECTORS.model_dump_json().encode()}
_TICKS = count()


def cell(profile: Profile | None = None, **changes: object) -> Cell:
    """Give a cell whose jobs leave a sound green cell's files; ``changes`` replace fields of its build."""
    build = replace(GREEN.cell.build, **changes)  # type: ignore[arg-type]
    return replace(GREEN.cell, build=build, profile=profile or GREEN.cell.profile)


def other_source() -> Cell:
    """Give a cell of another source."""
    return cell(source=SourceSpec(library="nettle", version="3.8.1", digest="8" * 64))


def with_clang() -> Cell:
    """Give a cell of another toolchain, in an image of its own."""
    toolchain = GREEN.cell.build.toolchain
    return cell(toolchain=replace(toolchain, name="clang-16", family="clang", image="clang-16"))


@dataclass(slots=True)
class PlainSteps:
    """Steps whose scripts are ``<kind> <job id> <stage>``, so that a test can say what each does."""

    digest: str = "1"

    def of(self, job: Job, *, processes: int) -> Steps:
        """Give a job's steps."""
        assert processes >= 1
        measures = job.cell is not None and job.cell.tier.name == MEASURED_TIER
        names = BUILD_STAGES if job.kind is JobKind.BUILD else MEASURE_STAGES if measures else RUN_STAGES
        return Steps(
            inputs=(InputFile(path="/work/input", data=b"input"),),
            stages=tuple(
                Stage(name=name, script=f"{job.kind} {job.id} {name}", timeout_s=60, may_fail=name in MAY_FAIL)
                for name in names
            ),
            outputs="/work/out" if job.kind is JobKind.BUILD else "/scratch/out",
        )

    def for_build(self, build: Build) -> str:
        """Give the digest of a build's steps."""
        return f"{self.digest} build {build.library.name}"

    def for_run(self, cell: Cell) -> str:
        """Give the digest of a run's steps."""
        return f"{self.digest} run {cell.tier.name}"


def sound_engine() -> FakeEngine:
    """Give an engine on which all goes well."""
    engine = FakeEngine(images=set(IMAGES))
    engine.on("*", Act())
    engine.leaves("build *", GREEN.build)
    engine.leaves("run *", RUN_FILES)
    return engine


@dataclass(slots=True)
class World:
    """An engine and a state directory, in which one run after the other is carried out."""

    home: Path
    engine: FakeEngine = field(default_factory=sound_engine)
    steps: PlainSteps = field(default_factory=PlainSteps)
    events: list[Event] = field(default_factory=list)
    unfetchable: set[str] = field(default_factory=set)
    fetched: list[str] = field(default_factory=list)
    stop: threading.Event = field(default_factory=threading.Event)
    interrupted: threading.Event = field(default_factory=threading.Event)
    on_event: Callable[[Event], None] = lambda _event: None

    @property
    def state(self) -> State:
        """The state directory."""
        return State.open(self.home)

    def interrupt(self) -> None:
        """Do what the handler of Ctrl-C does."""
        self.interrupted.set()
        self.stop.set()

    def surroundings(self) -> Surroundings:
        """Give the world as the runner sees it."""

        def listen(event: Event) -> None:
            self.events.append(event)
            self.on_event(event)

        return Surroundings(
            engine=self.engine,
            state=self.state,
            images=IMAGES,
            steps=cast("JobSteps", self.steps),
            fetch=self._fetch,
            listen=listen,
            now=lambda: datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=next(_TICKS)),
            pid=1,
            host={"system": "test"},
            stop=self.stop,
            interrupted=self.interrupted,
        )

    def run(self, *cells: Cell, **request: object) -> RunRecord:
        """Carry out a run; with nothing else said, one job at a time."""
        asked = Request(matrix="quick", cells=cells, **{"jobs": 1, **request})  # type: ignore[arg-type]
        return carry_out(asked, self.surroundings())

    def again(self) -> World:
        """Give a new process's view of the same engine and state directory."""
        return World(home=self.home, engine=self.engine, steps=self.steps)

    def of_kind(self, kind: type) -> list[Event]:
        """Give what was told, by kind."""
        return [event for event in self.events if isinstance(event, kind)]

    def _fetch(self, spec: SourceSpec) -> tuple[Path, str]:
        self.fetched.append(spec.version)
        if spec.version in self.unfetchable:
            raise SourceError(f"{spec.version} cannot be had", hint="give --mirror")
        path = self.home / f"{spec.digest}.tar"
        path.write_bytes(b"a source")
        return path, "a test"


def by_id(record: RunRecord) -> dict[str, CellRecord]:
    """Give a run's cells by id."""
    return {one.id: one for one in record.cells}


def verdicts(record: RunRecord) -> list[Verdict]:
    """Give a run's verdicts in order."""
    return [one.verdict for one in record.cells]
