"""How many jobs run side by side on an engine, and what each may use."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from crossmatrix.runner.workshop import Limits

if TYPE_CHECKING:
    from crossmatrix.engine.types import EngineInfo

_GIB = 1 << 30
_MEMORY_A_JOB = 3 * _GIB


def jobs_at_once(info: EngineInfo, asked: int | None) -> int:
    """Give how many jobs run side by side: what was asked for, else what the engine's CPUs and memory bear.

    Two on a small machine, since a build's configure and link phases leave a CPU idle.
    """
    if asked is not None:
        return asked
    return max(1, min(max(2, info.cpus // 2), info.memory_bytes // _MEMORY_A_JOB))


def limits(info: EngineInfo, jobs: int) -> Limits:
    """Give what each of ``jobs`` containers may use: all CPUs, its share of memory, one process more than its share."""
    share = max(1, math.ceil(info.cpus / jobs))
    return Limits(
        memory_bytes=max(_GIB, int(info.memory_bytes * 0.9) // jobs),
        cpus=float(info.cpus),
        processes=share + (1 if jobs > 1 else 0),
    )
