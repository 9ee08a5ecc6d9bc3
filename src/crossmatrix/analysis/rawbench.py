"""The raw counts that a bench run writes in its container, as typed values."""

from __future__ import annotations

from pydantic import Field, NonNegativeInt

from crossmatrix.records.model import Record


class RawCount(Record):
    """What the counting plugin saw in one run of the workload."""

    instructions: NonNegativeInt
    functions: dict[str, NonNegativeInt] = Field(default_factory=dict)


class RawRun(Record):
    """One algorithm at one size (0 for operations), each entry with how often it was called."""

    algorithm: str
    kind: str
    random: bool = False
    size: NonNegativeInt = 0
    counts: tuple[tuple[NonNegativeInt, RawCount], ...] = ()


class RawTime(Record):
    """Repeated wall-clock measurements on a native cell: ``unit`` is ``bytes/s`` or ``ops/s``."""

    algorithm: str
    unit: str
    size: int | None = None
    values: tuple[float, ...] = ()


class RawBench(Record):
    """A whole ``bench.json``; ``asked`` are the algorithms that were to be measured, empty for all."""

    emulated: bool = True
    asked: tuple[str, ...] = ()
    runs: tuple[RawRun, ...] = ()
    times: tuple[RawTime, ...] = ()
    missing: tuple[str, ...] = ()


def read_bench(text: str) -> RawBench:
    """Read a ``bench.json``.

    Raises:
        ValueError: where it is not one; pydantic's message says in which place.
    """
    return RawBench.model_validate_json(text)
