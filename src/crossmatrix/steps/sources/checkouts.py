"""Git checkouts as sources: what a ref stands for, what is in it, and the archive made of it."""

from __future__ import annotations

import os
import pwd
import subprocess
from typing import TYPE_CHECKING, TypedDict

from crossmatrix.errors import SourceError, UsageError

if TYPE_CHECKING:
    from pathlib import Path

_GIT_S = 600
_REFUSED = ("dubious ownership", "unsafe repository")


class _AsWhom(TypedDict, total=False):
    """Arguments of ``subprocess.run`` that say as whom a program runs."""

    user: int
    group: int
    extra_groups: list[int]


def git_tree(checkout: Path, ref: str) -> tuple[str, str]:
    """Give commit and tree id of a ref in a checkout.

    Raises:
        UsageError: it is no git checkout, has no such ref, or git is missing or refuses to read it.
    """
    commit = _rev_parse(checkout, ref, f"{ref}^{{commit}}")
    return commit, _rev_parse(checkout, ref, f"{commit}^{{tree}}")


def has_file(checkout: Path, commit: str, name: str) -> bool:
    """Say whether a commit has a file in its top folder."""
    return _git(checkout, "cat-file", "-e", f"{commit}:{name}").returncode == 0


def is_bare(path: Path) -> bool:
    """Say whether a directory is a git repository without files: what it holds is no source."""
    return (path / "HEAD").is_file() and (path / "objects").is_dir() and (path / "refs").is_dir()


def git_archive(checkout: Path, commit: str, into: Path) -> None:
    """Write a commit as a tar with one top folder, ``source``.

    Raises:
        SourceError: git cannot.
    """
    try:
        with into.open("wb") as file:
            done = _git(checkout, "archive", "--format=tar", "--prefix=source/", commit, stdout=file.fileno())
    except UsageError as error:
        raise SourceError(error.message, hint=error.hint) from error
    if done.returncode != 0:
        why = done.stderr.decode(errors="replace").strip()[:300]
        raise SourceError(f"git archive of {checkout} at {commit[:12]} failed: {why}")


def _rev_parse(checkout: Path, ref: str, revision: str) -> str:
    # First of all whether git reads it at all: --quiet would say of every fault that the ref is missing.
    opened = _git(checkout, "rev-parse", "--git-dir")
    if opened.returncode != 0:
        raise _unreadable(checkout, opened.stderr.decode(errors="replace"))
    done = _git(checkout, "rev-parse", "--verify", "--quiet", "--end-of-options", revision)
    if done.returncode != 0:
        raise UsageError(
            f"the git checkout {checkout} has no ref {ref!r}",
            hint=f"`git -C {checkout} branch -a` and `git -C {checkout} tag` list what there is",
        )
    # --end-of-options is echoed by some versions of git.
    return done.stdout.decode().split()[-1]


def _unreadable(checkout: Path, said: str) -> UsageError:
    if any(words in said for words in _REFUSED):
        return UsageError(
            f"git refuses to read {checkout}, which belongs to {_name(checkout.stat().st_uid)} and not to you",
            hint=f"run the command as its owner, or trust it: git config --global --add safe.directory {checkout}",
        )
    why = next((line for line in said.splitlines() if line.startswith("fatal:")), said.strip() or "git said nothing")
    owner = checkout.stat().st_uid
    hint = f"git is run as its owner, {_name(owner)}, who must be able to reach it" if _as_owner(checkout) else ""
    return UsageError(f"git cannot read {checkout}: {why.removeprefix('fatal: ')}", hint=hint)


def _git(checkout: Path, *words: str, stdout: int = subprocess.PIPE) -> subprocess.CompletedProcess[bytes]:
    command = ["git", "-C", str(checkout), *words]
    owner = _as_owner(checkout)
    environment = {**os.environ, "LC_ALL": "C"}
    if owner:
        environment |= {"HOME": "/nonexistent", "XDG_CONFIG_HOME": "/nonexistent"}
    try:
        return subprocess.run(
            command,
            stdout=stdout,
            stderr=subprocess.PIPE,
            env=environment,
            cwd="/",
            timeout=_GIT_S,
            check=False,
            **owner,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UsageError(f"git cannot be asked about {checkout}: {error}", hint="is git installed?") from error


def _as_owner(checkout: Path) -> _AsWhom:
    """Say as whom git runs: root reads somebody's checkout as that user, for its configuration can name programs."""
    status = checkout.stat()
    if os.geteuid() != 0 or status.st_uid == 0:
        return {}
    try:
        entry = pwd.getpwuid(status.st_uid)
        groups = os.getgrouplist(entry.pw_name, entry.pw_gid)
    except (KeyError, OSError):
        groups = []
    return {"user": status.st_uid, "group": status.st_gid, "extra_groups": groups}


def _name(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"user {uid}"
