"""The api: from words to cells and back, room on the disks, signals, reports."""

from __future__ import annotations

import signal
import threading
from typing import TYPE_CHECKING, NoReturn

import pytest
from tests.unit.command_samples import shell
from tests.unit.fake_engine import Act, FakeEngine

from crossmatrix.api import reports, running
from crossmatrix.api.choosing import choose
from crossmatrix.api.options import Choice, Manner
from crossmatrix.api.planning import plan_matrix
from crossmatrix.api.reports import load_run
from crossmatrix.api.running import ensure_engine_room, ensure_room, run_matrix, stopped_by_signals
from crossmatrix.api.workspace import Workspace
from crossmatrix.cli.options import command_line
from crossmatrix.errors import CrossmatrixError, InfrastructureError, NoSpaceError, StoreError, UsageError
from crossmatrix.events import Note, RunStarted
from crossmatrix.matrix import expand
from crossmatrix.records import Verdict
from crossmatrix.report.files import write_reports
from crossmatrix.runner.alive import is_alive

if TYPE_CHECKING:
    from pathlib import Path

    from tests.unit.command_samples import Shell

    from crossmatrix.events import Event
    from crossmatrix.records import RunRecord

CELL = "nettle-3.10.2/asm/gcc-12/little"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    """Give a small checkout without an engine."""
    return shell(tmp_path, monkeypatch)


def test_a_profile_s_cell_can_be_run_again_by_its_id(here: Shell) -> None:
    """An id with `@` and `=` is one selector word."""
    (here.workspace.root / "recipes/matrices/caps.yaml").write_text(
        "description: c\nlibraries: {openssl: '3.0'}\nvariants: [asm]\ntargets: [little]\ntoolchains: [gcc-12]\n"
        "profiles: [default, armcap=0]\n"
    )
    chosen = choose(here.workspace, Choice(matrix="caps", only=("id=openssl-3.0.20/asm/gcc-12/little@armcap=0",)))
    assert [one.profile.name for one in chosen.cells] == ["armcap=0"]


def test_bench_is_no_tier_of_the_suites(here: Shell) -> None:
    """Measuring replaces the tier of every cell, whatever the library's tiers are called."""
    assert {one.tier.name for one in choose(here.workspace, Choice(tier="bench")).cells} == {"bench"}
    with pytest.raises(UsageError, match="smok"):
        choose(here.workspace, Choice(tier="smok"))


def test_the_command_is_recorded_without_the_program_s_folder() -> None:
    """What was typed can be pasted: quoted, and without the virtual environment's path."""
    assert command_line(["/a/venv/bin/invoke", "matrix", "nettle *"]) == "invoke matrix 'nettle *'"
    assert command_line([]) == ""


def test_a_run_needs_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Too little space here or at the engine: said before anything starts, with the place."""
    engine = FakeEngine()
    monkeypatch.setattr(running, "LEAST_FREE_BYTES", 1)
    ensure_engine_room(engine)
    ensure_room(tmp_path)
    monkeypatch.setattr(FakeEngine, "free_bytes", lambda _engine: 0)
    with pytest.raises(NoSpaceError, match="the engine's folder /fake"):
        ensure_engine_room(engine)
    monkeypatch.setattr(FakeEngine, "free_bytes", lambda _engine: None)
    ensure_engine_room(engine)
    monkeypatch.setattr(running, "LEAST_FREE_BYTES", 1 << 60)
    with pytest.raises(NoSpaceError, match="state directory"):
        ensure_room(tmp_path)


@pytest.mark.parametrize("command", ["matrix", "bench", "images"])
def test_no_engine_is_started_for_a_run_that_has_no_room(
    here: Shell, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    """A daemon of our own would be left running: the state directory's space is looked at before."""
    started: list[str] = []
    monkeypatch.setattr(Workspace, "engine", lambda *_words, **_named: started.append("engine"))
    monkeypatch.setattr(running, "LEAST_FREE_BYTES", 1 << 60)
    assert here.invoke(command) == 3
    assert "GiB free in the state directory" in capsys.readouterr().err
    assert started == []


@pytest.mark.parametrize(("algorithms", "expected"), [((), 120), (("x25519",), 60), (("sha256", "x25519"), 120)])
def test_a_bench_of_few_algorithms_is_expected_to_be_short(
    here: Shell, algorithms: tuple[str, ...], expected: int
) -> None:
    """The time told for a run job is that for all algorithms, by the part that is asked for; its key stays."""
    here.with_engine().on("*", Act(error=InfrastructureError("gone")))
    told: list[Event] = []
    done = run_matrix(
        here.workspace, Choice(cells=("nettle*",), tier="bench"), Manner(algorithms=algorithms), told.append
    )
    (start,) = [event for event in told if isinstance(event, RunStarted)]
    assert {estimate for job, estimate in start.jobs if job.startswith("run ")} == {expected}
    assert {one.tier for one in done.record.cells} == {"bench"}


@pytest.mark.parametrize(
    ("algorithms", "libraries"),
    [
        ((), {"nettle", "openssl"}),
        (("sha256",), {"nettle", "openssl"}),
        (("x25519",), {"nettle"}),
        (("aes-256-ctr", "hmac-sha256"), {"openssl"}),
    ],
)
def test_only_cells_that_have_what_is_asked_for_are_measured(
    here: Shell, algorithms: tuple[str, ...], libraries: set[str]
) -> None:
    """The others would be measured for nothing; a note says how many, of which library, and why."""
    chosen = choose(here.workspace, Choice(tier="bench"), algorithms=algorithms)
    assert {one.build.library.name for one in chosen.cells} == libraries
    notes = [note for note in chosen.notes if "none of the algorithms asked for" in note]
    assert [note.partition(":")[0] for note in notes] == sorted({"nettle", "openssl"} - libraries)
    assert all(", ".join(algorithms) in note and "cells left out" in note for note in notes)


def test_a_patch_of_a_library_that_is_not_measured_is_refused(here: Shell) -> None:
    """It would be of no use, and a green run would say that it does no harm."""
    (here.workspace.root / "a.patch").write_text("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n")
    choice = Choice(tier="bench", patches=(f"openssl={here.workspace.root}/a.patch",))
    assert choose(here.workspace, choice).cells
    with pytest.raises(UsageError, match="no chosen cell is of openssl"):
        choose(here.workspace, choice, algorithms=("x25519",))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_end_a_run_once(number: signal.Signals) -> None:
    """However often one comes, it is told once; afterwards signals do what they did before."""
    before = signal.getsignal(number)
    stop, interrupted = threading.Event(), threading.Event()
    told: list[Event] = []
    with stopped_by_signals(stop, interrupted, told.append):
        signal.raise_signal(number)
        signal.raise_signal(number)
    assert stop.is_set()
    assert interrupted.is_set()
    assert [event.message for event in told if isinstance(event, Note)] == [
        f"{number.name}: stopping; what has finished is kept"
    ]
    assert signal.getsignal(number) is before


def test_signals_are_the_main_thread_s(tmp_path: Path) -> None:
    """In another thread, as when the api is used by a program, they are left alone."""
    seen: list[bool] = []

    def inside() -> None:
        before = signal.getsignal(signal.SIGINT)
        with stopped_by_signals(threading.Event(), threading.Event(), lambda _event: None):
            seen.append(signal.getsignal(signal.SIGINT) is before)

    thread = threading.Thread(target=inside)
    thread.start()
    thread.join(30)
    assert seen == [True]
    assert tmp_path.is_dir()


def test_a_plan_sees_what_an_engine_and_earlier_runs_have(here: Shell) -> None:
    """With an engine, images are known; nothing is started, and the state directory is not made."""
    engine = here.with_engine()
    planned = plan_matrix(here.workspace, Choice(cells=("nettle-*",)), fresh=False)
    assert {decision.reason for decision in planned.decisions} == {"never run before"}
    assert planned.notes == ()
    assert engine.started == []
    assert not here.workspace.home.exists()


def test_a_plan_after_a_run_reuses_it(here: Shell) -> None:
    """`plan` and the next run agree; --fresh is shown too."""
    engine = here.with_engine()
    engine.on("JOBS=*", Act(code=1, output=b"error: x\n"))
    engine.leaves("*", {})
    choice = Choice(cells=(CELL,))
    run_matrix(here.workspace, choice, Manner(), lambda _event: None)
    reasons = [one.reason for one in plan_matrix(here.workspace, choice, fresh=False).decisions]
    assert reasons[0] == "same key as an earlier run"
    fresh = plan_matrix(here.workspace, choice, fresh=True).decisions
    assert {one.reason for one in fresh} == {"asked for by --fresh"}


@pytest.mark.parametrize("kind", [StoreError, NoSpaceError, InfrastructureError])
def test_reports_that_cannot_be_written_do_not_hide_the_run(
    here: Shell, monkeypatch: pytest.MonkeyPatch, kind: type[CrossmatrixError]
) -> None:
    """A disk that fills up in the end: the record is given all the same, and a note says what is missing."""
    here.with_engine().on("*", Act(error=InfrastructureError("gone")))

    def refuse(*_args: object) -> NoReturn:
        raise kind("cannot write the report")

    monkeypatch.setattr(running, "write_reports", refuse)
    monkeypatch.setattr(reports, "write_reports", refuse)
    told: list[Event] = []
    done = run_matrix(here.workspace, Choice(cells=(CELL,)), Manner(), told.append)
    assert [one.verdict for one in done.record.cells] == [Verdict.INFRASTRUCTURE]
    assert any(isinstance(event, Note) and event.message == "cannot write the report" for event in told)
    assert set(reports.rewrite(*load_run(here.workspace, "latest"))) == {"json", "md"}


def test_reports_are_written_while_the_run_counts_as_alive(here: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    """A `clean` beside it would else remove the folder under the reports, or they would bring half of it back."""
    here.with_engine().on("*", Act(error=InfrastructureError("gone")))
    seen: list[bool] = []

    def look(record: RunRecord, folder: Path) -> tuple[Path, ...]:
        seen.append(is_alive(here.workspace.state(), record.run_id))
        return write_reports(record, folder)

    monkeypatch.setattr(running, "write_reports", look)
    done = run_matrix(here.workspace, Choice(cells=(CELL,)), Manner(), lambda _event: None)
    assert seen == [True]
    assert (done.folder / "report.html").is_file()
    assert not is_alive(here.workspace.state(), done.record.run_id)


def test_a_run_that_works_is_not_called_killed(here: Shell) -> None:
    """Who looks at a run under way sees `running`, without an exit code, and no cell that has not ended."""
    engine = here.with_engine()
    seen: list[tuple[str, int | None, int]] = []

    def look() -> None:
        record, _ = load_run(here.workspace, "latest")
        seen.append((record.state, record.exit_code, len(record.cells)))

    engine.on("*", Act(then=look, code=1))
    engine.leaves("*", {})
    run_matrix(here.workspace, Choice(cells=(CELL,)), Manner(), lambda _event: None)
    assert seen == [("running", None, 0)]
    assert load_run(here.workspace, "latest")[0].state == "finished"


def test_a_run_that_was_killed_says_which_cells_were_meant(
    here: Shell, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """After `kill -9` the report has every cell, those without a verdict as aborted, with the command to run them."""
    here.with_engine().on("*", Act(error=InfrastructureError("gone")))

    def die(*_words: object) -> NoReturn:
        raise SystemExit(9)

    monkeypatch.setattr("crossmatrix.runner.run._Run._planned", die)
    monkeypatch.setattr("crossmatrix.runner.run._Run._leave_nothing", lambda _run: None)
    with pytest.raises(SystemExit):
        run_matrix(here.workspace, Choice(), Manner(), lambda _event: None)
    record, _ = load_run(here.workspace, "latest")
    assert (record.state, record.exit_code, record.finished) == ("killed", 1, "")
    assert [one.id for one in record.cells] == [one.id for one in choose(here.workspace, Choice()).cells]
    assert {one.verdict for one in record.cells} == {Verdict.ABORTED}
    assert all(one.reproduce.endswith(f"--only id={one.id}") for one in record.cells)
    assert here.invoke("report") == 1
    assert "6 cells: 6 aborted" in capsys.readouterr().out


def test_a_matrix_of_negative_controls_cannot_be_measured(here: Shell) -> None:
    """`bench` says why nothing is left."""
    profiles = here.workspace.root / "recipes/profiles.yaml"
    profiles.write_text(
        profiles.read_text()
        + "forced:\n  extends: default\n  description: d\n  must_fail: {signal: SIGILL, function: f, reason: r}\n"
    )
    (here.workspace.root / "recipes/matrices/controls.yaml").write_text(
        "description: c\nlibraries: {nettle: '3.10'}\nvariants: [asm]\ntargets: [little]\ntoolchains: [gcc-12]\n"
        "profiles: [forced]\n"
    )
    assert expand(here.workspace.catalog, "controls").cells
    with pytest.raises(UsageError, match="negative controls"):
        choose(here.workspace, Choice(matrix="controls", tier="bench"))
