"""The real world, as runs see it."""

from __future__ import annotations

import os
import platform
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from crossmatrix.runner.job_steps import JobSteps
from crossmatrix.runner.request import Surroundings

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from crossmatrix.api.workspace import Workspace
    from crossmatrix.catalog import SourceSpec
    from crossmatrix.engine.types import Engine
    from crossmatrix.events import Event
    from crossmatrix.steps.sources import Fetcher
    from crossmatrix.store import State


def surroundings(  # noqa: PLR0913 - each is a part of the world
    workspace: Workspace,
    *,
    engine: Engine,
    state: State,
    fetcher: Fetcher,
    listen: Callable[[Event], None],
    algorithms: tuple[str, ...] = (),
) -> Surroundings:
    """Put together what a run works with.

    Args:
        workspace: the checkout and its recipes.
        engine: that answers.
        state: the state directory, open.
        fetcher: of sources.
        listen: is told what happens, from several threads.
        algorithms: that jobs of the tier ``bench`` measure; empty for all.
    """

    def fetch(spec: SourceSpec) -> tuple[Path, str]:
        packed = fetcher.packed(spec)
        return packed.path, packed.origin

    return Surroundings(
        engine=engine,
        state=state,
        images=workspace.image_specs(),
        steps=JobSteps(recipes=workspace.root / "recipes", algorithms=algorithms),
        fetch=fetch,
        listen=listen,
        now=lambda: datetime.now(UTC),
        pid=os.getpid(),
        host={
            "system": platform.system(),
            "release": platform.release(),
            "machine": platform.machine(),
            "python": ".".join(map(str, sys.version_info[:3])),
        },
    )
