"""Looks over the command line before invoke does: a wrong word gets the nearest right one, and exit code 2."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crossmatrix.errors import UsageError, nearest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from crossmatrix.cli.options import Option


def check_words(
    words: Sequence[str],
    tasks: Mapping[str, Sequence[Option]],
    own: Mapping[str, bool],
) -> None:
    """See that every task and option on a command line exists and has its value.

    Args:
        words: after the program's name.
        tasks: options by task name.
        own: options of invoke itself, such as ``--help``, and whether they take a value.

    Raises:
        UsageError: with the first word that is wrong, and what to write instead.
    """
    rest = list(words)
    task = ""
    bare = 0
    while rest:
        word = rest.pop(0)
        if word == "--":
            return
        if word.startswith("-") and word != "-":
            name, equals, _value = word.partition("=")
            takes_value = _takes_value(name, task, tasks, own)
            if takes_value and not equals:
                _take_value(name, rest)
        elif word in tasks:
            task, bare = word, sum(option.positional for option in tasks[word])
        elif not task:
            raise UsageError(f"there is no task {word!r}; {nearest(word, tasks)}", hint="`invoke --list` has them all")
        elif bare:
            bare -= 1
        else:
            raise UsageError(
                f"{task}: cannot make anything of the word {word!r}",
                hint=f"`invoke --help {task}` lists its options; a glob over cells stands directly after the task",
            )


def _takes_value(name: str, task: str, tasks: Mapping[str, Sequence[Option]], own: Mapping[str, bool]) -> bool:
    """Whether an option takes a value.

    Raises:
        UsageError: there is no such option.
    """
    if name in own:
        return own[name]
    known = {f"--{option.name.replace('_', '-')}": option for option in tasks.get(task, ())}
    if name not in known:
        where = f"{task}: " if task else ""
        raise UsageError(f"{where}there is no option {name!r}; {nearest(name, _shown(known, own, task))}")
    return not isinstance(known[name].default, bool)


def _shown(known: Iterable[str], own: Iterable[str], task: str) -> tuple[str, ...]:
    return tuple(known) if task and known else tuple(name for name in own if name.startswith("--"))


def _take_value(name: str, rest: list[str]) -> None:
    if not rest or (rest[0].startswith("--") and len(rest[0]) > len("--")):
        raise UsageError(f"the option {name} needs a value", hint=f"write {name} VALUE or {name}=VALUE")
    rest.pop(0)
