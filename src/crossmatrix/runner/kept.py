"""What earlier runs left, as planning asks for it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from crossmatrix.plan import JobKind
from crossmatrix.records import StageStatus
from crossmatrix.runner.workshop import build_volume

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crossmatrix.engine.types import Engine
    from crossmatrix.store import JobResult, State


@dataclass(frozen=True, kw_only=True, slots=True)
class Kept:
    """What earlier runs left, as far as it can be seen; ``engine`` is None where none answers."""

    state: State
    engine: Engine | None
    _results: dict[str, JobResult | None] = field(default_factory=dict)

    def result(self, key: str) -> JobResult | None:
        """Give the kept result of a key, for ever as it was when it was first asked for.

        Another run may put its own in the place at any time: what is decided and what is used are one.
        """
        if key not in self._results:
            self._results[key] = self.state.results.load(key)
        return self._results[key]

    def has_result(self, key: str) -> bool:
        """Whether a result of this key is kept that may be used again."""
        result = self.result(key)
        return result is not None and result.sound

    def failed(self, key: str) -> bool:
        """Whether the kept result says that what hangs on the job cannot run."""
        result = self.result(key)
        return result is not None and not result.ok

    def last_inputs(self, kind: JobKind, job_id: str) -> Mapping[str, str] | None:
        """Give the inputs with which this job last ran."""
        return self.state.results.last_inputs(kind, job_id)

    def doubt(self, key: str) -> str:
        """Say why a kept result of this key is not used again; empty where none is kept."""
        result = self.result(key)
        if result is None or result.sound:
            return ""
        if result.fault:
            return f"last time: {result.fault.splitlines()[0]}"
        late = next((stage for stage in result.stages if stage.status is StageStatus.TIMED_OUT), None)
        if late is not None:
            return f"last time stage {late.name} ran into its time limit"
        words = stopped_words(*((result, None) if result.kind is JobKind.BUILD else (None, result)))
        return f"last time: {words}" if words else "its last result may come out otherwise next time"

    def has_tree(self, key: str) -> bool:
        """Whether the build tree of this key is whole on the engine at this moment; unknown counts as there."""
        result = self.state.results.load(key)
        if result is not None and not result.tree:
            return False
        return self.engine is None or self.engine.has_volume(build_volume(key, str(self.state.home)))


def stopped_words(build: JobResult | None, run: JobResult | None) -> str:
    """Say where a cell's work was stopped and after how long; empty where neither of its jobs had begun."""
    for name, result in (("tests", run), ("build", build)):
        if result is None or not result.stages:
            continue
        stage = next((one for one in result.stages if one.status is StageStatus.INTERRUPTED), None)
        if stage is not None:
            return f"{name} stopped after {result.duration_s:.0f} s, in stage {stage.name}"
        if result is build and result.ok:
            return "stopped after its build, before its tests began"
    return ""
