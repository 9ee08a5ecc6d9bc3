"""An engine that does what a test has scripted, and nothing else: a call that nothing was said about fails the test."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

from crossmatrix.engine.types import ContainerSpec, EngineInfo, Exit, ImageRef, ImageSpec
from crossmatrix.errors import InfrastructureError
from crossmatrix.selectors import glob_matches

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

GIB = 1 << 30
PATIENCE_S = 30
"""How long a thread waits for another before the test fails; no test passes by waiting."""

INFO = EngineInfo(
    url="unix:///fake.sock",
    kind="docker",
    version="1.0",
    os="a test",
    architecture="x86_64",
    cpus=2,
    memory_bytes=8 * GIB,
    root="/fake",
    rootless=False,
    private=False,
)


class UnscriptedError(AssertionError):
    """The code under test asked for something that the test did not expect."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Act:
    """What a stage does when its script is run.

    Attributes:
        output: what it prints.
        code: its exit code; None where its time limit ends it.
        error: raised instead of an end.
        then: called while it runs, before it ends.
        hangs: it goes on until its container is stopped from outside.
        times: how often this is done; after that the rule before it counts. None for always.
    """

    output: bytes = b"done\n"
    code: int | None = 0
    error: Exception | None = None
    then: Callable[[], None] | None = None
    hangs: bool = False
    times: int | None = None


@dataclass(kw_only=True, slots=True)
class Rule:
    """What scripts that match a glob do."""

    glob: str
    act: Act
    left: int | None


class FakeContainer:
    """One container of the fake engine."""

    def __init__(self, engine: FakeEngine, spec: ContainerSpec) -> None:
        self.spec = spec
        self.put_in: list[str] = []
        self.stages: list[str] = []
        self.stopped = threading.Event()
        self._engine = engine

    @property
    def id(self) -> str:
        """The engine's id: the name is good enough here."""
        return self.spec.name

    @property
    def labels(self) -> dict[str, str]:
        """All that the engine would give it."""
        return dict(self.spec.labels) | ({"crossmatrix.keep": "1"} if self.spec.keep else {})

    def put(self, files: Iterable[tuple[str, bytes, bool]]) -> None:
        """Note which files were put in."""
        self.put_in += [path for path, _, _ in files]

    def put_file(self, source: Path, path: str) -> None:
        """Note that a file was put in; it must exist on this side."""
        if not source.is_file():
            raise UnscriptedError(f"{source} was to be put in and does not exist")
        self.put_in.append(path)

    def run(
        self,
        script: str,
        *,
        environment: Mapping[str, str],
        directory: str,
        timeout_s: float,
        on_output: Callable[[bytes], None],
    ) -> Exit:
        """Do what the newest rule for the script says."""
        assert directory.startswith("/")
        assert timeout_s > 0
        assert isinstance(environment, dict)
        self.stages.append(script)
        act = self._engine.act_for(script)
        on_output(act.output)
        if act.then is not None:
            act.then()
        if act.hangs:
            if not self.stopped.wait(PATIENCE_S):
                raise UnscriptedError(f"{script}: nobody stopped the container")
            raise InfrastructureError(f"container {self.id} was ended from outside while a command ran in it")
        if act.error is not None:
            raise act.error
        return Exit(code=act.code, duration_s=1.0)

    def take(self, folder: str, into: Path) -> tuple[Path, ...]:
        """Write the files that the test said this job leaves."""
        assert folder.startswith("/")
        taken = []
        for name, data in self._engine.files_for(self.stages[-1] if self.stages else "").items():
            path = into / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            taken.append(path)
        return tuple(taken)


@dataclass(kw_only=True)
class FakeEngine:
    """A scripted engine; ``started`` and ``dead`` are read by tests.

    Attributes:
        images: names that exist.
        rules: what stages do, the newest first that matches.
        files: what jobs leave, by glob over their last script.
        volumes: that exist.
        started: all containers, in order.
        live: containers that run now.
        orphans: ids of containers whose run has died.
        dead: the engine answers nothing any more.
        image_faults: images that cannot be built, and why.
        built: images built, in order.
        refused: raised where images that are missing are looked over.
    """

    images: set[str] = field(default_factory=set)
    rules: list[Rule] = field(default_factory=list)
    files: list[tuple[str, dict[str, bytes]]] = field(default_factory=list)
    volumes: set[str] = field(default_factory=set)
    started: list[FakeContainer] = field(default_factory=list)
    live: list[FakeContainer] = field(default_factory=list)
    orphans: set[str] = field(default_factory=set)
    dead: bool = False
    image_faults: dict[str, Exception] = field(default_factory=dict)
    built: list[str] = field(default_factory=list)
    refused: Exception | None = None
    guard: threading.RLock = field(default_factory=threading.RLock)
    info: EngineInfo = INFO

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_raised: object) -> None:
        """Nothing is open."""

    def on(self, glob: str, act: Act) -> None:
        """Script what stages do whose script matches; what was said later counts."""
        self.rules.insert(0, Rule(glob=glob, act=act, left=act.times))

    def leaves(self, glob: str, files: Mapping[str, bytes]) -> None:
        """Script what jobs leave whose last script matches; what was said later counts."""
        self.files.insert(0, (glob, dict(files)))

    def act_for(self, script: str) -> Act:
        """Give what a script does."""
        with self.guard:
            for rule in self.rules:
                if rule.left != 0 and glob_matches(rule.glob, script):
                    if rule.left is not None:
                        rule.left -= 1
                    return rule.act
        raise UnscriptedError(f"nothing was scripted for {script!r}")

    def files_for(self, script: str) -> dict[str, bytes]:
        """Give what a job leaves."""
        for glob, files in self.files:
            if glob_matches(glob, script):
                return files
        raise UnscriptedError(f"nothing was said of what {script!r} leaves")

    def die(self) -> None:
        """Answer nothing from now on."""
        self.dead = True

    def image(self, spec: ImageSpec) -> ImageRef | None:
        """Find an image."""
        self._answer()
        return _ref(spec) if spec.name in self.images else None

    def build_image(self, spec: ImageSpec, *, on_line: Callable[[str], None]) -> ImageRef:
        """Build an image, or not, as scripted."""
        self._answer()
        on_line(f"building {spec.name}")
        if spec.name in self.image_faults:
            raise self.image_faults[spec.name]
        with self.guard:
            self.built.append(spec.name)
            self.images.add(spec.name)
        return _ref(spec)

    def check_images(self, specs: Iterable[ImageSpec]) -> None:
        """Refuse what is missing, as scripted."""
        self._answer()
        if self.refused is not None and not {spec.name for spec in specs} <= self.images:
            raise self.refused

    def has_volume(self, name: str) -> bool:
        """Whether a volume exists."""
        self._answer()
        return name in self.volumes

    def create_volume(self, name: str, labels: Mapping[str, str]) -> None:
        """Make a volume; it must be labelled as ours."""
        self._answer()
        if not labels.get("crossmatrix.home"):
            raise UnscriptedError(f"the volume {name} has no label by which it is found again")
        with self.guard:
            self.volumes.add(name)

    def remove_volume(self, name: str) -> None:
        """Remove a volume; one that a container holds, running or kept, is refused as Docker does."""
        self._answer()
        with self.guard:
            if any(mount.volume == name for one in self.live for mount in one.spec.mounts):
                raise InfrastructureError(f"Could not remove volume {name}: volume is in use")
            self.volumes.discard(name)

    @contextmanager
    def container(self, spec: ContainerSpec) -> Iterator[FakeContainer]:
        """Start a container whose volumes must exist, and remove it in the end."""
        self._answer()
        for mount in spec.mounts:
            if mount.volume not in self.volumes:
                raise UnscriptedError(f"{spec.name}: there is no volume {mount.volume}")
        container = FakeContainer(self, spec)
        with self.guard:
            if any(other.id == container.id for other in self.live):
                raise UnscriptedError(f"a container {container.id} runs already")
            self.started.append(container)
            self.live.append(container)
        try:
            yield container
        finally:
            with self.guard:
                if container in self.live and not spec.keep:
                    self.live.remove(container)

    def stop_containers(self, labels: Mapping[str, str]) -> int:
        """Stop containers by their labels."""
        self._answer()
        with self.guard:
            found = [one for one in self.live if labels.items() <= one.labels.items()]
            for one in found:
                one.stopped.set()
                self.live.remove(one)
        return len(found)

    def sweep(self) -> int:
        """Remove what the test says that dead runs left."""
        self._answer()
        with self.guard:
            left = [one for one in self.live if one.id in self.orphans]
            for one in left:
                self.live.remove(one)
        return len(left)

    def free_bytes(self) -> int | None:
        """There is always room here."""
        return 100 * GIB

    def _answer(self) -> None:
        if self.dead:
            raise InfrastructureError("the engine is gone", hint="start it again")


def _ref(spec: ImageSpec) -> ImageRef:
    packages = (("gcc-12-aarch64-linux-gnu", "12.2.0-14"), ("qemu-user", "1:7.2"))
    return ImageRef(name=spec.name, tag=spec.tag, id=f"sha256:{spec.name}", contents="c" * 64, packages=packages)
