"""Deaths in a log: a program that died of a signal, an emulator's own fault, an infrastructure that gave way.

The evidence stage may say more than the emulator does. Its line is part of our own format::

    crossmatrix: fault pc=0x41f2c0 symbol=aes_v8_encrypt program=workload signal=SIGILL

Each word but ``crossmatrix: fault`` may be missing and the order does not matter; ``pc`` is the address of the
instruction in the program as linked, ``symbol`` the function it lies in.

Outside facts: qemu's words are those of ``linux-user/signal.c`` (``uncaught target signal``), ``cpu_loop.c``
(``unhandled CPU exception``) and ``cpu.c`` (``qemu: fatal``); 128+n is the shell's exit code of a program that died
of signal n; ``Dubious, test returned`` and ``wstat`` are Perl's TAP::Harness's.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

FIRST_SIGNAL_EXIT = 128
"""Exit code of a shell is this plus the number of the signal that its program died of."""

SIGNALS = {
    4: "SIGILL",
    5: "SIGTRAP",
    6: "SIGABRT",
    7: "SIGBUS",
    8: "SIGFPE",
    9: "SIGKILL",
    10: "SIGBUS",
    11: "SIGSEGV",
    31: "SIGSYS",
}
"""Linux's numbers; 10 is SIGBUS on MIPS, SPARC and Alpha, and no program dies of SIGUSR1 in a test suite."""

WORDS = {
    "SIGILL": "illegal instruction",
    "SIGTRAP": "trace/breakpoint trap",
    "SIGABRT": "aborted",
    "SIGBUS": "bus error",
    "SIGFPE": "floating point exception",
    "SIGKILL": "killed",
    "SIGSEGV": "segmentation fault",
    "SIGSYS": "bad system call",
}
_BY_WORDS = {words: name for name, words in WORDS.items()}


class FaultKind(StrEnum):
    """Whose fault it is."""

    PROGRAM = "program"
    EMULATOR = "emulator"
    INFRASTRUCTURE = "infrastructure"


@dataclass(frozen=True, kw_only=True, slots=True)
class Fault:
    """One death. ``what`` is the signal's name (may be empty) of a program, else the words of who noticed it."""

    kind: FaultKind
    what: str
    program: str = ""
    address: str = ""
    symbol: str = ""

    @property
    def words(self) -> str:
        """Say it in one line; ``read_words`` reads it back."""
        if self.kind is not FaultKind.PROGRAM:
            return f"{self.kind} fault: {self.what}"
        meaning = f" ({WORDS[self.what]})" if self.what in WORDS else ""
        program = f" in program {self.program}" if self.program else ""
        symbol = f" in function {self.symbol}" if self.symbol else ""
        address = f" at {self.address}" if self.address else ""
        return f"died of {self.what or 'a signal'}{meaning}{program}{symbol}{address}"


_READ = re.compile(
    r"died of (?P<what>SIG[A-Z]+|a signal)(?: \([^)]*\))?(?: in program (?P<program>\S+))?"
    r"(?: in function (?P<symbol>\S+))?(?: at (?P<address>0x[0-9a-f]+))?",
)
_READ_OTHER = re.compile(r"(?P<kind>emulator|infrastructure) fault: (?P<what>.*)")

_QEMU_SIGNAL = re.compile(r"qemu: uncaught target signal (?P<number>\d+) \((?P<words>[^)]*)\)")
_FAULT_LINE = re.compile(r"crossmatrix: fault\b(?P<pairs>(?:\s+\w+=\S*)*)")
_STATUS = re.compile(r"^(?P<command>.*\S) => (?P<code>\d+)\s*$")
_DUBIOUS = re.compile(r"Dubious, test returned (?P<code>\d+)")
_WSTAT = re.compile(r"\(Wstat: (?P<wstat>\d+)\b", re.IGNORECASE)
_SHELL = re.compile(
    r"(?:^|\s)(?P<words>Illegal instruction|Segmentation fault|Bus error|Trace/breakpoint trap|"
    r"Floating point exception|Bad system call)(?:\s+\(core dumped\))?(?:\s+(?P<command>\S.*))?$",
)
_SHELL_ABORT = re.compile(r"^(?:\S+: line \d+:\s+\d+ )?Aborted(?:\s+\(core dumped\))?(?:\s+(?P<command>\S.*))?$")

_EMULATOR = (
    re.compile(r"qemu: unhandled CPU exception.*"),
    re.compile(r"qemu(?:-\S+)?: fatal\b.*"),
    re.compile(r"\bqemu internal .*", re.IGNORECASE),
    re.compile(r"qemu-\S+: \S+:\d+: .*Assertion .*failed.*"),
    re.compile(r"^ERROR:\S*/(?:accel|target|tcg|linux-user|util|plugins|softmmu)/\S+: .*"),
    re.compile(r"Bail out! ERROR:\S*/(?:accel|target|tcg|linux-user|util|plugins)/\S+: .*"),
    re.compile(r"qemu-\S+: Unable to reserve .*"),
    re.compile(r"Unsupported syscall: ?\S+.*"),
)
_INFRASTRUCTURE = (
    re.compile(r"crossmatrix: infrastructure: .*"),
    re.compile(r".*\bexec format error\b.*", re.IGNORECASE),
    re.compile(r".*\bcannot execute binary file\b.*", re.IGNORECASE),
    re.compile(r".*\bqemu-\w+: (?:command )?not found\b.*"),
    re.compile(r""".*\bqemu-\w+["']?: No such file or directory.*"""),
    # A program or script of the build that is not there: Perl's word, and the emulator's.
    re.compile(r".*\bCan't exec \".+\": (?:No such file or directory|Permission denied).*"),
    re.compile(r".*\bError while loading \S+: (?:No such file or directory|Permission denied).*"),
    # qemu's words for a profile's CPU that it does not have.
    re.compile(r"qemu-\S+: unable to find CPU model .*"),
    re.compile(r"qemu-\S+: can't apply global .*"),
    re.compile(r".*\bNo space left on device\b.*", re.IGNORECASE),
    re.compile(r".*\bDisk quota exceeded\b.*", re.IGNORECASE),
    re.compile(r".*\bCould not open '?/lib\S*ld-\S+: No such file or directory.*"),
    re.compile(r".*\b[Cc]ould not load plugin\b.*"),
    re.compile(r".*\bvirtual memory exhausted\b.*"),
    re.compile(r".*fatal error: Killed signal terminated program.*"),
    re.compile(r".*\b(?:fork|vfork): (?:retry: )?Resource temporarily unavailable.*"),
)
_TAKES_VALUE = frozenset({"-L", "-E", "-U", "-cpu", "-plugin", "-d", "-D", "-R", "-s", "-B", "-r", "-0"})
_WRAPPERS = frozenset({"wrap.pl", "shlib_wrap.sh", "env", "sh"})


def fault_of_exit(code: int, *, program: str = "") -> Fault | None:
    """Give the death that an exit code of 128+n stands for, or None."""
    name = SIGNALS.get(code - FIRST_SIGNAL_EXIT, "")
    return Fault(kind=FaultKind.PROGRAM, what=name, program=program) if name else None


def program_of(command: str) -> str:
    """Give the name of the program that a command line runs, past the emulator and wrappers before it."""
    words = iter(command.replace('"', " ").replace("'", " ").split())
    for word in words:
        name = word.rpartition("/")[2]
        if word in _TAKES_VALUE:
            next(words, None)
        elif name and not word.startswith("-") and not name.startswith("qemu-") and name not in _WRAPPERS:
            return name
    return ""


def faults_in(text: str | Iterable[str]) -> tuple[Fault, ...]:
    """Find every death that a log tells of, in its order.

    Args:
        text: a log, or its lines.

    Returns:
        One fault a line that tells of one; the same death may be told by several lines.
    """
    lines = text.splitlines() if isinstance(text, str) else text
    return tuple(fault for fault in map(_fault_in, lines) if fault is not None)


def main_fault(text: str | Iterable[str]) -> Fault | None:
    """Find the one death that explains a failure, or None.

    The infrastructure's comes before the emulator's and that before a program's, because each can cause the next.
    What several lines tell of one program's death is put together.
    """
    faults = faults_in(text)
    for kind in (FaultKind.INFRASTRUCTURE, FaultKind.EMULATOR):
        found = next((fault for fault in faults if fault.kind is kind), None)
        if found is not None:
            return found
    return _merged(faults) if faults else None


def read_words(text: str) -> Fault | None:
    """Read back what ``Fault.words`` said, from anywhere in a text."""
    other = _READ_OTHER.search(text)
    if other is not None:
        return Fault(kind=FaultKind(other["kind"]), what=other["what"])
    match = _READ.search(text)
    if match is None:
        return None
    return Fault(
        kind=FaultKind.PROGRAM,
        what=match["what"] if match["what"] != "a signal" else "",
        program=match["program"] or "",
        address=match["address"] or "",
        symbol=match["symbol"] or "",
    )


def _merged(faults: Sequence[Fault]) -> Fault:
    what = next((fault.what for fault in faults if fault.what), "")
    merged = Fault(kind=FaultKind.PROGRAM, what=what)
    for fault in faults:
        if fault.what in {"", what}:
            merged = replace(
                merged,
                program=merged.program or fault.program,
                address=merged.address or fault.address,
                symbol=merged.symbol or fault.symbol,
            )
    return merged


def _fault_in(line: str) -> Fault | None:
    return _foreign(line) or _told_by_us(line) or _told_by_emulator(line) or _told_by_harness(line)


def _foreign(line: str) -> Fault | None:
    for kind, patterns in ((FaultKind.INFRASTRUCTURE, _INFRASTRUCTURE), (FaultKind.EMULATOR, _EMULATOR)):
        for pattern in patterns:
            match = pattern.search(line)
            if match is not None:
                return Fault(kind=kind, what=match[0].strip()[:300])
    return None


def _told_by_us(line: str) -> Fault | None:
    match = _FAULT_LINE.search(line)
    if match is None:
        return None
    pairs = dict(pair.split("=", 1) for pair in match["pairs"].split())
    return Fault(
        kind=FaultKind.PROGRAM,
        what=pairs.get("signal", ""),
        program=pairs.get("program", ""),
        address=pairs.get("pc", "").lower(),
        symbol=pairs.get("symbol", ""),
    )


def _told_by_emulator(line: str) -> Fault | None:
    match = _QEMU_SIGNAL.search(line)
    if match is not None:
        words = match["words"].lower()
        name = _BY_WORDS.get(words) or SIGNALS.get(int(match["number"][:4]), "")
        return Fault(kind=FaultKind.PROGRAM, what=name)
    match = _SHELL.search(line) or _SHELL_ABORT.search(line)
    if match is None:
        return None
    words = match.groupdict().get("words") or "aborted"
    return Fault(kind=FaultKind.PROGRAM, what=_BY_WORDS[words.lower()], program=program_of(match["command"] or ""))


def _told_by_harness(line: str) -> Fault | None:
    match = _STATUS.match(line)
    if match is not None:
        return fault_of_exit(int(match["code"][:6]), program=program_of(match["command"]))
    match = _DUBIOUS.search(line)
    if match is not None:
        return fault_of_exit(int(match["code"][:6]))
    match = _WSTAT.search(line)
    if match is None:
        return None
    wstat = int(match["wstat"][:9])
    name = SIGNALS.get(wstat & 0x7F, "")
    return Fault(kind=FaultKind.PROGRAM, what=name) if name else fault_of_exit(wstat >> 8)
