"""Finds the recipe files of a checkout and of additional folders, and reads them into named definitions."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from crossmatrix.errors import Problem, nearest
from crossmatrix.recipes.document import Node, parse_document

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

LISTS = {
    "targets.yaml": "target",
    "toolchains.yaml": "toolchain",
    "emulators.yaml": "emulator",
    "profiles.yaml": "profile",
}
"""Files that define many things, each under its name."""

FOLDERS = {"libraries": "library", "matrices": "matrix"}
"""Folders in which each file defines one thing, named like the file."""

_NAME = re.compile(r"\.?[A-Za-z0-9][A-Za-z0-9._+=-]*")


@dataclass(frozen=True, kw_only=True, slots=True)
class Definition:
    """One named thing as it stands in one file, before ``extends`` is followed; ``layer`` 0 is the checkout."""

    kind: str
    name: str
    layer: int
    node: Node


@dataclass(kw_only=True, slots=True)
class Sources:
    """What was read.

    Attributes:
        definitions: in the order of files and lines, the checkout's first.
        folders: per file name as it stands in problems, the recipe folder that it belongs to.
        problems: what was wrong with the files themselves.
        unread: kinds of which a file could not be read, so that nobody knows what names there are.
    """

    definitions: list[Definition] = field(default_factory=list)
    folders: dict[str, Path] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    unread: set[str] = field(default_factory=set)


def read_sources(root: Path, extra: Sequence[Path]) -> Sources:
    """Read the recipes of a checkout and of additional folders of the same layout as ``recipes/``."""
    sources = Sources()
    _read_folder(sources, root / "recipes", "recipes", 0)
    for path in sorted((root / "images").glob("*/image.yaml")):
        name = path.parent.name
        node = _read_file(sources, path, f"images/{name}/image.yaml", root / "recipes", "image")
        _define(sources, "image", name, 0, node)
    for layer, folder in enumerate(extra, start=1):
        _read_folder(sources, folder, str(folder), layer)
    return sources


def _read_folder(sources: Sources, folder: Path, label: str, layer: int) -> None:
    paths = list(_recipe_files(sources, folder, label))
    if not paths:
        message = "there are no recipes in this folder" if folder.is_dir() else "there is no such recipe folder"
        sources.problems.append(Problem(file=label, line=1, message=message))
    for path in paths:
        file = f"{label}/{path.relative_to(folder).as_posix()}"
        kind = LISTS[path.name] if path.parent == folder else FOLDERS[path.parent.name]
        node = _read_file(sources, path, file, folder, kind)
        if path.parent != folder:
            _define(sources, kind, path.stem, layer, node)
            continue
        for name, part in (node.mapping if node else {}).items():
            _define(sources, kind, name, layer, part)


def _recipe_files(sources: Sources, folder: Path, label: str) -> Iterator[Path]:
    inside = [path for name in FOLDERS for path in (folder / name).glob("*.y*ml")]
    for path in sorted([*folder.glob("*.y*ml"), *inside]):
        known = path.suffix == ".yaml" and (path.parent != folder or path.name in LISTS)
        if known:
            yield path
            continue
        advice = nearest(path.name, LISTS) if path.parent == folder else "recipe files end in .yaml"
        file = f"{label}/{path.relative_to(folder).as_posix()}"
        sources.problems.append(Problem(file=file, line=1, message=f"not a recipe file; {advice}"))


def _read_file(sources: Sources, path: Path, file: str, folder: Path, kind: str) -> Node | None:
    node = _parsed_file(sources, path, file, folder)
    if node is None:
        sources.unread.add(kind)
    return node


def _parsed_file(sources: Sources, path: Path, file: str, folder: Path) -> Node | None:
    sources.folders[file] = folder
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        sources.problems.append(Problem(file=file, line=1, message=f"cannot be read: {error}"))
        return None
    node = parse_document(text, file, sources.problems)
    if node is not None and not isinstance(node.content, dict):
        sources.problems.append(node.place.problem("the file must hold a mapping (key: value)"))
        return None
    return node


def _define(sources: Sources, kind: str, name: str, layer: int, node: Node | None) -> None:
    if node is None:
        return
    if not _NAME.fullmatch(name):
        sources.problems.append(
            node.place.problem(f"{name!r} cannot be the name of a {kind}; use letters, digits and . _ + = -"),
        )
    sources.definitions.append(Definition(kind=kind, name=name, layer=layer, node=node))
