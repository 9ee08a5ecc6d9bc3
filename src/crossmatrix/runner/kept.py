"""What earlier runs left, as planning asks for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from crossmatrix.runner.jobs import build_volume

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crossmatrix.engine.types import Engine
    from crossmatrix.plan import JobKind
    from crossmatrix.store import State


@dataclass(frozen=True, kw_only=True, slots=True)
class Kept:
    """What earlier runs left, as far as it can be seen; ``engine`` is None where none answers."""

    state: State
    engine: Engine | None

    def has_result(self, key: str) -> bool:
        """Whether a result of this key is kept that may be used again."""
        result = self.state.results.load(key)
        return result is not None and result.sound

    def failed(self, key: str) -> bool:
        """Whether the kept result says that what hangs on the job cannot run."""
        result = self.state.results.load(key)
        return result is not None and not result.ok

    def last_inputs(self, kind: JobKind, job_id: str) -> Mapping[str, str] | None:
        """Give the inputs with which this job last ran."""
        return self.state.results.last_inputs(kind, job_id)

    def has_tree(self, key: str) -> bool:
        """Whether the build tree of this key is still on the engine; unknown counts as there."""
        return self.engine is None or self.engine.has_volume(build_volume(key, str(self.state.home)))
