"""Checks what lies beside the recipes in ``images/``: each image has its Dockerfile, each base image its digest."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from crossmatrix.errors import Problem, nearest
from crossmatrix.recipes.document import parse_document
from crossmatrix.recipes.models import ImageModel
from crossmatrix.recipes.things import every

if TYPE_CHECKING:
    from pathlib import Path

    from crossmatrix.recipes.document import Node
    from crossmatrix.recipes.things import Things

_PINNED = re.compile(r"[^\s@]+@sha256:[0-9a-f]{64}")
_BASE = "images/base.yaml"


def check_images(things: Things, root: Path, problems: list[Problem]) -> None:
    """Check the folder ``images`` of a checkout."""
    folders = {root / "images" / name for name in things.names["image"]}
    folders |= {path.parent for path in (root / "images").glob("*/Dockerfile")}
    for folder in sorted(folders):
        for name, other in (("image.yaml", "Dockerfile"), ("Dockerfile", "image.yaml")):
            if not (folder / other).is_file():
                file = f"images/{folder.name}/{name}"
                problems.append(Problem(file=file, line=1, message=f"there is no {other} beside it"))
    for suite, reference in _base(root, problems).items():
        _check_base(things, suite, reference, problems)


def _base(root: Path, problems: list[Problem]) -> dict[str, Node]:
    """Read the base images by suite; a file of comments alone pins none."""
    try:
        text = (root / _BASE).read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        problems.append(Problem(file=_BASE, line=1, message=f"cannot be read: {error}"))
        return {}
    if not any(line.strip() and not line.lstrip().startswith("#") for line in text.splitlines()):
        return {}
    node = parse_document(text, _BASE, problems)
    if node is not None and not isinstance(node.content, dict):
        problems.append(node.place.problem("the file must hold a mapping (SUITE: NAME:TAG@sha256:DIGEST)"))
    return node.mapping if node is not None else {}


def _check_base(things: Things, suite: str, reference: Node, problems: list[Problem]) -> None:
    suites = {image.model.suite for image in every(things, things.images, ImageModel)}
    if suite not in suites and "image" not in things.unread:
        problems.append(reference.place.problem(f"no image has the suite {suite!r}; {nearest(suite, suites)}"))
    if not isinstance(reference.content, str) or not _PINNED.fullmatch(reference.content):
        message = f"{suite!r} is {reference.text or 'no text'!r}, must be NAME:TAG@sha256: and 64 hex digits"
        problems.append(reference.place.problem(message))
