"""YAML text to a tree in which every value knows its file and line."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import yaml
from yaml.constructor import SafeConstructor

from crossmatrix.errors import Problem

if TYPE_CHECKING:
    from collections.abc import Sequence

_LOADER: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""libyaml where PyYAML was built with it: ten times as fast."""

MAX_NODES = 50_000
"""No recipe is anywhere near this; a few aliases of aliases are (a "billion laughs" file)."""

MAX_DEPTH = 50

Scalar = str | int | float | bool | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """Where something stands: lines count from 1."""

    file: str
    line: int

    def problem(self, message: str) -> Problem:
        """Say what is wrong here."""
        return Problem(file=self.file, line=self.line, message=message)


@dataclass(frozen=True, kw_only=True, slots=True)
class Node:
    """A value with its place.

    Attributes:
        content: a mapping or sequence of nodes, or a plain value.
        place: of the key for a value in a mapping, else of the value.
        text: a plain value as it is written, without its quotes.
        headless: what it extends could not be found, so that keys it lacks are not its fault.
    """

    content: dict[str, Node] | tuple[Node, ...] | Scalar
    place: Place
    text: str = ""
    headless: bool = False

    @property
    def mapping(self) -> dict[str, Node]:
        """The content of a mapping; empty for anything else."""
        return self.content if isinstance(self.content, dict) else {}

    def find(self, path: Sequence[str | int]) -> Node:
        """Walk down a path as far as it goes; steps that lead nowhere are left out."""
        node = self
        for step in path:
            if isinstance(node.content, dict) and isinstance(step, str):
                node = node.content.get(step, node)
            elif isinstance(node.content, tuple) and isinstance(step, int) and step < len(node.content):
                node = node.content[step]
        return node

    def plain(self) -> object:
        """Give the value without places."""
        if isinstance(self.content, dict):
            return {key: node.plain() for key, node in self.content.items()}
        if isinstance(self.content, tuple):
            return [node.plain() for node in self.content]
        return self.content


def merge(base: Node, over: Node) -> Node:
    """Lay one value over another: mappings key by key, anything else is replaced."""
    if not (isinstance(base.content, dict) and isinstance(over.content, dict)):
        return over
    merged = dict(base.content)
    for key, node in over.content.items():
        merged[key] = merge(merged[key], node) if key in merged else node
    return Node(content=merged, place=over.place, headless=base.headless or over.headless)


def parse_document(text: str, file: str, problems: list[Problem]) -> Node | None:
    """Read one YAML document.

    Args:
        text: of the file.
        file: its name in problems.
        problems: what is wrong is added here: syntax, duplicate keys, aliases that contain themselves.

    Returns:
        The tree, or None where the text cannot be read at all or is empty.
    """
    try:
        root = yaml.compose(text, Loader=_LOADER)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        words = " ".join(part for part in (error.context, error.problem) if part)
        problems.append(Problem(file=file, line=mark.line + 1 if mark else 1, message=f"not YAML: {words}"))
        return None
    except (yaml.YAMLError, RecursionError) as error:
        problems.append(Problem(file=file, line=_reader_line(text, error), message=f"not YAML: {_first_line(error)}"))
        return None
    if root is None:
        problems.append(Problem(file=file, line=1, message="the file is empty"))
        return None
    return _Reader(file=file, problems=problems).read(root)


def _reader_line(text: str, error: Exception) -> int:
    position = getattr(error, "position", 0)
    return text.count("\n", 0, position) + 1 if isinstance(position, int) else 1


def _first_line(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0]


@dataclass(kw_only=True)
class _Reader:
    file: str
    problems: list[Problem]
    constructor: SafeConstructor = field(default_factory=SafeConstructor)
    above: list[int] = field(default_factory=list)
    nodes: int = 0
    full: bool = False

    def read(self, node: yaml.Node, place: Place | None = None) -> Node:
        place = place or self._place(node)
        if self._refuse(node, place):
            return Node(content=None, place=place)
        self.above.append(id(node))
        try:
            return self._read(node, place)
        finally:
            self.above.pop()

    def _place(self, node: yaml.Node) -> Place:
        return Place(file=self.file, line=node.start_mark.line + 1)

    def _refuse(self, node: yaml.Node, place: Place) -> bool:
        self.nodes += 1
        if id(node) in self.above:
            self.problems.append(place.problem("an alias leads in a circle: this value contains itself"))
            return True
        if self.nodes > MAX_NODES or len(self.above) > MAX_DEPTH:
            if not self.full:
                self.problems.append(place.problem("too many values; aliases that repeat aliases make a file explode"))
            self.full = True
            return True
        return False

    def _read(self, node: yaml.Node, place: Place) -> Node:
        if isinstance(node, yaml.MappingNode):
            return Node(content=self._mapping(node), place=place)
        if isinstance(node, yaml.SequenceNode):
            return Node(content=tuple(self.read(item) for item in node.value), place=place)
        return Node(content=self._scalar(node, place), place=place, text=str(node.value))

    def _mapping(self, node: yaml.MappingNode) -> dict[str, Node]:
        content: dict[str, Node] = {}
        for key, value in node.value:
            place = self._place(key)
            if not isinstance(key, yaml.ScalarNode):
                self.problems.append(place.problem("a key must be plain text"))
            elif key.tag == "tag:yaml.org,2002:merge":
                self.problems.append(place.problem("'<<' is not used in recipes; write extends: NAME"))
            elif key.value in content:
                first = content[key.value].place.line
                self.problems.append(place.problem(f"duplicate key {key.value!r}; it stands in line {first} already"))
            else:
                content[key.value] = self.read(value, place)
        return content

    def _scalar(self, node: yaml.Node, place: Place) -> Scalar:
        kind = node.tag.rpartition(":")[2]
        if kind == "null" and not node.value:
            self.problems.append(place.problem('no value; write null for unset, "" for empty, [] or {} for none'))
            return None
        if kind in {"null", "bool", "int", "float"}:
            try:
                value = self.constructor.construct_object(node)
            except ValueError:
                return str(node.value)
            return value if isinstance(value, int | float | None) else str(node.value)
        if kind not in {"str", "timestamp", "value"}:
            self.problems.append(place.problem(f"unknown YAML tag {node.tag!r}; recipes use plain values"))
        return str(node.value)
