"""Follows ``extends``: a thing takes over all keys of another that it does not give itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from crossmatrix.errors import nearest
from crossmatrix.recipes.document import Node, merge
from crossmatrix.recipes.layers import Definition

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from crossmatrix.errors import Problem


def inherit(definitions: Iterable[Definition], problems: list[Problem]) -> dict[str, Node]:
    """Resolve things of one kind.

    A later layer's thing stands for an earlier one's of the same name, and extends that one by naming itself.
    Names that begin with a dot are templates: there to be extended, and not part of the result.

    Args:
        definitions: of one kind, all layers.
        problems: unknown bases and circles are added here.

    Returns:
        By name, the whole tree of each.
    """
    by_name: dict[str, list[Definition]] = {}
    for definition in definitions:
        by_name.setdefault(definition.name, []).append(definition)
    resolver = _Resolver(by_name=by_name, problems=problems)
    nodes = {name: resolver.resolve(found[-1], ()) for name, found in by_name.items()}
    return {name: node for name, node in nodes.items() if not name.startswith(".")}


def inherit_inside(node: Node, key: str, kind: str, problems: list[Problem]) -> Node:
    """Resolve the things that a mapping holds under one of its keys, such as the variants of a library."""
    inside = node.mapping.get(key)
    if inside is None or not isinstance(inside.content, dict):
        return node
    parts = [Definition(kind=kind, name=name, layer=0, node=part) for name, part in inside.content.items()]
    resolved: dict[str, Node] = inherit(parts, problems)
    content = {**node.mapping, key: Node(content=resolved, place=inside.place)}
    return Node(content=content, place=node.place, headless=node.headless)


def _without_extends(node: Node, *, headless: bool = False) -> Node:
    content = {key: part for key, part in node.mapping.items() if key != "extends"}
    return Node(content=content, place=node.place, headless=headless)


@dataclass(kw_only=True)
class _Resolver:
    by_name: Mapping[str, Sequence[Definition]]
    problems: list[Problem]
    done: dict[tuple[str, int], Node] = field(default_factory=dict)

    def resolve(self, definition: Definition, above: tuple[Definition, ...]) -> Node:
        key = (definition.name, definition.layer)
        if key not in self.done:
            node = self._resolve(definition, above)
            self.done.setdefault(key, node)
        return self.done[key]

    def _resolve(self, definition: Definition, above: tuple[Definition, ...]) -> Node:
        node = definition.node
        extends = node.mapping.get("extends")
        if extends is None:
            return node
        own = _without_extends(node)
        base = self._base(definition, extends)
        if base is None:
            return _without_extends(node, headless=True)
        chain = (*above, definition)
        if any(base is link for link in chain):
            circle = chain[[base is link for link in chain].index(True) :]
            words = " -> ".join([*(link.name for link in circle), base.name])
            self.problems.append(extends.place.problem(f"extends leads in a circle: {words}"))
            for link in circle:
                self.done[link.name, link.layer] = _without_extends(link.node, headless=True)
            return _without_extends(node, headless=True)
        return merge(self.resolve(base, chain), own)

    def _base(self, definition: Definition, extends: Node) -> Definition | None:
        if not isinstance(extends.content, str):
            self.problems.append(extends.place.problem(f"extends must be the name of a {definition.kind}"))
            return None
        found = self.by_name.get(extends.content, ())
        if extends.content == definition.name:
            below = [other for other in found if other.layer < definition.layer]
            if not below:
                self.problems.append(extends.place.problem(f"{definition.kind} {definition.name!r} extends itself"))
            return below[-1] if below else None
        if not found:
            advice = nearest(extends.content, self.by_name)
            words = f"extends unknown {definition.kind} {extends.content!r}; {advice}"
            self.problems.append(extends.place.problem(words))
            return None
        return found[-1]
