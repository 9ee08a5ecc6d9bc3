"""Rules on the tests and the fixed inputs: did they happen?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crossmatrix.records import OutcomeStatus

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crossmatrix.records import SuiteResult, Vectors

_NAMED = 3


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
