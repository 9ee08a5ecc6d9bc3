"""The state directory as a whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from filelock import FileLock

from crossmatrix.disk import disk_faults
from crossmatrix.errors import StoreError
from crossmatrix.store.atomic import write_text
from crossmatrix.store.results import Results
from crossmatrix.store.runs import Runs
from crossmatrix.store.shared import SharedLock

if TYPE_CHECKING:
    from pathlib import Path

FORMAT = 1
"""Version of the layout; a state directory of a newer one is refused, never touched."""


TREE = "tree-"
"""How the names of those locks begin that many may share."""


def is_state(home: Path) -> bool:
    """Whether a folder is a state directory: it says its format. Any other may be somebody's work, and is let alone."""
    try:
        return (home / "format").is_file()
    except OSError:
        return False


@dataclass(frozen=True, kw_only=True, slots=True)
class State:
    """A state directory that can be used."""

    home: Path
    results: Results
    runs: Runs

    @staticmethod
    def open(home: Path, *, writable: bool = True) -> State:
        """Open a state directory, made where there is none.

        Args:
            home: the folder.
            writable: make the folder and its format file where they are missing.

        Raises:
            StoreError: it is of a newer version of Crossmatrix, is no folder, or cannot be written.
        """
        file = home / "format"
        with disk_faults(home):
            usable = home.is_dir() or not home.exists()
            text = file.read_text(encoding="utf-8", errors="replace").strip() if usable and file.is_file() else ""
        if not usable:
            raise StoreError(f"the state directory {home} is not a folder", hint="set CROSSMATRIX_HOME to a folder")
        if text and not (text.isascii() and text.isdecimal()):
            raise StoreError(
                f"{file}: expected the number of a format, found {text[:40]!r}",
                hint="move the folder away, or set CROSSMATRIX_HOME to another",
            )
        if text and int(text) > FORMAT:
            raise StoreError(
                f"the state directory {home} has format {text}, of a newer Crossmatrix; this one knows {FORMAT}",
                hint="update Crossmatrix, or set CROSSMATRIX_HOME to another folder",
            )
        if writable and not text:
            write_text(file, f"{FORMAT}\n")
        return State(home=home, results=Results(home / "results"), runs=Runs(home / "runs"))

    def lock(self, name: str) -> FileLock:
        """Give the lock of a name; whoever holds it is alive, since the system frees it when a process dies."""
        # No marker file instead where the disk knows no locks: that of a dead process would stay for ever.
        return FileLock(self._lock_file(name), thread_local=False, fallback_to_soft=False)

    def tree_lock(self, build_key: str, *, alone: bool) -> SharedLock:
        """Give the lock of a build's tree: those who test it share it, who makes it holds it alone."""
        return SharedLock(self._lock_file(f"{TREE}{build_key[:40]}"), alone=alone)

    def _lock_file(self, name: str) -> Path:
        folder = self.home / "locks"
        with disk_faults(folder):
            folder.mkdir(parents=True, exist_ok=True)
        return folder / f"{name}.lock"
