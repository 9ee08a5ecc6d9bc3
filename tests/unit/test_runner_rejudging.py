"""Kept results are judged by what the recipes say today, not by what they said when the jobs ran."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from tests.unit.runner_samples import World, cell

from crossmatrix.catalog import Endian
from crossmatrix.records import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable

    from crossmatrix.catalog import Cell

BUILD = cell().build


CHANGES: dict[str, tuple[Callable[[], Cell], str]] = {
    "a variant without assembly": (lambda: cell(variant=replace(BUILD.variant, assembly=False)), "in variant asm"),
    "the byte order": (lambda: cell(target=replace(BUILD.target, endian=Endian.LITTLE)), "wrong byte order"),
    "the width": (lambda: cell(target=replace(BUILD.target, bits=32)), "wrong width"),
    "the libc": (lambda: cell(target=replace(BUILD.target, libc="glibc")), "wrong libc"),
    "the compiler's family": (
        lambda: cell(toolchain=replace(BUILD.toolchain, family="clang")),
        "not compiled by clang",
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_a_recipe_says_anew_counts_for_kept_results(world: World, change: str) -> None:
    """A word of a recipe that alters no job alters the verdict all the same, and nothing is run for it."""
    assert world.run(cell()).cells[0].verdict is Verdict.PASSED
    make, words = CHANGES[change]
    record = world.again().run(make()).cells[0]
    assert record.cached
    assert record.verdict is Verdict.VACUOUS
    assert words in record.reason
