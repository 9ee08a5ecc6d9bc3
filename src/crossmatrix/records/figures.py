"""Exact cost: executed instructions, never time; time only on native cells, and named so."""

from __future__ import annotations

from pydantic import Field

from crossmatrix.records.model import Record


class Figure(Record):
    """One measured number.

    Attributes:
        algorithm: as ``openssl speed`` names it, the same for both libraries: ``aes-256-ctr``, ``rsa-2048-sign``.
        unit: ``instructions/byte``, ``instructions/op`` or, on native cells only, ``time: bytes/s``, ``time: ops/s``.
        size_bytes: block size; 0 for the slope between the two largest sizes, None for operations.
        value: the number.
        deviation: standard deviation where the operation is random by nature or a time, else None.
        repeats: how often it was measured where it has a deviation, else None.
        functions: the costliest functions, instructions per byte or operation in each.
    """

    algorithm: str
    unit: str
    size_bytes: int | None = None
    value: float
    deviation: float | None = None
    repeats: int | None = None
    functions: dict[str, float] = Field(default_factory=dict)


class Figures(Record):
    """All figures of one cell, sorted by algorithm, unit and size.

    Attributes:
        emulated: whether they are counts under emulation.
        asked: the algorithms that were to be measured; empty for all that the build has.
        figures: what was measured.
        missing: what could not be had, and why.
    """

    emulated: bool = True
    asked: tuple[str, ...] = ()
    figures: tuple[Figure, ...] = ()
    missing: tuple[str, ...] = ()
