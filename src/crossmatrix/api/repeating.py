"""The command that asks for the same again, so that it can be pasted where the first one was given."""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

from crossmatrix.api.choosing import is_of, name_of
from crossmatrix.api.workspace import HOME_VARIABLE, MIRROR_VARIABLE, RECIPES_VARIABLE
from crossmatrix.engine.connect import CHOICE
from crossmatrix.records import MEASURED_TIER

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from crossmatrix.api.options import Choice
    from crossmatrix.api.workspace import Workspace
    from crossmatrix.catalog import Cell, SourceSpec


def program_words(workspace: Workspace, current: Path) -> str:
    """Give how a command begins: the variables that decide what is run, and the program.

    The address of a Debian mirror is left out: it may hold a password, and reports are passed on.

    Args:
        workspace: with the environment that the command had.
        current: the folder in which it was given.
    """
    environ = workspace.environ
    values = {
        HOME_VARIABLE: str(workspace.home) if environ.get(HOME_VARIABLE) else "",
        RECIPES_VARIABLE: os.pathsep.join(map(str, workspace.recipe_folders)),
        MIRROR_VARIABLE: _absolute(environ.get(MIRROR_VARIABLE, ""), current),
        CHOICE: environ.get(CHOICE, ""),
    }
    own = [f"{name}={shlex.quote(value)}" for name, value in values.items() if value]
    program = "./bootstrap" if current == workspace.root else shlex.quote(str(workspace.root / "bootstrap"))
    return " ".join([*own, program])


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """What was asked for, and where.

    Attributes:
        choice: which cells; what only picks among a matrix's cells is left to a cell's id.
        algorithms: what is measured, for ``bench``; empty for all.
        sources: what the choice's sources and patches are, by library or series.
        root: of the checkout.
        current: folder in which it was asked; relative paths count from there.
    """

    choice: Choice
    algorithms: Sequence[str] = ()
    sources: Mapping[str, SourceSpec]
    root: Path
    current: Path

    def words(self, cell: Cell) -> tuple[str, ...]:
        """Give the words that a command needs, besides a cell's id, to ask for the same of that cell alone.

        What concerns other cells only is left out: it would be refused, being of no use.
        """
        choice, library = self.choice, cell.build.library
        words = [f"--matrix {shlex.quote(choice.matrix)}"]
        words += [f"--tier {shlex.quote(choice.tier)}"] if choice.tier not in {"", MEASURED_TIER} else []
        words += [f"--source {self._named(text)}" for text in choice.sources if self._is_source_of(cell, text)]
        if cell.build.source.patches:
            words += [f"--patch {self._named(text)}" for text in choice.patches if is_of(name_of(text), library.name)]
        words += [f"--mirror {shlex.quote(self._place(mirror))}" for mirror in choice.mirrors]
        names = [name for name in self.algorithms if name in library.algorithms or not library.algorithms]
        words += [f"--algorithms {shlex.quote(','.join(names))}"] if names else []
        return tuple(words)

    def _is_source_of(self, cell: Cell, text: str) -> bool:
        spec = self.sources.get(name_of(text))
        return spec is not None and spec.digest == cell.build.source.digest

    def _named(self, text: str) -> str:
        name, equals, path = text.partition("=")
        return shlex.quote(f"{name}{equals}{self._place(path)}")

    def _place(self, text: str) -> str:
        return _place(text, self.root, self.current)


def _place(text: str, root: Path, current: Path) -> str:
    """Write a path, with ``@REF`` behind it or not: from the checkout where it lies in it and we are there."""
    path = _absolute(text, current)
    if current != root or not path.startswith(f"{root}{os.sep}"):
        return path
    inside = path.removeprefix(f"{root}{os.sep}")
    # Not to be taken for an option, or for somebody's home.
    return f".{os.sep}{inside}" if inside[:1] in {"", "-", "~"} else inside


def _absolute(text: str, current: Path) -> str:
    """Make a path absolute as text: ``Path`` would change what stands behind the ``@`` of ``PATH@REF``."""
    return os.path.join(current, os.path.expanduser(text)) if text else ""  # noqa: PTH111, PTH118 - as above
