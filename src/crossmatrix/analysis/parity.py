"""Reference parity: what passes in the reference must pass in the cell that is held against it.

The rule is that of Mbed TLS's outcome analysis: a test that passes in the reference and fails in the variant is a
finding, and a reference without a single pass is an error, because it would excuse everything.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, NamedTuple

from crossmatrix.analysis.siblings import Pair, reference_pairs
from crossmatrix.analysis.words import counted, listed
from crossmatrix.records import CellRecord, Finding, FindingKind, OutcomeStatus, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from crossmatrix.catalog import Exclusion

_WHOLE_CELL = {
    Verdict.CONFIGURE_FAILED: "configure",
    Verdict.BUILD_FAILED: "build",
    Verdict.FAILED: "the program under test",
    Verdict.CRASHED: "the program under test",
    Verdict.TIMED_OUT: "the test suite in its time",
}
"""Verdicts by which a cell fails as a whole, with what it was that did not succeed."""

_EXCUSED = {
    Verdict.UNSUPPORTED,
    Verdict.EXPECTED_FAILURE,
    Verdict.EMULATOR_CRASHED,
    Verdict.INFRASTRUCTURE,
    Verdict.ABORTED,
}
"""Verdicts of cells whose failures are expected, or no fault of the library."""


@dataclass(frozen=True, slots=True)
class _Tally:
    """The names of what passed and of what failed in one cell; a name that did both failed."""

    passed: frozenset[str]
    failed: frozenset[str]


class _Defect(NamedTuple):
    """What findings are grouped by: the same cases, passing and failing along the same axis."""

    library: str
    axis: str
    passes_in: str
    fails_in: str
    cases: tuple[str, ...]


def parity(
    records: Sequence[CellRecord], excluded: Mapping[str, Sequence[Exclusion]] | None = None
) -> tuple[Finding, ...]:
    """Hold every cell against its references, test case by test case.

    Args:
        records: the cells of one run; negative controls are left out, for nothing that fails in them is the program's.
        excluded: the exclusions that apply, by cell id; what is expected to fail breaks no parity.

    Returns:
        First the references that have not a single pass, then one finding for each set of cases that passes and
        fails along the same axis, whatever the number of cells.
    """
    tallies = {record.id: _tally(record, (excluded or {}).get(record.id, ())) for record in records}
    pairs = tuple(reference_pairs([record for record in records if not record.must_fail]))
    return (*_empty_references(pairs, tallies), *_broken(pairs, tallies))


def _tally(record: CellRecord, excluded: Sequence[Exclusion]) -> _Tally:
    failed = {outcome.name for outcome in record.outcomes if outcome.status is OutcomeStatus.FAILED}
    passed = {outcome.name for outcome in record.outcomes if outcome.status is OutcomeStatus.PASSED} - failed
    whole = _WHOLE_CELL.get(record.verdict)
    if whole is not None and not failed:
        failed = {whole}
    if record.verdict in {Verdict.PASSED, Verdict.UNEXPECTED_PASS, Verdict.VACUOUS} and passed:
        passed |= set(_WHOLE_CELL.values())
    globs = [glob for exclusion in excluded if exclusion.kind == "expected-failure" for glob in exclusion.tests]
    if globs:
        excused = {o.name for o in record.outcomes if any(fnmatchcase(n, g) for n in (o.name, o.file) for g in globs)}
        failed -= excused
    return _Tally(frozenset(passed), frozenset(failed))


def _empty_references(pairs: Sequence[Pair], tallies: dict[str, _Tally]) -> Iterator[Finding]:
    axes: defaultdict[str, list[str]] = defaultdict(list)
    held: defaultdict[str, list[str]] = defaultdict(list)
    references: dict[str, CellRecord] = {}
    excused = {Verdict.UNSUPPORTED, Verdict.EXPECTED_FAILURE, Verdict.ABORTED}
    for pair in pairs:
        reference = pair.reference
        if reference.verdict in excused or tallies[reference.id].passed or not tallies[pair.cell.id].passed:
            continue
        references[reference.id] = reference
        held[reference.id].append(pair.cell.id)
        if pair.axis not in axes[reference.id]:
            axes[reference.id].append(pair.axis)
    for name, reference in references.items():
        axis = ", ".join(axes[name])
        yield Finding(
            kind=FindingKind.REFERENCE_EMPTY,
            serious=True,
            axis=axis,
            subject=name,
            cells=(name, *held[name]),
            message=(
                f"{name} is the reference ({axis}) of {counted(len(held[name]), 'cell')} and has not a single pass "
                f"({reference.verdict}): nothing can be held against it; make it pass first"
            ),
        )


def _broken(pairs: Sequence[Pair], tallies: dict[str, _Tally]) -> Iterator[Finding]:
    defects: defaultdict[_Defect, list[tuple[str, str]]] = defaultdict(list)
    for pair in pairs:
        for passing, failing, words in _directions(pair):
            cases = tallies[passing.id].passed & tallies[failing.id].failed
            if cases and failing.verdict not in _EXCUSED:
                defect = _Defect(pair.cell.library, pair.axis, *words, tuple(sorted(cases)))
                defects[defect].append((passing.id, failing.id))
    for defect, cells in defects.items():
        yield _parity_finding(defect, cells)


def _directions(pair: Pair) -> Iterator[tuple[CellRecord, CellRecord, tuple[str, str]]]:
    yield pair.reference, pair.cell, pair.words
    if pair.both_ways:
        yield pair.cell, pair.reference, (pair.words[1], pair.words[0])


def _parity_finding(defect: _Defect, cells: Sequence[tuple[str, str]]) -> Finding:
    count = len(defect.cases)
    first = cells[0]
    what = defect.cases[0] if count == 1 else f"{counted(count, 'case')} ({listed(defect.cases)})"
    verbs = ("passes", "fails") if count == 1 else ("pass", "fail")
    more = f"; and so in {counted(len(cells) - 1, 'more pair')} of cells" if len(cells) > 1 else ""
    return Finding(
        kind=FindingKind.REFERENCE_PARITY,
        serious=True,
        axis=defect.axis,
        subject=defect.cases[0] if count == 1 else f"{defect.cases[0]} (+{count - 1})",
        cells=tuple(dict.fromkeys(cell for pair in cells for cell in pair)),
        message=(
            f"{what} {verbs[0]} with {defect.passes_in} ({first[0]}) "
            f"and {verbs[1]} with {defect.fails_in} ({first[1]}){more}"
        ),
    )
