"""One try at a job: volume, container, stages, and what they left."""

from __future__ import annotations

import shutil
import time
from typing import TYPE_CHECKING

from crossmatrix.disk import disk_faults
from crossmatrix.engine.types import LABEL, ContainerSpec, Exit, VolumeMount
from crossmatrix.errors import InfrastructureError, NoSpaceError
from crossmatrix.events import Note, StageProgress, StageStarted
from crossmatrix.plan import Job, JobKind
from crossmatrix.records import StageRecord, StageStatus
from crossmatrix.runner.workshop import build_volume, job_label, tree_key, volume_prefix

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from crossmatrix.engine.types import Container
    from crossmatrix.runner.workshop import Workshop
    from crossmatrix.steps.stage import Stage, Steps

SOURCE = "/work/source.tar"
_PROGRESS_S = 0.25
_IN_USE = ("in use", "being used")
"""What Docker and Podman say of a volume that a container has."""
_IN_USE_POLL_S = 1.0
_IN_USE_S = 7200.0
"""Longer than any tests of a tree take: who holds it then is not about to let go."""


class Attempt:
    """One try at a job."""

    def __init__(self, job: Job, shop: Workshop, folder: Path) -> None:
        self._job = job
        self._shop = shop
        self._folder = folder
        self._home = str(shop.world.state.home)
        with disk_faults(folder):
            # What an earlier try left is not this one's.
            for part in ("out", "logs"):
                shutil.rmtree(folder / part, ignore_errors=True)
            (folder / "logs").mkdir()

    def carry_out(self) -> tuple[StageRecord, ...]:
        """Prepare volume and container, do the stages, take out what they left."""
        engine, job = self._shop.world.engine, self._job
        # Whoever holds the job's lock is its only living worker: what still carries its label was left behind.
        engine.stop_containers({f"{LABEL}.job": job.key, f"{LABEL}.home": self._home})
        if job.kind is JobKind.BUILD:
            self._new_tree()
        steps = self._shop.world.steps.of(job, processes=self._shop.limits.processes)
        with engine.container(self._container()) as container:
            if job.kind is JobKind.BUILD:
                container.put_file(self._shop.sources[job.build.source.digest][0], SOURCE)
            container.put((file.path, file.data, file.executable) for file in steps.inputs)
            stages = self._stages(container, steps)
            if not any(stage.status is StageStatus.INTERRUPTED for stage in stages):
                container.take(steps.outputs, self._folder / "out")
        return stages

    def _new_tree(self) -> None:
        """Make the build's volume, in the place of an old one and of the containers that were kept to look at that."""
        world, key = self._shop.world, self._job.key
        world.state.results.tree_goes(key)
        kept = world.engine.stop_containers({f"{LABEL}.tree": key, f"{LABEL}.home": self._home, f"{LABEL}.keep": "1"})
        if kept:
            words = "a kept container is" if kept == 1 else f"{kept} kept containers are"
            world.listen(Note(message=f"{job_label(self._job)}: {words} removed with the old tree"))
        volume = build_volume(key, self._home)
        self._remove(volume)
        world.engine.create_volume(volume, self._shop.labels("build", key))

    def _remove(self, volume: str) -> None:
        """Remove an old tree; while somebody holds it whose locks we do not see, on another machine, wait.

        Raises:
            InfrastructureError: it is held for hours, the run was stopped, or the engine refuses; in its own words.
        """
        world, told = self._shop.world, False
        deadline = time.monotonic() + _IN_USE_S
        while True:
            try:
                world.engine.remove_volume(volume)
            except InfrastructureError as error:
                late = world.stop.is_set() or time.monotonic() >= deadline
                if late or not any(words in error.message for words in _IN_USE):
                    raise
                if self._swept():
                    continue
            else:
                return
            if not told:
                world.listen(Note(message=f"{job_label(self._job)}: waits for a container that holds the old tree"))
                told = True
            world.stop.wait(_IN_USE_POLL_S)

    def _swept(self) -> bool:
        """Remove what runs left that have died since this one connected; one that cannot be removed is waited for."""
        try:
            return self._shop.world.engine.sweep() > 0
        except InfrastructureError:
            return False

    def _container(self) -> ContainerSpec:
        job, shop = self._job, self._shop
        tree = tree_key(job)
        mounts = [VolumeMount(volume=build_volume(tree, self._home), path="/work", read_only=job.kind is JobKind.RUN)]
        if job.kind is JobKind.BUILD:
            cache = f"{volume_prefix(self._home)}-ccache-{job.build.toolchain.name}"
            shop.world.engine.create_volume(cache, shop.labels("ccache", ""))
            mounts.append(VolumeMount(volume=cache, path="/ccache"))
        return ContainerSpec(
            image=shop.images[job.image],
            name=f"crossmatrix-{shop.run_id}-{job.key[:12]}",
            labels=shop.labels(job.kind, job.key, tree=tree),
            mounts=tuple(mounts),
            memory_bytes=shop.limits.memory_bytes,
            cpus=shop.limits.cpus,
            keep=shop.request.keep_container,
        )

    def _stages(self, container: Container, steps: Steps) -> tuple[StageRecord, ...]:
        done: list[StageRecord] = []
        for stage in steps.stages:
            broken = bool(done) and done[-1].status is not StageStatus.OK and not _goes_on(done[-1], steps)
            if broken:
                done.append(StageRecord(name=stage.name, status=StageStatus.NOT_RUN))
            elif self._shop.world.stop.is_set():
                done.append(StageRecord(name=stage.name, status=StageStatus.INTERRUPTED))
            else:
                done.append(self._stage(container, stage))
        return tuple(done)

    def _stage(self, container: Container, stage: Stage) -> StageRecord:
        self._shop.world.listen(StageStarted(job=job_label(self._job), stage=stage.name))
        path, clock = self._folder / "logs" / f"{stage.name}.log", time.monotonic()
        try:
            with disk_faults(path), path.open("wb") as log:
                exit_ = container.run(
                    stage.script,
                    environment=dict(stage.environment),
                    directory=stage.directory,
                    timeout_s=stage.timeout_s,
                    on_output=_tee(path, log.write, self._progress(stage.name)),
                )
        except NoSpaceError:
            raise
        except InfrastructureError:
            if not self._shop.world.stop.is_set():
                raise
            # We stopped the container ourselves: how far it came is still told.
            exit_ = Exit(code=None, duration_s=time.monotonic() - clock)
        if self._shop.world.stop.is_set() and exit_.code != 0:
            status = StageStatus.INTERRUPTED
        elif exit_.code is None:
            status = StageStatus.TIMED_OUT
        else:
            status = StageStatus.OK if exit_.code == 0 else StageStatus.FAILED
        return StageRecord(
            name=stage.name,
            status=status,
            exit_code=exit_.code,
            duration_s=round(exit_.duration_s, 2),
            log=f"logs/{stage.name}.log",
        )

    def _progress(self, stage: str) -> Callable[[bytes], None]:
        last = 0.0

        def tell(data: bytes) -> None:
            nonlocal last
            lines = data.decode("utf-8", errors="replace").split("\n")
            line = next((text.strip() for text in reversed(lines) if text.strip()), "")
            if line and time.monotonic() - last >= _PROGRESS_S:
                last = time.monotonic()
                self._shop.world.listen(StageProgress(job=job_label(self._job), stage=stage, line=line[:200]))

        return tell


def _goes_on(last: StageRecord, steps: Steps) -> bool:
    """Whether stages follow one that failed: failing tests are a result, a hung one has killed the container."""
    stage = next(stage for stage in steps.stages if stage.name == last.name)
    return stage.may_fail and last.status is StageStatus.FAILED


def _tee(path: Path, write: Callable[[bytes], int], tell: Callable[[bytes], None]) -> Callable[[bytes], None]:
    def both(data: bytes) -> None:
        # Here and not further out: the engine would take a full disk of ours for one of its own.
        with disk_faults(path):
            write(data)
        tell(data)

    return both
