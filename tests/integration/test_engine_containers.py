"""Containers on a real engine: what they may do, commands and their limits, files in and out."""

from __future__ import annotations

import os
import uuid
from typing import TYPE_CHECKING

import pytest

from crossmatrix.engine import creation
from crossmatrix.engine.owners import BORN_LABEL, PID_LABEL, process_labels
from crossmatrix.engine.types import LABEL, ContainerSpec, Exit, VolumeMount
from crossmatrix.errors import InfrastructureError, NoSpaceError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from crossmatrix.engine import DockerEngine
    from crossmatrix.engine.containers import LiveContainer
    from crossmatrix.engine.types import ImageRef


def _name() -> str:
    return f"crossmatrix-test-{uuid.uuid4().hex[:12]}"


@pytest.fixture
def volume(engine: DockerEngine) -> Iterator[str]:
    """Give a fresh volume."""
    name = _name()
    engine.create_volume(name, {f"{LABEL}.kind": "test"})
    yield name
    engine.remove_volume(name)


def _spec(probe: ImageRef, *volumes: str, read_only: bool = False, keep: bool = False) -> ContainerSpec:
    name = _name()
    return ContainerSpec(
        image=probe,
        name=name,
        labels={f"{LABEL}.run": name},
        mounts=tuple(VolumeMount(volume=volume, path="/work", read_only=read_only) for volume in volumes),
        memory_bytes=256 << 20,
        cpus=1.0,
        processes=64,
        scratch_bytes=64 << 20,
        keep=keep,
    )


@pytest.fixture
def container(engine: DockerEngine, probe: ImageRef, volume: str) -> Iterator[LiveContainer]:
    """Give a running container with a volume at /work."""
    with engine.container(_spec(probe, volume)) as running:
        yield running


def _run(container: LiveContainer, script: str, timeout_s: float = 60, **environment: str) -> tuple[Exit, str]:
    said = bytearray()
    done = container.run(
        script,
        environment=environment,
        directory="/work",
        timeout_s=timeout_s,
        on_output=said.extend,
    )
    return done, said.decode()


def test_container_is_an_ordinary_user_without_powers(container: LiveContainer) -> None:
    """A job is user 1000, has no capability, gains none, sees no network and cannot write to the image."""
    _, said = _run(
        container, "id -u; grep -E 'CapBnd|NoNewPrivs' /proc/self/status; ls /sys/class/net; touch /x || true"
    )
    assert said.startswith("1000\n")
    assert "CapBnd:\t0000000000000000" in said
    assert "NoNewPrivs:\t1" in said
    assert "eth0" not in said
    assert "Read-only file system" in said


def test_number_of_processes_is_limited(container: LiveContainer) -> None:
    """A job that starts processes without end gets no more than its share, and ends."""
    done, said = _run(container, "i=0; while [ $i -lt 100 ]; do sleep 5 & i=$((i+1)); done; echo all")
    assert done.code != 0
    assert "all" not in said


def test_memory_is_limited(container: LiveContainer) -> None:
    """A program that takes more memory than its container may have is killed, and the container lives on."""
    assert _run(container, "tail /dev/zero")[0].code == 137
    assert _run(container, "echo alive")[1] == "alive\n"


@pytest.mark.parametrize(
    ("script", "code"), [("exit 7", 7), ("kill -SEGV $$", 139), ("false; echo no", 1), ("$nope", 2)]
)
def test_exit_code_tells_how_a_command_ended(container: LiveContainer, script: str, code: int) -> None:
    """An exit code, a signal as 128+n, the first failing command and an unset variable all end the script."""
    assert _run(container, script)[0].code == code


def test_environment_is_what_was_given(container: LiveContainer) -> None:
    """Set-and-empty and unset are two things, and nothing else leaks in."""
    _, said = _run(container, 'echo "[$A] [${B-unset}]"; env | sort', A="")
    assert said.splitlines()[0] == "[] [unset]"
    assert {line.split("=")[0] for line in said.splitlines()[1:]} == {"A", "HOME", "PATH", "PWD"}


def test_output_comes_whole_and_in_order(container: LiveContainer) -> None:
    """Megabytes of output arrive in full, with what was printed as an error in its place between them."""
    done, said = _run(container, "for n in 1 2 3; do seq 1 100000; echo error $n >&2; done")
    assert done.code == 0
    once = [str(number) for number in range(1, 100001)]
    assert said.splitlines() == [*once, "error 1", *once, "error 2", *once, "error 3"]


@pytest.mark.parametrize("script", ["sleep 600", "trap '' TERM INT; while :; do :; done"])
def test_time_limit_ends_the_whole_container(container: LiveContainer, script: str) -> None:
    """Past its limit a command that prints nothing, or ignores signals, is ended, and code None says so."""
    done, _ = _run(container, f"mkdir -p out; echo kept >out/file; {script}", timeout_s=1)
    assert done.code is None
    with pytest.raises(InfrastructureError):
        _run(container, "echo no longer there")


def test_files_of_a_killed_container_can_be_taken(container: LiveContainer, tmp_path: Path) -> None:
    """What a job wrote to its volume before it was ended comes out; its /scratch is gone, which is no error."""
    _run(container, "mkdir -p out; echo kept >out/file; mkdir /scratch/out; sleep 600", timeout_s=1)
    assert [path.read_text() for path in container.take("/work/out", tmp_path / "a")] == ["kept\n"]
    assert container.take("/scratch/out", tmp_path / "b") == ()


def test_files_go_in_and_come_out(container: LiveContainer, tmp_path: Path) -> None:
    """Files put in belong to the ordinary user, files taken out to the caller; links and pipes stay behind."""
    big = tmp_path / "big ä"
    big.write_bytes(os.urandom(3_000_000))
    container.put([("/scratch/in/run.sh", b"#!/bin/sh\necho ran\n", True), ("/work/a b/c", b"", False)])
    container.put_file(big, "/work/new/folder/big")
    script = (
        "stat -c '%u %a' /scratch/in/run.sh; /scratch/in/run.sh; mkdir -p /scratch/out/d;"
        "cp new/folder/big /scratch/out/;"
        "ln -s /etc/passwd /scratch/out/link; mkfifo /scratch/out/pipe; ln /scratch/out/big /scratch/out/d/same"
    )
    assert _run(container, script)[1] == "1000 755\nran\n"
    taken = container.take("/scratch/out", tmp_path / "out")
    assert sorted(path.relative_to(tmp_path / "out").as_posix() for path in taken) == ["big", "d/same"]
    assert all(path.read_bytes() == big.read_bytes() for path in taken)
    everything = [tmp_path / "out", *(tmp_path / "out").rglob("*")]
    assert {path.lstat().st_uid for path in everything} == {os.getuid()}


def test_a_folder_that_is_not_there_gives_nothing(container: LiveContainer, tmp_path: Path) -> None:
    """A job that left nothing is no error."""
    assert container.take("/work/nothing", tmp_path / "out") == ()


def test_full_scratch_is_told_as_such(container: LiveContainer, tmp_path: Path) -> None:
    """A file that does not fit says that there is no space, not that a command failed."""
    big = tmp_path / "big"
    big.write_bytes(bytes(80 << 20))
    with pytest.raises(NoSpaceError, match="No space left"):
        container.put_file(big, "/scratch/big")


def test_read_only_volume(engine: DockerEngine, probe: ImageRef, volume: str) -> None:
    """A run job cannot change the build that it tests."""
    with engine.container(_spec(probe, volume)) as build:
        _run(build, "echo built >file")
    with engine.container(_spec(probe, volume, read_only=True)) as run:
        assert _run(run, "cat file")[1] == "built\n"
        assert _run(run, "echo changed >file")[0].code != 0


def test_container_is_gone_after_an_error(engine: DockerEngine, probe: ImageRef) -> None:
    """Whatever is raised inside, the container is removed, and the error is the one that was raised."""
    spec = _spec(probe)
    with pytest.raises(ZeroDivisionError), engine.container(spec):
        raise ZeroDivisionError
    assert engine.stop_containers(spec.labels) == 0


def test_kept_container_stays_until_it_is_stopped(engine: DockerEngine, probe: ImageRef) -> None:
    """A container that is to be kept survives its job and a sweep, and goes when it is stopped by its label."""
    spec = _spec(probe, keep=True)
    with engine.container(spec):
        pass
    engine.sweep()
    assert engine.stop_containers(spec.labels) == 1


def test_stopping_a_container_ends_its_command(engine: DockerEngine, probe: ImageRef, volume: str) -> None:
    """A command whose container is removed by another thread ends with an infrastructure error, and soon."""
    spec = _spec(probe, volume)

    def stop(_: bytes) -> None:
        engine.stop_containers(spec.labels)

    with engine.container(spec) as container, pytest.raises(InfrastructureError):
        container.run(
            "echo started; sleep 600",
            environment={},
            directory="/work",
            timeout_s=300,
            on_output=stop,
        )


def test_sweep_removes_what_a_dead_process_left(
    engine: DockerEngine,
    probe: ImageRef,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A container whose process is gone is removed at the next start; one of a living process stays."""
    dead, alive = _spec(probe, keep=True), _spec(probe)
    labels = {PID_LABEL: "4194999", BORN_LABEL: "1.00"}
    with engine.container(alive):
        with monkeypatch.context() as patch:
            patch.setattr(creation, "process_labels", lambda: {**process_labels(), **labels})
            patch.setattr(creation, "KEEP_LABEL", "crossmatrix.test")
            with engine.container(dead):
                pass
        assert engine.sweep() >= 1
        assert engine.stop_containers(dead.labels) == 0
        assert engine.stop_containers(alive.labels) == 1
