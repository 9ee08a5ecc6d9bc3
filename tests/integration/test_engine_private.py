"""A daemon of our own: started, shared, killed, out of space, stopped without a trace."""

from __future__ import annotations

import os
import signal
import subprocess
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.integration.probe_image import PROBE_ROOT, SPECS

from crossmatrix.engine import CHOICE, connect, engine_status, stop_private
from crossmatrix.engine.mounts import mount_points, unmount_below
from crossmatrix.engine.private import Places
from crossmatrix.engine.types import LABEL, ContainerSpec, VolumeMount
from crossmatrix.errors import InfrastructureError, NoSpaceError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crossmatrix.engine import DockerEngine
    from crossmatrix.engine.types import ImageRef

ENVIRON = {**os.environ, CHOICE: "private"}


def _start(home: Path) -> DockerEngine:
    return connect(ENVIRON, home, root=PROBE_ROOT)


def _interfaces() -> set[str]:
    return {path.name for path in Path("/sys/class/net").iterdir()}


def _processes(home: Path) -> list[str]:
    """List what still runs for the daemon of a state directory."""
    mark = f"{Places.of(home).run}/".encode()
    lines = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes()
        except OSError:
            continue
        if mark in words:
            lines.append(words.replace(b"\0", b" ").decode())
    return lines


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Give a state directory whose path has blanks and letters beyond ASCII; its daemon is stopped in the end."""
    folder = tmp_path_factory.mktemp("zwölf Grüße")
    yield folder
    stop_private(folder)


@pytest.fixture(scope="module")
def ours(home: Path, engine: DockerEngine, probe: ImageRef) -> Iterator[ImageRef]:
    """Give the small image in our own daemon: copied from the other engine, which is faster than building it."""
    with _start(home) as private:
        archive = b"".join(engine.client.ask("save", lambda api: list(api.get_image(probe.tag))))
        private.client.ask("load", lambda api: list(api.load_image(archive)))  # type: ignore[no-untyped-call]
        found = private.image(SPECS["probe"])
        assert found is not None
        yield found


def _spec(image: ImageRef, volume: str = "", *, keep: bool = False) -> ContainerSpec:
    name = f"crossmatrix-test-{uuid.uuid4().hex[:12]}"
    return ContainerSpec(
        image=image,
        name=name,
        labels={f"{LABEL}.run": name},
        mounts=(VolumeMount(volume=volume, path="/work"),) if volume else (),
        memory_bytes=256 << 20,
        cpus=1.0,
        keep=keep,
    )


def test_callers_at_once_share_one_daemon(tmp_path: Path) -> None:
    """Two commands that start together end up with one daemon; the daemons of others and their network stay."""
    before = _interfaces()
    try:
        with ThreadPoolExecutor(max_workers=3) as pool:
            engines = list(pool.map(_start, [tmp_path] * 3))
        assert {engine.info.private for engine in engines} == {True}
        assert len([line for line in _processes(tmp_path) if "dockerd" in line.split()[0]]) == 1
        assert before < _interfaces()
        for engine in engines:
            engine.close()
    finally:
        assert stop_private(tmp_path)
    assert _interfaces() == before


def test_stop_leaves_nothing(ours: ImageRef, home: Path) -> None:
    """After a stop there is no process, no mount and no folder under /run, also while a container ran."""
    with _start(home) as private, private.container(_spec(ours, keep=True)):
        assert stop_private(home)
    places = Places.of(home)
    assert not engine_status(home).running
    assert _processes(home) == []
    assert not [point for point in mount_points() if places.data in point.parents or places.run in point.parents]
    assert not places.run.exists()
    assert not stop_private(home)


def test_killed_daemon_is_an_infrastructure_error_and_comes_back(ours: ImageRef, home: Path) -> None:
    """A daemon that dies in the middle of a command is told as such; the next call starts it again, swept clean."""
    spec = _spec(ours, keep=True)
    with _start(home) as private, private.container(spec) as container:
        pid = engine_status(home).pid
        assert pid is not None
        with pytest.raises(InfrastructureError, match=r"gone|does not answer|ended from outside"):
            container.run(
                "echo on; sleep 600",
                environment={},
                directory="/",
                timeout_s=300,
                on_output=lambda _: os.kill(pid, signal.SIGKILL),
            )
    with _start(home) as again:
        assert again.stop_containers(spec.labels) == 1
        assert engine_status(home).running
        with again.container(_spec(ours)) as container:
            assert (
                container.run("true", environment={}, directory="/", timeout_s=60, on_output=lambda _: None).code == 0
            )


def test_full_disk_is_told_as_such(ours: ImageRef, home: Path) -> None:
    """When the engine's disk is full, putting in a file says that there is no space left."""
    small = home / "small"
    small.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", os.fspath(small)], check=True)
    big = home / "big"
    big.write_bytes(bytes(16 << 20))
    options = {"type": "none", "o": "bind", "device": os.fspath(small)}
    try:
        with _start(home) as private:
            volume = f"crossmatrix-test-{uuid.uuid4().hex[:12]}"
            private.client.ask("create", lambda api: api.create_volume(volume, driver_opts=options))
            small.chmod(0o777)
            with (
                private.container(_spec(ours, volume)) as container,
                pytest.raises(NoSpaceError, match="No space left"),
            ):
                container.put_file(big, "/work/big")
            private.remove_volume(volume)
    finally:
        unmount_below(small)


def test_daemon_outlives_its_callers_session(tmp_path: Path) -> None:
    """Ctrl-C in the terminal of the command that started it does not reach the daemon."""
    try:
        with _start(tmp_path):
            pid = engine_status(tmp_path).pid
            assert pid is not None
            assert os.getsid(pid) != os.getsid(0)
    finally:
        stop_private(tmp_path)
