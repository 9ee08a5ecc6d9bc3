"""Cells that are measured: green with figures of what their name says, and not otherwise."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from tests.unit.runner_samples import GREEN, World, cell, with_clang

from crossmatrix.events import JobFinished, JobStarted
from crossmatrix.records import MEASURED_TIER, Verdict

if TYPE_CHECKING:
    from pathlib import Path

    from crossmatrix.catalog import Profile
    from crossmatrix.records import CellRecord

COUNTS = [[calls, {"instructions": 1000 + 500 * calls}] for calls in (2, 4)]
SOUND = {"emulated": True, "runs": [{"algorithm": "x25519", "kind": "operation", "counts": COUNTS}]}


def measured(folder: Path, bench: object, profile: Profile | None = None) -> CellRecord:
    """Run a cell whose measuring job leaves this bench.json, and no counts of the fixed workload."""
    world = World(home=folder)
    words = {path: data for path, data in GREEN.run.items() if not path.startswith("evidence/")}
    world.engine.leaves("run *", words if bench is None else words | {"bench.json": json.dumps(bench).encode()})
    tested = cell(profile)
    return world.run(replace(tested, tier=replace(tested.tier, name=MEASURED_TIER))).cells[0]


def test_a_cell_with_its_figures_is_green(tmp_path: Path) -> None:
    """It needs no suite, no fixed inputs and no counts of the fixed workload."""
    record = measured(tmp_path, SOUND)
    assert (record.verdict, record.reason) == (Verdict.PASSED, "measured")
    assert record.figures is not None
    assert [figure.value for figure in record.figures.figures] == [500.0]


@pytest.mark.parametrize(
    ("bench", "words"),
    [
        (None, "the measurements are missing"),
        ({"runs": []}, "not one algorithm was measured"),
        (SOUND | {"missing": ["aes-256-ctr, 16 bytes: signal 4"]}, "not measured: aes-256-ctr, 16 bytes: signal 4"),
        ("cut off", "not measured: bench.json cannot be read"),
    ],
)
def test_figures_that_are_not_there_are_not_green(tmp_path: Path, bench: object, words: str) -> None:
    """An algorithm whose program died makes a patch look no worse, when nobody says that its figure is gone."""
    record = measured(tmp_path, bench)
    assert record.verdict is Verdict.VACUOUS
    assert words in record.reason


UNLISTED = "aes-256-ctr: the workload does not list it"


def test_what_a_build_does_not_have_is_no_doubt(tmp_path: Path) -> None:
    """An older release lacks an algorithm: the others are measured, and the reason says which is not there."""
    record = measured(tmp_path, SOUND | {"asked": ["aes-256-ctr", "x25519"], "missing": [UNLISTED]})
    assert (record.verdict, record.reason) == (Verdict.PASSED, "measured; not in this build: aes-256-ctr")


def test_a_build_that_has_nothing_of_what_is_asked_for_is_unsupported(tmp_path: Path) -> None:
    """Nothing is wrong with it, and nothing was measured."""
    record = measured(tmp_path, {"asked": ["aes-256-ctr"], "missing": [UNLISTED]})
    assert record.verdict is Verdict.UNSUPPORTED
    assert record.reason == "this build has none of what is asked for: aes-256-ctr"


def test_beside_what_a_build_does_not_have_a_failure_is_a_doubt(tmp_path: Path) -> None:
    """A program that died is not excused by a name that is not listed."""
    record = measured(tmp_path, {"missing": [UNLISTED, "x25519: signal 4"]})
    assert record.verdict is Verdict.VACUOUS
    assert "x25519: signal 4" in record.reason


def test_figures_of_another_profile_are_not_green(tmp_path: Path) -> None:
    """A capability variable that nobody reads measures something else than the profile's name says."""
    misspelt = replace(GREEN.cell.profile, environment=(("NETTLE_FAT_OVERIDE", "none"),))
    record = measured(tmp_path, SOUND, misspelt)
    assert record.verdict is Verdict.VACUOUS
    assert "nettle does not read NETTLE_FAT_OVERIDE" in record.reason


def test_time_is_measured_with_nothing_beside_it(tmp_path: Path) -> None:
    """On native cells a measuring job waits until it is alone; between its start and its end nothing else starts."""
    world = World(home=tmp_path)
    native = cell(target=replace(GREEN.cell.build.target, native=True))
    timed = [
        replace(native, profile=replace(native.profile, name=name), tier=replace(native.tier, name=MEASURED_TIER))
        for name in ("default", "second")
    ]
    world.run(*timed, with_clang(), jobs=4)
    told = [event for event in world.events if isinstance(event, JobStarted | JobFinished)]
    runs = [number for number, event in enumerate(told) if event.job.startswith("run ") and "gcc-12" in event.job]
    assert [type(told[number]) for number in runs] == [JobStarted, JobFinished] * 2
    assert [first + 1 for first in runs[::2]] == runs[1::2]
