"""Patches on top of a source, applied with git outside of any repository, before anything long begins."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from crossmatrix.errors import PatchError

_APPLY_S = 120
_HUNK = re.compile(r"^@@ -(\d+)(?:,\d+)? \+\d+(?:,\d+)? @@.*$")
_FAILED = re.compile(r"^error: patch failed: (.+):(\d+)$", re.MULTILINE)


def apply_patches(tree: Path, patches: tuple[str, ...]) -> None:
    """Apply patches to a tree, in order. A file that is changed keeps its time, so that make sees no new order.

    Args:
        tree: top folder of the source.
        patches: files in the format of ``diff -u`` or ``git diff``, with one leading folder (``-p1``).

    Raises:
        PatchError: one does not apply; the message names the file, the hunk and its line.
    """
    for patch in patches:
        times = {name: _times(tree / name) for name in touched_files(_text(patch))}
        done = _git_apply(tree, patch)
        if done.returncode != 0:
            raise PatchError(
                explain(Path(patch).name, _text(patch), done.stderr),
                hint="make the patch against this very source; file names need one leading folder, as git diff gives",
            )
        for name, stamp in times.items():
            if stamp is not None and (tree / name).exists():
                os.utime(tree / name, ns=stamp)


def is_patch(text: str) -> bool:
    """Say whether a text can be a patch at all: it names a file."""
    return re.search(r"^(?:diff --git |\+\+\+ )\S", text, re.MULTILINE) is not None


def touched_files(text: str) -> tuple[str, ...]:
    """Give the files that a patch changes, without their leading folder."""
    names = re.findall(r"^\+\+\+ [^/\n]+/([^\t\n]+)", text, re.MULTILINE)
    return tuple(dict.fromkeys(name.strip() for name in names))


def explain(name: str, text: str, errors: str) -> str:
    """Say in one message why a patch does not apply.

    Args:
        name: of the patch.
        text: of the patch.
        errors: what ``git apply`` said.
    """
    failed = _FAILED.search(errors)
    if failed is None:
        lines = [line for line in errors.splitlines() if line.startswith(("error:", "fatal:"))]
        why = "; ".join(re.sub(r"^(error|fatal): |(?<=input) \(allow with .*\)$", "", line) for line in lines[:3])
        return f"the patch {name} does not apply: {why or 'git apply gave no reason'}"
    file, line = failed.group(1), int(failed.group(2))
    number, header = find_hunk(text, file, line)
    hunk = f"hunk {number} ({header})" if number else "a hunk"
    return f"the patch {name} does not apply: {hunk} of {file} fails at line {line}"


def find_hunk(text: str, file: str, line: int) -> tuple[int, str]:
    """Give number (from 1) and header of the hunk of a file whose old lines begin at ``line``, or 0 and nothing."""
    number, inside = 0, False
    for row in text.splitlines():
        if row.startswith("+++ "):
            number, inside = 0, row[4:].split("\t")[0].strip().partition("/")[2] == file
        elif inside and (match := _HUNK.match(row)):
            number += 1
            if int(match.group(1)) == line:
                return number, row
    return 0, ""


def _text(patch: str) -> str:
    try:
        return Path(patch).read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise PatchError(f"the patch {patch} cannot be read: {error.strerror}") from error


def _times(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_atime_ns, status.st_mtime_ns


def _git_apply(tree: Path, patch: str) -> subprocess.CompletedProcess[str]:
    # Inside a repository git passes over files that it does not know: so it must not find one above the tree.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment |= {"GIT_CEILING_DIRECTORIES": str(tree.resolve().parent), "LC_ALL": "C"}
    command = ["git", "apply", "-p1", "--whitespace=nowarn", str(Path(patch).absolute())]
    try:
        return subprocess.run(
            command,
            cwd=tree,
            env=environment,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_APPLY_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise PatchError(
            f"the patch {Path(patch).name} cannot be applied: {error}", hint="is git installed?"
        ) from error
