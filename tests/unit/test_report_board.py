"""What is shown while a run works."""

from __future__ import annotations

import io
from threading import Thread

from rich.console import Console
from tests.unit.record_samples import cell_record

from crossmatrix.events import (
    CellFinished,
    Event,
    JobFinished,
    JobGivenUp,
    JobStarted,
    Note,
    RunStarted,
    StageProgress,
    StageStarted,
)
from crossmatrix.records import TestCounts, Verdict
from crossmatrix.report.board import Board, PlainBoard, board_for
from crossmatrix.report.progress import Progress

GREEN = cell_record()
RED = cell_record(variant="no-asm", verdict=Verdict.FAILED, reason="gcm failed", tests=TestCounts())
START = RunStarted(
    run_id="r1",
    cells=(GREEN.id, RED.id),
    jobs=(("build a", 100.0), ("build b", 100.0), ("run a", 40.0)),
    reused=1,
    parallel=2,
)


class Clock:
    """A clock that stands until it is set."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        """Give the time."""
        return self.now


def follow(*events: tuple[float, Event]) -> Progress:
    """Give the progress after events, each with its time."""
    progress = Progress(began=0.0)
    for now, event in events:
        progress.follow(event, now)
    return progress


def finished(job: str, seconds: float, *, ok: bool = True) -> JobFinished:
    """Give the end of a job."""
    return JobFinished(job=job, ok=ok, message="" if ok else "exit code 2", duration_s=seconds)


def test_time_left_is_the_work_over_the_jobs_that_run_beside_each_other() -> None:
    """Before anything was measured the estimates count as they are, and no job can be cut in two."""
    assert follow((0, START)).time_left(0) == 120.0
    alone = RunStarted(run_id="r", cells=(), jobs=(("build", 100.0), ("run", 2.0)), reused=0, parallel=8)
    assert follow((0, alone)).time_left(0) == 100.0


def test_time_left_follows_the_pace_of_this_machine() -> None:
    """A machine that took twice as long for the first job is expected to take twice as long for the rest."""
    progress = follow((0, START), (0, JobStarted(job="build a", reason="")), (200, finished("build a", 200)))
    assert progress.time_left(200) == 200.0
    assert progress.outlook(200) == "about 3 min left"


def test_time_left_shrinks_while_a_job_runs_and_never_falls_below_nothing() -> None:
    """A job that takes longer than expected adds nothing more; with nothing left to do there is no outlook."""
    events: list[tuple[float, Event]] = [
        (0.0, START),
        *((0.0, JobStarted(job=job, reason="")) for job, _ in START.jobs),
    ]
    progress = follow(*events)
    assert progress.time_left(50) == 50.0
    assert progress.time_left(500) is None
    assert progress.outlook(500) == ""


def test_a_job_that_never_began_does_not_wait_for_ever() -> None:
    """What is given up because its build failed leaves the queue, and does not count as measured."""
    progress = follow((0, START), (1, JobGivenUp(job="run a", reason="its build failed")))
    assert (progress.waits, progress.done) == (2, 1)
    assert progress.time_left(1) == 100.0


def test_images_that_were_built_before_are_no_jobs_of_the_plan() -> None:
    """What was done before the plan was known does not count as done in it."""
    image = JobStarted(job="image gcc-12", reason="")
    progress = follow((0, image), (60, finished("image gcc-12", 60)), (61, START))
    assert (progress.done, progress.waits, progress.total) == (0, 3, 3)


def test_a_stage_belongs_to_its_job() -> None:
    """The stage and the last line of a job are those that were told of it."""
    started = JobStarted(job="build a", reason="")
    progress = follow((0, START), (0, started), (1, StageStarted(job="build a", stage="configure")))
    progress.follow(StageProgress(job="build a", stage="configure", line="checking"), 2)
    assert (progress.running["build a"].stage, progress.running["build a"].line) == ("configure", "checking")


def plain_lines(*events: tuple[float, Event]) -> list[str]:
    """Give what the plain board prints for events, each so many seconds after the start."""
    clock, file = Clock(), io.StringIO()
    console = Console(file=file, width=40)
    with board_for(console, clock) as board:
        assert isinstance(board, PlainBoard)
        for after, event in events:
            clock.now = 1000.0 + after
            board.handle(event)
    return file.getvalue().splitlines()


def test_plain_lines_are_one_an_event_with_the_time_passed() -> None:
    """A log of a nightly job tells the story; what stages print is left out and no line is wrapped."""
    assert plain_lines(
        (0, START),
        (1, JobStarted(job="build a", reason="no result yet")),
        (2, StageStarted(job="build a", stage="configure")),
        (3, StageProgress(job="build a", stage="configure", line="checking for gcc")),
        (65, finished("build a", 64)),
        (66, finished("build b", 0, ok=False)),
        (67, CellFinished(record=RED)),
        (3700, Note(message="took Debian's [source]")),
    ) == [
        "[00:00] run r1: 2 cells, 3 jobs to run, 1 taken from earlier runs, 2 at a time, about 2 min left",
        "[00:01] start   build a (no result yet)",
        "[00:02] stage   build a: configure",
        "[01:05] done    build a in 1 min 04 s",
        "[01:06] FAILED  build b in 0.0 s: exit code 2",
        "[01:07] cell    1/2  failed  nettle-3.10.2/no-asm/gcc-12/aarch64_be-linux-musl: gcm failed",
        "[61:40] note    took Debian's [source]",
    ]


def test_a_passed_cell_s_line_says_its_counts_once() -> None:
    """The reason of a passed cell has them; a cell that is red for another reason has them beside it."""
    tests = TestCounts(passed=122, skipped=1)
    passed = GREEN.model_copy(update={"tests": tests, "reason": "122 tests passed, 1 skipped"})
    empty = GREEN.model_copy(update={"tests": tests, "verdict": Verdict.VACUOUS, "reason": "no assembly ran"})
    lines = plain_lines((0, START), (1, CellFinished(record=passed)), (2, CellFinished(record=empty)))[1:]
    assert lines[0].endswith(f"passed  {GREEN.id}: 122 tests passed, 1 skipped")
    assert lines[1].endswith("no assembly ran; 122 passed, 0 failed, 1 skipped")


def live(clock: Clock, height: int = 40) -> tuple[Board, io.StringIO]:
    """Give a live board on a terminal of 100 columns."""
    file = io.StringIO()
    console = Console(file=file, width=100, height=height, force_terminal=True, color_system=None)
    board = board_for(console, clock)
    assert isinstance(board, Board)
    return board, file


def drawn(board: Board) -> str:
    """Give the board as it is drawn now."""
    console = Console(file=io.StringIO(), width=100, height=40, color_system=None)
    with console.capture() as capture:
        console.print(board.render())
    return capture.get()


def test_the_live_board_shows_what_runs_what_waits_and_what_has_ended() -> None:
    """Job, stage, last line and time passed; counts; one mark for each cell; time left."""
    clock = Clock()
    board, _ = live(clock)
    assert "preparing" in drawn(board)
    board.handle(START)
    board.handle(CellFinished(record=GREEN))
    board.handle(JobStarted(job=f"build {RED.id}", reason=""))
    board.handle(StageStarted(job=f"build {RED.id}", stage="configure"))
    board.handle(StageProgress(job=f"build {RED.id}", stage="configure", line="checking [for] gcc\n"))
    clock.now += 12
    text = drawn(board)
    assert "00:12  configure  build nettle-3.10.2/no-asm" in text
    assert "checking [for] gcc" in text
    assert "nettle-3.10.2/asm     ✓" in text
    assert "nettle-3.10.2/no-asm  ▸" in text
    assert "1 of 2 cells · 1 running · 3 waiting · about 2 min left" in text


def test_what_needs_a_look_stays_when_the_board_goes() -> None:
    """A bad cell and a note are printed above the board; a green cell is a mark only."""
    board, file = live(Clock())
    with board:
        for event in (START, CellFinished(record=GREEN), CellFinished(record=RED), Note(message="retrying")):
            board.handle(event)
    text = file.getvalue()
    assert f"failed  {RED.id}: gcm failed" in text
    assert f"passed  {GREEN.id}" not in text
    assert "note: retrying" in text


def test_a_grid_that_would_fill_the_screen_is_left_out() -> None:
    """On a low terminal the running jobs and the counts have the room."""
    board, _ = live(Clock(), height=5)
    board.handle(START)
    text = drawn(board)
    assert "nettle-3.10.2/asm " not in text
    assert "0 of 2 cells" in text


def test_a_board_takes_events_from_many_threads() -> None:
    """No event is lost when jobs end beside each other while the board is drawn."""
    board, _ = live(Clock())
    names = [f"job {number}" for number in range(200)]
    jobs = tuple((name, 1.0) for name in names)
    with board:
        board.handle(RunStarted(run_id="r", cells=(), jobs=jobs, reused=0, parallel=4))

        def work(part: list[str]) -> None:
            for name in part:
                board.handle(JobStarted(job=name, reason=""))
                board.handle(Note(message=name))
                board.handle(finished(name, 1.0))

        threads = [Thread(target=work, args=(names[start::4],)) for start in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert (board._progress.done, board._progress.waits, board._progress.running) == (200, 0, {})
