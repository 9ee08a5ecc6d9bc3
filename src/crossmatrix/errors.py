"""The families of error: whose fault it is decides the exit code and whether a retry makes sense."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from enum import IntEnum
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class ExitCode(IntEnum):
    """What a command tells the shell."""

    OK = 0
    UNEXPECTED = 1
    USAGE = 2
    INFRASTRUCTURE = 3
    INTERRUPTED = 130


class CrossmatrixError(Exception):
    """An error with a message for the user: what is wrong, where, and in ``hint`` what to do."""

    exit_code: ClassVar[ExitCode] = ExitCode.UNEXPECTED

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        """Give the message, and the hint on a line of its own."""
        return f"{self.message}\n  {self.hint}" if self.hint else self.message


class UsageError(CrossmatrixError):
    """The user asked for something that does not exist or makes no sense; nothing was started."""

    exit_code = ExitCode.USAGE


class InfrastructureError(CrossmatrixError):
    """The engine, network, disk or an image is at fault, never the library; the only kind that is retried."""

    exit_code = ExitCode.INFRASTRUCTURE


class TransientError(InfrastructureError):
    """An infrastructure fault that may pass by itself, so that one more try makes sense."""


class NoEngineError(InfrastructureError):
    """No Docker-compatible engine answers."""


class NamedEngineError(NoEngineError):
    """The engine that the user named does not answer; no other is tried, so that to install one would not help."""


class NoSpaceError(InfrastructureError):
    """A disk, ours or the engine's, is full or about to be."""


class SourceError(InfrastructureError):
    """A source cannot be had from any of its origins, or is not what its checksum says."""


class PatchError(UsageError):
    """A patch of the user's does not apply."""


class StoreError(CrossmatrixError):
    """The state directory cannot be used: of a newer version, not writable, or damaged."""

    exit_code = ExitCode.USAGE


@dataclass(frozen=True, kw_only=True, slots=True)
class Problem:
    """One thing wrong with a recipe: where it stands (``line`` counts from 1) and what to do."""

    file: str
    line: int
    message: str

    def __str__(self) -> str:
        """Give ``file:line: message``, which editors can jump to."""
        return f"{self.file}:{self.line}: {self.message}"


class RecipeError(UsageError):
    """Everything that is wrong with the recipes, all at once."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        count = len(problems)
        super().__init__(
            f"{count} problem{'s' if count != 1 else ''} in the recipes:\n"
            + "\n".join(f"  {problem}" for problem in problems),
        )
        self.problems = tuple(problems)


def nearest(word: str, known: Iterable[str]) -> str:
    """Say which known names there are, the nearest first: ``did you mean 'openssl'?``.

    Args:
        word: what the user wrote.
        known: the right names.

    Returns:
        A sentence for the end of an error message.
    """
    names = sorted(set(known))
    close = get_close_matches(word, names, n=1, cutoff=0.5)
    if close:
        return f"did you mean {close[0]!r}?"
    return f"known: {', '.join(names)}" if names else "there are none"
