"""`invoke matrix` in a real process on a real engine: Ctrl-C, SIGKILL, and the run after it."""

from __future__ import annotations

import json
import signal
from typing import TYPE_CHECKING

import pytest
from tests.integration.slice_history import History, history

from crossmatrix.api.reports import load_run
from crossmatrix.errors import ExitCode
from crossmatrix.events import JobStarted, Note
from crossmatrix.records import Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from crossmatrix.engine import DockerEngine
    from crossmatrix.engine.types import ImageRef


@pytest.fixture(scope="module")
def past(
    engine: DockerEngine,
    images: Mapping[str, ImageRef],
    state_home: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> History:
    """Give what happened to one cell."""
    assert "gcc-12" in images
    return history(engine, tmp_path_factory.mktemp("slice") / "état d'essai", state_home)


def test_ctrl_c_ends_with_130_and_leaves_no_container(past: History) -> None:
    """A build was under way in a container; it is gone, and the terminal says that the run was interrupted."""
    assert len(past.interrupted.containers) == 1
    assert past.interrupted.code == ExitCode.INTERRUPTED
    assert past.interrupted.left == ()
    assert "SIGINT: stopping" in past.interrupted.output
    assert "Traceback" not in past.interrupted.output


def test_ctrl_c_leaves_a_whole_record(past: History) -> None:
    """The interrupted run's record says so, and its cell is aborted."""
    runs = past.workspace.state(writable=False).runs
    first = json.loads((runs.folder(runs.ids()[0]) / "run.json").read_text(encoding="utf-8"))
    assert (first["state"], first["exit_code"]) == ("interrupted", ExitCode.INTERRUPTED)
    assert [cell["verdict"] for cell in first["cells"]] == [Verdict.ABORTED]


def test_a_killed_run_leaves_containers_that_the_next_one_sweeps(past: History) -> None:
    """SIGKILL leaves what nobody could remove; the next run removes it, says so, and leaves none itself."""
    assert past.killed.code == -signal.SIGKILL
    assert len(past.killed.left) >= 1
    notes = [event.message for event in past.finished_events if isinstance(event, Note)]
    assert any("that an interrupted run had left" in text for text in notes)


def test_a_killed_run_is_reported_as_killed(past: History) -> None:
    """Its record still says `running`, but nobody holds its lock."""
    record, _ = load_run(past.workspace, past.workspace.state(writable=False).runs.ids()[1])
    assert (record.state, record.exit_code) == ("killed", ExitCode.UNEXPECTED)


def test_the_next_run_goes_on_from_there(past: History) -> None:
    """What the killed run had built is not built again: only the tests are run, and the cell is judged."""
    jobs = [event.job.split()[0] for event in past.finished_events if isinstance(event, JobStarted)]
    assert jobs == ["run"]
    cell = past.finished.record.cells[0]
    assert {stage.name for stage in cell.stages if stage.reused} >= {"configure", "build", "collect", "workload"}
    assert not any(stage.reused for stage in cell.stages if stage.name == "test")
    assert not list((past.workspace.home / "results").glob(".new-*"))
