"""One big-endian cell with assembly for real: its verdict, evidence, outputs and files, and the house rules it kept."""

from __future__ import annotations

import json
import os
import stat
import uuid
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.slice_history import History, history, of_home

from crossmatrix.engine.types import LABEL, ContainerSpec
from crossmatrix.events import JobStarted
from crossmatrix.records import StageStatus, Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from crossmatrix.engine import DockerEngine
    from crossmatrix.engine.types import ImageRef
    from crossmatrix.records import CellRecord


@pytest.fixture(scope="module")
def past(
    engine: DockerEngine,
    images: Mapping[str, ImageRef],
    state_home: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> History:
    """Give what happened to one cell."""
    assert "qemu-7.2" in images
    return history(engine, tmp_path_factory.mktemp("slice") / "état d'essai", state_home)


@pytest.fixture(scope="module")
def cell(past: History) -> CellRecord:
    """Give the record of the finished cell."""
    return past.finished.record.cells[0]


def seen(past: History) -> tuple[dict[str, Any], ...]:
    """Give the containers that were looked at while they ran: one of the build, one of the tests."""
    return (*past.interrupted.containers, *past.killed.containers)


def test_the_cell_passes(past: History, cell: CellRecord) -> None:
    """All stages end well, the whole suite runs, and the exit code is 0."""
    assert (cell.verdict, cell.cut) == (Verdict.PASSED, ""), cell.reason
    assert [stage.name for stage in cell.stages if stage.status is not StageStatus.OK] == []
    assert cell.tests.passed > 100
    assert cell.tests.failed == 0
    assert past.finished.record.exit_code == 0


def test_the_binary_is_what_the_cell_s_name_says(cell: CellRecord) -> None:
    """A static big-endian aarch64 program of musl's."""
    binary = cell.evidence.binary
    assert binary is not None
    assert (binary.machine, binary.endian, binary.bits) == ("EM_AARCH64", "big", 64)
    assert (binary.libc, binary.linkage) == ("musl", "static")
    assert binary.assembly_objects


def test_assembly_ran_under_the_emulator(cell: CellRecord) -> None:
    """The counting plugin saw the build's own assembly functions, crypto extensions among them."""
    execution = cell.evidence.execution
    assert execution is not None
    assert execution.emulated
    executed = cell.evidence.assembly_functions_executed
    assert executed
    assert set(executed) <= set(cell.evidence.assembly_functions_present)
    assert all(count > 0 for count in executed.values())
    assert any("aes" in name for name in executed)
    assert execution.classes["aes"] > 0
    assert "qemu-aarch64_be" in execution.emulator


def test_versions_are_exact(cell: CellRecord) -> None:
    """Compiler and emulator with Debian's versions, images by id, the source by digest and origin."""
    assert cell.compiler.startswith("gcc-12 (12.")
    assert "7.2" in cell.emulator
    assert cell.image is not None
    assert cell.run_image is not None
    assert cell.image.id.startswith("sha256:")
    assert len(cell.image.packages) > 10
    assert len(cell.source_digest) == 64
    assert cell.source_origin


def test_outputs_of_all_algorithms_are_there(cell: CellRecord) -> None:
    """The fixed inputs went through every algorithm, and what was sealed was opened again."""
    assert cell.vectors is not None
    families = {family.algorithm: family for family in cell.vectors.families}
    assert {"sha256", "aes-256-ctr"} <= set(families)
    assert not [family.algorithm for family in families.values() if family.opened is False]
    assert not [family.note for family in families.values() if family.note]


def test_files_belong_to_the_caller(past: History, cell: CellRecord) -> None:
    """Everything in the state directory is owned by who ran it and can be read and deleted; nothing else lies there."""
    paths = [past.workspace.home, *past.workspace.home.rglob("*")]
    assert len(paths) > 50
    for path in paths:
        status = path.lstat()
        assert (status.st_uid, status.st_gid) == (os.geteuid(), os.getegid()), path
        if stat.S_ISDIR(status.st_mode):
            assert status.st_mode & 0o700 == 0o700, path
        elif not stat.S_ISLNK(status.st_mode):
            assert stat.S_ISREG(status.st_mode), path
            assert status.st_mode & 0o600 == 0o600, path
    names = {file.name for file in cell.artifacts}
    assert names >= {"libnettle.a", "libhogweed.a", "headers.tar.gz", "nettle-hash", "workload", "suite.log"}
    assert "configure-summary.txt" in names


def test_files_are_where_the_record_says(past: History, cell: CellRecord) -> None:
    """Artifacts and logs by path relative to the run's folder, with their sizes; the reports beside them."""
    folder = past.finished.folder
    assert all((folder / file.path).stat().st_size == file.size_bytes for file in cell.artifacts)
    assert all((folder / stage.log).is_file() for stage in cell.stages)
    assert all((folder / name).is_file() for name in ("run.json", "report.html", "report.md", "junit.xml"))


def test_the_recipe_s_algorithms_are_those_of_the_workload(
    past: History,
    cell: CellRecord,
    engine: DockerEngine,
    images: Mapping[str, ImageRef],
) -> None:
    """What `bench --algorithms` takes for nettle is what the program that was built says it can measure."""
    workload = next(file for file in cell.artifacts if file.name == "workload")
    name = f"crossmatrix-test-{uuid.uuid4().hex[:12]}"
    spec = ContainerSpec(
        image=images["qemu-7.2"],
        name=name,
        labels={f"{LABEL}.run": name},
        mounts=(),
        memory_bytes=1 << 30,
        cpus=1.0,
        scratch_bytes=256 << 20,
    )
    said = bytearray()
    with engine.container(spec) as container:
        container.put([("/scratch/workload", (past.finished.folder / workload.path).read_bytes(), True)])
        done = container.run(
            "qemu-aarch64_be /scratch/workload list",
            environment={},
            directory="/scratch",
            timeout_s=60,
            on_output=said.extend,
        )
    assert done.code == 0, said
    recipe = next(library for library in past.workspace.catalog.libraries if library.name == "nettle")
    assert {entry["algorithm"] for entry in json.loads(said)} == set(recipe.algorithms)


def test_containers_have_no_bind_mounts_and_no_network(past: History) -> None:
    """Named volumes and tmpfs alone, no network, no capabilities, no new privileges, limits, an ordinary user."""
    assert len(seen(past)) >= 2
    for container in seen(past):
        host = container["HostConfig"]
        assert not host["Binds"]
        assert {mount["Type"] for mount in container["Mounts"]} <= {"volume", "tmpfs"}
        assert host["NetworkMode"] == "none"
        assert host["CapDrop"] == ["ALL"]
        assert any(option.startswith("no-new-privileges") for option in host["SecurityOpt"])
        assert not host["Privileged"]
        assert host["Memory"] > 0
        assert container["Config"]["User"].partition(":")[0] not in {"", "0", "root"}


def test_the_tree_is_read_only_for_tests(past: History) -> None:
    """The run job cannot change what the build job made."""
    mounts = {mount["Destination"]: mount["RW"] for mount in past.killed.containers[0]["Mounts"]}
    assert mounts["/work"] is False


def test_a_second_run_starts_no_container(past: History, engine: DockerEngine) -> None:
    """Nothing changed: no job, the same verdict and evidence, files of its own."""
    assert not [event for event in past.again_events if isinstance(event, JobStarted)]
    first, second = past.finished.record.cells[0], past.again.record.cells[0]
    assert (second.cached, second.verdict) == (True, first.verdict)
    assert (second.evidence, second.vectors, second.tests) == (first.evidence, first.vectors, first.tests)
    assert all((past.again.folder / file.path).is_file() for file in second.artifacts)
    assert of_home(engine, past.workspace.home) == ()
