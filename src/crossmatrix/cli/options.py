"""Options of the tasks, each described once, and the decorator that gives them to a task of `invoke`."""

from __future__ import annotations

import inspect
import itertools
import shlex
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from invoke.program import Program
from invoke.tasks import task

from crossmatrix.api.options import DEFAULT_MATRIX, Choice, Manner
from crossmatrix.cli.guard import exit_code_of, guard_the_end, guarded
from crossmatrix.cli.words import check_words
from crossmatrix.errors import ExitCode, UsageError, nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from invoke.context import Context
    from invoke.tasks import Task

Value = str | bool | list[str]


@dataclass(frozen=True, kw_only=True, slots=True)
class Option:
    """One option: a default of ``False`` makes a flag, of ``[]`` one that may be repeated."""

    name: str
    help: str
    default: Value | None = ""
    positional: bool = False


@dataclass(frozen=True, slots=True)
class Options:
    """What the user gave, by option name."""

    values: Mapping[str, Value]

    def text(self, name: str) -> str:
        """Give the value of an ordinary option."""
        return str(self.values.get(name) or "")

    def flag(self, name: str) -> bool:
        """Whether a flag is set."""
        return bool(self.values.get(name))

    def many(self, name: str) -> tuple[str, ...]:
        """Give the values of an option that may be repeated."""
        value = self.values.get(name)
        return tuple(value) if isinstance(value, list) else ()

    def words(self, name: str) -> tuple[str, ...]:
        """Give the words of an option, split at commas, however often it was given; empty where it was not.

        Raises:
            UsageError: it was given without any word.
        """
        value = self.values.get(name) or []
        texts = value if isinstance(value, list) else [str(value)]
        words = tuple(word for text in texts for part in text.split(",") if (word := part.strip()))
        if texts and not words:
            raise UsageError(f"the value of --{name} is empty", hint="leave the option out for its default")
        return words

    def number(self, name: str) -> int | None:
        """Give a whole number; None where the option was not given.

        Raises:
            UsageError: it is no whole number.
        """
        text = self.text(name)
        try:
            return int(text) if text else None
        except ValueError as error:
            raise UsageError(f"--{name} wants a whole number, not {text!r}") from error

    def format(self, known: Iterable[str]) -> str:
        """Give the output format.

        Raises:
            UsageError: it is not one of the known.
        """
        word, formats = self.text("format"), tuple(known)
        if word not in formats:
            raise UsageError(f"unknown --format {word!r}; {nearest(word, formats)}")
        return word

    def choice(self) -> Choice:
        """Read the options that say which cells."""
        return Choice(
            matrix=self.text("matrix") or DEFAULT_MATRIX,
            only=self.many("only"),
            skip=self.many("skip"),
            cells=self.words("cells"),
            tier=self.text("tier"),
            sources=self.many("source"),
            patches=self.many("patch"),
            mirrors=self.many("mirror"),
        )

    def manner(self) -> Manner:
        """Read the options that say how they are run.

        Raises:
            UsageError: two contradict each other.
        """
        if self.flag("keep_going") and self.flag("fail_fast"):
            raise UsageError("--keep-going and --fail-fast exclude each other", hint="leave one of them out")
        return Manner(
            jobs=self.number("jobs"),
            fresh=self.flag("fresh"),
            fail_fast=self.flag("fail_fast"),
            keep_container=self.flag("keep_container"),
            algorithms=self.words("algorithms"),
            command=command_line(sys.argv),
        )


CHOICE = (
    Option(name="matrix", help=f"name of the matrix recipe (default: {DEFAULT_MATRIX})"),
    Option(name="cells", help="globs over cell ids, separated by commas"),
    Option(name="only", help="VALUE: what cells must match: library=nettle,endian=big", default=[]),
    Option(name="skip", help="VALUE: words of cells that are left out", default=[]),
    Option(name="tier", help="how much of the test suites runs: smoke, core, full"),
    Option(name="source", help="VALUE: openssl=PATH@REF, =FOLDER or =FILE instead of a release", default=[]),
    Option(name="patch", help="VALUE: openssl=FILE, applied on top; repeat it for more, in order", default=[]),
    Option(name="mirror", help="VALUE: folder with release files, tried first", default=[]),
)
BEFORE_AND_AFTER = (
    Option(name="before", help="the reference: a cell's id, RUN:CELL, or a run: latest, an id or its beginning"),
    Option(name="after", help="what is judged, named likewise"),
)
JOBS = Option(name="jobs", help="how many jobs at a time (default: what the engine's CPUs and memory bear)")
FRESH = Option(name="fresh", help="use nothing of earlier runs", default=False)
MANNER = (
    JOBS,
    FRESH,
    Option(name="keep_going", help="go on after a failure; this is the default", default=False),
    Option(name="fail_fast", help="end the run with the first cell that is not as expected", default=False),
    Option(name="keep_container", help="leave the jobs' containers, for a look inside", default=False),
)


TASKS: dict[str, tuple[Option, ...]] = {}
"""The options of every task that was made, by its name."""


NAMES = frozenset(
    "bench clean compare doctor engine images lint list matrix plan report test".split()  # noqa: SIM905 - shorter so
)
"""Names of all tasks, known before they are made: behind another task such a word is the next task, no glob."""


def format_option(*known: str) -> Option:
    """Give the option ``--format``."""
    return Option(name="format", help=f"one of: {', '.join(known)}", default=known[0])


def with_bare_words(options: Sequence[Option], names: Sequence[str], task_name: str) -> tuple[Option, ...]:
    """Let options also be given as bare words directly behind the task: ``invoke bench 'nettle*'``.

    invoke knows bare words only as required ones, so as many options are declared as such as there are words.
    """
    words = sys.argv[1:]
    after = words[words.index(task_name) + 1 :] if task_name in words else []
    bare = len(
        list(itertools.takewhile(lambda word: not word.startswith("-") and word not in NAMES, after[: len(names)])),
    )
    return tuple(
        replace(option, default=None, positional=True) if option.name in names[:bare] else option for option in options
    )


def command(
    *options: Option,
    name: str | None = None,
    default: bool = False,
) -> Callable[[Callable[[Options], ExitCode]], Task[Callable[..., None]]]:
    """Make a task of a function of its options; invoke reads names and defaults from the signature made here."""

    def decorate(body: Callable[[Options], ExitCode]) -> Task[Callable[..., None]]:
        run = guarded(body)

        def invoked(_context: Context, **values: Value) -> None:
            run(Options(values))

        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        invoked.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            [inspect.Parameter("context", kind)]
            + [
                inspect.Parameter(option.name, kind)
                if option.positional
                else inspect.Parameter(option.name, kind, default=option.default)
                for option in sorted(options, key=lambda option: not option.positional)
            ],
        )
        invoked.__name__ = name or body.__name__
        invoked.__doc__ = body.__doc__
        made: Task[Callable[..., None]] = task(
            name=name or body.__name__,
            default=default,
            auto_shortflags=False,
            positional=[option.name for option in options if option.positional],
            iterable=[option.name for option in options if isinstance(option.default, list)],
            help={option.name.replace("_", "-"): option.help for option in options},
        )(invoked)
        TASKS[name or body.__name__] = options
        return made

    return decorate


def look_over(arguments: Sequence[str]) -> None:
    """Leave with exit code 2 and words that help where a task or option on the command line does not exist."""
    own = options_of_invoke()
    if arguments and Path(arguments[0]).name in {"invoke", "inv"}:
        guard_the_end()

        def check() -> ExitCode:
            check_words(arguments[1:], TASKS, own)
            return ExitCode.OK

        code = exit_code_of(check)
        if code is not ExitCode.OK:
            raise SystemExit(int(code))


def options_of_invoke() -> dict[str, bool]:
    """Give invoke's own options, such as ``--search-root``, and whether they need a value; some may have one."""
    program = Program()
    arguments = (*program.core_args(), *program.task_args())
    return {
        flag: argument.takes_value and not argument.optional
        for argument in arguments
        for flag in _flags(argument.names)
    }


def _flags(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(f"-{name}" if len(name) == 1 else f"--{name}" for name in names)


def command_line(arguments: Sequence[str]) -> str:
    """Give the command as it was typed, for the record: without the program's folder and what bootstrap puts there."""
    if not arguments:
        return ""
    words = list(arguments[1:])
    if words[:1] == ["--search-root"]:
        words = words[2:]
    return shlex.join([Path(arguments[0]).name, *words])
