"""Ends a command with the exit code that its outcome deserves, never with a traceback for a user's mistake."""

from __future__ import annotations

import contextlib
import functools
import os
import sys
from typing import TYPE_CHECKING, ParamSpec

from rich.console import Console

from crossmatrix.errors import CrossmatrixError, ExitCode

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")


def console() -> Console:
    """Give the console that results go to; its width is the terminal's, or ``COLUMNS``, or 100 in a file."""
    wide = None if sys.stdout.isatty() or os.environ.get("COLUMNS") else 100
    return _Console(width=wide, highlight=False, soft_wrap=False)


class _Console(Console):
    """A console that leaves a broken pipe to ``exit_code_of``, in whatever thread it is noticed."""

    def on_broken_pipe(self) -> None:
        """Raise the error again; rich would end the process here."""
        raise  # noqa: PLE0704 - rich calls this where the error is handled


def exit_code_of(command: Callable[[], ExitCode]) -> ExitCode:
    """Run a command and give its exit code.

    Errors of ours are printed to stderr with what to do, Ctrl-C outside of a run ends quietly with 130. Output that
    nobody reads any more, as with `| head`, is no success: what the command had to say was not said.
    """
    try:
        code = command()
        sys.stdout.flush()
    except CrossmatrixError as error:
        Console(stderr=True, highlight=False).print(f"crossmatrix: {error}", markup=False, soft_wrap=True)
        code = error.exit_code
    except KeyboardInterrupt:
        Console(stderr=True).print("crossmatrix: interrupted", markup=False)
        code = ExitCode.INTERRUPTED
    except BrokenPipeError:
        # What is still buffered must not raise at exit.
        with contextlib.suppress(OSError, ValueError), open(os.devnull, "wb") as nowhere:  # noqa: PTH123 - a name
            os.dup2(nowhere.fileno(), sys.stdout.fileno())
        code = ExitCode.UNEXPECTED
    return code


def guarded(command: Callable[P, ExitCode]) -> Callable[P, None]:
    """Run a command and leave the process with its exit code."""

    @functools.wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        code = exit_code_of(lambda: command(*args, **kwargs))
        raise SystemExit(int(code))

    return run
