"""What ``invoke doctor`` sees: every prerequisite, whether it is there, and how to mend what is not."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from typing import TYPE_CHECKING

import psutil

from crossmatrix.analysis.words import counted
from crossmatrix.api.origins import Row, origins, reach, reached
from crossmatrix.api.running import LEAST_FREE_BYTES
from crossmatrix.api.workspace import recipe_folders
from crossmatrix.engine import connect
from crossmatrix.engine.belongings import CONTAINER, belongings
from crossmatrix.engine.owners import KEEP_LABEL, is_dead
from crossmatrix.engine.private import dockerd
from crossmatrix.engine.processes import program
from crossmatrix.errors import CrossmatrixError, NamedEngineError, NoEngineError, StoreError
from crossmatrix.recipes import load_catalog
from crossmatrix.store import State

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from crossmatrix.engine import DockerEngine

GIB = 1 << 30
ROOMY_BYTES = 15 * GIB
"""Images, sixteen builds and their results take some twelve."""
MEMORY_BYTES = 3 * GIB
_OLDEST_PYTHON = (3, 11)


def examine(
    environ: Mapping[str, str],
    home: Path,
    root: Path,
    *,
    reach: Callable[[str], str] = reach,
    find: Callable[..., DockerEngine] = connect,
) -> tuple[Row, ...]:
    """Look at every prerequisite; starts and changes nothing.

    Args:
        environ: the process environment.
        home: state directory.
        root: checkout.
        reach: asks for an address.
        find: connects to the engine.

    Returns:
        A row each; also without an engine all rows that need none.
    """
    rows = [_python(), _git(), _home(home)]
    try:
        engine = find(environ, home, root=root, start=False)
    except CrossmatrixError as error:
        rows += [_no_engine(error), *_without_engine()]
    else:
        with engine:
            rows += _with_engine(engine, home)
    rows += [_debootstrap()]
    try:
        catalog = load_catalog(root, recipe_folders(environ))
    except CrossmatrixError as error:
        rows.append(Row(name="recipes", status="missing", detail=error.message, mend=error.hint or "mend the recipes"))
    else:
        rows.append(Row(name="recipes", status="ok", detail=f"{len(catalog.matrices)} matrices"))
        rows += reached(origins(catalog, environ, root), reach)
    return tuple(rows)


def _python() -> Row:
    """Look at Python."""
    good = sys.version_info >= _OLDEST_PYTHON
    detail = f"{platform.python_version()} at {sys.executable}"
    return Row(
        name="Python", status="ok" if good else "missing", detail=detail, mend="" if good else "use 3.11 or later"
    )


def _git() -> Row:
    """Look for git, which only a source from a checkout needs."""
    found = shutil.which("git")
    if found:
        return Row(name="git", status="ok", detail=found)
    return Row(name="git", status="warning", detail="not found", mend="install git to use --source LIBRARY=PATH@REF")


def _home(home: Path) -> Row:
    """See that the state directory can be written, and how much room it has; what had to be made is removed again."""
    made = [path for path in (home, *home.parents) if not path.exists()]
    try:
        home.mkdir(parents=True, exist_ok=True)
        if not os.access(home, os.W_OK | os.X_OK):
            raise PermissionError(13, "not writable")
        free = shutil.disk_usage(home).free
        State.open(home, writable=False)
    except StoreError as error:
        return Row(name="state directory", status="missing", detail=error.message, mend=error.hint)
    except OSError as error:
        return Row(
            name="state directory",
            status="missing",
            detail=f"{home} cannot be used: {str(error.strerror or error).lower()}",
            mend="name another one in CROSSMATRIX_HOME",
        )
    finally:
        for path in made:
            if path.is_dir() and not any(path.iterdir()):
                path.rmdir()
    return _room("state directory", str(home), free)


def _room(name: str, place: str, free: int) -> Row:
    """Judge free space."""
    detail = f"{place}, {free / GIB:.1f} GiB free"
    if free >= ROOMY_BYTES:
        return Row(name=name, status="ok", detail=detail)
    mend = f"`invoke clean` frees what is ours; a whole matrix takes up to {ROOMY_BYTES // GIB} GiB"
    return Row(name=name, status="missing" if free < LEAST_FREE_BYTES else "warning", detail=detail, mend=mend)


def _no_engine(error: CrossmatrixError) -> Row:
    """Say what there is instead of an engine that answers."""
    daemon = dockerd()
    none = isinstance(error, NoEngineError) and not isinstance(error, NamedEngineError)
    if none and daemon and os.geteuid() == 0:
        detail = f"none runs; a daemon of our own is started when it is needed ({daemon})"
        return Row(name="engine", status="ok", detail=detail)
    return Row(name="engine", status="missing", detail=error.message, mend=error.hint)


def _without_engine() -> list[Row]:
    """Give this machine's memory and processors, where no engine tells of its own."""
    return [_memory(psutil.virtual_memory().total), Row(name="CPUs", status="ok", detail=str(os.cpu_count() or 1))]


def _with_engine(engine: DockerEngine, home: Path) -> Iterator[Row]:
    """Look at the engine that answers."""
    info = engine.info
    kind = {"docker": "Docker", "podman": "Podman"}.get(info.kind, info.kind)
    what = ", ".join(["rootless"] * info.rootless + ["our own daemon"] * info.private)
    yield Row(name="engine", status="ok", detail=f"{kind} {info.version} at {info.url}{f' ({what})' if what else ''}")
    if info.architecture not in {"x86_64", "amd64"}:
        yield Row(
            name="processor",
            status="warning",
            detail=f"the engine's is {info.architecture}, our images are linux/amd64",
            mend="the engine's emulation of amd64 must be on; figures of native cells are then emulated ones",
        )
    free = engine.free_bytes()
    if free is None:
        yield Row(
            name="engine's disk", status="ok", detail=f"{info.root or 'unknown'}; free space cannot be seen from here"
        )
    else:
        yield _room("engine's disk", info.root, free)
    yield _memory(info.memory_bytes)
    yield Row(name="CPUs", status="ok", detail=str(info.cpus))
    yield _leftovers(engine, home)


def _memory(total: int) -> Row:
    """Judge memory."""
    detail = f"{total / GIB:.1f} GiB"
    if total >= MEMORY_BYTES:
        return Row(name="memory", status="ok", detail=detail)
    return Row(name="memory", status="warning", detail=detail, mend="run one job at a time: --jobs 1")


def _leftovers(engine: DockerEngine, home: Path) -> Row:
    """Count what is ours in the engine."""
    try:
        items = belongings(engine.client)
    except CrossmatrixError as error:
        return Row(name="leftovers", status="warning", detail=error.message, mend=error.hint)
    counts = {kind: sum(item.kind == kind for item in items) for kind in ("container", "volume", "image")}
    size = sum(item.size_bytes or 0 for item in items)
    others = sum(item.home != str(home.absolute()) for item in items)
    words = ", ".join(f"{count} {kind}{'' if count == 1 else 's'}" for kind, count in counts.items() if count)
    detail = f"{words}, {size / GIB:.1f} GiB" if words else "none"
    if others:
        detail += f" ({others} of other state directories)"
    dead = [item for item in items if item.kind == CONTAINER and is_dead(item.labels)]
    kept = sum(KEEP_LABEL in item.labels for item in dead)
    if kept:
        detail += f"; {counted(kept, 'container')} kept by --keep-container"
    if len(dead) > kept:
        return Row(
            name="leftovers",
            status="warning",
            detail=f"{detail}; containers of dead runs among them",
            mend="`invoke clean --dry-run` lists them, `invoke clean` removes them",
        )
    return Row(name="leftovers", status="ok", detail=detail)


def _debootstrap() -> Row:
    """Look for debootstrap, which makes base images where no registry gives them."""
    found = program("debootstrap", os.environ)
    if found:
        return Row(name="debootstrap", status="ok", detail=found)
    return Row(
        name="debootstrap",
        status="warning",
        detail="not found; it makes base images where no registry gives them",
        mend="apt-get install debootstrap, or pin base images in images/base.yaml",
    )
