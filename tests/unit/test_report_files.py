"""Reports as files: JSON, Markdown, JUnit, HTML, and their schemas."""

from __future__ import annotations

import errno
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.plan_samples import IMAGES, FixedScripts, cell
from tests.unit.record_samples import cell_record, outcome, run_record, sixteen_cells

from crossmatrix.analysis import compare, compare_runs
from crossmatrix.errors import ExitCode, NoSpaceError, StoreError
from crossmatrix.plan import Decision, plan
from crossmatrix.records import CellRecord, Figure, Figures, RunRecord, Verdict
from crossmatrix.report.comparison import comparison_json
from crossmatrix.report.figures import figures_json
from crossmatrix.report.files import RENDERERS, write_reports
from crossmatrix.report.junit import render_junit
from crossmatrix.report.page import anchor, render_html, web_address
from crossmatrix.report.schema import schemas, write_schemas
from crossmatrix.report.summary import render_json
from crossmatrix.report.tables import plan_json

if TYPE_CHECKING:
    from collections.abc import Iterator

DOCS = Path(__file__).parents[2] / "docs"


def test_all_reports_are_written_beside_the_records(tmp_path: Path) -> None:
    """Four files, whole, and nothing left over; a second time replaces them."""
    folder = tmp_path / "läufe mit leerzeichen"
    folder.mkdir()
    for _ in range(2):
        paths = write_reports(sixteen_cells(), folder)
    assert sorted(path.name for path in folder.iterdir()) == sorted(path.name for path in paths) == sorted(RENDERERS)
    assert json.loads((folder / "report.json").read_text(encoding="utf-8"))["schema"] == 1


def test_a_folder_that_is_missing_is_an_error_with_a_hint(tmp_path: Path) -> None:
    """The message names the folder and says what to look at."""
    with pytest.raises(StoreError, match="missing") as caught:
        write_reports(run_record(), tmp_path / "missing")
    assert "see that the folder exists" in caught.value.hint


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_is_no_fault_of_the_user_s(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """It ends with the code for infrastructure and says how to make room; no part of a report is left."""

    def full(_self: Path, _target: Path) -> None:
        raise OSError(number, "full")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(NoSpaceError, match="no space left while writing the report") as caught:
        write_reports(run_record(), tmp_path)
    assert caught.value.exit_code is ExitCode.INFRASTRUCTURE
    assert "invoke clean" in caught.value.hint
    assert list(tmp_path.iterdir()) == []


def test_a_report_is_the_same_each_time() -> None:
    """Nothing but the record goes into a report: no clock, no order of a set."""
    for render in RENDERERS.values():
        assert render(sixteen_cells()) == render(sixteen_cells())


@pytest.mark.parametrize("run", [sixteen_cells(), run_record(), run_record(finished="", exit_code=None)])
def test_records_and_report_keep_to_the_published_schemas(run: RunRecord) -> None:
    """What is written can be checked by anyone with the schema at hand."""
    texts = {
        "run.schema.json": run.model_dump_json(by_alias=True),
        "cell.schema.json": run.cells[0].model_dump_json(by_alias=True),
        "report.schema.json": render_json(run),
    }
    for name, text in texts.items():
        jsonschema.validate(json.loads(text), json.loads(schemas()[name]))


def test_the_published_schemas_are_up_to_date(tmp_path: Path) -> None:
    """docs/schema is what ``python -m crossmatrix.report.schema docs/schema`` writes."""
    for path in write_schemas(tmp_path):
        assert path.read_text(encoding="utf-8") == (DOCS / "schema" / path.name).read_text(encoding="utf-8")


def fields() -> Iterator[str]:
    """Give the name of every field in the published schemas."""
    for text in schemas().values():
        schema = json.loads(text)
        for model in (schema, *schema["$defs"].values()):
            yield from model.get("properties", {})


def test_every_field_of_the_records_is_explained() -> None:
    """A field that nobody can look up is a field that nobody can trust."""
    page = (DOCS / "reference" / "records.md").read_text(encoding="utf-8")
    assert sorted({name for name in fields() if f"`{name}`" not in page}) == []
    assert [verdict for verdict in Verdict if f"`{verdict}`" not in page] == []


def keys_of(value: object) -> Iterator[str]:
    """Give the keys of an object and of the lists in it; what stands under a cell's id or a name is no field."""
    for name, part in value.items() if isinstance(value, dict) else ():
        yield name
        for item in part if isinstance(part, list) else (part,) if name == "verdict" else ():
            yield from keys_of(item)


def printed() -> Iterator[str]:
    """Give what `plan`, `bench` and `compare` print as JSON."""
    figures = Figures(
        figures=(
            Figure(algorithm="sha256", unit="instructions/byte", size_bytes=16, value=24.5, functions={"f": 24.0}),
            Figure(algorithm="sha256", unit="time: bytes/s", size_bytes=16, value=1e6, deviation=1e3, repeats=5),
        ),
        missing=("md5: the workload does not list it",),
    )
    before, after = (cell_record(variant=name, figures=figures) for name in ("no-asm", "asm"))
    jobs = plan([cell()], IMAGES, FixedScripts()).jobs
    yield plan_json([Decision(job=job, run=True, reason="never run before") for job in jobs])
    yield figures_json(run_record(before))
    yield comparison_json(compare(before, after))
    yield comparison_json(compare_runs(run_record(before), run_record(before)))


def test_every_field_that_a_command_prints_is_explained() -> None:
    """The page on records has every field of what commands print with `--format json`."""
    page = (DOCS / "reference" / "records.md").read_text(encoding="utf-8")
    names = {name for text in printed() for name in keys_of(json.loads(text))}
    assert {"to_run", "needs", "times", "refusal", "ratio", "pairs"} <= names
    assert sorted(name for name in names if f"`{name}`" not in page) == []


def test_report_json_lists_what_did_not_pass_and_counts_the_rest() -> None:
    """Failed and skipped cases are there in full, passed ones as a number."""
    report = json.loads(render_json(sixteen_cells()))
    assert report["summary"]["exit_code"] == 1
    assert report["summary"]["verdicts"] == {"passed": 12, "failed": 1, "build-failed": 1, "timed-out": 1, "vacuous": 1}
    cell = next(cell for cell in report["cells"] if cell["verdict"] == "failed")
    assert [case["file"] for case in cell["failed"]] == ["gcm-test", "ghash-test"]
    assert (len(cell["skipped"]), cell["tests"]["passed"]) == (2, 110)
    assert report["assembly"][1]["ran_nowhere"] == ["_nettle_chacha_4core"]


def suites(run: RunRecord) -> dict[str, ET.Element]:
    """Give the suites of a run's JUnit file by name."""
    root = ET.fromstring(render_junit(run))  # noqa: S314 - our own text
    return {suite.attrib["name"]: suite for suite in root}


def test_junit_has_a_suite_for_each_cell_with_a_case_for_its_verdict() -> None:
    """A build that failed is an error with its log, a failed test a failure, a vacuous cell is not green."""
    found = suites(sixteen_cells())
    assert len(found) == 16 + 1
    built = found["openssl-3.0.20/asm/clang-16/aarch64_be-linux-musl"]
    assert (built.attrib["errors"], built.attrib["failures"]) == ("1", "0")
    error = built.find("testcase/error")
    assert error is not None
    assert error.attrib["type"] == "build-failed"
    assert "invalid operand" in (error.text or "")
    failed = found["nettle-3.10.2/asm/gcc-12/aarch64_be-linux-musl"]
    assert (failed.attrib["failures"], failed.attrib["skipped"], failed.attrib["tests"]) == ("2", "2", "115")
    vacuous = found["nettle-3.10.2/asm/clang-16/aarch64_be-linux-musl"]
    assert vacuous.attrib["failures"] == "1"
    assert float(vacuous.attrib["time"]) == pytest.approx(135.5, abs=0.1)


def test_junit_has_the_findings_and_is_red_for_the_serious_ones() -> None:
    """A run in which every cell is green and two of them disagree ends with 1; the file must not look green then."""
    run = sixteen_cells()
    found = suites(run)["findings"]
    cases = {case.attrib["name"]: case for case in found.iter("testcase")}
    assert set(cases) == {finding.subject for finding in run.findings}
    assert {name for name, case in cases.items() if case.find("failure") is not None} == {
        finding.subject for finding in run.findings if finding.serious
    }
    failure = cases["aes-128-gcm"].find("failure")
    assert failure is not None
    assert failure.attrib["type"] == "different-result"
    assert run.findings[1].cells[0] in (failure.text or "")
    assert "ran in no cell" in "".join(cases["sha256_block_armv8"].itertext())
    assert "findings" not in suites(run_record(cell_record()))


@pytest.mark.parametrize("verdict", list(Verdict))
def test_junit_is_red_exactly_where_a_cell_is_not_as_expected(verdict: Verdict) -> None:
    """Whoever reads the file comes to our conclusion, also where a failure was expected."""
    cases = (outcome("a-test"), outcome("b-test", "failed", cause="exit status 1"))
    expected = cases if verdict in {Verdict.FAILED, Verdict.EXPECTED_FAILURE} else cases[:1]
    (suite,) = suites(run_record(cell_record(verdict=verdict, outcomes=expected))).values()
    red = int(suite.attrib["failures"]) + int(suite.attrib["errors"])
    assert (red == 0) == verdict.as_expected


@settings(max_examples=50, deadline=None)
@given(st.text(max_size=60))
def test_whatever_a_test_prints_the_reports_can_be_read(text: str) -> None:
    """Control characters, markup and lone quotes break neither XML nor HTML nor JSON."""
    case = outcome("x-test", "failed", cause=text, output=text)
    run = run_record(cell_record(verdict=Verdict.FAILED, reason=text, log_tail=text, outcomes=(case,)))
    suites(run)
    json.loads(render_json(run))
    page = Tags(render_html(run))
    assert page.count("script") == 1
    assert page.balance == 0


class Tags(HTMLParser):
    """The tags of a page: how often each occurs, and whether all that were opened were closed."""

    VOID = frozenset({"meta", "link", "input", "wbr", "col"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.stack: list[str] = []
        self.balance = 0
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an opened tag."""
        self.seen.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.stack.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """Note a closed tag; one that closes another than the last opened is out of balance."""
        self.balance += 0 if self.stack and self.stack.pop() == tag else 1

    def count(self, tag: str) -> int:
        """Give how often a tag occurs."""
        return sum(name == tag for name, _ in self.seen)


def test_markup_in_a_log_is_inert() -> None:
    """A script in a log, a reason, a cause or a link is text; the page's policy allows no other script."""
    attack = "<script>alert(1)</script><img src=x onerror=alert(1)>"
    run = run_record(
        cell_record(
            verdict=Verdict.FAILED,
            reason=attack,
            log_tail=attack,
            links=("javascript:alert(1)", "https://example.org/?a=1&b=2"),
            outcomes=(outcome(attack, "failed", cause=attack, output=attack),),
            reproduce=attack,
        ),
        notes=(attack,),
    )
    text = render_html(run)
    page = Tags(text)
    assert (page.count("script"), page.count("img"), page.balance) == (1, 0, 0)
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert not [attrs["href"] for _, attrs in page.seen if (attrs.get("href") or "").startswith("javascript")]
    assert re.search(r"default-src 'none'.*script-src 'sha256-", text)


def test_the_page_asks_the_network_for_nothing() -> None:
    """No address in an attribute that a browser would load by itself."""
    page = Tags(render_html(sixteen_cells()))
    assert not [attrs for tag, attrs in page.seen if "src" in attrs or (tag == "link" and attrs["href"] != "data:,")]
    assert "url(" not in render_html(sixteen_cells())


def test_every_link_within_the_page_leads_somewhere() -> None:
    """Fields, findings, neighbours and images point to panels that exist, and no id occurs twice."""
    page = Tags(render_html(sixteen_cells()))
    ids = [attrs["id"] or "" for _, attrs in page.seen if "id" in attrs]
    assert len(ids) == len(set(ids))
    anchors = {anchor(name) for name in ids} | {"#" + name.replace(":", "%3A") for name in ids}
    wanted = {attrs["href"] or "" for tag, attrs in page.seen if tag == "a"}
    assert {href for href in wanted if href.startswith("#")} <= anchors


def test_a_page_of_sixteen_large_cells_stays_small() -> None:
    """A thousand outcomes a cell, and even all of one cell failed with long output, is under three megabytes."""
    run = sixteen_cells(1000)
    failed = tuple(outcome(f"t{number}", "failed", cause="exit 1", output="x" * 3000) for number in range(1000))
    broken = run.cells[0].model_copy(update={"verdict": Verdict.FAILED, "outcomes": failed})
    text = render_html(run.model_copy(update={"cells": (broken, *run.cells[1:])}))
    assert len(text.encode()) < 3_000_000
    assert all(f"<code>t{number}</code>" in text for number in range(1000))


def test_only_web_addresses_become_links() -> None:
    """A record cannot bring a script along as an address."""
    assert web_address("https://example.org/1") == "https://example.org/1"
    assert web_address("javascript:alert(1)") == web_address("data:text/html,x") == ""


def test_a_record_read_back_gives_the_same_report() -> None:
    """A report can be rendered again from the stored record."""
    run = sixteen_cells()
    again = RunRecord.model_validate_json(run.model_dump_json(by_alias=True))
    assert render_html(again) == render_html(run)
    assert CellRecord.model_validate_json(run.cells[0].model_dump_json()) == run.cells[0]
