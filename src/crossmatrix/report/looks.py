"""How a verdict looks: a symbol and a short word, so that it is read without colour too, and a tone for colour."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from crossmatrix.records import Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crossmatrix.records import CellRecord


class Tone(StrEnum):
    """What a verdict asks of the reader: nothing, a look, a doubt, or another try."""

    GOOD = "good"
    BAD = "bad"
    DOUBT = "doubt"
    QUIET = "quiet"
    FAULT = "fault"


@dataclass(frozen=True, kw_only=True, slots=True)
class Look:
    """How one verdict is shown.

    Attributes:
        symbol: one character.
        plain: the same where only ASCII can be shown.
        short: at most nine characters.
        tone: its colour.
        meaning: one line for a legend.
    """

    symbol: str
    plain: str
    short: str
    tone: Tone
    meaning: str


def _look(marks: str, short: str, tone: Tone, meaning: str) -> Look:
    return Look(symbol=marks[0], plain=marks[1], short=short, tone=tone, meaning=meaning)


MEASURED = "measured"
"""The word for a cell that was measured and not tested, with nothing wrong."""

LOOKS: Mapping[Verdict, Look] = {
    Verdict.PASSED: _look("✓+", "passed", Tone.GOOD, "every test passed, and the evidence is there"),
    Verdict.FAILED: _look("✗x", "failed", Tone.BAD, "a test failed"),
    Verdict.BUILD_FAILED: _look("✗x", "build", Tone.BAD, "it did not build"),
    Verdict.CONFIGURE_FAILED: _look("✗x", "configure", Tone.BAD, "it could not be configured"),
    Verdict.CRASHED: _look("✗x", "crashed", Tone.BAD, "a program died of a signal, and did not abort itself"),
    Verdict.EMULATOR_CRASHED: _look("✗x", "emulator", Tone.BAD, "the emulator itself crashed"),
    Verdict.TIMED_OUT: _look("✗x", "timed out", Tone.BAD, "a stage had not ended in its time"),
    Verdict.VACUOUS: _look("○o", "vacuous", Tone.DOUBT, "green, but the evidence is missing"),
    Verdict.UNSUPPORTED: _look("∅n", "unsupp.", Tone.QUIET, "known not to be supported; not run"),
    Verdict.EXPECTED_FAILURE: _look("≈~", "expected", Tone.QUIET, "failed as it was expected to"),
    Verdict.UNEXPECTED_PASS: _look("◆u", "unexp.ok", Tone.DOUBT, "passed, though it was expected to fail"),
    Verdict.INFRASTRUCTURE: _look("!!", "infra", Tone.FAULT, "engine, network, disk or image at fault; says nothing"),
    Verdict.ABORTED: _look("■#", "aborted", Tone.FAULT, "ended before it had a verdict"),
}


_OF_MEASURED: Mapping[Verdict, str] = {
    Verdict.PASSED: "all that was asked for was measured, and the evidence is there",
    Verdict.FAILED: "what measures did not come to its end",
    Verdict.VACUOUS: "a figure or the evidence is missing",
}


def symbol(verdict: Verdict, *, unicode: bool) -> str:
    """Give the verdict's symbol."""
    look = LOOKS[verdict]
    return look.symbol if unicode else look.plain


def verdict_word(record: CellRecord) -> str:
    """Give the verdict in a word; a cell that was only measured has passed no test and is ``measured``."""
    return MEASURED if record.measured and record.verdict is Verdict.PASSED else record.verdict.value


def verdict_meaning(record: CellRecord) -> str:
    """Give what the verdict of a record means; no test of a cell that was only measured passed or failed."""
    measured = _OF_MEASURED.get(record.verdict) if record.measured else None
    return measured or LOOKS[record.verdict].meaning


def field_words(record: CellRecord) -> str:
    """Give what stands in a cell's field of the grid: a short word, or of a tested cell how many tests.

    ``118 ok``, ``2 failed``, ``vacuous``, ``build``: never longer than twelve characters up to 9,999 tests.
    """
    tests, look = record.tests, LOOKS[record.verdict]
    if record.measured and record.verdict is Verdict.PASSED:
        return MEASURED
    if record.verdict is Verdict.PASSED and tests.passed:
        return f"{tests.passed} ok"
    if record.verdict is Verdict.FAILED and tests.failed:
        return f"{tests.failed} failed"
    return look.short
