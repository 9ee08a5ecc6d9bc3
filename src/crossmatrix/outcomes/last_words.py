"""What a program said before it died: of one that aborted itself, why it did."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from crossmatrix.outcomes.faults import Fault, FaultKind, faults_in, read_words

if TYPE_CHECKING:
    from collections.abc import Iterable

ABORT = "SIGABRT"
"""The signal that a program sends itself by ``abort()``, as nettle's tests do where a result is not the right one."""

_TELLING = re.compile(
    r"\b(?:error|fail|failed|failure|assert|assertion|mismatch|differs?|wrong|expected)\b", re.IGNORECASE
)
_DUMP = re.compile(r"[\s0-9a-fx:.,'\"]*", re.IGNORECASE)
_LONGEST = 120


def aborted_itself(fault: Fault) -> bool:
    """Say whether a death is the program's own word on a failed check, and not dealt by the CPU or the kernel."""
    return fault.kind is FaultKind.PROGRAM and fault.what == ABORT


def death_words(fault: Fault, printed: Iterable[str]) -> str:
    """Say a death in one line, of a program that aborted itself with its own words; ``read_words`` reads it back."""
    plain = fault.words
    said = _last_words(printed) if aborted_itself(fault) else ""
    # A name ends at the next blank, so that no comma may follow it. What the program said must not be taken for more.
    whole = f"{plain} (it said: {said})"
    return whole if said and read_words(whole) == read_words(plain) else plain


def _last_words(printed: Iterable[str]) -> str:
    """Find the first line that tells of a failed check, else the last one that is neither a dump nor a death."""
    lines = [line.strip() for line in printed]
    spoken = [line for line in lines if _DUMP.fullmatch(line) is None and not faults_in([line])]
    telling = next((line for line in spoken if _TELLING.search(line)), spoken[-1] if spoken else "")
    return telling.rstrip(" :")[:_LONGEST]
