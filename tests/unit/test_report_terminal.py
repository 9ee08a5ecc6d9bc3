"""What is printed: the report, the plan, the doctor's rows."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass

import pytest
from rich.console import Console
from tests.unit.record_samples import cell_record, run_record, sixteen_cells

from crossmatrix.catalog import (
    Build,
    Cell,
    Emulator,
    Endian,
    Library,
    Profile,
    SourceSpec,
    Target,
    Tier,
    Toolchain,
    Variant,
)
from crossmatrix.plan.jobs import Decision, Job, JobKind
from crossmatrix.records import Verdict
from crossmatrix.report.tables import plan_json, print_rows, render_columns, render_list, render_plan
from crossmatrix.report.terminal import print_grids, print_report


def console_of(width: int, encoding: str = "utf-8") -> tuple[Console, io.BytesIO]:
    """Give a console and the bytes that it writes."""
    raw = io.BytesIO()
    file = io.TextIOWrapper(raw, encoding=encoding, write_through=True)
    return Console(file=file, width=width, color_system=None, force_terminal=False), raw


def printed(width: int, encoding: str = "utf-8") -> str:
    """Give the report of the sample run as it is printed."""
    console, raw = console_of(width, encoding)
    print_report(sixteen_cells(), console, report="/state/runs/latest/report.html")
    return raw.getvalue().decode(encoding)


def test_sixteen_cells_fit_into_eighty_columns_in_one_grid() -> None:
    """The quick matrix is one grid on a terminal of ordinary width, and no line but commands is longer."""
    lines = printed(80).splitlines()
    assert sum("compiler  " in line for line in lines) == 1
    assert all(len(line) <= 80 for line in lines if "rerun" not in line and "✗" not in line[:1])
    row = next(line for line in lines if line.startswith("nettle"))
    assert row.split("  ")[-1].strip() == "○ vacuous"


def test_each_cell_that_is_not_as_expected_has_cause_log_and_command() -> None:
    """A reader need not open anything to know what failed, and can copy one line to run it again."""
    text = printed(100)
    for part in (
        "✗ failed  nettle-3.10.2/asm/gcc-12/aarch64_be-linux-musl",
        "2 of 114 tests failed: gcm-test, ghash-test",
        "│ FAIL: ghash",
        "rerun: invoke matrix --only id=nettle-3.10.2/asm/gcc-12/aarch64_be-linux-musl",
        "serious: reference parity (assembly)",
        "16 cells: 12 passed",
        "4 of 16 cells are not as expected, with 2 serious findings.",
        "Report: /state/runs/latest/report.html",
    ):
        assert part in text
    assert "rerun: invoke matrix --only id=openssl-3.0.20/asm/gcc-12/aarch64-linux-musl\n" not in text


def test_a_terminal_without_unicode_gets_ascii() -> None:
    """No symbol is lost and nothing fails where only ASCII can be written."""
    text = printed(80, "ascii")
    assert "x 2 failed" in text
    assert "+ 118 ok" in text
    assert "| FAIL: ghash" in text


def test_a_wide_matrix_wraps_into_several_grids() -> None:
    """Twelve targets on eighty columns are several grids, each with its own headings."""
    cells = [cell_record(target=f"arch{number}-linux-musl", toolchain="gcc-12") for number in range(12)]
    console, raw = console_of(80)
    print_grids(cells, console)
    text = raw.getvalue().decode()
    assert text.count("compiler ") > 1
    assert all(f"arch{number} " in text for number in range(12))
    assert all(len(line) <= 80 for line in text.splitlines())


@pytest.mark.parametrize("width", [1, 10, 20, 40, 60, 79])
def test_no_verdict_is_cut_on_a_narrow_terminal(width: int) -> None:
    """However narrow, each source, each way to build it and each verdict can be read whole; nothing is left out."""
    version = "dir-0123456789ab+p01234567"
    cells = [
        cell_record(version=version, toolchain=toolchain, verdict=verdict)
        for toolchain, verdict in (("gcc-12", Verdict.ABORTED), ("clang-16", Verdict.INFRASTRUCTURE))
    ]
    console, raw = console_of(width)
    print_report(run_record(*cells), console)
    text = raw.getvalue().decode()
    grid = text.split("rerun")[0]
    for word in (version, "asm", "aborted", "infra", "gcc-12", "clang-16"):
        assert word in grid
    assert "…" not in grid


def test_a_cell_that_is_not_in_the_matrix_is_a_dash() -> None:
    """An empty place is marked, so that it is not taken for a mistake."""
    console, raw = console_of(80)
    print_grids((cell_record(), cell_record(variant="no-asm", toolchain="clang-16")), console)
    rows = [line.split() for line in raw.getvalue().decode().splitlines() if "asm" in line]
    assert rows[0][-1] == "-"
    assert "-" in rows[1]


def test_a_log_cannot_write_to_the_terminal() -> None:
    """Escape sequences and rich's own markup in a log are shown or dropped, never obeyed."""
    record = cell_record(verdict=Verdict.FAILED, reason="[red]no[/red]", log_tail="\x1b[2Jgone\x07 [bold]x[/bold]")
    console, raw = console_of(80)
    print_report(run_record(record), console)
    text = raw.getvalue().decode()
    assert "\x1b" not in text
    assert "[red]no[/red]" in text
    assert "[bold]x[/bold]" in text


def test_of_very_many_bad_cells_the_rest_is_counted() -> None:
    """A matrix that fails as a whole does not scroll for ever."""
    cells = [cell_record(toolchain=f"gcc-{number}", verdict=Verdict.FAILED) for number in range(30)]
    console, raw = console_of(80)
    print_report(run_record(*cells), console, most=5)
    text = raw.getvalue().decode()
    assert text.count("rerun:") == 5
    assert "25 cells more that are not as expected" in text


def test_a_run_without_cells_prints_its_totals() -> None:
    """An interrupted run that finished nothing still ends with a sentence."""
    console, raw = console_of(80)
    print_report(run_record(exit_code=130).model_copy(update={"cells": ()}), console)
    assert "Interrupted: no cell has finished." in raw.getvalue().decode()


def test_columns_are_as_wide_as_their_widest_entry() -> None:
    """Rows line up, and no line ends in blanks."""
    assert render_columns([("a", "bb", "c"), ("aaa", "b", "")]) == "a    bb  c\naaa  b\n"
    assert render_columns([]) == ""


def plan_of(*decisions: tuple[JobKind, str, tuple[str, ...], bool, str]) -> tuple[Decision, ...]:
    """Give decisions of (kind, key, needs, run, reason)."""
    cell = cell_of()
    return tuple(
        Decision(
            job=Job(
                kind=kind,
                id=cell.build.id,
                key=key,
                inputs=(("source", "1"),),
                needs=needs,
                estimate_s=60.0,
                image="gcc-12",
                build=cell.build,
            ),
            run=run,
            reason=reason,
        )
        for kind, key, needs, run, reason in decisions
    )


def cell_of() -> Cell:
    """Give one cell of the catalog's kind."""
    variant = Variant(name="asm", description="", options=(), assembly=True)
    tier = Tier(name="full", tests=(), timeout_s=60, estimate_s=60)
    library = Library(
        name="nettle",
        title="nettle",
        releases=(),
        variants=(variant,),
        configure=(),
        environment=(),
        tiers=(tier,),
        default_tier="full",
        workload=(),
        build_estimate_s=60,
        build_timeout_s=60,
    )
    target = Target(
        name="aarch64_be-linux-musl",
        arch="aarch64_be",
        machine="EM_AARCH64",
        endian=Endian.BIG,
        bits=64,
        libc="musl",
        configure=(),
    )
    build = Build(
        library=library,
        source=SourceSpec(library="nettle", version="3.10.2", digest="0"),
        variant=variant,
        toolchain=Toolchain(name="gcc-12", family="gcc", version="12", image="gcc-12", tools=()),
        target=target,
    )
    emulator = Emulator(name="qemu", version="7.2", image="qemu-7.2", plugin="")
    return Cell(
        build=build,
        profile=Profile(name="default", description="", emulator="qemu", cpu=""),
        emulator=emulator,
        tier=tier,
    )


PLAN = (
    (JobKind.BUILD, "b", (), False, "built on 2026-03-01"),
    (JobKind.RUN, "r", ("b",), True, "the tier changed: smoke -> full"),
)


def test_a_plan_says_what_runs_why_and_after_what() -> None:
    """Each job has its reason and the numbers of the jobs it waits for."""
    text = render_plan(plan_of(*PLAN))
    assert "#1  build  cached  nettle-3.10.2/asm/gcc-12/aarch64_be-linux-musl\n    built on 2026-03-01\n" in text
    assert "after #1; the tier changed: smoke -> full (about 1 min 00 s)" in text
    assert text.endswith(
        "1 build job (0 to run, 1 cached), 1 run job (1 to run, 0 cached); about 1 min 00 s of work on two idle cores\n"
    )
    assert render_plan(()) == "Nothing to do: no jobs.\n"


def test_the_plan_as_json_has_jobs_edges_and_totals() -> None:
    """A program reads keys and needs; inputs come only when asked for."""
    value = json.loads(plan_json(plan_of(*PLAN)))
    assert (value["schema"], value["to_run"], value["cached"], value["estimate_s"]) == (1, 1, 1, 60.0)
    assert [(job["key"], job["needs"], job["run"]) for job in value["jobs"]] == [("b", [], False), ("r", ["b"], True)]
    assert "inputs" not in value["jobs"][0]
    assert json.loads(plan_json(plan_of(*PLAN), inputs=True))["jobs"][0]["inputs"] == {"source": "1"}


def test_the_list_shows_cells_and_why_others_were_left_out() -> None:
    """A cell that is missing is explained, with the link where there is one."""
    text = render_list((cell_of(),), (("nettle-3/x", "no such compiler", "https://example.org/1"),))
    assert "nettle-3.10.2/asm/gcc-12/aarch64_be-linux-musl  full  big" in text
    assert "1 cell, 1 left out:\n  nettle-3/x\n    no such compiler (https://example.org/1)\n" in text


@dataclass(frozen=True, kw_only=True)
class Row:
    """One of the doctor's rows."""

    name: str
    status: str
    detail: str
    mend: str = ""


@pytest.mark.parametrize(("encoding", "good", "bad"), [("utf-8", "✓", "✗"), ("ascii", "+", "x")])
def test_the_doctor_says_how_to_mend_only_what_is_not_well(encoding: str, good: str, bad: str) -> None:
    """A mark without colour, and a line on what to do below what is missing."""
    console, raw = console_of(60, encoding)
    rows = (
        Row(name="memory", status="ok", detail="8.0 GiB", mend="buy more"),
        Row(name="engine", status="missing", detail="nothing answers", mend="apt-get install docker.io"),
    )
    print_rows(rows, console)
    lines = raw.getvalue().decode(encoding).splitlines()
    assert lines[0] == f"{good} memory  ok       8.0 GiB"
    assert lines[1] == f"{bad} engine  missing  nothing answers"
    assert lines[2].strip() == "mend: apt-get install docker.io"
    assert len(lines) == 3
