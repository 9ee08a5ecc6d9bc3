"""The counting plugin in its real emulator, on programs that the real compiler made for both byte orders."""

from __future__ import annotations

import json
import re
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.probe_image import CHECKOUT

from crossmatrix.engine.types import LABEL, ContainerSpec, VolumeMount

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from crossmatrix.engine import DockerEngine
    from crossmatrix.engine.containers import LiveContainer
    from crossmatrix.engine.types import ImageRef

PROGRAM = CHECKOUT / "tests" / "data" / "plugin" / "program.c"
PLUGIN = "/opt/crossmatrix/count.so"
ARCHES = ("aarch64", "aarch64_be", "x86_64")

every_arch = pytest.mark.parametrize("arch", ARCHES)
ROUND = 6
"""Instructions of the shortest loop round that a compiler makes of ``work``; the exact number is the compiler's."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Counted:
    """How a program under the plugin ended: exit code, what it printed, and the files by name."""

    code: int | None
    said: str
    files: Mapping[str, Any]

    def only(self) -> Any:  # noqa: ANN401 - JSON of the plugin
        """Give the one file."""
        assert len(self.files) == 1, sorted(self.files)
        return next(iter(self.files.values()))


def _spec(image: ImageRef, volume: str, *, read_only: bool) -> ContainerSpec:
    name = f"crossmatrix-test-{uuid.uuid4().hex[:12]}"
    return ContainerSpec(
        image=image,
        name=name,
        labels={f"{LABEL}.run": name},
        mounts=(VolumeMount(volume=volume, path="/work", read_only=read_only),),
        memory_bytes=1 << 30,
        cpus=1.0,
        scratch_bytes=256 << 20,
    )


def _run(container: LiveContainer, script: str) -> tuple[int | None, str]:
    said = bytearray()
    done = container.run(script, environment={}, directory="/scratch", timeout_s=120, on_output=said.extend)
    return done.code, said.decode()


@pytest.fixture(scope="module")
def programs(engine: DockerEngine, images: Mapping[str, ImageRef]) -> Iterator[str]:
    """Give a volume with the test program for every target, plain and stripped."""
    volume = f"crossmatrix-test-{uuid.uuid4().hex[:12]}"
    engine.create_volume(volume, {f"{LABEL}.kind": "test"})
    try:
        with engine.container(_spec(images["gcc-12"], volume, read_only=False)) as container:
            container.put([("/work/program.c", PROGRAM.read_bytes(), False)])
            for arch in ARCHES:
                triple = f"{arch}-linux-musl"
                code, said = _run(
                    container,
                    f"{triple}-gcc -O1 -o /work/{arch} /work/program.c; "
                    f"{triple}-strip -o /work/{arch}-stripped /work/{arch}",
                )
                assert code == 0, said
        yield volume
    finally:
        engine.remove_volume(volume)


@pytest.fixture(scope="module")
def emulator(engine: DockerEngine, images: Mapping[str, ImageRef], programs: str) -> Iterator[LiveContainer]:
    """Give a container of the emulator's image with the programs in it."""
    with engine.container(_spec(images["qemu-7.2"], programs, read_only=True)) as container:
        yield container


@pytest.fixture
def folder() -> str:
    """Give a fresh name for a folder in the container."""
    return f"/scratch/{uuid.uuid4().hex[:12]}"


def _count(container: LiveContainer, into: Path, folder: str, arch: str, command: str) -> Counted:
    """Run a command with the plugin and take its files."""
    emulate = f"qemu-{arch} -plugin {PLUGIN},out={folder}/count-%p.json"
    code, said = _run(container, f"mkdir -p {folder}; {emulate} {command.replace('@', emulate)}")
    taken = container.take(folder, into)
    return Counted(code=code, said=said, files={path.name: json.loads(path.read_bytes()) for path in taken})


def _functions(count: Mapping[str, Any]) -> dict[str, int]:
    functions = {function["name"]: function["count"] for function in count["functions"]}
    assert sum(functions.values()) == count["instructions"]
    return functions


@every_arch
def test_same_run_counts_the_same(emulator: LiveContainer, tmp_path: Path, folder: str, arch: str) -> None:
    """Two runs of one program agree to the instruction, in every function, and its output is its own."""
    first = _count(emulator, tmp_path / "1", f"{folder}-1", arch, f"/work/{arch}")
    second = _count(emulator, tmp_path / "2", f"{folder}-2", arch, f"/work/{arch}")
    assert first.said == second.said == "said\n"
    assert {**first.only(), "pid": 0} == {**second.only(), "pid": 0}
    assert first.only()["schema"] == 1
    assert first.only()["program"] == f"/work/{arch}"
    assert _functions(first.only())["work"] > 1000 * (ROUND - 2)


@every_arch
def test_threads_lose_nothing(emulator: LiveContainer, tmp_path: Path, folder: str, arch: str) -> None:
    """Eight threads with a hundred calls each, and one call before them: 801 times the count of one call."""
    one = _count(emulator, tmp_path / "1", f"{folder}-1", arch, f"/work/{arch} plain")
    many = _count(emulator, tmp_path / "2", f"{folder}-2", arch, f"/work/{arch} threads")
    assert _functions(many.only())["work"] == 801 * _functions(one.only())["work"]


@every_arch
def test_child_counts_its_own(emulator: LiveContainer, tmp_path: Path, folder: str, arch: str) -> None:
    """A fork leaves two files: the child's holds what the child did, the parent's what the parent did."""
    counted = _count(emulator, tmp_path, folder, arch, f"/work/{arch} fork")
    assert len(counted.files) == 2
    child, parent = sorted((_functions(count) for count in counted.files.values()), key=len)
    assert "work" not in child
    assert "work_of_child" not in parent
    assert child["work_of_child"] == parent["work"]
    assert len({count["pid"] for count in counted.files.values()}) == 2


@every_arch
def test_program_before_exec_is_kept(emulator: LiveContainer, tmp_path: Path, folder: str, arch: str) -> None:
    """Both programs that ran one after the other in one process leave a file; neither covers the other's."""
    counted = _count(emulator, tmp_path, folder, arch, f"/work/{arch} exec /usr/bin/@ /work/{arch}")
    assert counted.code == 0
    assert len(counted.files) == 2
    assert len({count["pid"] for count in counted.files.values()}) == 1
    assert len({_functions(count)["work"] for count in counted.files.values()}) == 1


@every_arch
def test_exec_that_fails_leaves_one_file(emulator: LiveContainer, tmp_path: Path, folder: str, arch: str) -> None:
    """A program that goes on after an exec that failed has one file, with all of it."""
    counted = _count(emulator, tmp_path, folder, arch, f"/work/{arch} exec /nowhere; true")
    before = _count(emulator, tmp_path / "2", f"{folder}-2", arch, f"/work/{arch} plain")
    assert _functions(counted.only())["work"] == _functions(before.only())["work"]


@every_arch
def test_stripped_program_is_named_by_place(emulator: LiveContainer, tmp_path: Path, folder: str, arch: str) -> None:
    """Without symbols functions are named by file and page; none is lost."""
    program = f"{arch}-stripped"
    count = _count(emulator, tmp_path, folder, arch, f"/work/{program}").only()
    functions = _functions(count)
    assert functions
    assert all(re.fullmatch(rf"{program}\+0x([0-9a-f]+000|0)", name) for name in functions)
    assert max(functions.values()) > 1000 * (ROUND - 2)


def test_dynamic_program_names_its_libraries(emulator: LiveContainer, tmp_path: Path, folder: str) -> None:
    """A dynamic program's count tells the program, the loader and the C library apart, by the symbols they have."""
    count = _count(emulator, tmp_path, folder, "x86_64", "/usr/bin/sha256sum /dev/null").only()
    objects = {function["object"] for function in count["functions"]}
    assert {"sha256sum", "libc.so.6", "ld-linux-x86-64.so.2"} <= objects
    assert _functions(count)["malloc"] > 0


@every_arch
def test_illegal_instruction_is_placed(emulator: LiveContainer, tmp_path: Path, folder: str, arch: str) -> None:
    """A program that dies of SIGILL leaves its counts, and the function whose instruction it was."""
    counted = _count(emulator, tmp_path, folder, arch, f"/work/{arch} illegal")
    assert counted.code == 128 + 4
    count = counted.only()
    assert count["signal"] == 4
    assert count["illegal"]["name"] == "illegal"
    assert count["illegal"]["object"] == arch
    assert _functions(count)["work"] > 1000 * (ROUND - 2)


def test_killed_program_leaves_no_broken_file(emulator: LiveContainer, tmp_path: Path, folder: str) -> None:
    """Nothing can be written after SIGKILL, and nothing half-written is left."""
    counted = _count(emulator, tmp_path, folder, "aarch64", "/work/aarch64 killed")
    assert counted.code == 128 + 9
    assert counted.files == {}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("", "no output file"),
        (",out=/nowhere/count.json", "cannot write /nowhere/count.json"),
        (",put=/scratch/x", "unknown argument 'put=/scratch/x'; there is out=PATH"),
    ],
)
def test_wrong_arguments_stop_the_emulator(emulator: LiveContainer, arguments: str, message: str) -> None:
    """The plugin says what is wrong before the program starts, rather than count for nothing."""
    code, said = _run(emulator, f"qemu-aarch64 -plugin {PLUGIN}{arguments} /work/aarch64")
    assert code != 0
    assert message in said
    assert "said\n" not in said
