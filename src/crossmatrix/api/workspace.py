"""Where a command works: the checkout, the state directory, the environment."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from crossmatrix.engine import connect, image_specs
from crossmatrix.errors import UsageError
from crossmatrix.recipes import load_catalog
from crossmatrix.steps.sources import Fetcher
from crossmatrix.store import State

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from crossmatrix.catalog import Catalog
    from crossmatrix.engine import DockerEngine
    from crossmatrix.engine.types import ImageSpec

HOME_VARIABLE = "CROSSMATRIX_HOME"
MIRROR_VARIABLE = "CROSSMATRIX_MIRROR"
RECIPES_VARIABLE = "CROSSMATRIX_RECIPES"


@dataclass(frozen=True, kw_only=True)
class Workspace:
    """A checkout with its state directory.

    Attributes:
        root: of the checkout, with ``recipes/`` and ``images/``.
        home: the state directory; it need not exist.
        environ: the process environment, read once.
    """

    root: Path
    home: Path
    environ: Mapping[str, str]

    @classmethod
    def at(cls, root: Path, environ: Mapping[str, str]) -> Workspace:
        """Give the workspace of a checkout; ``CROSSMATRIX_HOME`` moves the state directory elsewhere."""
        named = environ.get(HOME_VARIABLE, "")
        home = Path(named).expanduser() if named else root / ".crossmatrix"
        return cls(root=root.resolve(), home=home.absolute(), environ=dict(environ))

    @cached_property
    def catalog(self) -> Catalog:
        """All recipes, checked.

        Raises:
            RecipeError: with everything that is wrong in them.
        """
        return load_catalog(self.root, self.recipe_folders)

    @property
    def recipe_folders(self) -> tuple[Path, ...]:
        """Further recipe folders, in their order: ``CROSSMATRIX_RECIPES``, separated by colons."""
        return recipe_folders(self.environ)

    def state(self, *, writable: bool = True) -> State:
        """Open the state directory.

        Raises:
            StoreError: it cannot be used.
        """
        return State.open(self.home, writable=writable)

    def mirrors(self, named: Sequence[str] = ()) -> tuple[Path, ...]:
        """Give the folders with release files, in the order in which they are asked.

        Args:
            named: by the user, for this command; ``CROSSMATRIX_MIRROR`` names one more.

        Raises:
            UsageError: one is no folder that can be read; its files would silently come from elsewhere.
        """
        folders = self._mirrors(named)
        for words, folder in folders:
            why = unreadable(folder)
            if why:
                raise UsageError(f"{words}: {why}", hint="name a folder with release files, or leave it out")
        return tuple(folder for _words, folder in folders)

    def _mirrors(self, named: Sequence[str]) -> tuple[tuple[str, Path], ...]:
        every = [(f"--mirror {text}", text) for text in named]
        variable = self.environ.get(MIRROR_VARIABLE, "")
        every += [(f"{MIRROR_VARIABLE}={variable}", variable)] if variable else []
        return tuple((words, Path(text).expanduser()) for words, text in every)

    def fetcher(self, *, mirrors: tuple[str, ...] = (), tell: Callable[[str], None]) -> Fetcher:
        """Give what fetches sources into the state directory.

        Args:
            mirrors: folders that are tried before upstream; ``CROSSMATRIX_MIRROR`` names one more.
            tell: is told of progress.
        """
        return Fetcher(home=self.home, mirrors=tuple(folder for _, folder in self._mirrors(mirrors)), tell=tell)

    def engine(
        self,
        fetcher: Fetcher,
        *,
        start: bool = True,
        tell: Callable[[str], None] = lambda _: None,
    ) -> DockerEngine:
        """Connect to an engine, and start one of our own where there is none and we may.

        Raises:
            NoEngineError: none answers and none can be started.
        """
        return connect(
            self.environ,
            self.home,
            root=self.root,
            start=start,
            source_file=fetcher.release_file,
            note=tell,
        )

    def image_specs(self) -> Mapping[str, ImageSpec]:
        """Give the specs of all images, by name."""
        return image_specs(self.catalog, self.root)


def recipe_folders(environ: Mapping[str, str]) -> tuple[Path, ...]:
    """Give the further recipe folders that the environment names; relative ones count from the current folder."""
    names = environ.get(RECIPES_VARIABLE, "").split(os.pathsep)
    return tuple(Path(name).expanduser().absolute() for name in names if name)


def unreadable(folder: Path) -> str:
    """Say why nothing can be read from a folder; empty where it can."""
    try:
        if not folder.exists():
            return "there is no such folder"
        if not folder.is_dir():
            return "this is no folder"
    except OSError as error:
        return (error.strerror or "it cannot be read").lower()
    return "" if os.access(folder, os.R_OK | os.X_OK) else "it may not be read"
