"""Ends a command with the exit code that its outcome deserves, never with a traceback for a user's mistake."""

from __future__ import annotations

import atexit
import contextlib
import errno
import functools
import os
import sys
import traceback
from typing import TYPE_CHECKING, NoReturn, ParamSpec

from rich.console import Console

from crossmatrix.errors import CrossmatrixError, ExitCode, InfrastructureError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

P = ParamSpec("P")
_IN_A_FILE = 100
"""Columns where no terminal says how many there are."""


def console() -> Console:
    """Give the console that results go to; its width is ``COLUMNS``, or the terminal's, or 100 in a file."""
    columns = os.environ.get("COLUMNS", "")
    wide = int(columns) if columns.isdecimal() and columns.isascii() else 0
    # rich would read COLUMNS itself, and take 0 for a width.
    others = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    return _Console(
        width=wide or (None if sys.stdout.isatty() else _IN_A_FILE), highlight=False, soft_wrap=False, _environ=others
    )


class _Console(Console):
    """A console that leaves a broken pipe to ``exit_code_of``, in whatever thread it is noticed."""

    def on_broken_pipe(self) -> None:
        """Raise the error again; rich would end the process here."""
        raise  # noqa: PLE0704 - rich calls this where the error is handled


def exit_code_of(command: Callable[[], ExitCode]) -> ExitCode:
    """Run a command and give its exit code.

    Errors of ours are printed to stderr with what to do, and so are refusals of the system that nobody foresaw.
    Ctrl-C outside of a run ends quietly with 130. Output that nobody reads any more, as with `| head`, is no success:
    what the command had to say was not said. Anything else is a defect of ours, and keeps its traceback.
    """
    try:
        if sys.stdout is None:
            raise UsageError("the standard output is closed", hint="send it to a file, or to /dev/null")  # noqa: TRY301
        code = command()
        sys.stdout.flush()
    except CrossmatrixError as error:
        code = _told(error)
    except KeyboardInterrupt:
        code = _say("interrupted", ExitCode.INTERRUPTED)
    except BrokenPipeError:
        _drop_output()
        code = ExitCode.UNEXPECTED
    except OSError as error:
        _drop_output_that_cannot_be_written()
        code = _told(_refused(error))
    except Exception:  # noqa: BLE001 - the last place where it can be explained
        traceback.print_exc()
        code = _say("this is a defect of Crossmatrix, no fault of yours; please report it", ExitCode.UNEXPECTED)
    return code


def _told(error: CrossmatrixError) -> ExitCode:
    return _say(str(error), error.exit_code)


def _say(words: str, code: ExitCode) -> ExitCode:
    Console(stderr=True, highlight=False).print(f"crossmatrix: {words}", markup=False, soft_wrap=True)
    return code


def _refused(error: OSError) -> InfrastructureError:
    """Put a refusal of the system into a sentence: what, and which file; a write that fails does not name its own."""
    names = [os.fsdecode(name) for name in (error.filename, error.filename2) if isinstance(name, str | bytes)]
    writing = error.errno in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EBADF}
    unnamed = "the output, or a file, cannot be written" if writing else "the system refuses to go on"
    what = " and ".join(names) or unnamed
    return InfrastructureError(f"{what}: {error.strerror or error}", hint="`invoke doctor` checks what we need")


def _drop_output() -> None:
    """Send what is still buffered nowhere, so that it does not raise at exit."""
    with contextlib.suppress(OSError, ValueError), open(os.devnull, "wb") as nowhere:  # noqa: PTH123 - a name
        os.dup2(nowhere.fileno(), sys.stdout.fileno())


def _drop_output_that_cannot_be_written() -> None:
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        _drop_output()


@functools.cache
def guard_the_end() -> None:
    """Let, from now on, output that `invoke` itself prints, such as its list of tasks, end like that of a command."""
    before = sys.excepthook

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if isinstance(error, OSError):
            _leave(error)
        before(kind, error, trace)

    sys.excepthook = hook
    atexit.register(_flush_at_exit)


def _flush_at_exit() -> None:
    """Write what is left; Python's own attempt would end with a traceback and exit code 120."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError as error:
        _leave(error)
    except ValueError:
        return


def _leave(error: OSError) -> NoReturn:
    """End the process at once, where an exit code can no longer be handed back."""
    _drop_output_that_cannot_be_written()
    code = ExitCode.UNEXPECTED if isinstance(error, BrokenPipeError) else _told(_refused(error))
    os._exit(int(code))


def guarded(command: Callable[P, ExitCode]) -> Callable[P, None]:
    """Run a command; leave the process with its exit code, unless that is 0: then the next task has its turn."""

    @functools.wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        code = exit_code_of(lambda: command(*args, **kwargs))
        if code is not ExitCode.OK:
            raise SystemExit(int(code))

    return run
