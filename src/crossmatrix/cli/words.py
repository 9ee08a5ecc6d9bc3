"""Looks over the command line before invoke does: a wrong word gets the nearest right one, and exit code 2."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crossmatrix.errors import UsageError, nearest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from crossmatrix.cli.options import Option

WITHOUT_EFFECT = {
    "-R": "`invoke plan` shows what a run would do, `invoke clean --dry-run` what would be removed",
    "--dry": "`invoke plan` shows what a run would do, `invoke clean --dry-run` what would be removed",
    **dict.fromkeys(
        ("-e", "--echo", "--hide", "-p", "--pty", "-w", "--warn-only", "-T", "--command-timeout"),
        "it is about shell commands of invoke's own, and our tasks have none",
    ),
    "--prompt-for-sudo-password": "nothing here uses sudo",
}
"""Options of invoke's own that would change nothing, and what to do instead."""


def check_words(
    words: Sequence[str],
    tasks: Mapping[str, Sequence[Option]],
    own: Mapping[str, bool],
) -> None:
    """See that every task and option on a command line exists and has its value, once.

    Args:
        words: after the program's name.
        tasks: options by task name.
        own: options of invoke itself, such as ``--help``, and whether they take a value.

    Raises:
        UsageError: with the first word that is wrong, and what to write instead.
    """
    rest = list(words)
    task = ""
    bare: list[str] = []
    given: set[str] = set()
    while rest:
        word = rest.pop(0)
        if word == "--":
            raise UsageError("nothing can stand behind `--`", hint="write the task and its options without it")
        if word.startswith("-") and word != "-":
            _option(word, rest, task, given, _known(task, tasks, own))
        elif bare:
            _once(f"--{bare[0].replace('_', '-')}", task, given)
            _not_empty(f"--{bare.pop(0).replace('_', '-')}", word)
        elif word in tasks:
            task, given = word, set()
            bare = [option.name for option in tasks[word] if option.positional]
        elif not task:
            raise UsageError(f"there is no task {word!r}; {nearest(word, tasks)}", hint="`invoke --list` has them all")
        else:
            raise UsageError(f"{task}: cannot make anything of the word {word!r}", hint=_advice(word, task, tasks))
    if bare:
        raise UsageError(
            f"{task} stands twice on the line, and only once with a bare word",
            hint=f"write --{bare[0]} VALUE instead of the bare word",
        )


def _known(task: str, tasks: Mapping[str, Sequence[Option]], own: Mapping[str, bool]) -> dict[str, Option | bool]:
    """Give the options that can stand here: the task's, and invoke's own with whether they take a value."""
    return {**own, **{f"--{option.name.replace('_', '-')}": option for option in tasks.get(task, ())}}


def _option(word: str, rest: list[str], task: str, given: set[str], known: Mapping[str, Option | bool]) -> None:
    """Check one option, and take its value off the rest.

    Raises:
        UsageError: it does not exist, has no effect, is there twice, or its value is missing or not wanted.
    """
    name, equals, value = word.partition("=")
    where = f"{task}: " if task else ""
    if name not in known:
        raise UsageError(f"{where}there is no option {name!r}; {nearest(name, _shown(known, task))}")
    option = known[name]
    if isinstance(option, bool):
        if name in WITHOUT_EFFECT:
            raise UsageError(f"the option {name} has no effect here", hint=WITHOUT_EFFECT[name])
        if option and not equals:
            _value(name, rest)
        return
    if isinstance(option.default, bool):
        if equals:
            raise UsageError(f"{where}{name} takes no value", hint=f"write {name} alone, or leave it out")
        return
    if not isinstance(option.default, list):
        _once(name, task, given)
    _not_empty(name, value if equals else _value(name, rest))


def _shown(known: Mapping[str, Option | bool], task: str) -> tuple[str, ...]:
    """Give the options to choose from: the task's where there is one with options, else invoke's."""
    ours = tuple(name for name, option in known.items() if not isinstance(option, bool))
    if task and ours:
        return ours
    return tuple(name for name in known if name.startswith("--") and name not in WITHOUT_EFFECT)


def _value(name: str, rest: list[str]) -> str:
    if not rest or (rest[0].startswith("--") and len(rest[0]) > len("--")):
        raise UsageError(f"the option {name} needs a value", hint=f"write {name} VALUE or {name}=VALUE")
    return rest.pop(0)


def _once(name: str, task: str, given: set[str]) -> None:
    if name in given:
        raise UsageError(f"{task}: {name} is given twice", hint="it takes one value; leave the other out")
    given.add(name)


def _not_empty(name: str, value: str) -> None:
    """See that a value says something: an empty one is mostly a variable of the shell that was not set."""
    if not value.strip(" ,\t\n"):
        raise UsageError(
            f"the value of {name} is empty",
            hint="leave the option out for its default; if a variable of the shell stands there, it is not set",
        )


def _advice(word: str, task: str, tasks: Mapping[str, Iterable[Option]]) -> str:
    """Say what to write instead of a word that a task does not take."""
    options = {option.name.replace("_", "-"): option for option in tasks[task]}
    also = f"`invoke --help {task}` lists its options"
    if word.lower() in options and isinstance(options[word.lower()].default, bool):
        return f"did you mean --{word.lower()}? {also}"
    if "cells" in options:
        return f"{also}; a glob over cells stands directly after the task"
    first = next((name for name, option in options.items() if not isinstance(option.default, bool)), "")
    takes = bool(first) and not any(option.positional for option in options.values())
    return f"a value stands behind its option: --{first} {word}; {also}" if takes else also
