"""Mounts that must be there before a daemon starts, and those that must be gone before a folder is removed."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from crossmatrix.errors import InfrastructureError

_NEEDED = {"cpu", "memory", "pids"}
_CGROUPS = Path("/sys/fs/cgroup")
_LIMIT_S = 60


def mount_points() -> tuple[Path, ...]:
    """List all mount points that this process sees, in the order in which they were mounted."""
    try:
        text = Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return ()
    return tuple(parse_mountinfo(text))


def parse_mountinfo(text: str) -> list[Path]:
    """Read mount points from ``/proc/self/mountinfo``: fifth field, blanks and the like as octal (see proc(5))."""
    fields = (line.split(" ") for line in text.splitlines())
    return [Path(re.sub(r"\\([0-7]{3})", _byte, field[4])) for field in fields if len(field) > 4]  # noqa: PLR2004


def _byte(match: re.Match[str]) -> str:
    """Give the character that an octal escape stands for; all of them are ASCII."""
    return chr(int(match[1], 8))


def mounts_below(folder: Path) -> list[Path]:
    """List the mount points at or below a folder, in the order in which they were mounted."""
    folder = folder.resolve()
    return [point for point in mount_points() if point == folder or folder in point.parents]


def unmount_below(folder: Path) -> int:
    """Unmount everything at or below a folder, the innermost first.

    Returns:
        How many mounts there were.

    Raises:
        InfrastructureError: one of them cannot be unmounted.
    """
    points = mounts_below(folder)
    for point in reversed(points):
        why = _unmount(point)
        if why and point in mount_points():
            raise InfrastructureError(
                f"Could not unmount {point}: {why}",
                hint=f"See what uses it, then `umount {point}` as root.",
            )
    return len(points)


def _unmount(point: Path) -> str:
    """Unmount one; says why that failed, or nothing."""
    command = ["umount", "-l", "--", os.fspath(point)]
    try:
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=_LIMIT_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return (done.stderr.strip() or f"exit code {done.returncode}") if done.returncode != 0 else ""


def mount_cgroups() -> None:
    """Mount control groups where nothing has: a bare machine without systemd starts with none.

    Version 2 where the kernel gives it the controllers we need, else version 1, one mount a controller.

    Raises:
        InfrastructureError: the kernel lets us mount neither.
    """
    if any(point == _CGROUPS or _CGROUPS in point.parents for point in mount_points()):
        return
    if _mount("cgroup2", _CGROUPS, ()):
        if set((_CGROUPS / "cgroup.controllers").read_text(encoding="ascii").split()) >= _NEEDED:
            return
        unmount_below(_CGROUPS)
    if not _mount("tmpfs", _CGROUPS, ("-o", "mode=755")):
        raise InfrastructureError(f"Control groups are not mounted at {_CGROUPS}, and we may not mount them.")
    for line in Path("/proc/cgroups").read_text(encoding="ascii").splitlines():
        name, *rest = line.split()
        if not name.startswith("#") and rest[-1] == "1":
            (_CGROUPS / name).mkdir(exist_ok=True)
            _mount("cgroup", _CGROUPS / name, ("-o", name))


def _mount(kind: str, point: Path, options: tuple[str, ...]) -> bool:
    """Mount a file system of the kernel's; says whether it worked."""
    command = ["mount", "-t", kind, *options, kind, os.fspath(point)]
    return subprocess.run(command, check=False, capture_output=True, timeout=_LIMIT_S).returncode == 0
