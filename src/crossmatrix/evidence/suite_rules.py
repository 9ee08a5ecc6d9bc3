"""Rules on the tests, the fixed inputs and the measurements: did they happen?"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from crossmatrix.records import OutcomeStatus

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crossmatrix.records import Figures, SuiteResult, Vectors

_NAMED = 3
_UNLISTED = ": the workload does not list it"
_NO_FAILURE = re.compile(rf"(?:{_UNLISTED}|: one block size alone, .*|: too short to time)$")
"""Why a figure is missing though nothing went wrong: it was asked for, or cannot be, and so it is not there."""


def tests_did_not_run(suite: SuiteResult | None) -> Iterator[str]:
    """There is no test log, it is not whole, it is empty, or nothing in it passed."""
    if suite is None:
        yield "the tests left no log"
        return
    if suite.cut:
        yield f"the test log is not whole: {suite.cut}"
    statuses = [outcome.status for outcome in suite.outcomes]
    if not statuses:
        yield "the list of tests was empty: not one ran"
    elif all(status is OutcomeStatus.SKIPPED for status in statuses):
        yield f"all {len(statuses)} tests were skipped"
    elif OutcomeStatus.PASSED not in statuses:
        yield f"not one of {len(statuses)} tests passed"


def vectors_not_whole(vectors: Vectors | None) -> Iterator[str]:
    """The fixed inputs' outputs are missing, or what was sealed did not come back."""
    if vectors is None:
        yield "the outputs for the fixed inputs are missing (vectors.json)"
        return
    if not vectors.families:
        yield "the fixed inputs went through no algorithm"
    closed = [family.algorithm for family in vectors.families if family.opened is False]
    if closed:
        more = f" and {len(closed) - _NAMED} more" if len(closed) > _NAMED else ""
        yield f"what was sealed with {', '.join(closed[:_NAMED])}{more} did not come back"
    unstable = next((family for family in vectors.families if family.note), None)
    if unstable is not None:
        yield f"{unstable.algorithm} does not agree with itself: {unstable.note}"


def figures_not_whole(figures: Figures | None) -> Iterator[str]:
    """Nothing was measured, or a measurement failed: a program died, or two runs of it do not agree."""
    if figures is None:
        yield "the measurements are missing (bench.json)"
        return
    failed = [reason for reason in figures.missing if _NO_FAILURE.search(reason) is None]
    if failed:
        more = f" (and {len(failed) - 1} more)" if len(failed) > 1 else ""
        yield f"not measured: {failed[0]}{more}"
    elif not figures.figures and not (figures.missing and len(not_in_build(figures)) == len(figures.missing)):
        yield f"not one algorithm was measured{f': {figures.missing[0]}' if figures.missing else ''}"


def not_in_build(figures: Figures) -> tuple[str, ...]:
    """Give the algorithms that were asked for by name and that the build does not have, as an older release may."""
    return tuple(reason.removesuffix(_UNLISTED) for reason in figures.missing if reason.endswith(_UNLISTED))
