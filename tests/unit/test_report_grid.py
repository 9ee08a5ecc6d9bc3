"""How cells are laid out, and what a run comes to."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.record_samples import cell_record, run_record, sixteen_cells

from crossmatrix.analysis.coverage import coverage
from crossmatrix.errors import ExitCode
from crossmatrix.records import Evidence, Execution, Finding, FindingKind, Verdict
from crossmatrix.report.conclusion import conclude, headline, totals
from crossmatrix.report.grid import lay_out, neighbours, target_names
from crossmatrix.report.looks import LOOKS, field_words

SERIOUS = Finding(kind=FindingKind.REFERENCE_PARITY, serious=True, message="differs")
HARMLESS = Finding(kind=FindingKind.NEVER_EXECUTED, serious=False, message="ran nowhere")


def test_little_endian_stands_before_big_and_rows_keep_the_order_of_the_matrix() -> None:
    """Sixteen cells make four columns and four rows, each cell in its place."""
    run = sixteen_cells()
    grid = lay_out(reversed(run.cells))
    assert [column.big for column in grid.columns] == [False, False, True, True]
    grid = lay_out(run.cells)
    assert [row.source for row in grid.rows] == ["openssl 3.0.20"] * 2 + ["nettle 3.10.2"] * 2
    assert [column.toolchain for column in grid.columns] == ["gcc-12", "clang-16"] * 2
    assert {record.id for record in grid.fields.values()} == {record.id for record in run.cells}


def test_a_pair_that_the_matrix_leaves_out_has_no_field() -> None:
    """Two cells that share neither row nor column leave two fields empty."""
    grid = lay_out((cell_record(), cell_record(variant="no-asm", toolchain="clang-16")))
    fields = [grid.at(row, column) for row in grid.rows for column in grid.columns]
    assert [field is None for field in fields] == [False, True, True, False]


def test_profiles_are_rows_of_their_own_below_the_default() -> None:
    """A profile's row says its name."""
    grid = lay_out((cell_record(profile="armcap=0x1"), cell_record()))
    assert [row.way for row in grid.rows] == ["asm", "asm @armcap=0x1"]


@given(st.integers(1, 9), st.integers(1, 9), st.integers(1, 12))
def test_a_split_grid_loses_no_cell(targets: int, toolchains: int, most: int) -> None:
    """However a wide grid is cut, every cell is in exactly one part and no part is too wide."""
    cells = [
        cell_record(target=f"arch{target}-linux-musl", toolchain=f"gcc-{toolchain}")
        for target in range(targets)
        for toolchain in range(toolchains)
    ]
    parts = lay_out(cells).split(most)
    assert all(len(part.columns) <= most for part in parts)
    assert sorted(record.id for part in parts for record in part.fields.values()) == sorted(cell.id for cell in cells)


def test_targets_are_named_by_what_tells_them_apart() -> None:
    """The libc stands in a target's short name only where another target has another one."""
    musl = [cell_record(target=f"{arch}-linux-musl") for arch in ("aarch64_be", "s390x")]
    assert list(target_names(musl).values()) == ["aarch64_be", "s390x"]
    mixed = [*musl, cell_record(target="s390x-linux-gnu")]
    assert list(target_names(mixed).values()) == ["aarch64_be-musl", "s390x-gnu", "s390x-musl"]


def test_neighbours_differ_in_one_axis() -> None:
    """A cell's neighbours are the other variant, toolchain and target of the same library."""
    run = sixteen_cells()
    names = [name for name, _ in neighbours(run.cells[0], run.cells)]
    assert names == ["clang-16", "aarch64_be-linux-musl", "no-asm"]


@pytest.mark.parametrize(
    ("verdicts", "findings", "code"),
    [
        (["passed", "expected-failure", "unsupported"], [HARMLESS], ExitCode.OK),
        (["passed", "vacuous"], [], ExitCode.UNEXPECTED),
        (["passed"], [SERIOUS], ExitCode.UNEXPECTED),
        (["passed", "infrastructure"], [], ExitCode.INFRASTRUCTURE),
        (["infrastructure", "aborted"], [HARMLESS], ExitCode.INFRASTRUCTURE),
        (["infrastructure", "failed"], [], ExitCode.UNEXPECTED),
        (["infrastructure"], [SERIOUS], ExitCode.UNEXPECTED),
        (["passed", "aborted"], [], ExitCode.UNEXPECTED),
        ([], [], ExitCode.UNEXPECTED),
    ],
)
def test_the_exit_code_follows_from_verdicts_and_findings(
    verdicts: list[str], findings: list[Finding], code: ExitCode
) -> None:
    """0 as expected, 3 where infrastructure alone is at fault, 1 otherwise; nothing at all is no success."""
    cells = [cell_record(verdict=Verdict(verdict)) for verdict in verdicts]
    assert conclude(cells, findings, interrupted=False) is code
    assert conclude(cells, findings, interrupted=True) is ExitCode.INTERRUPTED


def test_the_headline_says_what_matters_in_one_sentence() -> None:
    """Cells first, serious findings then; an unfinished or interrupted run says so before anything else."""
    assert headline(run_record()) == "The one cell is as expected"
    assert headline(run_record(findings=(SERIOUS,))) == "The one cell is as expected, but with 1 serious finding"
    assert headline(sixteen_cells()) == "4 of 16 cells are not as expected, with 2 serious findings"
    assert headline(run_record(finished="")).startswith("Not finished yet: the one cell")
    assert headline(run_record(exit_code=130)).startswith("Interrupted: the one cell")


def test_totals_count_cells_and_tests() -> None:
    """Every cell and every test is counted once."""
    cells, tests = totals(sixteen_cells())
    assert cells == (
        "16 cells: 12 passed, 1 failed, 1 build-failed, 1 timed-out, 1 vacuous (4 taken from earlier runs)"
    )
    assert tests == "1,794 tests: 1,762 passed, 2 failed, 30 skipped"


def test_every_verdict_has_a_look_that_works_without_colour() -> None:
    """Symbols, their ASCII forms and words are there, and short enough for a grid."""
    assert set(LOOKS) == set(Verdict)
    assert all(len(look.symbol) == len(look.plain) == 1 and look.plain.isascii() for look in LOOKS.values())
    assert all(len(field_words(cell_record(verdict=verdict))) <= 9 for verdict in Verdict)
    green = {look.symbol for verdict, look in LOOKS.items() if verdict is Verdict.PASSED}
    assert not green & {look.symbol for verdict, look in LOOKS.items() if verdict is not Verdict.PASSED}


def test_assembly_that_ran_nowhere_is_told_from_what_ran_in_some_cells() -> None:
    """A function is listed as never run only where every cell that has it was counted and did not run it."""

    def evidence(present: tuple[str, ...], **executed: int) -> Evidence:
        return Evidence(
            execution=Execution(emulated=True),
            assembly_functions_present=present,
            assembly_functions_executed=executed,
        )

    cells = (
        cell_record(evidence=evidence(("aes", "sha", "idle"), aes=5)),
        cell_record(toolchain="clang-16", evidence=evidence(("aes", "sha"), aes=5, sha=7)),
        cell_record(variant="no-asm", evidence=evidence(())),
        cell_record(target="x86_64-linux-gnu", evidence=Evidence(assembly_functions_present=("native",))),
    )
    (cover,) = coverage(cells)
    assert (cover.source, cover.functions, cover.nowhere, cover.somewhere) == ("nettle 3.10.2", 3, ("idle",), ("sha",))
    assert cover.counts["idle"] == (0, None)
