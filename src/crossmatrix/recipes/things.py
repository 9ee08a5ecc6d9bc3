"""All recipes read, each with the tree that it came from, for the checks that need more than one."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from crossmatrix.recipes.inherit import inherit, inherit_inside
from crossmatrix.recipes.models import (
    BlockModel,
    EmulatorModel,
    ImageModel,
    LibraryModel,
    MatrixModel,
    Model,
    ProfileModel,
    TargetModel,
    ToolchainModel,
)
from crossmatrix.recipes.shapes import read_rest, read_shape
from crossmatrix.selectors import glob_matches, is_glob

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from crossmatrix.errors import Problem
    from crossmatrix.recipes.document import Node
    from crossmatrix.recipes.layers import Sources

ModelType = TypeVar("ModelType", bound=Model)

AXES = ("libraries", "variants", "targets", "toolchains", "profiles")


@dataclass(frozen=True, kw_only=True, slots=True)
class Thing(Generic[ModelType]):
    """One recipe of the right shape, and its tree; where it is not ``whole``, only what is right in it."""

    name: str
    model: ModelType
    node: Node
    whole: bool = True


@dataclass(kw_only=True, slots=True)
class Things:
    """All recipes by kind and name; ``names`` also holds those whose shape is wrong, so that one fault stays one.

    ``broken`` are those, with what is right in them; of the kinds in ``unread`` nobody knows what names there are.
    """

    names: dict[str, tuple[str, ...]] = field(default_factory=dict)
    libraries: dict[str, Thing[LibraryModel]] = field(default_factory=dict)
    targets: dict[str, Thing[TargetModel]] = field(default_factory=dict)
    toolchains: dict[str, Thing[ToolchainModel]] = field(default_factory=dict)
    emulators: dict[str, Thing[EmulatorModel]] = field(default_factory=dict)
    profiles: dict[str, Thing[ProfileModel]] = field(default_factory=dict)
    images: dict[str, Thing[ImageModel]] = field(default_factory=dict)
    matrices: dict[str, Thing[MatrixModel]] = field(default_factory=dict)
    broken: list[Thing[Model]] = field(default_factory=list)
    unread: frozenset[str] = frozenset()
    folders: dict[str, Path] = field(default_factory=dict)


def every(things: Things, whole: Mapping[str, Thing[ModelType]], model: type[ModelType]) -> list[Thing[ModelType]]:
    """Give the recipes of a kind, also what is right in the broken ones; only for looking at the names in them."""
    rest = [
        Thing(name=thing.name, model=thing.model, node=thing.node, whole=False)
        for thing in things.broken
        if isinstance(thing.model, model)
    ]
    return [*whole.values(), *rest]


def read_things(sources: Sources, problems: list[Problem]) -> Things:
    """Follow ``extends`` and hold every recipe against its shape."""
    things = Things(folders=sources.folders, unread=frozenset(sources.unread))
    things.libraries = _read_kind(sources, "library", LibraryModel, things, problems)
    things.targets = _read_kind(sources, "target", TargetModel, things, problems)
    things.toolchains = _read_kind(sources, "toolchain", ToolchainModel, things, problems)
    things.emulators = _read_kind(sources, "emulator", EmulatorModel, things, problems)
    things.profiles = _read_kind(sources, "profile", ProfileModel, things, problems)
    things.images = _read_kind(sources, "image", ImageModel, things, problems)
    things.matrices = _read_kind(sources, "matrix", MatrixModel, things, problems)
    return things


def _read_kind(
    sources: Sources,
    kind: str,
    model: type[ModelType],
    things: Things,
    problems: list[Problem],
) -> dict[str, Thing[ModelType]]:
    nodes = inherit((one for one in sources.definitions if one.kind == kind), problems)
    things.names[kind] = tuple(nodes)
    found: dict[str, Thing[ModelType]] = {}
    for name, tree in nodes.items():
        node = inherit_inside(tree, "variants", "variant", problems) if kind == "library" else tree
        read = read_shape(model, node, f"{kind} {name!r}", problems)
        if read is not None:
            found[name] = Thing(name=name, model=read, node=node)
        elif (rest := read_rest(model, node)) is not None:
            things.broken.append(Thing(name=name, model=rest, node=node))
    return found


@dataclass(frozen=True, kw_only=True, slots=True)
class Block:
    """One product of a matrix with the axes that it takes from the matrix itself, and where each stands.

    ``shared`` are the axes that stand for all blocks of the matrix: what they name need not fit each of them.
    """

    node: Node
    libraries: dict[str, tuple[str, ...]]
    variants: tuple[str, ...]
    targets: tuple[str, ...]
    toolchains: tuple[str, ...]
    profiles: tuple[str, ...]
    nodes: dict[str, Node]
    shared: frozenset[str]


def blocks_of(thing: Thing[MatrixModel]) -> tuple[Block, ...]:
    """Give the products of a matrix; an axis that is nowhere is empty, but profiles are then ``default``."""
    matrix = thing.model
    if matrix.blocks is None:
        return (_block(thing, matrix, thing.node),)
    return tuple(_block(thing, block, thing.node.find(["blocks", i])) for i, block in enumerate(matrix.blocks))


def _block(thing: Thing[MatrixModel], block: BlockModel, node: Node) -> Block:
    own = {axis: node for axis in AXES if getattr(block, axis) is not None}
    nodes = {axis: own.get(axis, thing.node).mapping.get(axis, node) for axis in AXES}
    return Block(
        node=node,
        libraries=_first(block.libraries, thing.model.libraries, {}),
        variants=_first(block.variants, thing.model.variants, ()),
        targets=_first(block.targets, thing.model.targets, ()),
        toolchains=_first(block.toolchains, thing.model.toolchains, ()),
        profiles=_first(block.profiles, thing.model.profiles, ("default",)),
        nodes=nodes,
        shared=frozenset(AXES) - set(own) if thing.model.blocks else frozenset(),
    )


Value = TypeVar("Value")


def _first(own: Value | None, shared: Value | None, otherwise: Value) -> Value:
    return own if own is not None else shared if shared is not None else otherwise


def workload_files(folder: Path, pattern: str) -> tuple[Path, ...]:
    """Give the files of a recipe folder that an entry of ``workload`` means, a name or a glob, sorted."""
    if Path(pattern).is_absolute() or ".." in Path(pattern).parts:
        return (Path(folder, pattern).resolve(),)
    if not is_glob(pattern):
        return (folder / pattern,)
    return tuple(sorted(path for path in folder.glob(pattern) if path.is_file()))


def variants_of(things: Things, libraries: Iterable[str]) -> tuple[str, ...]:
    """Give the variants of these libraries, each once, in the order of the recipes."""
    found = (things.libraries[name].model.variants for name in libraries if name in things.libraries)
    return tuple(dict.fromkeys(variant for variants in found for variant in variants))


def named_by(patterns: Iterable[str], known: Iterable[str]) -> tuple[str, ...]:
    """Give the names that an axis means: each pattern is a name or a glob over the known ones."""
    names = tuple(known)
    return tuple(dict.fromkeys(name for pattern in patterns for name in names if glob_matches(pattern, name)))
