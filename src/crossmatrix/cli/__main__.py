"""``python -m crossmatrix.cli CHECKOUT [WORDS]``: whether a command can be begun. Bootstrap asks before it installs.

``python -m crossmatrix.cli --version`` prints the version.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from invoke.collection import Collection
from invoke.program import Program

from crossmatrix import __version__
from crossmatrix.api.workspace import Workspace
from crossmatrix.errors import ExitCode

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

REHEARSED = frozenset({"matrix", "images", "bench"})
"""Tasks that refuse whatever the user got wrong before they ask for an engine."""


class Ready(BaseException):
    """A command has come so far that it needs an engine. No error: nothing may catch it on its way."""


class _Rehearsal(Workspace):
    """A workspace in which commands end where they would begin."""

    def engine(self, *_words: object, **_named: object) -> NoReturn:
        """End the command."""
        raise Ready


def main(words: Sequence[str]) -> int:
    """Look a command over as far as that can be done without an engine; start nothing.

    Args:
        words: ``--version`` alone, or the checkout and the words behind ``./bootstrap``.

    Returns:
        The exit code: 0 where the command can be begun; else what was wrong stands on stderr.
    """
    if list(words) == ["--version"]:
        print(f"Crossmatrix {__version__}")  # noqa: T201 - what was asked for
        return ExitCode.OK
    root, *rest = words
    sys.argv = ["invoke", *rest]
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            tasks = _tasks(Path(root))
            if rest and rest[0] in REHEARSED:
                tasks.HERE = _Rehearsal.at(Path(root), os.environ)  # type: ignore[attr-defined]
                Program(namespace=Collection.from_module(tasks)).run(sys.argv)
    except Ready:
        return ExitCode.OK
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else ExitCode.OK
    return ExitCode.OK


def _tasks(root: Path) -> ModuleType:
    """Read a checkout's tasks, which looks the words over."""
    spec = importlib.util.spec_from_file_location("tasks", root / "tasks.py")
    if spec is None or spec.loader is None:
        raise ImportError(f"no tasks in {root}")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
