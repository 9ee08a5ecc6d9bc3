"""What would be run, without starting anything."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from crossmatrix.api.choosing import choose
from crossmatrix.errors import InfrastructureError
from crossmatrix.plan import Decision, decide, plan
from crossmatrix.runner.job_steps import JobSteps
from crossmatrix.runner.kept import Kept
from crossmatrix.runner.supplies import image_names, image_states, present_images

if TYPE_CHECKING:
    from crossmatrix.api.options import Choice
    from crossmatrix.api.workspace import Workspace
    from crossmatrix.engine.types import Engine, ImageRef
    from crossmatrix.matrix import LeftOut


@dataclass(frozen=True, kw_only=True, slots=True)
class Planned:
    """The decisions on all jobs, the cells left out, and notes (such as: no engine answers)."""

    decisions: tuple[Decision, ...]
    left_out: tuple[LeftOut, ...]
    notes: tuple[str, ...]


def plan_matrix(workspace: Workspace, choice: Choice, *, fresh: bool) -> Planned:
    """Do what `invoke plan` does: read-only; an engine is asked but never started.

    Args:
        workspace: where.
        choice: which cells.
        fresh: as if nothing were kept.
    """
    chosen = choose(workspace, choice)
    fetcher = workspace.fetcher(mirrors=choice.mirrors, tell=lambda _text: None)
    state = workspace.state(writable=False)
    names, specs = image_names(chosen.cells), workspace.image_specs()
    notes = list(chosen.notes)
    with ExitStack() as stack:
        engine: Engine | None = None
        refs: dict[str, ImageRef] = {}
        try:
            engine = stack.enter_context(workspace.engine(fetcher, start=False))
            refs = present_images(names, engine, specs)
        except InfrastructureError as error:
            notes.append(f"no engine answers, so images and kept build trees cannot be seen ({error.message})")
        jobs = plan(chosen.cells, image_states(names, specs, refs), JobSteps(recipes=workspace.root / "recipes"))
        decisions = decide(jobs, Kept(state=state, engine=engine), fresh=fresh)
    return Planned(decisions=decisions, left_out=chosen.left_out, notes=tuple(notes))
