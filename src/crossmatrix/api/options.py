"""What a user can say about a run."""

from __future__ import annotations

from dataclasses import dataclass

from crossmatrix.errors import UsageError

DEFAULT_MATRIX = "quick"


@dataclass(frozen=True, kw_only=True, slots=True)
class Choice:
    """Which cells.

    Attributes:
        matrix: name of the matrix recipe.
        only: selector words that cells must match.
        skip: selector words of cells that are not wanted.
        cells: globs over cell ids; empty for all.
        tier: of the suites; empty for the matrix's or library's own.
        sources: ``openssl=PATH@REF``, ``openssl=PATH`` or ``openssl=FILE``.
        patches: ``openssl=FILE``, applied in order.
        mirrors: folders with release files.
    """

    matrix: str = DEFAULT_MATRIX
    only: tuple[str, ...] = ()
    skip: tuple[str, ...] = ()
    cells: tuple[str, ...] = ()
    tier: str = ""
    sources: tuple[str, ...] = ()
    patches: tuple[str, ...] = ()
    mirrors: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Manner:
    """How they are run.

    Attributes:
        jobs: how many at a time; None for what suits the engine.
        fresh: use nothing of earlier runs.
        fail_fast: end with the first cell that is not as expected: what runs is stopped, nothing more is started.
        keep_container: leave the containers of jobs for a look inside.
        algorithms: what to measure, for ``bench``; empty for all.
        command: as the user typed it, for the record.
    """

    jobs: int | None = None
    fresh: bool = False
    fail_fast: bool = False
    keep_container: bool = False
    algorithms: tuple[str, ...] = ()
    command: str = ""

    def __post_init__(self) -> None:
        """Refuse what cannot be done.

        Raises:
            UsageError: fewer than one job.
        """
        if self.jobs is not None and self.jobs < 1:
            raise UsageError(f"--jobs {self.jobs}: at least 1 job has to run at a time")
