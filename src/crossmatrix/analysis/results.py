"""Same result everywhere: the fixed inputs' outputs, held against each other over all cells and both libraries."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from crossmatrix.analysis.defaults import default_findings, explained_by_defaults
from crossmatrix.analysis.siblings import apart, in_common
from crossmatrix.analysis.words import counted, listed
from crossmatrix.records import Finding, FindingKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crossmatrix.records import CellRecord, VectorFamily

_WHOLE = "all lengths"
"""Stands for the digest over all outputs where an algorithm has no lengths, such as a signature."""


@dataclass(frozen=True, slots=True)
class _Entry:
    """What one cell got for one algorithm."""

    record: CellRecord
    family: VectorFamily


def different_results(records: Sequence[CellRecord]) -> tuple[Finding, ...]:
    """Compare the outputs of every algorithm over all cells.

    Cells with different seeds had different inputs and are never held against each other. A different default of a
    command is reported as that, once, and not as corruption.

    Args:
        records: the cells of one run.

    Returns:
        Different defaults, outputs that differ, cells that do not agree with themselves, and what was sealed and
        could not be opened.
    """
    with_vectors = [record for record in records if record.vectors is not None]
    by_seed: defaultdict[str, list[CellRecord]] = defaultdict(list)
    for record in with_vectors:
        by_seed[_seed(record)].append(record)
    found: list[Finding] = list(_different_seeds(by_seed))
    found += default_findings(with_vectors)
    for group in by_seed.values():
        for algorithm, entries in _by_algorithm(group).items():
            found += _outputs(algorithm, entries)
        found += _absent(group)
    for algorithm, entries in _by_algorithm(with_vectors).items():
        found += _with_itself(algorithm, entries)
        found += _not_opened(algorithm, entries)
    return tuple(found)


def _seed(record: CellRecord) -> str:
    return record.vectors.seed if record.vectors else ""


def _by_algorithm(records: Sequence[CellRecord]) -> dict[str, list[_Entry]]:
    algorithms: defaultdict[str, list[_Entry]] = defaultdict(list)
    for record in records:
        for family in record.vectors.families if record.vectors else ():
            algorithms[family.algorithm].append(_Entry(record, family))
    return dict(sorted(algorithms.items()))


def _different_seeds(by_seed: dict[str, list[CellRecord]]) -> Iterator[Finding]:
    if len(by_seed) > 1:
        first = {seed: group[0].id for seed, group in sorted(by_seed.items())}
        words = "; ".join(
            f"{seed or 'no seed'}: {counted(len(by_seed[seed]), 'cell')}, first {cell}" for seed, cell in first.items()
        )
        yield Finding(
            kind=FindingKind.DIFFERENT_RESULT,
            serious=False,
            subject="seed",
            cells=tuple(first.values()),
            message=f"the fixed inputs have different seeds, so that outputs are not comparable between them ({words})",
        )


def _values(family: VectorFamily) -> dict[str, str]:
    return family.lengths or {_WHOLE: family.digest}


def _by_number(length: str) -> tuple[int, str]:
    return (int(length), "") if length.isdecimal() else (1 << 62, length)


def _outputs(algorithm: str, entries: Sequence[_Entry]) -> Iterator[Finding]:
    """Find the cells that are not with the majority, each at the shortest input where it is not."""
    kinds = _by_digest(entries)
    if len(kinds) == 1:
        return
    dissent: dict[str, tuple[str, str]] = {}
    at_length: dict[str, dict[str, list[_Entry]]] = {}
    for length in sorted({length for kind in kinds for length in _values(kind[0].family)}, key=_by_number):
        groups = _groups_at(length, kinds)
        at_length[length] = groups
        for value, members in list(groups.items())[1:]:
            for entry in members:
                dissent.setdefault(entry.record.id, (length, value))
    at_length |= _digests_alone(kinds, dissent)
    places = dict.fromkeys(dissent.values())
    for length, value in sorted(places, key=lambda place: (_by_number(place[0]), place[1])):
        groups = at_length[length]
        members = [entry for entry in groups[value] if dissent[entry.record.id] == (length, value)]
        if not explained_by_defaults(algorithm, [[e.record for e in group] for group in groups.values()]):
            yield _difference(algorithm, length, groups, members)


def _by_digest(entries: Sequence[_Entry]) -> tuple[list[_Entry], ...]:
    """Group cells by the digest over all outputs; in a group every length has the same output."""
    kinds: defaultdict[str, list[_Entry]] = defaultdict(list)
    for entry in entries:
        kinds[entry.family.digest].append(entry)
    return tuple(kinds.values())


def _groups_at(length: str, kinds: Sequence[list[_Entry]]) -> dict[str, list[_Entry]]:
    """Group the cells by their output at one length, the largest group first, then by the first cell's place."""
    groups: defaultdict[str, list[_Entry]] = defaultdict(list)
    for kind in kinds:
        if length in (values := _values(kind[0].family)):
            groups[values[length]] += kind
    return dict(sorted(groups.items(), key=lambda item: -len(item[1])))


def _digests_alone(
    kinds: Sequence[list[_Entry]], dissent: dict[str, tuple[str, str]]
) -> dict[str, dict[str, list[_Entry]]]:
    """Where every length agrees but the digest over all does not, the digest decides; adds to ``dissent``."""
    lengths = kinds[0][0].family.lengths
    same_inputs = [kind for kind in kinds if kind[0].family.lengths.keys() == lengths.keys()]
    if dissent or not lengths or len(same_inputs) == 1:
        return {}
    ordered = {kind[0].family.digest: kind for kind in sorted(same_inputs, key=lambda kind: -len(kind))}
    for value, members in list(ordered.items())[1:]:
        dissent.update({entry.record.id: (_WHOLE, value) for entry in members})
    return {_WHOLE: ordered}


def _difference(algorithm: str, length: str, groups: dict[str, list[_Entry]], members: Sequence[_Entry]) -> Finding:
    ordered = list(groups.values())
    majority, total = ordered[0], sum(map(len, ordered))
    agreeing, differing = majority[0].record, members[0].record
    tied = len(groups[_value_at(members[0], length)]) == len(majority)
    where = "over all its outputs" if length == _WHOLE else f"at an input of {length} bytes, the shortest that differs"
    inside = {entry.record.id for entry in members}
    odd = [entry.record for entry in members]
    if tied:
        # Which of the two is wrong is not known, so that nothing is said of the one that does not hold for the other.
        verdict = f"neither has a majority: {counted(len(majority), 'cell')} each of {total}"
        sides = apart([entry.record for entry in majority], odd)
        hint = f"; the two sides differ in {sides}" if sides else ""
    else:
        verdict = f"{agreeing.id} agrees with the majority, {len(majority)} of {total} cells"
        shared = in_common(odd, [e.record for g in ordered for e in g if e.record.id not in inside])
        hint = f"; what differs has in common, alone: {shared}" if shared else ""
    more = f"; as {differing.id} do {listed([e.record.id for e in members[1:]])}" if len(members) > 1 else ""
    return Finding(
        kind=FindingKind.DIFFERENT_RESULT,
        serious=True,
        subject=algorithm,
        cells=(agreeing.id, *(entry.record.id for entry in members)),
        message=f"{algorithm} differs {where}: {agreeing.id} against {differing.id}; {verdict}{more}{hint}",
    )


def _value_at(entry: _Entry, length: str) -> str:
    return entry.family.digest if length == _WHOLE else entry.family.lengths[length]


def _absent(records: Sequence[CellRecord]) -> Iterator[Finding]:
    """Say which algorithms or lengths a cell lacks that others of the same source have: nothing compares them there."""
    sources: defaultdict[tuple[str, str], list[CellRecord]] = defaultdict(list)
    for record in records:
        sources[record.library, record.version].append(record)
    for group in sources.values():
        lacking: defaultdict[str, list[str]] = defaultdict(list)
        for algorithm, entries in _by_algorithm(group).items():
            for cell in _cells_that_lack(group, entries):
                lacking[cell].append(algorithm)
        alike: defaultdict[tuple[str, ...], list[str]] = defaultdict(list)
        for cell, algorithms in sorted(lacking.items()):
            alike[tuple(algorithms)].append(cell)
        for missing, cells in alike.items():
            yield Finding(
                kind=FindingKind.DIFFERENT_RESULT,
                serious=False,
                subject=missing[0],
                cells=tuple(cells),
                message=(
                    f"{listed(cells)} gave no output, or not at all lengths, for {counted(len(missing), 'algorithm')} "
                    f"({listed(missing)}) that other cells of the same source gave: nothing is compared there"
                ),
            )


def _cells_that_lack(group: Sequence[CellRecord], entries: Sequence[_Entry]) -> Iterator[str]:
    """Give the cells that have fewer outputs of an algorithm than all cells have together."""
    kinds = _by_digest(entries)
    everything = {length for kind in kinds for length in kind[0].family.lengths}
    whole = {e.record.id for kind in kinds if kind[0].family.lengths.keys() == everything for e in kind}
    return (record.id for record in group if record.id not in whole)


def _with_itself(algorithm: str, entries: Sequence[_Entry]) -> Iterator[Finding]:
    by_note: defaultdict[str, list[str]] = defaultdict(list)
    for entry in entries:
        if entry.family.note and entry.family.opened is not False:
            by_note[entry.family.note].append(entry.record.id)
    for note, cells in by_note.items():
        yield Finding(
            kind=FindingKind.DIFFERENT_RESULT,
            serious=True,
            subject=algorithm,
            cells=tuple(cells),
            message=f"{algorithm} goes wrong by itself, whatever other cells say, in {listed(cells)}: {note}",
        )


def _not_opened(algorithm: str, entries: Sequence[_Entry]) -> Iterator[Finding]:
    cells = [entry.record.id for entry in entries if entry.family.opened is False]
    if cells:
        opened = [entry.record.id for entry in entries if entry.family.opened]
        others = f"; {counted(len(opened), 'other cell')} could open their own, first {opened[0]}" if opened else ""
        note = next((f" ({e.family.note})" for e in entries if e.family.opened is False and e.family.note), "")
        yield Finding(
            kind=FindingKind.NOT_OPENED,
            serious=True,
            subject=algorithm,
            cells=tuple(cells),
            message=f"{algorithm}: what was sealed could not be opened again in {listed(cells)}{note}{others}",
        )
