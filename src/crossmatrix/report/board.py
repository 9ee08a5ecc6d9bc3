"""What a run shows while it works: a live board on a terminal, plain lines elsewhere."""

from __future__ import annotations

from threading import RLock
from typing import TYPE_CHECKING, Protocol, Self

from rich.console import Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from crossmatrix.analysis.words import counted
from crossmatrix.events import CellFinished, Event, JobFinished, JobStarted, Note, RunStarted, StageStarted
from crossmatrix.records import Verdict
from crossmatrix.report.looks import LOOKS, symbol
from crossmatrix.report.progress import Progress
from crossmatrix.report.terminal import STYLES, speaks_unicode
from crossmatrix.report.words import clock, duration, printable

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from rich.console import Console, RenderableType

    from crossmatrix.records import CellRecord

_REFRESHES_PER_SECOND = 4


class Watcher(Protocol):
    """Whoever watches a run. ``handle`` may be called from any thread."""

    def __enter__(self) -> Self:
        """Begin to show."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Leave the terminal as it was found."""

    def handle(self, event: Event) -> None:
        """Take one event."""


def board_for(console: Console, clock_s: Callable[[], float]) -> Watcher:
    """Give a live board where the console is a terminal that can redraw, else plain lines.

    Args:
        console: where to show.
        clock_s: a monotonic clock in seconds.
    """
    live = console.is_terminal and not console.is_dumb_terminal
    return Board(console, clock_s) if live else PlainBoard(console, clock_s)


class PlainBoard:
    """One line for each event worth saying, with the time since the start, for logs and pipes."""

    def __init__(self, console: Console, clock_s: Callable[[], float]) -> None:
        self._console = console
        self._clock = clock_s
        self._progress = Progress(began=clock_s())
        self._lock = RLock()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Nothing is to be put back."""

    def handle(self, event: Event) -> None:
        """Print a line for an event; what a stage prints is left out."""
        with self._lock:
            now = self._clock()
            self._progress.follow(event, now)
            words = self._words(event, now)
            if words:
                line = f"[{clock(now - self._progress.began)}] {printable(words)}"
                if not speaks_unicode(self._console):
                    line = line.encode("ascii", "replace").decode()
                self._console.print(Text(line), soft_wrap=True)
                self._console.file.flush()

    def _words(self, event: Event, now: float) -> str:
        match event:
            case RunStarted():
                return _opening(event, self._progress.outlook(now))
            case CellFinished(record=record):
                progress = f"{len(self._progress.records)}/{len(self._progress.cells) or '?'}"
                return f"cell    {progress}  {_verdict_line(record)}"
            case Note(message=message):
                return f"note    {message}"
            case _:
                return _job_line(event)


class Board:
    """A live board: what runs, what waits, what has ended, how long it will take.

    What needs a look (a cell that is not as expected, a note, a job that failed) scrolls past above the board and
    stays on the terminal when it goes.
    """

    def __init__(self, console: Console, clock_s: Callable[[], float]) -> None:
        self._console = console
        self._clock = clock_s
        self._progress = Progress(began=clock_s())
        self._lock = RLock()
        self._unicode = speaks_unicode(console)
        self._live = Live(
            console=console,
            get_renderable=self.render,
            refresh_per_second=_REFRESHES_PER_SECOND,
            transient=True,
            vertical_overflow="crop",
        )

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._live.stop()

    def handle(self, event: Event) -> None:
        """Take one event; the board is redrawn at its own pace."""
        with self._lock:
            self._progress.follow(event, self._clock())
            line = self._lasting(event)
        # Printing takes the display's own lock, which the redrawing thread holds while it asks for ours.
        if line is not None:
            self._console.print(line, soft_wrap=True)

    def render(self) -> RenderableType:
        """Draw the board as it is now."""
        with self._lock:
            now = self._clock()
            parts: list[RenderableType] = [self._running(now), self._summary(now)]
            grid = self._grid()
            if grid is not None:
                parts.insert(0, grid)
            return Group(*parts)

    def _lasting(self, event: Event) -> Text | None:
        """Give what an event leaves on the terminal."""
        match event:
            case CellFinished(record=record) if not record.verdict.as_expected:
                style = STYLES[LOOKS[record.verdict].tone]
                mark = symbol(record.verdict, unicode=self._unicode)
                return Text.assemble((f"{mark} ", style), self._say(_verdict_line(record)))
            case JobFinished(ok=False, job=job, message=message):
                return Text.assemble(("job ended: ", "yellow"), self._say(f"{job}: {message}"))
            case Note(message=message):
                return Text(self._say(f"note: {message}"))
            case RunStarted():
                return Text(self._say(_opening(event, self._progress.outlook(self._clock()))))
            case _:
                return None

    def _running(self, now: float) -> Table:
        table = Table.grid(padding=(0, 2, 0, 0), expand=True)
        table.add_column(no_wrap=True, justify="right", width=6)
        table.add_column(no_wrap=True, ratio=3, overflow="ellipsis" if self._unicode else "crop")
        table.add_column(no_wrap=True, ratio=2, overflow="ellipsis" if self._unicode else "crop", style="dim")
        for job, running in self._progress.running.items():
            where = Text.assemble((f"{running.stage or 'starting'}  ", "cyan"), job)
            table.add_row(clock(now - running.started), where, Text(self._say(running.line)))
        return table

    def _summary(self, now: float) -> Text:
        progress = self._progress
        if not progress.cells:
            return Text(f"{clock(now - progress.began)} preparing", style="bold")
        parts = [
            clock(now - progress.began),
            f"{len(progress.records)} of {counted(len(progress.cells), 'cell')}",
            f"{len(progress.running)} running",
            f"{progress.waits} waiting",
            progress.outlook(now),
        ]
        return Text((" · " if self._unicode else ", ").join(filter(None, parts)), style="bold", no_wrap=True)

    def _grid(self) -> Table | None:
        """Draw one mark for each cell, a row for each library and variant; None where that would fill the screen."""
        rows: dict[str, list[str]] = {}
        for cell in self._progress.cells:
            rows.setdefault("/".join(cell.split("/")[:2]), []).append(cell)
        if len(rows) > self._console.height // 3:
            return None
        table = Table.grid(padding=(0, 2, 0, 0))
        table.add_column(no_wrap=True)
        table.add_column()
        for label, cells in rows.items():
            marks = Text()
            for cell in cells:
                marks.append(*self._mark(cell)).append(" ")
            table.add_row(Text(label), marks)
        return table

    def _mark(self, cell: str) -> tuple[str, str]:
        record = self._progress.records.get(cell)
        if record is not None:
            return symbol(record.verdict, unicode=self._unicode), STYLES[LOOKS[record.verdict].tone]
        # A run job carries the cell's id, a build job the part before the profile; a job's name may say more.
        works = any(job.split()[-1] in {cell, cell.partition("@")[0]} for job in self._progress.running)
        return ("▸" if self._unicode else ">", "cyan") if works else ("·" if self._unicode else ".", "dim")

    def _say(self, words: str) -> str:
        clean = printable(words).replace("\n", " ")
        return clean if self._unicode else clean.encode("ascii", "replace").decode()


def _opening(event: RunStarted, outlook: str) -> str:
    jobs = f"{counted(len(event.jobs), 'job')} to run, {event.reused} taken from earlier runs"
    words = f"run {event.run_id}: {counted(len(event.cells), 'cell')}, {jobs}"
    if event.jobs:
        words += f", {event.parallel} at a time"
    return f"{words}, {outlook}" if outlook else words


def _job_line(event: Event) -> str:
    match event:
        case JobStarted(job=job, reason=reason):
            return f"start   {job}{f' ({reason})' if reason else ''}"
        case StageStarted(job=job, stage=stage):
            return f"stage   {job}: {stage}"
        case JobFinished(job=job, ok=ok, message=message, duration_s=spent):
            return f"{'done  ' if ok else 'FAILED'}  {job} in {duration(spent)}{f': {message}' if message else ''}"
        case _:
            return ""


def _verdict_line(record: CellRecord) -> str:
    tests = record.tests
    counts = f"{tests.passed} passed, {tests.failed} failed, {tests.skipped} skipped" if tests.passed else ""
    if record.verdict is Verdict.PASSED and record.reason:
        # The reason has the counts in it.
        counts = ""
    cached = "from an earlier run" if record.cached else ""
    details = "; ".join(filter(None, (record.reason, counts, cached)))
    return f"{record.verdict}  {record.id}{f': {details}' if details else ''}"
