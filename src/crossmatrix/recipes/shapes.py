"""Holds a tree against the shape of its recipe, and puts pydantic's findings into words a user understands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, get_args, get_origin

from pydantic import BaseModel, ValidationError

from crossmatrix.errors import nearest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic_core import ErrorDetails

    from crossmatrix.errors import Problem
    from crossmatrix.recipes.document import Node
    from crossmatrix.recipes.models import Model

ModelType = TypeVar("ModelType", bound="Model")

_WANTED = {
    "string_type": "text",
    "one_or_more": "text or a list of texts",
    "int_type": "a whole number",
    "bool_type": "true or false",
    "tuple_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
}

_PATTERNS = {
    r"^[0-9a-f]{64}$": "64 hex digits in lower case",
    r"^https?://\S+$": "an http or https address",
    r"^[A-Za-z0-9][A-Za-z0-9._+~-]*$": "a file name without a folder",
    r"^EM_[A-Z0-9_]+$": "an ELF machine such as EM_AARCH64",
    r"^(https?://\S+)?$": "an http or https address",
    r"^/": "an absolute path in the image",
}


UNKNOWN = "\0"
"""Stands in a recipe for a value that is missing or wrong, which was said already: checks pass over it."""

_STAND_INS: tuple[object, ...] = (UNKNOWN, (), {}, 1, False, "EM_NONE", "SIGILL", "/", "0" * 64, "http://x", "x", 64)
_STAND_INS += ("little", "musl", "leave-out")
_ROUNDS = 2000


def read_shape(model: type[ModelType], node: Node, what: str, problems: list[Problem]) -> ModelType | None:
    """Read a tree as one kind of recipe.

    Args:
        model: its shape.
        node: the tree, ``extends`` resolved.
        what: how messages name the thing: ``profile 'armcap=0'``.
        problems: everything that is wrong is added here.

    Returns:
        The recipe, or None where something is wrong with it.
    """
    try:
        return model.model_validate(node.plain())
    except ValidationError as error:
        for details in error.errors(include_url=False):
            if details["type"] == "missing" and _is_headless(node, details["loc"]):
                continue
            place = node.find([step for step in details["loc"] if isinstance(step, str | int)]).place
            problem = place.problem(f"{what}: {_message(model, node, details)}")
            if not any(_same_fault(problem, other) for other in problems):
                problems.append(problem)
        return None


def _same_fault(one: Problem, other: Problem) -> bool:
    """Whether two problems are one value that several things have by ``extends``."""
    same_place = (one.file, one.line) == (other.file, other.line)
    return same_place and one.message.partition(": ")[2] == other.message.partition(": ")[2] != ""


def read_rest(model: type[ModelType], node: Node) -> ModelType | None:
    """Read what is right in a tree that has not the shape of its recipe, so that the names in it can be checked too.

    Args:
        model: its shape.
        node: the tree, ``extends`` resolved.

    Returns:
        The recipe with ``UNKNOWN``, or something else that means nothing, in every place where something is wrong;
        None where the tree is nothing like it.
    """
    tree, tried = node.plain(), dict[tuple[int | str, ...], int]()
    for _ in range(_ROUNDS if isinstance(tree, dict) else 0):
        try:
            return model.model_validate(tree)
        except ValidationError as error:
            details = error.errors(include_url=False)[0]
        path = details["loc"]
        number = tried[path] = tried.get(path, -1) + 1
        if not _put(tree, path, details["type"], number):
            return None
    return None


def _put(tree: object, path: Sequence[int | str], kind: str, number: int) -> bool:
    """Put the next stand-in in the place of what is wrong, or take it out; gives whether it could."""
    for step in path[:-1]:
        if not _has(tree, step):
            return False
        tree = tree[step]  # type: ignore[index]
    last = path[-1] if path else ""
    if isinstance(tree, dict) and kind == "extra_forbidden":
        return tree.pop(last, path) is not path
    if number >= len(_STAND_INS) or not (isinstance(tree, dict) or _has(tree, last)):
        return False
    tree[last] = _STAND_INS[number]  # type: ignore[index]
    return True


def _has(tree: object, step: int | str) -> bool:
    if isinstance(tree, list):
        return isinstance(step, int) and step < len(tree)
    return isinstance(tree, dict) and step in tree


def _is_headless(node: Node, path: Sequence[int | str]) -> bool:
    return any(node.find(path[:depth]).headless for depth in range(len(path)))


def _message(model: type[BaseModel], node: Node, details: ErrorDetails) -> str:
    kind, path = details["type"], details["loc"]
    key = _key(path)
    if kind == "missing":
        return f"missing key {key!r}"
    if kind == "extra_forbidden":
        return f"unknown key {key!r}; {nearest(str(path[-1]), keys_at(model, path[:-1]))}"
    if kind == "environment_value":
        return f"{key!r} {details['msg']}: {_quoted(node, path)}"
    if kind in _WANTED:
        return _wrong_type(node, details)
    return f"{key!r} {_wrong_value(details)}"


def _wrong_value(details: ErrorDetails) -> str:
    kind, value, context = details["type"], details["input"], details.get("ctx", {})
    if kind in {"literal_error", "enum"}:
        return f"is {value!r}, must be {context['expected']}"
    if kind == "string_pattern_mismatch":
        return f"is {value!r}, must be {_PATTERNS[context['pattern']]}"
    if kind in {"string_too_short", "too_short"}:
        return "is empty"
    return f"is {value!r}: {details['msg']}"


def _wrong_type(node: Node, details: ErrorDetails) -> str:
    path, value = details["loc"], details["input"]
    message = f"{_key(path)!r} must be {_WANTED[details['type']]}, but is {_found(value)}"
    if details["type"] in {"string_type", "one_or_more"} and isinstance(value, int | float):
        return f"{message}; put it in quotes: {_quoted(node, path)}"
    return message


def _quoted(node: Node, path: Sequence[str | int]) -> str:
    return f'"{node.find(path).text}"'


def _found(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a truth value"
    if isinstance(value, int | float):
        return f"the number {value}"
    if isinstance(value, str):
        return f"the text {value!r}"
    return "a mapping" if isinstance(value, dict) else "a list"


def _key(path: Sequence[str | int]) -> str:
    text = ""
    for step in path:
        text += f"[{step + 1}]" if isinstance(step, int) else f".{step}" if text else step
    return text


def keys_at(model: type[BaseModel], path: Sequence[str | int]) -> set[str]:
    """Give the keys that the mapping at a path of this shape can have."""
    annotation: Any = model
    for step in path:
        inner = _models_in(annotation)
        fields = next((one.model_fields for one in inner if isinstance(step, str) and step in one.model_fields), None)
        annotation = fields[str(step)].annotation if fields else annotation
    can_extend = {"extends"} if not path or path[0] == "variants" else set()
    return can_extend | {name for one in _models_in(annotation) for name in one.model_fields}


def _models_in(annotation: Any) -> list[type[BaseModel]]:  # noqa: ANN401 - a type annotation can be anything
    if get_origin(annotation) is None:
        is_model = isinstance(annotation, type) and issubclass(annotation, BaseModel)
        return [annotation] if is_model else []
    return [model for part in get_args(annotation) for model in _models_in(part)]
