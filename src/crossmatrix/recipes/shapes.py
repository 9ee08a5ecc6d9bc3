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
    r"^SIG[A-Z]+$": "a signal such as SIGILL",
    r"^/": "an absolute path in the image",
}


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
            place = node.find([step for step in details["loc"] if isinstance(step, str | int)])
            problems.append(place.place.problem(f"{what}: {_message(model, node, details)}"))
        return None


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
    if details["type"] == "string_type" and isinstance(value, int | float):
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
