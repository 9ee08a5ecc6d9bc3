"""Markdown for a mail or an issue: what can be copied, versions, assembly; and the page's words on assembly."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.record_samples import cell_record, evidence_sample, outcome, run_record, sixteen_cells

from crossmatrix.analysis import findings
from crossmatrix.records import NO_EMULATOR, RunRecord, Verdict
from crossmatrix.report.junit import render_junit
from crossmatrix.report.markdown import code, fence, prose, render_markdown
from crossmatrix.report.page import render_html
from crossmatrix.report.versions import versions


def test_markdown_shows_the_grid_and_what_is_wrong() -> None:
    """The text can be pasted into an issue: a table, causes, commands, findings."""
    text = render_markdown(sixteen_cells())
    assert text.startswith("# 4 of 16 cells are not as expected, with 2 serious findings\n")
    assert "| nettle 3.10.2 | asm | ✓ 118 ok | ✓ 118 ok | ✗ 2 failed | ○ vacuous |" in text
    assert "```sh\ninvoke matrix --only id=nettle-3.10.2/asm/gcc-12/aarch64_be-linux-musl\n```" in text
    assert "ran in no cell: `sha256_block_armv8`" in text


@given(st.lists(st.text(alphabet="`a ", max_size=12), max_size=4))
def test_a_code_block_cannot_be_ended_from_within(lines: list[str]) -> None:
    """The fence is longer than any run of backticks in the log."""
    first, *rest = fence(lines).splitlines()
    marks = first.removesuffix("text")
    assert all(marks not in line for line in rest[:-1])


def test_a_table_cell_cannot_be_ended_from_within() -> None:
    """A bar or a newline in a fact does not break the table."""
    text = render_markdown(run_record(host={"cpu": "a|b\nc"}, notes=("a|b", "see `x|y`")))
    assert "| host: cpu | `a\\|b c` |" in text
    assert "| note | a\\|b |\n| note | see `x\\|y` |" in text


def fields_of(row: str) -> list[str]:
    """Read a row of a table as GitHub does: split at bars without a backslash, whose backslash is then taken away."""
    return [field.strip().replace("\\|", "|") for field in re.split(r"(?<!\\)\|", row.strip())[1:-1]]


@given(st.text(alphabet="a|\\` *", max_size=12).filter(str.strip))
def test_what_is_copied_from_a_table_is_what_it_was(text: str) -> None:
    """Every bar in code gets a backslash of its own, so that those of the text stay."""
    span = code(text)
    rendered = render_markdown(run_record(host={"cpu": text}, notes=(f"see \\ and {text}",)))
    rows = [line for line in rendered.splitlines() if line.startswith(("| host: cpu |", "| note |"))]
    assert fields_of(rows[0]) == ["host: cpu", span.strip()]
    assert [len(fields_of(row)) for row in rows] == [2, 2]


@pytest.mark.parametrize(
    "text", ["invoke matrix 'nettle-*/asm/*' --only endian=big", "x86_64", "a `b`", "``", "a|b", "#1 <b>", "\\*"]
)
def test_what_is_copied_from_markdown_is_what_it_was(text: str) -> None:
    """Inside a code span no mark is escaped, and no backtick ends it."""
    span = code(text)
    marks = re.match(r"`+", span)[0]  # type: ignore[index]
    inner = span.removeprefix(marks).removesuffix(marks)
    assert (inner.removeprefix(" ").removesuffix(" ") if "`" in text else inner) == text
    assert marks not in text


def test_a_command_line_can_be_copied_from_markdown() -> None:
    """Commands, ids, paths and names have no backslash that they did not have."""
    run = run_record(
        cell_record(verdict=Verdict.FAILED, reason="_nettle_chacha_core of aarch64_be-linux-musl; run `invoke a_b`"),
        command="invoke matrix 'nettle-*/asm/gcc-12/x86_64-linux-musl'",
        host={"machine": "x86_64"},
        findings=(),
    )
    text = render_markdown(run)
    assert "| command | `invoke matrix 'nettle-*/asm/gcc-12/x86_64-linux-musl'` |" in text
    assert "`_nettle_chacha_core` of `aarch64_be-linux-musl`; run `invoke a_b`" in text
    assert "| host: machine | `x86_64` |" in text
    assert "\\" not in text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("see https://example.org/a_b/1.", "see https://example.org/a_b/1."),
        ("2 * 3 and a_b, c/d: *no*", "2 \\* 3 and `a_b`, `c/d`: \\*no\\*"),
        ("passes with no-asm (nettle-3.10.2/no-asm/gcc-12/x)", "passes with no-asm (`nettle-3.10.2/no-asm/gcc-12/x`)"),
    ],
)
def test_prose_keeps_its_blanks_and_links(text: str, shown: str) -> None:
    """Only names are code; the rest of a sentence is escaped, and a link can be followed."""
    assert prose(text) == shown


def test_markdown_has_every_version_once() -> None:
    """Compilers, emulators, sources and images with their digests, whatever the number of cells."""
    run = sixteen_cells()
    text = render_markdown(run).partition("## Versions")[2].partition("## This run")[0]
    for what, count in (("compiler", 2), ("emulator", 1), ("source", 2), ("image", 3)):
        assert text.count(f"| {what} |") == count
    record = run.cells[0]
    assert record.image is not None
    for exact in (record.compiler, record.emulator, record.source_digest, record.image.id, record.image.tag):
        assert text.count(exact) >= 1
    assert f"{record.library} {record.version} from {record.source_origin}" in text


def test_a_source_or_compiler_is_one_whatever_some_cells_do_not_know() -> None:
    """A cell that was not built has neither an origin nor a compiler's exact version; no emulator is none."""
    cells = (
        cell_record(source_origin="", compiler="gcc-12", emulator="qemu-7.2"),
        cell_record(variant="no-asm", compiler="gcc-12 (12.2.0-14)", emulator="qemu-7.2 (1:7.2+dfsg-7)"),
        cell_record(variant="fat", source_origin="a mirror", compiler="gcc-12 (12.2.0-14)", emulator=NO_EMULATOR),
        cell_record(toolchain="clang-16", compiler="clang-16"),
    )
    assert [(what, name) for what, name, _ in versions(run_record(*cells))] == [
        ("compiler", "gcc-12 (12.2.0-14)"),
        ("compiler", "clang-16"),
        ("emulator", "qemu-7.2 (1:7.2+dfsg-7)"),
        ("source", "nettle 3.10.2 from debian"),
    ]


def everything_ran() -> RunRecord:
    """Give a run in whose cells every assembly function ran."""
    evidence = evidence_sample("nettle", "asm", "aarch64-linux-musl")
    ran = dict.fromkeys(evidence.assembly_functions_present, 7)
    return run_record(cell_record(evidence=evidence.model_copy(update={"assembly_functions_executed": ran})))


def test_how_much_assembly_ran_is_said_also_where_all_did() -> None:
    """Markdown gives the share for each library; the page's heading is not about what is missing where nothing is."""
    assert "- nettle 3.10.2: 3 of 3 functions ran\n" in render_markdown(everything_ran())
    assert "- nettle 3.10.2: 2 of 3 functions ran; in no cell `_nettle_chacha_4core`\n" in render_markdown(
        sixteen_cells()
    )
    assert "ran nowhere" not in render_html(everything_ran())
    assert "every function ran" in render_html(everything_ran())
    assert "Assembly that ran nowhere in this matrix" in render_html(sixteen_cells())


def test_no_report_says_the_axis_of_a_finding_twice() -> None:
    """The axis stands before the message, which does not begin with it again."""
    outcomes = (outcome("aes-test", "failed"), outcome("x-test"))
    cells = (cell_record(variant="no-asm"), cell_record(verdict=Verdict.FAILED, outcomes=outcomes))
    run = run_record(*cells, findings=findings(cells))
    assert "reference parity (assembly): aes-test passes" in render_markdown(run)
    assert "assembly: aes-test passes" in render_junit(run)
    assert "assembly: assembly" not in render_junit(run) + render_markdown(run)
