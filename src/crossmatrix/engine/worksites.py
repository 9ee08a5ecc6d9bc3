"""Where base images are bootstrapped: in the state directory, or elsewhere where its path will not do."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

from crossmatrix.checksums import sha256_value

_ELSEWHERE = Path("/var/tmp")  # noqa: S108 - what lies there is looked at only where it is this user's


def work_folder(home: Path, suite: str) -> Path:
    """Choose the folder to bootstrap in: debootstrap's scripts cannot do with blanks and the like in its path."""
    inside = home / "tmp" / f"base-{suite}-{os.getpid()}"
    if re.fullmatch(r"[A-Za-z0-9/._+-]+", str(inside)):
        return inside
    return _ELSEWHERE / f"{_elsewhere(home)}{suite}-{os.getpid()}"


def work_folders(home: Path) -> tuple[Path, ...]:
    """List the folders in which this user bootstrapped for a state directory and that are still there."""
    found = [*sorted((home / "tmp").glob("base-*")), *sorted(_ELSEWHERE.glob(f"{_elsewhere(home)}*"))]
    return tuple(path for path in found if _ours(path))


def _elsewhere(home: Path) -> str:
    """Give how the names of a state directory's folders in ``/var/tmp`` begin."""
    return f"crossmatrix-{sha256_value([str(home)])[:10]}-"


def _ours(path: Path) -> bool:
    """Whether it is a folder, and this user's, or lies where nobody else may make one; a link is none."""
    try:
        status = path.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and (path.parent != _ELSEWHERE or status.st_uid == os.geteuid())
