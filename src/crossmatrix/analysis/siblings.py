"""Which cells are alike in all but one axis, and which of two is the reference."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from crossmatrix.records import CellRecord

NO_ASSEMBLY = "no-asm"
"""The variant that is the reference for every variant with assembly."""

DEFAULT_PROFILE = "default"
"""The profile that is the reference for every other profile."""

_ENDIAN_SUFFIXES = {"big": ("_be", "be", "eb"), "little": ("_le", "le", "el")}


@dataclass(frozen=True, kw_only=True, slots=True)
class Pair:
    """Two cells alike in all but one axis.

    Attributes:
        axis: ``assembly``, ``endian``, ``compiler``, ``toolchain`` or ``profile``.
        reference: the cell that the other is held against.
        cell: the other one.
        words: what they are on that axis: ``no-asm`` and ``asm``, ``little`` and ``big``, ...
        both_ways: a pass in ``cell`` that fails in ``reference`` is worth as much as the reverse.
    """

    axis: str
    reference: CellRecord
    cell: CellRecord
    words: tuple[str, str]
    both_ways: bool = False


def compiler_family(toolchain: str) -> str:
    """Give the family of a toolchain by its name: ``gcc`` of ``gcc-12``."""
    return toolchain.partition("-")[0]


def without_endian(target: str, endian: str) -> str:
    """Give what a target's name says besides byte order: ``aarch64-linux-musl`` of ``aarch64_be-linux-musl``.

    The first word of a triple carries the byte order as a suffix, on whichever side is not the architecture's usual
    one: ``aarch64_be``, ``armeb``, but ``mipsel`` and ``powerpc64le``.
    """
    arch, dash, rest = target.partition("-")
    for suffix in _ENDIAN_SUFFIXES.get(endian, ()):
        if arch.endswith(suffix) and arch != suffix:
            return arch.removesuffix(suffix) + dash + rest
    return target


def are_siblings(a: CellRecord, b: CellRecord) -> bool:
    """Say whether two cells' targets differ in byte order and in nothing else."""
    return a.endian != b.endian and without_endian(a.target, a.endian) == without_endian(b.target, b.endian)


def reference_pairs(records: Sequence[CellRecord]) -> Iterator[Pair]:
    """Give all pairs of cells that differ in exactly one axis, axis by axis, in the order of the records."""
    for reference, cell in _against(
        _groups(records, lambda r: (r.toolchain, r.target, r.profile)), lambda r: r.variant == NO_ASSEMBLY
    ):
        yield Pair(axis="assembly", reference=reference, cell=cell, words=(reference.variant, cell.variant))
    for reference, cell in _against(
        _groups(records, lambda r: (r.variant, r.toolchain, without_endian(r.target, r.endian), r.profile)),
        lambda r: r.endian == "little",
    ):
        yield Pair(axis="endian", reference=reference, cell=cell, words=(reference.endian, cell.endian))
    yield from _toolchain_pairs(records)
    for reference, cell in _against(
        _groups(records, lambda r: (r.variant, r.toolchain, r.target)), lambda r: r.profile == DEFAULT_PROFILE
    ):
        words = (reference.profile, cell.profile)
        yield Pair(axis="profile", reference=reference, cell=cell, words=words, both_ways=True)


def _against(
    groups: Sequence[Sequence[CellRecord]], is_reference: Callable[[CellRecord], bool]
) -> Iterator[tuple[CellRecord, CellRecord]]:
    """Hold every other cell of a group against the group's first reference."""
    for group in groups:
        reference = next((record for record in group if is_reference(record)), None)
        if reference is not None:
            for cell in group:
                if not is_reference(cell):
                    yield reference, cell


def _toolchain_pairs(records: Sequence[CellRecord]) -> Iterator[Pair]:
    """Pair every two toolchains once; gcc is the reference where one of them is gcc."""
    for group in _groups(records, lambda r: (r.variant, r.target, r.profile)):
        ordered = sorted(group, key=lambda r: (compiler_family(r.toolchain) != "gcc", r.toolchain))
        for place, reference in enumerate(ordered):
            for cell in ordered[place + 1 :]:
                families = (compiler_family(reference.toolchain), compiler_family(cell.toolchain))
                if families[0] != families[1]:
                    yield Pair(axis="compiler", reference=reference, cell=cell, words=families, both_ways=True)
                elif reference.toolchain != cell.toolchain:
                    words = (reference.toolchain, cell.toolchain)
                    yield Pair(axis="toolchain", reference=reference, cell=cell, words=words, both_ways=True)


def _groups(
    records: Sequence[CellRecord], key: Callable[[CellRecord], tuple[str, ...]]
) -> tuple[tuple[CellRecord, ...], ...]:
    """Group records of one library, version and tier by what else must be alike."""
    groups: defaultdict[tuple[str, ...], list[CellRecord]] = defaultdict(list)
    for record in records:
        groups[record.library, record.version, record.tier, *key(record)].append(record)
    return tuple(tuple(group) for group in groups.values() if len(group) > 1)


_FACTS: tuple[tuple[str, Callable[[CellRecord], str]], ...] = (
    ("library", lambda r: r.library),
    ("version", lambda r: r.version),
    ("variant", lambda r: r.variant),
    ("endian", lambda r: r.endian),
    ("compiler", lambda r: compiler_family(r.toolchain)),
    ("toolchain", lambda r: r.toolchain),
    ("target", lambda r: r.target),
    ("profile", lambda r: r.profile),
)
"""What cells are told apart by."""

_REFERENCES = {"variant": NO_ASSEMBLY, "endian": "little", "compiler": "gcc", "profile": DEFAULT_PROFILE}
"""What parity holds the others against, by fact."""

_FOLLOWS = {"version": "library", "toolchain": "compiler"}
"""Facts that need not be said where the other is, which decides them."""


def in_common(some: Sequence[CellRecord], others: Sequence[CellRecord]) -> str:
    """Say what some cells share that no other cell has, such as ``endian big``; empty where there is nothing."""
    shared = []
    for name, fact in _FACTS:
        values = {fact(record) for record in some}
        if len(values) == 1 and not values & {fact(record) for record in others}:
            shared.append(f"{name} {values.pop()}")
    return ", ".join(shared)


def apart(one: Sequence[CellRecord], other: Sequence[CellRecord]) -> str:
    """Say in what two sides have nothing in common, and which is the reference there; empty where there is nothing.

    Such as ``variant, asm against no-asm (the reference)``. It blames neither.
    """
    found: dict[str, str] = {}
    for name, fact in (*_FACTS[:-2], ("target", lambda r: without_endian(r.target, r.endian)), _FACTS[-1]):
        left, right = (sorted({fact(record) for record in side}) for side in (one, other))
        if not set(left) & set(right) and _FOLLOWS.get(name) not in found:
            reference = _REFERENCES.get(name, "")
            words = (
                " or ".join(f"{v} (the reference)" if v == reference else v for v in side) for side in (left, right)
            )
            found[name] = f"{name}, {' against '.join(words)}"
    return "; ".join(found.values())
