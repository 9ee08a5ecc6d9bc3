"""Where a command works: the checkout, the state directory, the environment."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from crossmatrix.engine import connect, image_specs
from crossmatrix.recipes import load_catalog
from crossmatrix.steps.sources import Fetcher
from crossmatrix.store import State

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from crossmatrix.catalog import Catalog
    from crossmatrix.engine import DockerEngine
    from crossmatrix.engine.types import ImageSpec

HOME_VARIABLE = "CROSSMATRIX_HOME"
MIRROR_VARIABLE = "CROSSMATRIX_MIRROR"


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
        return load_catalog(self.root)

    def state(self, *, writable: bool = True) -> State:
        """Open the state directory.

        Raises:
            StoreError: it cannot be used.
        """
        return State.open(self.home, writable=writable)

    def fetcher(self, *, mirrors: tuple[str, ...] = (), tell: Callable[[str], None]) -> Fetcher:
        """Give what fetches sources into the state directory.

        Args:
            mirrors: folders that are tried before upstream; ``CROSSMATRIX_MIRROR`` names one more.
            tell: is told of progress.
        """
        named = self.environ.get(MIRROR_VARIABLE, "")
        every = (*mirrors, *((named,) if named else ()))
        return Fetcher(home=self.home, mirrors=tuple(Path(path).expanduser() for path in every), tell=tell)

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
