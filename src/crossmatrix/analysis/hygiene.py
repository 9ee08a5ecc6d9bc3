"""What makes a matrix less worth than it looks: axes without effect, repeated warnings, fewer tests, old excuses."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from crossmatrix.analysis.siblings import Pair, reference_pairs
from crossmatrix.analysis.words import counted, listed
from crossmatrix.records import LOG_OF_TEST, Finding, FindingKind, OutcomeStatus, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from crossmatrix.catalog import Exclusion
    from crossmatrix.records import CellRecord

NOISE = 2_000
"""Instructions by which two runs of one workload differ only because their environments differ in size.

Measured with a static program under qemu-user 7.2: some hundreds.
"""

REPEATED = 5
"""How often a line must come before it counts as repeated."""

NEARLY_ALL = 0.8
"""The share of test cases in which a line must come, where several of them printed something."""

FEWER = 0.9
"""Below this share of the tests that the same source ran elsewhere, a cell is named; below half it is serious."""

_WARNING = re.compile(r"^qemu|\bwarning\b|not specified|not supported|unsupported|cannot set|can't set", re.IGNORECASE)
_CHANGING = re.compile(r"0x[0-9a-fA-F]+|\d+")


def without_effect(records: Sequence[CellRecord]) -> tuple[Finding, ...]:
    """Find profiles and assembly variants in which the workload did just what it did in the reference."""
    same: defaultdict[tuple[str, str, tuple[str, str]], list[tuple[str, str]]] = defaultdict(list)
    for pair in reference_pairs(records):
        if pair.axis in {"profile", "assembly"} and _did_the_same(pair):
            same[pair.axis, pair.cell.library, pair.words].append((pair.cell.id, pair.reference.id))
    found = []
    for (axis, library, (reference, word)), pairs in same.items():
        cells = [cell for cell, _ in pairs]
        found.append(
            Finding(
                kind=FindingKind.AXIS_WITHOUT_EFFECT,
                serious=False,
                axis=axis,
                subject=f"{library} {word}",
                cells=tuple(dict.fromkeys(name for pair in pairs for name in pair)),
                message=(
                    f"{axis} {word} changed nothing against {reference} in {counted(len(cells), 'cell')} of {library} "
                    f"({listed(cells)}): the same functions and as many instructions; "
                    f"the build may lack the dispatch that it is to steer"
                ),
            )
        )
    return tuple(found)


def _did_the_same(pair: Pair) -> bool:
    a, b = pair.reference.evidence, pair.cell.evidence
    if a.execution is None or b.execution is None or not (a.execution.emulated and b.execution.emulated):
        return False
    return (
        a.execution.instructions > 0
        and abs(a.execution.instructions - b.execution.instructions) <= NOISE
        and a.assembly_functions_executed.keys() == b.assembly_functions_executed.keys()
        and a.execution.classes == b.execution.classes
    )


def repeated_warnings(records: Sequence[CellRecord]) -> tuple[Finding, ...]:
    """Find warnings that stand in the output of nearly all test cases: of the emulator, not of a test."""
    cells: defaultdict[str, list[str]] = defaultdict(list)
    example: dict[str, str] = {}
    for record in records:
        for shape, line in _repeated(record).items():
            cells[shape].append(record.id)
            example.setdefault(shape, line)
    return tuple(
        Finding(
            kind=FindingKind.REPEATED_WARNING,
            serious=False,
            subject=example[shape],
            cells=tuple(names),
            message=(
                f"one warning is repeated throughout {counted(len(names), 'cell')} ({listed(names)}) and may break "
                f"tests that read stderr: {example[shape]!r}; pin the CPU fully in the profile"
            ),
        )
        for shape, names in cells.items()
    )


def _repeated(record: CellRecord) -> dict[str, str]:
    outputs = [outcome.output for outcome in record.outcomes if outcome.output.strip()]
    in_outputs = Counter(shape for output in outputs for shape in _shapes(output))
    in_log = Counter[str]()
    # What one test case printed is among the outputs, and what it repeats is that test's.
    log = "" if record.log_of.startswith(LOG_OF_TEST) else record.log_tail
    for line in log.splitlines():
        in_log.update(_shapes(line))
    lines = {_shape(line): line.strip() for line in "\n".join((*outputs, log)).splitlines()}
    many = {shape for shape, count in in_outputs.items() if count >= max(REPEATED, NEARLY_ALL * len(outputs))}
    many |= {shape for shape, count in in_log.items() if count >= REPEATED}
    return {shape: lines[shape] for shape in sorted(many)}


def _shapes(text: str) -> set[str]:
    """Give the warnings in a text.

    What stands behind `#` is a TAP test's own word, and a signal is a death, which has a verdict of its own.
    """
    lines = (line.strip() for line in text.splitlines())
    return {
        _shape(line)
        for line in lines
        if not line.startswith("#") and "uncaught target signal" not in line and _WARNING.search(line)
    }


def _shape(line: str) -> str:
    """Give a line without what changes from one process to the next: numbers and addresses."""
    return _CHANGING.sub("#", line.strip())


def fewer_tests(records: Sequence[CellRecord]) -> tuple[Finding, ...]:
    """Find green cells that ran fewer tests than the same source ran elsewhere in the same tier."""
    groups: defaultdict[tuple[str, str, str], list[CellRecord]] = defaultdict(list)
    for record in records:
        groups[record.library, record.version, record.tier].append(record)
    found: list[Finding] = []
    for group in groups.values():
        most = max(group, key=_ran)
        green = (record for record in group if record.verdict in {Verdict.PASSED, Verdict.VACUOUS})
        found += [_fewer(record, most) for record in green if _ran(record) < FEWER * _ran(most)]
    return tuple(found)


def _ran(record: CellRecord) -> int:
    return record.tests.passed + record.tests.failed


def _fewer(record: CellRecord, most: CellRecord) -> Finding:
    ran, elsewhere = _ran(record), _ran(most)
    return Finding(
        kind=FindingKind.FEWER_TESTS,
        serious=ran * 2 < elsewhere,
        subject=record.id,
        cells=(record.id, most.id),
        message=(
            f"{record.id} ran {counted(ran, 'test')} ({record.tests.skipped:,} skipped); "
            f"the same source ran {elsewhere:,} in {most.id} in the same tier"
        ),
    )


def expired(records: Sequence[CellRecord], excluded: Mapping[str, Sequence[Exclusion]]) -> tuple[Finding, ...]:
    """Find expected failures that pass.

    Args:
        records: the cells of one run.
        excluded: the exclusions that apply, by cell id; only those of kind ``expected-failure`` can expire, since
            nothing else that is excluded runs.
    """
    passing: defaultdict[Exclusion, list[str]] = defaultdict(list)
    covering: Counter[Exclusion] = Counter()
    told: set[str] = set()
    for record in records:
        for exclusion in excluded.get(record.id, ()):
            passed = _passed(record, exclusion) if exclusion.kind == "expected-failure" else None
            if passed is not None:
                covering[exclusion] += 1
            if passed:
                passing[exclusion].append(record.id)
                told.add(record.id)
    found = [_expiry(exclusion, cells, covering[exclusion]) for exclusion, cells in passing.items()]
    return (*found, *_unexplained(records, told))


def _passed(record: CellRecord, exclusion: Exclusion) -> bool | None:
    """Say whether all that an exclusion covers in a cell passed; None where nothing of it ran."""
    if not exclusion.tests:
        green = {Verdict.PASSED, Verdict.UNEXPECTED_PASS, Verdict.VACUOUS}
        ran = {*green, Verdict.FAILED, Verdict.EXPECTED_FAILURE, Verdict.CRASHED, Verdict.TIMED_OUT}
        return record.verdict in green if record.verdict in ran else None
    statuses = {
        outcome.status
        for outcome in record.outcomes
        if any(fnmatchcase(outcome.name, glob) or fnmatchcase(outcome.file, glob) for glob in exclusion.tests)
    } - {OutcomeStatus.SKIPPED}
    return statuses == {OutcomeStatus.PASSED} if statuses else None


def _expiry(exclusion: Exclusion, cells: Sequence[str], covered: int) -> Finding:
    what = ", ".join(exclusion.tests) or "the whole cell"
    link = f", {exclusion.link}" if exclusion.link else ""
    where = "all" if len(cells) == covered else f"{len(cells)} of"
    todo = "remove it" if len(cells) == covered else "narrow its scope"
    return Finding(
        kind=FindingKind.EXCLUSION_EXPIRED,
        serious=True,
        subject=what,
        cells=tuple(cells),
        message=(
            f"an expected failure passes: {what} ({exclusion.reason}{link}) passes in {where} "
            f"{counted(covered, 'cell')} that the exclusion covers ({listed(cells)}); {todo}"
        ),
    )


def _unexplained(records: Sequence[CellRecord], told: set[str]) -> Iterator[Finding]:
    for record in records:
        if record.verdict is Verdict.UNEXPECTED_PASS and record.id not in told:
            yield Finding(
                kind=FindingKind.EXCLUSION_EXPIRED,
                serious=True,
                subject=record.id,
                cells=(record.id,),
                message=f"{record.id} must fail and passed: {record.reason or 'no reason is recorded'}",
            )
