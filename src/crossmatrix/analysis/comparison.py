"""The values that a comparison is made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from crossmatrix.errors import ExitCode

if TYPE_CHECKING:
    from fractions import Fraction

    from crossmatrix.records import TestCounts

BULK = 0
"""The size that stands for the slope between the two largest: the cost of a byte without that of a call."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AxisChange:
    """An axis in which two cells differ: ``assembly``, ``endian``, ``compiler``, ``source``, ..."""

    axis: str
    before: str
    after: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """One thing that is not the same, in words; ``note`` says why where that is known."""

    name: str
    before: str
    after: str
    note: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class CostChange:
    """One cost before and after.

    Attributes:
        size_bytes: block size; 0 for the slope between the two largest, None for operations.
        before: in the first cell, exactly as recorded.
        after: in the second.
        deviations: standard deviations, where the figure has one.
        functions: those whose part changed, the largest change first, in the figure's unit.
    """

    size_bytes: int | None
    before: Fraction
    after: Fraction
    deviations: tuple[float | None, float | None] = (None, None)
    functions: tuple[Change, ...] = ()

    @property
    def ratio(self) -> Fraction | None:
        """After over before; None where there was no cost before, or there is none after."""
        return self.after / self.before if self.before and self.after else None

    @property
    def percent(self) -> Fraction | None:
        """By how many percent it changed: ``100 * (after - before) / before``."""
        return None if self.ratio is None else (self.ratio - 1) * 100


@dataclass(frozen=True, kw_only=True, slots=True)
class CostRow:
    """One algorithm in one unit, its block sizes in ascending order and the slope last."""

    algorithm: str
    unit: str
    changes: tuple[CostChange, ...]

    @property
    def exact(self) -> bool:
        """Whether these are instructions, which repeat; a time does not and decides nothing."""
        return self.unit.startswith("instructions")


@dataclass(frozen=True, kw_only=True, slots=True)
class Comparison:
    """Cell ``b`` held against cell ``a``.

    Attributes:
        a: id of the first cell, before.
        b: id of the second, after.
        axes: in which they differ.
        refusal: why no ratio is given, or empty.
        verdict: of the two, alike or not.
        reasons: of the verdicts.
        tests: how many ended how.
        test_changes: tests that did not end alike.
        evidence_changes: functions that now run or no longer do, capabilities, instruction classes, the binary.
        costs: algorithms that were measured in both.
        notes: what else a reader must know.
        threshold: the share by which a cost must change to count.
        worse_verdict: the first cell is as expected, the second ended and is not.
        says_nothing: why the two cannot be held against each other at all, or empty.
        measured: of each, whether it was only measured, so that there are no tests of it.
        gone: algorithms that have a figure in the first cell and lack it in the second, which was to have it too.
        worse_measured: the second's figures come from a measuring cell that is not as expected, the first's do not.
    """

    a: str
    b: str
    axes: tuple[AxisChange, ...]
    refusal: str
    verdict: Change
    reasons: tuple[str, str]
    tests: tuple[TestCounts, TestCounts]
    test_changes: tuple[Change, ...]
    evidence_changes: tuple[Change, ...]
    costs: tuple[CostRow, ...]
    notes: tuple[str, ...]
    threshold: Fraction
    worse_verdict: bool = False
    says_nothing: str = ""
    measured: tuple[bool, bool] = (False, False)
    gone: tuple[str, ...] = ()
    worse_measured: bool = False

    @property
    def costlier(self) -> tuple[tuple[CostRow, CostChange], ...]:
        """What costs more instructions than the threshold allows."""
        return tuple((row, change) for row, change in self._exact() if self._rose(change.before, change.after, change))

    @property
    def cheaper(self) -> tuple[tuple[CostRow, CostChange], ...]:
        """What costs fewer instructions, past the threshold: what the comparison turned round has as ``costlier``."""
        return tuple((row, change) for row, change in self._exact() if self._rose(change.after, change.before, change))

    @property
    def newly_failing(self) -> tuple[Change, ...]:
        """Tests that passed and fail."""
        return tuple(c for c in self.test_changes if (c.before, c.after) == ("passed", "failed"))

    @property
    def newly_passing(self) -> tuple[Change, ...]:
        """Tests that failed and pass."""
        return tuple(c for c in self.test_changes if (c.before, c.after) == ("failed", "passed"))

    @property
    def past_threshold(self) -> bool:
        """Whether the second is worse, so that a command ends with exit code 1.

        It is where a figure is gone, a cost rose past the threshold, a test that passed fails, or the verdict, or that
        of what was measured, is no longer as expected.
        """
        return bool(
            self.gone or self.costlier or self.newly_failing or self.worse_verdict or self.worse_measured,
        )

    @property
    def exit_code(self) -> ExitCode:
        """What the command tells the shell: a comparison that says nothing is never green."""
        return _exit_code(worse=self.past_threshold, unsaid=bool(self.says_nothing))

    def _exact(self) -> tuple[tuple[CostRow, CostChange], ...]:
        return tuple((row, change) for row in self.costs if row.exact for change in row.changes)

    def _rose(self, low: Fraction, high: Fraction, change: CostChange) -> bool:
        """Say whether a cost rose past the threshold and, where it is random by nature, past two deviations."""
        doubt = 2 * max((deviation or 0.0 for deviation in change.deviations), default=0.0)
        return high > low * (1 + self.threshold) and high - low > doubt


@dataclass(frozen=True, kw_only=True, slots=True)
class RunComparison:
    """Run ``b`` held against run ``a``, cell by cell.

    Attributes:
        a: id of the first run.
        b: id of the second.
        pairs: cells that both have, in the order of their ids.
        only_a: cells that the second run lacks.
        only_b: cells that the first run lacks.
    """

    a: str
    b: str
    pairs: tuple[Comparison, ...]
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]

    @property
    def past_threshold(self) -> bool:
        """Whether some cell is worse."""
        return any(pair.past_threshold for pair in self.pairs)

    @property
    def silent(self) -> tuple[Comparison, ...]:
        """Pairs that say nothing."""
        return tuple(pair for pair in self.pairs if pair.says_nothing)

    @property
    def exit_code(self) -> ExitCode:
        """As for a pair; where no cell has a partner, nothing was compared."""
        return _exit_code(worse=self.past_threshold, unsaid=bool(self.silent) or not self.pairs)


def _exit_code(*, worse: bool, unsaid: bool) -> ExitCode:
    return ExitCode.UNEXPECTED if worse else ExitCode.INFRASTRUCTURE if unsaid else ExitCode.OK
