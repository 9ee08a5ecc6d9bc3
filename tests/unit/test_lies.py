"""The lies that are told about real builds: every one still finds the place where it is told."""

from __future__ import annotations

import re

import pytest
from tests.integration.lies import LIES
from tests.integration.lying import Lie, LyingSteps, puts
from tests.integration.probe_image import CHECKOUT
from tests.integration.real_cells import nettle

from crossmatrix.records import Verdict

RECIPES = CHECKOUT / "recipes"


def steps(lie: Lie) -> LyingSteps:
    """Give the steps of a lie's run; what it brings from other cells is made up."""
    return LyingSteps(
        recipes=RECIPES,
        liar=lie.cell().id,
        really=lie.really() if lie.really is not None else None,
        build_changes=(*lie.build, puts("/work", [(one.artifact, b"") for one in lie.into_build])),
        run_changes=(*lie.run, puts("/scratch", [(one.artifact, b"") for one in lie.into_run])),
    )


@pytest.mark.parametrize("name", LIES)
def test_a_lie_is_told(name: str) -> None:
    """What it changes is there to be changed, and the cell or what its jobs do differs from a sound one."""
    lie = LIES[name]
    cell, lying = lie.cell(), steps(lie)
    sound = LyingSteps(recipes=RECIPES)
    told = (cell, lying.for_build(cell.build), lying.for_run(cell))
    assert told != (nettle(), sound.for_build(nettle().build), sound.for_run(nettle()))
    assert (lying.for_build(cell.build) != sound.for_build(cell.build)) or not (lie.build or lie.into_build)
    assert (lying.for_run(cell) != sound.for_run(cell)) or not (lie.run or lie.into_run)


@pytest.mark.parametrize("name", [name for name, lie in LIES.items() if lie.beside is not None])
def test_a_neighbour_is_sound(name: str) -> None:
    """The cell beside a liar does what it does alone, so that its kept result is used."""
    lie = LIES[name]
    assert lie.beside is not None
    beside, lying, sound = lie.beside(), steps(lie), LyingSteps(recipes=RECIPES)
    assert beside.id != lie.cell().id
    assert (lying.for_build(beside.build), lying.for_run(beside)) == (
        sound.for_build(beside.build),
        sound.for_run(beside),
    )


def test_no_lie_may_come_out_well() -> None:
    """Every lie expects a verdict with which a run does not end well."""
    assert all(not lie.verdict.as_expected for lie in LIES.values())
    assert Verdict.VACUOUS in {lie.verdict for lie in LIES.values()}


def test_every_lie_is_explained() -> None:
    """The page on evidence has a row for each lie, how it is told and what catches it, and no other."""
    page = (CHECKOUT / "docs" / "explanation" / "evidence.md").read_text(encoding="utf-8")
    section = page.partition("\n## Lies that are told")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (.+?) \| (.+?) \| (.+?) \|$", section, re.MULTILINE)
    assert [row[0] for row in rows][2:] == list(LIES)
