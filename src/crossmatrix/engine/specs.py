"""Image recipes -> image specs: a tag that changes with everything that goes into the image, and with nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crossmatrix.checksums import sha256_bytes, sha256_value
from crossmatrix.engine.types import ImageSpec
from crossmatrix.errors import UsageError, nearest

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from crossmatrix.catalog import Catalog, ImageRecipe

TAG_DIGITS = 16
LEFT_OUT = ("__pycache__", ".git", ".DS_Store", ".swp", "~")
"""Endings of names that an editor or an operating system leaves in a folder; they are in no image."""


def image_specs(catalog: Catalog, root: Path) -> Mapping[str, ImageSpec]:
    """Give the specs of all images of a catalog by name.

    Args:
        catalog: with the image recipes.
        root: checkout, with ``images/<name>/``.

    Raises:
        UsageError: a folder or its Dockerfile is missing, images need each other in a circle, or one needs an image
            that no recipe names.
    """
    recipes = {recipe.name: recipe for recipe in catalog.images}
    specs: dict[str, ImageSpec] = {}
    for name in recipes:
        _resolve(name, recipes, root, specs, ())
    return specs


def _resolve(
    name: str,
    recipes: Mapping[str, ImageRecipe],
    root: Path,
    specs: dict[str, ImageSpec],
    above: tuple[str, ...],
) -> ImageSpec:
    """Make one spec, those it needs first."""
    if name in specs:
        return specs[name]
    if name in above:
        raise UsageError(f"Images need each other in a circle: {' -> '.join((*above, name))}.")
    if name not in recipes:
        raise UsageError(
            f"Image {above[-1]!r} needs an image {name!r}, which no recipe names.", hint=nearest(name, recipes)
        )
    recipe = recipes[name]
    needs = tuple(_resolve(need, recipes, root, specs, (*above, name)) for need in recipe.needs)
    files = folder_files(root / "images" / name)
    digest = sha256_value(
        {
            "suite": recipe.suite,
            "files": [[path, executable, sha256_bytes(data)] for path, data, executable in files],
            "needs": [need.tag for need in needs],
            "sources": [[release.file, release.sha256] for release in recipe.sources],
        },
    )
    specs[name] = ImageSpec(
        name=name,
        tag=f"crossmatrix/{name}:{digest[:TAG_DIGITS]}",
        suite=recipe.suite,
        needs=needs,
        sources=recipe.sources,
    )
    return specs[name]


def folder_files(folder: Path) -> tuple[tuple[str, bytes, bool], ...]:
    """Read an image's folder.

    Args:
        folder: ``images/<name>``.

    Returns:
        Relative path, content, whether executable; sorted by path.

    Raises:
        UsageError: there is no such folder, or no Dockerfile in it.
    """
    if not (folder / "Dockerfile").is_file():
        raise UsageError(f"There is no {folder / 'Dockerfile'}, but an image recipe names it.")
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and not _left_out(path, folder))
    return tuple(
        (path.relative_to(folder).as_posix(), path.read_bytes(), bool(path.stat().st_mode & 0o100)) for path in paths
    )


def _left_out(path: Path, folder: Path) -> bool:
    """Whether a file lies there by accident."""
    return any(part.endswith(LEFT_OUT) for part in path.relative_to(folder).parts)
