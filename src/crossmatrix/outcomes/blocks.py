"""A suite's log cut into the blocks of its test files, whoever wrote it.

Two forms are known. Our own runner's, whole blocks whatever ran side by side::

    === RUN NAME
    === BEGIN NAME
    ... all that it printed ...
    === END NAME exit=CODE seconds=1.234

with ``=== PLAN NUMBER`` before them where no harness of the library's own counts them, and that of Perl's TAP::Harness
(``03-test_x.t .. ok``, with TAP between in its verbose form).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_MARK = re.compile(r"=== (?P<word>RUN|BEGIN) (?P<name>\S+)$")
_PLAN = re.compile(r"^=== PLAN (?P<number>\d{1,9})$")
_END = re.compile(r"^=== END (?P<name>\S+) exit=(?P<code>\d{1,6}) seconds=(?P<seconds>\d{1,9}(?:\.\d{1,9})?)$")

_HEADER = re.compile(r"^(?:\[\d\d:\d\d:\d\d\] )?(?P<path>\S+)\.t \.{2,}(?P<rest>.*)$")
_OK = re.compile(r"^ok(?:\s+(?P<ms>\d{1,12}) ms\b.*)?$")
_SKIPPED = re.compile(r"^skipped(?::\s*(?P<reason>.*))?$")
_DUBIOUS = re.compile(r"^Dubious, test returned (?P<code>\d{1,6}) ")
_SHORT = re.compile(r"^Failed (?P<bad>\d+)/(?P<planned>\d+) subtests|^No subtests run")
_TOTALS = re.compile(r"^Files=(?P<files>\d{1,9}), Tests=(?P<tests>\d{1,9}),")
_REPORT = re.compile(r"^(?P<path>\S+)\.t\s+\(Wstat: (?P<wstat>\d{1,9})\b", re.IGNORECASE)
_SUMMARY = re.compile(r"^Test Summary Report\s*$")
_STOPPED = re.compile(r"^FAILED--Further testing stopped")

UNKNOWN_EXIT = -1
"""Exit code where the harness says that a file failed and not how it ended."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Block:
    """What one test file printed.

    Attributes:
        name: of the file, without folder and ``.t``.
        lines: its output.
        ended: whether the log goes on to its end.
        exit_code: 128+n for signal n, None where nothing is said of it.
        duration_s: None where unknown.
        skipped: the reason where the harness alone says that the file was skipped.
    """

    name: str
    lines: tuple[str, ...] = ()
    ended: bool = False
    exit_code: int | None = None
    duration_s: float | None = None
    skipped: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Blocks:
    """A whole log.

    Attributes:
        blocks: in the order of the log.
        running: names of what started and left no block, in order.
        files: sum of the harness's own totals of files; None where it printed none.
        tests: the same of its results.
        planned: how many blocks our own runner said would come; None where it did not say.
        outside: lines that belong to no file.
    """

    blocks: tuple[Block, ...]
    running: tuple[str, ...]
    files: int | None
    tests: int | None
    planned: int | None
    outside: tuple[str, ...]


@dataclass(slots=True)
class _Log:
    """What is known while lines come in."""

    blocks: list[Block] = field(default_factory=list)
    running: dict[str, int] = field(default_factory=dict)
    outside: list[str] = field(default_factory=list)
    name: str = ""
    lines: list[str] = field(default_factory=list)
    code: int | None = None
    summary: bool = False

    def begin(self, name: str) -> None:
        """A file's output begins; one that was open has no end."""
        self.leave(ended=False)
        self.name, self.lines, self.code = name, [], None
        self.running[name] = self.running.get(name, 0) + 1

    def leave(self, *, ended: bool, exit_code: int | None = None, seconds: float | None = None) -> None:
        """The open file, if there is one, ends here."""
        if self.name:
            block = Block(name=self.name, lines=tuple(self.lines), ended=ended, exit_code=exit_code, duration_s=seconds)
            self.add(block)
        self.name = ""

    def add(self, block: Block) -> None:
        """Keep a block; what has ended does not run any more."""
        self.blocks.append(block)
        if block.ended:
            self.running.pop(block.name, None)


def has_marks(lines: Iterable[str]) -> bool:
    """Say whether our own runner wrote the log."""
    return any(_MARK.search(line) is not None for line in lines)


def read_marked(lines: Iterable[str]) -> Blocks:
    """Cut a log of our own runner's."""
    log = _Log()
    for line in lines:
        mark, end = _MARK.search(line), _END.match(line)
        if end is not None and end["name"] == log.name:
            log.leave(ended=True, exit_code=int(end["code"]), seconds=float(end["seconds"]))
        elif mark is not None and mark["word"] == "BEGIN":
            log.begin(mark["name"])
        elif mark is not None and not log.name:
            log.running[mark["name"]] = 1
        elif log.name:
            log.lines.append(line)
        else:
            log.outside.append(line)
    log.leave(ended=False)
    return _whole(log)


def read_harness(lines: Iterable[str]) -> Blocks:
    """Cut a log of TAP::Harness's, verbose or not."""
    log = _Log()
    wstats: dict[str, int] = {}
    for line in lines:
        if _SUMMARY.match(line) or _TOTALS.match(line) or _STOPPED.match(line):
            _leave_harness(log, ended=True)
            log.summary = True
        report = _REPORT.match(line) if log.summary else None
        header = None if log.summary and _TOTALS.match(line) else _HEADER.match(line)
        if report is not None:
            wstats[_file_name(report["path"])] = int(report["wstat"])
        elif header is not None:
            log.summary = False
            _enter_harness(log, _file_name(header["path"]), header["rest"].strip())
        elif log.name and not _ends_file(log, line):
            log.lines.append(line)
        elif not log.name:
            log.outside.append(line)
    _leave_harness(log, ended=False)
    whole = _whole(log)
    return replace(whole, blocks=tuple(_with_wstat(block, wstats) for block in whole.blocks))


def _whole(log: _Log) -> Blocks:
    totals = [match for line in log.outside if (match := _TOTALS.match(line)) is not None]
    plan = next((match for line in log.outside if (match := _PLAN.match(line)) is not None), None)
    return Blocks(
        blocks=tuple(log.blocks),
        running=tuple(log.running),
        files=sum(int(match["files"]) for match in totals) if totals else None,
        tests=sum(int(match["tests"]) for match in totals) if totals else None,
        planned=int(plan["number"]) if plan is not None else None,
        outside=tuple(log.outside),
    )


def _file_name(path: str) -> str:
    return path.rpartition("/")[2]


def _enter_harness(log: _Log, name: str, rest: str) -> None:
    _leave_harness(log, ended=log.code is not None)
    ok, skipped = _OK.match(rest), _SKIPPED.match(rest)
    if ok is not None:
        log.add(Block(name=name, ended=True, exit_code=0, duration_s=_seconds(ok)))
    elif skipped is not None:
        log.add(Block(name=name, ended=True, exit_code=0, skipped=skipped["reason"] or "no reason given"))
    else:
        log.begin(name)


def _leave_harness(log: _Log, *, ended: bool) -> None:
    log.leave(ended=ended or log.code is not None, exit_code=log.code)


def _ends_file(log: _Log, line: str) -> bool:
    """Say whether a line is the harness's word on the open file; ``ok`` alone ends it, the others come together."""
    ok, dubious = _OK.match(line), _DUBIOUS.match(line)
    if ok is not None:
        log.leave(ended=True, exit_code=0, seconds=_seconds(ok))
        return True
    if dubious is not None:
        log.code = int(dubious["code"])
        return True
    if _SHORT.match(line) is not None:
        log.code = UNKNOWN_EXIT if log.code is None else log.code
        return True
    return False


def _seconds(match: re.Match[str]) -> float | None:
    return int(match["ms"]) / 1000 if match["ms"] else None


def _with_wstat(block: Block, wstats: dict[str, int]) -> Block:
    wstat = wstats.get(block.name)
    if wstat is None or block.exit_code != UNKNOWN_EXIT:
        return block
    signal = wstat & 0x7F
    code = 128 + signal if signal else wstat >> 8
    return replace(block, exit_code=code or UNKNOWN_EXIT)
