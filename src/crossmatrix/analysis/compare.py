"""Two cells held against each other: verdicts, evidence and cost."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from crossmatrix.analysis.comparison import AxisChange, Change, Comparison, CostChange, CostRow
from crossmatrix.analysis.siblings import are_siblings, compiler_family
from crossmatrix.analysis.words import counted, listed
from crossmatrix.errors import UsageError
from crossmatrix.records import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from crossmatrix.records import CellRecord, Execution, Figure

THRESHOLD = 0.01
"""The change of a cost that counts, as a share: 1%."""

_NEEDS_NO_FIGURES = frozenset({Verdict.UNSUPPORTED, Verdict.EXPECTED_FAILURE})
"""Verdicts of cells that are not measured, as is known beforehand."""

_TOO_SHORT = ": too short to time"
"""How a reason ends for which a native cell has no figure though nothing went wrong."""

ABSENT = "absent"
"""What stands for a test that a cell does not have."""


def compare(
    a: CellRecord, b: CellRecord, *, threshold: float = THRESHOLD, doubts: tuple[str, str] = ("", "")
) -> Comparison:
    """Hold cell ``b`` against cell ``a``, before against after.

    Costs are only set in a ratio where the cells are alike in all but one axis: with two it could not be said which of
    them made the difference.

    Args:
        a: the reference.
        b: the cell that is judged.
        threshold: the share (0.01 is 1%) by which a cost must change to count.
        doubts: verdict and reason of the measured cells that the figures were taken from, where not as expected.

    Raises:
        UsageError: where the threshold is negative.
    """
    if threshold < 0:
        raise UsageError(f"the threshold is {threshold}, a share below zero", hint="give a share such as 0.01 for 1%")
    axes = differing_axes(a, b)
    refusal = ""
    if len(axes) > 1:
        words = ", ".join(f"{change.axis} ({change.before} and {change.after})" for change in axes)
        refusal = (
            f"no ratios: the cells differ in {counted(len(axes), 'axis', 'axes')}, {words}; "
            f"compare cells that are alike in all but one"
        )
    rows, notes = ((), ()) if refusal else _costs(a, b)
    return Comparison(
        a=a.id,
        b=b.id,
        axes=axes,
        refusal=refusal,
        verdict=Change(name="verdict", before=a.verdict.value, after=b.verdict.value),
        reasons=(a.reason, b.reason),
        tests=(a.tests, b.tests),
        test_changes=() if a.measured or b.measured else tuple(_test_changes(a, b)),
        evidence_changes=() if a.measured != b.measured else tuple(_evidence_changes(a, b)),
        costs=rows,
        notes=(*_tier_note(a, b), *_doubt_notes(doubts), *notes),
        threshold=Fraction(str(threshold)),
        worse_verdict=_worsened(a, b),
        says_nothing=_says_nothing(a, b) or ("" if rows else _nothing_measured(a, b, refusal)),
        gone=_gone(a, b),
        worse_measured=_worse_measured(a, b, doubts),
        measured=(a.measured, b.measured),
    )


def _worsened(a: CellRecord, b: CellRecord) -> bool:
    """Say whether a cell that was as expected ended and is not; one that was only measured might have failed too."""
    if a.measured and not b.measured:
        return False
    return a.verdict.as_expected and not b.verdict.as_expected and b.verdict.ended


def _worse_measured(a: CellRecord, b: CellRecord, doubts: tuple[str, str]) -> bool:
    """Say whether what was measured of the second alone is not as expected; what was measured beside a test tells."""
    before_as_expected = not doubts[0] and (a.verdict.as_expected or not a.measured)
    return bool(doubts[1]) and before_as_expected and a.verdict.ended and b.verdict.ended


def _doubt_notes(doubts: tuple[str, str]) -> Iterator[str]:
    for name, doubt in zip("AB", doubts, strict=True):
        if doubt:
            yield f"when {name} was measured: {doubt}"


def _says_nothing(a: CellRecord, b: CellRecord) -> str:
    """Say which of the cells never came to an end that could be held against the other's."""
    words = [f"{name} is {cell.verdict.value}" for name, cell in (("A", a), ("B", b)) if not cell.verdict.ended]
    return " and ".join(words)


def _nothing_measured(a: CellRecord, b: CellRecord, refusal: str) -> str:
    """Say why a cell which was only measured has no ratio to the other; it has nothing else to tell."""
    measured = [name for name, cell in (("A", a), ("B", b)) if cell.measured]
    if not measured or {a.verdict, b.verdict} & _NEEDS_NO_FIGURES:
        return ""
    words = f"{' and '.join(measured)} {'was' if len(measured) == 1 else 'were'} only measured"
    if not (_measurements(a) and _measurements(b)):
        return f"{words}, with no figure to compare"
    return f"{words}, and there are {refusal.partition(';')[0]}" if refusal else f"{words}, with no figure in common"


def _measurements(record: CellRecord) -> tuple[Figure, ...]:
    return record.figures.figures if record.figures is not None else ()


def _gone(a: CellRecord, b: CellRecord) -> tuple[str, ...]:
    """Give the algorithms of which ``b`` lacks a figure that ``a`` has, though it was to be measured there too.

    Only between cells that must have the same ones: another release, or a variant that leaves something out, may not.
    """
    alike = (a.library, a.variant, _origin(a)) == (b.library, b.variant, _origin(b))
    if not alike or b.figures is None or not b.verdict.ended:
        return ()
    same_kind = a.figures is not None and a.figures.emulated == b.figures.emulated
    there = {_place(figure) for figure in b.figures.figures}
    measured = {algorithm for algorithm, _, _ in there}
    lost = {
        figure.algorithm
        for figure in _measurements(a)
        if figure.algorithm not in measured
        or (same_kind and not figure.unit.startswith("time") and _place(figure) not in there)
    }
    asked = set(b.figures.asked) or lost
    short = {reason.partition(":")[0].partition(",")[0] for reason in b.figures.missing if reason.endswith(_TOO_SHORT)}
    return tuple(sorted((lost & asked) - short))


def _origin(record: CellRecord) -> str:
    """Give a version without its patches, and of a checkout or folder none: two of its states are before and after."""
    version = record.version.partition("+p")[0]
    return next((kind for kind in ("git-", "dir-") if version.startswith(kind)), version)


def differing_axes(a: CellRecord, b: CellRecord) -> tuple[AxisChange, ...]:
    """Give the axes in which two cells differ; a library with its version, and a source with its patches, is one."""
    return tuple(AxisChange(axis=axis, before=before, after=after) for axis, before, after in _axes(a, b))


def _axes(a: CellRecord, b: CellRecord) -> Iterator[tuple[str, str, str]]:
    if a.library != b.library:
        yield "library", f"{a.library} {a.version}", f"{b.library} {b.version}"
    elif a.version != b.version:
        yield "source", a.version, b.version
    elif a.source_digest and b.source_digest and a.source_digest != b.source_digest:
        yield "source", f"{a.version} {a.source_digest[:12]}", f"{b.version} {b.source_digest[:12]}"
    if a.variant != b.variant:
        yield "assembly" if "no-asm" in {a.variant, b.variant} else "variant", a.variant, b.variant
    if a.toolchain != b.toolchain:
        families = {compiler_family(a.toolchain), compiler_family(b.toolchain)}
        yield "compiler" if len(families) > 1 else "toolchain", a.toolchain, b.toolchain
    if a.target != b.target:
        yield "endian" if are_siblings(a, b) else "target", a.target, b.target
    if a.profile != b.profile:
        yield "profile", a.profile, b.profile
    if a.toolchain == b.toolchain and a.target == b.target and a.compiler and b.compiler and a.compiler != b.compiler:
        yield "compiler version", a.compiler, b.compiler
    if a.target == b.target and a.emulator and b.emulator and a.emulator != b.emulator:
        yield "emulator", a.emulator, b.emulator


def _tier_note(a: CellRecord, b: CellRecord) -> tuple[str, ...]:
    if a.measured != b.measured:
        name = "A" if a.measured else "B"
        return (f"{name} was only measured: tests, capabilities and evidence are left out, figures alone are compared",)
    if a.library == b.library and a.tier != b.tier:
        return (f"the tiers differ, {a.tier} and {b.tier}: a test may be absent for that reason alone",)
    return ()


def _test_changes(a: CellRecord, b: CellRecord) -> Iterator[Change]:
    if a.library != b.library:
        return
    before, after = ({o.name: o for o in record.outcomes} for record in (a, b))
    for name in sorted(before.keys() | after.keys()):
        old, new = before.get(name), after.get(name)
        words = (old.status.value if old else ABSENT, new.status.value if new else ABSENT)
        if words[0] != words[1]:
            cause = next((o.cause for o in (new, old) if o is not None and o.cause), "")
            yield Change(name=name, before=words[0], after=words[1], note=cause)


def _evidence_changes(a: CellRecord, b: CellRecord) -> Iterator[Change]:
    old, new = a.evidence, b.evidence
    if old.binary is not None and new.binary is not None:
        for what in ("machine", "endian", "bits", "libc", "linkage"):
            words = str(getattr(old.binary, what)), str(getattr(new.binary, what))
            if words[0] != words[1]:
                yield Change(name=f"binary {what}", before=words[0], after=words[1])
    for name in sorted(set(old.capabilities_detected) ^ set(new.capabilities_detected)):
        words = ("detected", ABSENT) if name in old.capabilities_detected else (ABSENT, "detected")
        yield Change(name=f"capability {name}", before=words[0], after=words[1])
    if old.execution is None or new.execution is None or not (old.execution.emulated and new.execution.emulated):
        # What ran was counted under emulation alone; elsewhere nobody knows, which is not that nothing ran.
        return
    ran = (old.assembly_functions_executed, new.assembly_functions_executed)
    for name in sorted(ran[0].keys() ^ ran[1].keys()):
        present = (old.assembly_functions_present, new.assembly_functions_present)
        before, after = (_ran(name, counts, there) for counts, there in zip(ran, present, strict=True))
        yield Change(name=f"assembly {name}", before=before, after=after)
    yield from _classes(old.execution, new.execution)


def _ran(name: str, counts: Mapping[str, int], present: tuple[str, ...]) -> str:
    if name in counts:
        return counted(counts[name], "instruction")
    return "did not run" if name in present else ABSENT


def _classes(old: Execution, new: Execution) -> Iterator[Change]:
    for name in sorted(old.classes.keys() | new.classes.keys()):
        counts = old.classes.get(name, 0), new.classes.get(name, 0)
        if bool(counts[0]) != bool(counts[1]):
            words = [counted(count, "instruction") if count else "none" for count in counts]
            yield Change(name=f"class {name}", before=words[0], after=words[1])


def _costs(a: CellRecord, b: CellRecord) -> tuple[tuple[CostRow, ...], tuple[str, ...]]:
    without = [record.id for record in (a, b) if record.figures is None or not record.figures.figures]
    if without or a.figures is None or b.figures is None:
        return (), (f"no figures in {listed(without)}: measure with `invoke bench`",)
    before, after = ({_place(f): f for f in figures.figures} for figures in (a.figures, b.figures))
    rows: dict[tuple[str, str], list[CostChange]] = {}
    for place in sorted(before.keys() & after.keys(), key=_order):
        algorithm, unit, size = place
        rows.setdefault((algorithm, unit), []).append(_change(size, before[place], after[place]))
    notes = tuple(
        f"measured in {record.id} alone: {listed(sorted(names), 6)}"
        for record, names in (
            (a, {p[0] for p in before} - {p[0] for p in after}),
            (b, {p[0] for p in after} - {p[0] for p in before}),
        )
        if names
    )
    return tuple(CostRow(algorithm=key[0], unit=key[1], changes=tuple(row)) for key, row in rows.items()), notes


def _place(figure: Figure) -> tuple[str, str, int | None]:
    return figure.algorithm, figure.unit, figure.size_bytes


def _order(place: tuple[str, str, int | None]) -> tuple[str, str, int]:
    """Sort by algorithm, unit and size, the slope between sizes (0) last, as the limit that the sizes tend to."""
    algorithm, unit, size = place
    return unit, algorithm, -1 if size is None else size or 1 << 62


def _change(size: int | None, before: Figure, after: Figure) -> CostChange:
    names = before.functions.keys() | after.functions.keys()
    moved = sorted(
        (
            Change(name=n, before=str(before.functions.get(n, 0.0)), after=str(after.functions.get(n, 0.0)))
            for n in names
        ),
        key=lambda change: (-abs(float(change.after) - float(change.before)), change.name),
    )
    return CostChange(
        size_bytes=size,
        before=Fraction(str(before.value)),
        after=Fraction(str(after.value)),
        deviations=(before.deviation, after.deviation),
        functions=tuple(change for change in moved if change.before != change.after),
    )
