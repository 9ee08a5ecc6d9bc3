"""What bench prints: tables for a person, JSON that can be compared as text."""

from __future__ import annotations

import io
import json

from rich.console import Console
from tests.unit.record_samples import cell_record, run_record

from crossmatrix.records import Figure, Figures
from crossmatrix.report.figures import figures_json, print_figures

COUNTED = Figure(
    algorithm="sha256",
    unit="instructions/byte",
    size_bytes=0,
    value=1.8125,
    functions={"sha256_block_armv8": 1.8, "memcpy": 0.0125},
)
TIMED = Figure(algorithm="sha256", unit="time: bytes/s", size_bytes=16384, value=1.634e9, deviation=3.1e7, repeats=5)


def printed(*figures: Figure) -> str:
    """Print the figures of one cell on 80 columns."""
    console = Console(file=io.StringIO(), width=80)
    print_figures(run_record(cell_record(figures=Figures(figures=figures))), console)
    return console.file.getvalue()  # type: ignore[attr-defined,no-any-return]


def test_counts_say_instructions_and_name_the_costliest_function() -> None:
    """An emulated figure always says what it counts, and where the work was done."""
    text = printed(COUNTED)
    assert "instructions/byte" in text
    assert "1.812" in text
    assert "sha256_block_armv8" in text


def test_times_say_time_and_their_spread() -> None:
    """A time stands in megabytes a second with its deviation, never cut, and names no function."""
    text = printed(TIMED)
    assert "time: MB/s" in text
    assert "1,634 ±31" in text
    assert "costliest" not in text


def test_json_keeps_exact_figures_apart_from_times() -> None:
    """What repeats stands under figures; times stand apart, so that the rest can be compared as text."""
    record = cell_record(figures=Figures(figures=(COUNTED, TIMED)))
    value = json.loads(figures_json(run_record(record)))
    assert [item["unit"] for item in value["figures"][record.id]] == ["instructions/byte"]
    assert [item["unit"] for item in value["times"][record.id]] == ["time: bytes/s"]


def test_json_does_not_depend_on_the_run() -> None:
    """Two runs with the same figures give the same text: no ids, times or order of cells in it."""
    one, other = cell_record(figures=Figures(figures=(COUNTED,))), cell_record(id="other")
    before = figures_json(run_record(one, other, run_id="20260101-1"))
    assert figures_json(run_record(other, one, run_id="20260102-2")) == before
