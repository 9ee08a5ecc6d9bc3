"""Runs on a scripted engine: what is built, tested, recorded, kept and taken over."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from tests.unit.evidence_samples import counts
from tests.unit.fake_engine import Act
from tests.unit.runner_samples import LOG, RUN_FILES, SECOND_PROFILE, World, by_id, cell

from crossmatrix.catalog import Exclusion
from crossmatrix.events import JobStarted, RunStarted
from crossmatrix.evidence import gather
from crossmatrix.matrix import LeftOut
from crossmatrix.records import RunRecord, StageStatus, Verdict
from crossmatrix.runner import book, judging

if TYPE_CHECKING:
    from pathlib import Path

    from crossmatrix.catalog import Cell
    from crossmatrix.events import Event
    from crossmatrix.records import Evidence

FAILING_LOG = LOG.replace("PASS: aes", "FAIL: aes").replace("exit=0 seconds=0.012", "exit=1 seconds=0.012")


@pytest.fixture
def world(tmp_path: Path) -> World:
    """Give a world in which all goes well, at a path with a space and other letters than ASCII."""
    return World(home=tmp_path / "état d'essai")


def kinds(world: World) -> list[str]:
    """Give the kinds of the containers that were started, in order."""
    return [container.spec.labels["crossmatrix.kind"] for container in world.engine.started]


def fail_the_suite(world: World) -> None:
    """Let the suite of every cell fail in one case."""
    world.engine.on("run * test", Act(code=1))
    world.engine.leaves("run *", RUN_FILES | {"suite.log": FAILING_LOG.encode()})


def expecting(one: Cell, *tests: str) -> Cell:
    """Give a cell whose library says that tests fail."""
    excuse = Exclusion(where=(), tests=tests, kind="expected-failure", reason="known", link="https://example.org/1")
    library = replace(one.build.library, exclusions=(excuse,))
    return replace(one, build=replace(one.build, library=library))


def test_two_profiles_share_one_build(world: World) -> None:
    """What differs only in how it is run is compiled once, and both cells are judged."""
    record = world.run(cell(), cell(SECOND_PROFILE))
    assert kinds(world) == ["build", "run", "run"]
    assert [one.verdict for one in record.cells] == [Verdict.PASSED, Verdict.PASSED]
    assert record.exit_code == 0
    assert record.cells[0].keys["build"] == record.cells[1].keys["build"]


def test_jobs_get_what_the_house_rules_say(world: World) -> None:
    """Only named volumes, the tree read-only for tests, labels of run, job and state directory, nothing left."""
    record = world.run(cell())
    build, run = world.engine.started
    assert [(mount.path, mount.read_only) for mount in build.spec.mounts] == [("/work", False), ("/ccache", False)]
    assert [(mount.path, mount.read_only) for mount in run.spec.mounts] == [("/work", True)]
    assert build.spec.mounts[0].volume == run.spec.mounts[0].volume
    assert build.put_in == ["/work/source.tar", "/work/input"]
    for container in (build, run):
        labels = container.spec.labels
        assert labels["crossmatrix.run"] == record.run_id
        assert labels["crossmatrix.home"] == str(world.home)
    assert world.engine.live == []


def test_records_are_there_early_by_cell_and_in_the_end(world: World) -> None:
    """While a job works run.json says `running` and names all cells; one that ended has its record before the next."""
    seen: list[tuple[str, list[Verdict]]] = []

    def look(event: Event) -> None:
        if isinstance(event, JobStarted) and event.job.startswith("run "):
            run = world.state.runs.load(world.state.runs.resolve("latest"))
            seen.append((run.state, [one.verdict for one in run.cells]))

    world.on_event = look
    record = world.run(cell(), cell(SECOND_PROFILE))
    aborted, passed = Verdict.ABORTED, Verdict.PASSED
    assert seen == [("running", [aborted, aborted]), ("running", [passed, aborted])]
    stored = json.loads((world.state.runs.folder(record.run_id) / "run.json").read_text())
    assert (stored["state"], stored["exit_code"], len(stored["cells"])) == ("finished", 0, 2)
    assert RunRecord.model_validate(stored).run_id == record.run_id


def test_nothing_runs_when_nothing_changed(world: World) -> None:
    """The second run starts no container and says that it took the result over."""
    first = world.run(cell())
    again = world.again()
    second = again.run(cell())
    assert len(world.engine.started) == 2
    assert [one.cached for one in (*first.cells, *second.cells)] == [False, True]
    assert second.cells[0].verdict is Verdict.PASSED
    assert second.exit_code == 0
    opening = again.of_kind(RunStarted)[0]
    assert isinstance(opening, RunStarted)
    assert (opening.jobs, opening.reused) == ((), 2)
    assert again.fetched == []


def test_a_result_taken_over_has_files_in_its_own_run(world: World) -> None:
    """Logs and artifacts of a cached cell lie in the new run's folder, with their checksums, its stages as reused."""
    first = world.run(cell())
    second = world.again().run(cell())
    world.state.runs.remove(first.run_id)
    folder = world.state.runs.folder(second.run_id)
    one = second.cells[0]
    assert {file.name for file in one.artifacts} >= {"workload", "libnettle.a", "suite.log", "configure-summary.txt"}
    assert all((folder / file.path).stat().st_size == file.size_bytes for file in one.artifacts)
    assert {stage.name for stage in one.stages} >= {"configure", "build", "test"}
    assert all(stage.reused and (folder / stage.log).is_file() for stage in one.stages)
    assert not any(stage.reused for stage in first.cells[0].stages)


def test_fresh_uses_nothing(world: World) -> None:
    """--fresh builds and tests again, in a new tree."""
    world.run(cell())
    second = world.again().run(cell(), fresh=True)
    assert kinds(world) == ["build", "run", "build", "run"]
    assert not second.cells[0].cached


def test_a_changed_step_runs_again_and_says_why(world: World) -> None:
    """What is run in the containers is part of the key, and the reason names it."""
    world.run(cell())
    again = world.again()
    again.steps.digest = "2"
    again.run(cell())
    reasons = [event.reason for event in again.of_kind(JobStarted) if isinstance(event, JobStarted)]
    assert reasons[0] == "changed: steps (1 build nettle -> 2 build nettle)"
    assert reasons[1].startswith("changed: build, steps")


def test_a_missing_tree_is_built_again_only_for_a_run_that_needs_it(world: World) -> None:
    """A kept cell needs no tree; a new profile of the same build does."""
    world.run(cell())
    world.engine.volumes.clear()
    world.again().run(cell())
    assert kinds(world) == ["build", "run"]
    record = world.again().run(cell(), cell(SECOND_PROFILE))
    assert kinds(world) == ["build", "run", "build", "run"]
    assert [one.cached for one in record.cells] == [True, False]


def test_a_failing_suite_is_a_result(world: World) -> None:
    """A failed test makes the cell `failed`, with its case, and is kept: the same key fails alike."""
    fail_the_suite(world)
    record = world.run(cell())
    assert record.cells[0].verdict is Verdict.FAILED
    assert "aes" in record.cells[0].reason
    assert record.cells[0].tests.failed == 1
    assert (record.cells[0].log_of, record.cells[0].log_tail.splitlines()[-1]) == ("test aes-test", "FAIL: aes")
    assert record.exit_code == 1
    second = world.again().run(cell())
    assert len(world.engine.started) == 2
    assert (second.cells[0].verdict, second.cells[0].cached, second.exit_code) == (Verdict.FAILED, True, 1)


def test_a_failing_build_decides_all_its_cells_once(world: World) -> None:
    """Both cells are `build-failed` with the compiler's words; the next run repeats neither build nor anything else."""
    world.engine.on("build * build", Act(code=2, output=b"aes.c:7:1: error: no such thing\n"))
    record = world.run(cell(), cell(SECOND_PROFILE))
    for one in record.cells:
        assert one.verdict is Verdict.BUILD_FAILED
        assert "no such thing" in one.reason
        assert "no such thing" in one.log_tail
        assert [stage.status for stage in one.stages][-2:] == [StageStatus.NOT_RUN] * 2
    assert kinds(world) == ["build"]
    second = world.again().run(cell(), cell(SECOND_PROFILE))
    assert kinds(world) == ["build"]
    assert {one.verdict for one in second.cells} == {Verdict.BUILD_FAILED}
    assert all(one.cached for one in second.cells)
    assert second.exit_code == 1


def test_a_time_out_names_the_hung_test_and_is_not_kept(world: World) -> None:
    """The suite's own output says what ran when the container was ended; the next run tries again."""
    hung = LOG + "=== RUN sha256-test\n"
    world.engine.on("run * test", Act(code=None, output=hung.encode(), times=1))
    world.engine.leaves("run *", {})
    record = world.run(cell())
    assert record.cells[0].verdict is Verdict.TIMED_OUT
    assert "sha256-test" in record.cells[0].reason
    world.engine.leaves("run *", RUN_FILES)
    second = world.again().run(cell())
    assert kinds(world) == ["build", "run", "run"]
    assert not second.cells[0].cached
    assert second.cells[0].verdict is not Verdict.TIMED_OUT


def test_a_green_cell_without_evidence_is_vacuous(world: World) -> None:
    """A suite that passes while no assembly ran does not pass as `asm`."""
    world.engine.leaves("run *", RUN_FILES | {"evidence/count-7.json": counts({})})
    record = world.run(cell())
    assert record.cells[0].verdict is Verdict.VACUOUS
    assert record.cells[0].log_tail == ""
    assert record.exit_code == 1


def test_an_excuse_that_is_no_longer_needed_is_found(world: World) -> None:
    """When what an exclusion excuses passes, the cell is `unexpected-pass`."""
    record = world.run(expecting(cell(), "aes-test"))
    assert record.cells[0].verdict is Verdict.UNEXPECTED_PASS
    assert record.cells[0].links == ("https://example.org/1",)
    assert record.exit_code == 1


def test_a_new_excuse_counts_for_a_kept_result(world: World) -> None:
    """Recipes that excuse what a kept result shows change the verdict, and nothing is run for it."""
    fail_the_suite(world)
    assert world.run(cell()).cells[0].verdict is Verdict.FAILED
    world.engine.leaves("run *", {})
    record = world.again().run(expecting(cell(), "aes-test"))
    assert record.cells[0].verdict is Verdict.EXPECTED_FAILURE
    assert record.cells[0].cached
    assert len(world.engine.started) == 2


def test_a_judgement_is_taken_over_from_the_same_code_alone(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the same judging code the kept record is read; with other code the kept files are judged again."""
    world.run(cell())
    judged: list[str] = []

    def noted(one: Cell, build: dict[str, bytes], run: dict[str, bytes]) -> Evidence:
        judged.append(one.id)
        return gather(one, build=build, run=run)

    monkeypatch.setattr(judging, "gather", noted)
    world.again().run(cell())
    assert judged == []
    monkeypatch.setattr(judging, "judging_digest", lambda: "f" * 64)
    record = world.again().run(cell())
    assert judged == [cell().id]
    assert record.cells[0].verdict is Verdict.PASSED


def test_cells_that_are_left_out_are_in_the_record(world: World) -> None:
    """What the matrix leaves out is `unsupported`, with reason and link, and costs nothing."""
    left = LeftOut(cell=cell(SECOND_PROFILE), kind="unsupported", reason="no such CPU", link="https://example.org/2")
    record = world.run(cell(), left_out=(left,))
    assert [one.verdict for one in record.cells] == [Verdict.PASSED, Verdict.UNSUPPORTED]
    assert (record.cells[1].reason, record.cells[1].links) == ("no such CPU", ("https://example.org/2",))
    assert record.exit_code == 0


def test_neighbours_show_that_a_green_cell_is_vacuous(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """What only the neighbours can show changes the run's record and the cell's own."""
    wanted = cell(SECOND_PROFILE).id
    monkeypatch.setattr(book, "vacuous_by_neighbours", lambda _records: {wanted: "others ran more tests"})
    record = world.run(cell(), cell(SECOND_PROFILE))
    assert by_id(record)[wanted].verdict is Verdict.VACUOUS
    assert by_id(record)[cell().id].verdict is Verdict.PASSED
    own = {one.id: one for one in world.state.runs.cells(record.run_id)}
    assert (own[wanted].verdict, own[wanted].reason) == (Verdict.VACUOUS, "others ran more tests")
    assert record.exit_code == 1


def test_the_longest_chain_begins_first(world: World) -> None:
    """With one job at a time, the build with the longer tests behind it comes first."""
    other = replace(cell(), tier=replace(cell().tier, name="full", estimate_s=500))
    other = replace(other, build=replace(other.build, variant=replace(other.build.variant, name="fat")))
    world.run(cell(), other)
    began = [event.job.split()[1] for event in world.of_kind(JobStarted) if isinstance(event, JobStarted)]
    assert began[0] == other.build.id


def test_a_kept_container_stays(world: World) -> None:
    """--keep-container leaves the jobs' containers, also after the run; the next run of the job removes them."""
    world.run(cell(), keep_container=True)
    assert len(world.engine.live) == 2
    world.again().run(cell(), fresh=True)
    assert world.engine.live == []


def test_an_image_that_is_missing_is_built_before_the_plan(world: World) -> None:
    """Images are made ready first, each once, and the jobs' keys know what is in them."""
    world.engine.images.clear()
    record = world.run(cell(), cell(SECOND_PROFILE))
    assert sorted(world.engine.built) == ["gcc-12", "qemu-7.2"]
    assert record.cells[0].verdict is Verdict.PASSED
    assert record.cells[0].compiler == "gcc-12 (12.2.0-14)"
    assert record.cells[0].emulator == "qemu-7.2 (1:7.2)"
