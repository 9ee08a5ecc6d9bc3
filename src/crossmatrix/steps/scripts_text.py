"""Shell scripts as text: the files under ``scripts/`` with the values that they work on in front."""

from __future__ import annotations

import shlex
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


@lru_cache(maxsize=64)
def script_text(name: str) -> str:
    """Read a file of ``scripts/``."""
    return (files("crossmatrix.steps") / "scripts" / name).read_text(encoding="utf-8")


def with_values(name: str, arguments: Sequence[str] = (), **values: str) -> str:
    """Give a script with its values in front: shell variables that are not exported, and positional arguments.

    They are no part of the environment, because a larger environment shifts instruction counts.

    Args:
        name: of the file under ``scripts/``.
        arguments: become ``$1``, ``$2``, ....
        values: variables by lower-case name; the script sees them in upper case.

    Returns:
        A script for ``sh -eu -c``.
    """
    lines = [f"{key.upper()}={shlex.quote(value)}" for key, value in values.items()]
    lines.append(f"set -- {shlex.join(arguments)}" if arguments else "set --")
    return "\n".join(lines) + "\n" + script_text(name)


def clean_function(environment: Iterable[tuple[str, str]]) -> str:
    """Give the shell function ``clean``: starts a program with these variables and no others.

    Args:
        environment: names and values; an empty value is set, not left out.
    """
    assignments = " ".join(shlex.quote(f"{name}={value}") for name, value in environment)
    return f'clean() {{ env -i {assignments} "$@"; }}\n'
