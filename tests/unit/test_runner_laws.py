"""Laws of the runner's small parts: limits, digests of steps, order, what a rerun command names."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.fake_engine import GIB, INFO
from tests.unit.plan_samples import DEFAULT, IMAGES, LIBRARY, cell
from tests.unit.recipe_samples import write

from crossmatrix.plan import Plan, plan
from crossmatrix.runner.capacity import jobs_at_once, limits
from crossmatrix.runner.job_steps import JobSteps

if TYPE_CHECKING:
    from pathlib import Path

    from crossmatrix.catalog import Cell

CPUS = st.integers(min_value=1, max_value=256)
MEMORY = st.integers(min_value=0, max_value=1024 * GIB)


@given(CPUS, MEMORY)
def test_as_many_jobs_as_the_engine_bears(cpus: int, memory: int) -> None:
    """Law: at least one; no more than memory for 3 GiB each; two on a small machine; half the CPUs on a large one."""
    jobs = jobs_at_once(replace(INFO, cpus=cpus, memory_bytes=memory), None)
    assert jobs >= 1
    assert jobs == 1 or jobs * 3 * GIB <= memory
    assert jobs <= max(2, cpus // 2)
    assert jobs == max(2, cpus // 2) or (jobs + 1) * 3 * GIB > memory


@given(CPUS, MEMORY, st.integers(min_value=1, max_value=1000))
def test_what_was_asked_for_counts(cpus: int, memory: int, asked: int) -> None:
    """Law: --jobs wins over what the machine suggests."""
    assert jobs_at_once(replace(INFO, cpus=cpus, memory_bytes=memory), asked) == asked


@given(CPUS, MEMORY, st.integers(min_value=1, max_value=64))
def test_limits_share_the_machine(cpus: int, memory: int, jobs: int) -> None:
    """Law: all containers together fit into memory unless each is at the least there is; all CPUs find work."""
    found = limits(replace(INFO, cpus=cpus, memory_bytes=memory), jobs)
    assert found.memory_bytes == GIB or found.memory_bytes * jobs <= memory
    assert found.cpus == cpus
    assert found.processes * jobs >= cpus
    assert found.processes <= cpus + 1


@pytest.fixture
def recipes(tmp_path: Path) -> Path:
    """Give a recipe folder with a workload of two files."""
    files = {"libraries/nettle/workload.c": "int main(void) { return 0; }\n", "libraries/nettle/part.h": "/* 1 */\n"}
    return write(tmp_path, files)


def with_workload() -> Cell:
    """Give a cell whose library has a workload."""
    library = replace(LIBRARY, workload=("libraries/nettle/workload.c",))
    return cell(library=library)


def planned(recipes: Path, *cells: Cell) -> Plan:
    """Plan with the real steps, as a new process does."""
    return plan(cells, IMAGES, JobSteps(recipes=recipes))


@pytest.mark.parametrize("name", ["libraries/nettle/workload.c", "libraries/nettle/part.h"])
def test_a_changed_workload_file_changes_all_keys(recipes: Path, name: str) -> None:
    """The workload is compiled in the build and run in the run, so both jobs run again."""
    before = planned(recipes, with_workload())
    assert planned(recipes, with_workload()) == before
    (recipes / name).write_text("/* 2 */\n")
    after = planned(recipes, with_workload())
    assert all(one.key != other.key for one, other in zip(before.jobs, after.jobs, strict=True))


def test_a_file_that_is_no_part_of_the_workload_changes_no_key(recipes: Path) -> None:
    """Notes beside the workload make nothing run again."""
    before = planned(recipes, with_workload())
    (recipes / "libraries/nettle/README").write_text("notes\n")
    assert planned(recipes, with_workload()) == before


def test_a_workload_is_what_it_was_when_the_key_was_made(recipes: Path) -> None:
    """Someone who edits while a run works does not get files that belong to no key."""
    steps = JobSteps(recipes=recipes)
    build = plan((with_workload(),), IMAGES, steps).jobs[0]
    (recipes / "libraries/nettle/part.h").write_text("/* 2 */\n")
    inputs = {file.path: file.data for file in steps.of(build, processes=2).inputs}
    assert inputs["/work/workload/libraries/nettle/part.h"] == b"/* 1 */\n"


def test_workload_files_are_read_once(recipes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many builds a plan has, each file is read once: plans of 10,000 cells depend on it."""
    from pathlib import Path as AnyPath  # noqa: PLC0415 - the class that is patched, not a type

    read: list[str] = []
    real = AnyPath.read_bytes

    def read_bytes(path: Path) -> bytes:
        read.append(path.name)
        return real(path)

    monkeypatch.setattr(AnyPath, "read_bytes", read_bytes)
    one = with_workload()
    variants = (replace(one.build.variant, name=f"variant{number}") for number in range(20))
    planned(recipes, *(replace(one, build=replace(one.build, variant=variant)) for variant in variants))
    assert sorted(read) == ["part.h", "workload.c"]


def test_what_was_planned_before_changes_no_key(recipes: Path) -> None:
    """A build whose tier wants other test programs has the same keys in a process that has planned another tier."""
    steps, one = JobSteps(recipes=recipes), with_workload()
    other = replace(one, build=replace(one.build, suite=("test_aes",)))
    keys = [[job.key for job in plan((each,), IMAGES, steps).jobs] for each in (one, other)]
    assert keys == [[job.key for job in planned(recipes, each).jobs] for each in (one, other)]
    assert not set(keys[0]) & set(keys[1])


def test_the_number_of_processes_is_no_part_of_a_key(recipes: Path) -> None:
    """A machine with more CPUs has the same keys."""
    steps = JobSteps(recipes=recipes)
    build = plan((with_workload(),), IMAGES, steps).jobs[0]
    assert steps.of(build, processes=2) != steps.of(build, processes=9)
    assert plan((with_workload(),), IMAGES, JobSteps(recipes=recipes)).jobs[0].key == build.key


@given(st.sampled_from(["", "0", "0x1"]), st.sampled_from([None, "", "0", "0x1"]))
def test_profiles_have_keys_of_their_own(first: str, second: str | None) -> None:
    """Law: unset, empty and every other value of a variable are different runs of one build."""

    class Fixed:
        """Digests that never change."""

        def for_build(self, _build: object) -> str:
            """Give one."""
            return "build"

        def for_run(self, _cell: object) -> str:
            """Give one."""
            return "run"

    cells = [cell(replace(DEFAULT, environment=(("CAP", value),))) for value in (first, second)]
    build, one, other = (*plan(cells, IMAGES, Fixed()).jobs,)
    assert one.needs == other.needs == (build.key,)
    assert (one.key == other.key) == (first == second)


def test_a_run_job_without_a_cell_is_a_defect_of_ours(recipes: Path) -> None:
    """It is told at once, not run as something else."""
    run = planned(recipes, with_workload()).jobs[1]
    with pytest.raises(ValueError, match="has no cell"):
        JobSteps(recipes=recipes).of(replace(run, cell=None), processes=1)
