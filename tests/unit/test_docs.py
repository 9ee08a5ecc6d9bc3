"""The pages: what they say of words, files, names and numbers must be so. All is read as text or from the tables."""

from __future__ import annotations

import inspect
import re
import tomllib
from importlib import import_module
from typing import TYPE_CHECKING

import pytest
import yaml
from tests.unit.doc_pages import (
    COMMANDS,
    DOCS,
    MADE_BY_THE_READER,
    PAGES,
    ROOT,
    anchors_of,
    every_page,
    links_of,
    parts_of,
    sections_of,
    text_of,
)

from crossmatrix.analysis.compare import THRESHOLD
from crossmatrix.api.doctor import ROOMY_BYTES
from crossmatrix.api.running import LEAST_FREE_BYTES
from crossmatrix.cli.guard import _IN_A_FILE
from crossmatrix.engine.client import OLDEST_API
from crossmatrix.evidence.counts import OTHER_FUNCTIONS
from crossmatrix.evidence.execution_rules import MIN_INSTRUCTIONS
from crossmatrix.evidence.neighbours import MIN_CASES_SHARE
from crossmatrix.outcomes import judge
from crossmatrix.records import FindingKind, Verdict

if TYPE_CHECKING:
    from pathlib import Path

ONLY_INSIDE_CONTAINERS = {"CROSSMATRIX_SUITE_LOG"}
STATE_DIRECTORY_TOO = {"images/"}
NUMBERS = {40: "forty"}


def test_variables_are_told() -> None:
    """Every variable of ours that the code reads has its row, and no other is named anywhere."""
    sources = (*(ROOT / "src").rglob("*.py"), *(ROOT / "src").rglob("*.sh"), ROOT / "bootstrap", ROOT / "tasks.py")
    read = {name for path in sources for name in re.findall(r"\bCROSSMATRIX_[A-Z]+(?:_[A-Z]+)*\b", text_of(path))}
    told = set(re.findall(r"`(CROSSMATRIX_[A-Z_]+)`", sections_of(COMMANDS)["Environment variables"]))
    assert told == read - ONLY_INSIDE_CONTAINERS
    for page in PAGES:
        assert set(re.findall(r"\bCROSSMATRIX_[A-Z_]+\b", text_of(page))) <= told, page


@every_page
def test_links_lead_somewhere(page: Path) -> None:
    """Each relative link names a file that is there and, where it has one, an anchor of it."""
    for link in links_of(page):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{page.relative_to(ROOT)} links to {link}"
        if anchor:
            assert anchor in anchors_of(target), f"{page.relative_to(ROOT)} links to {link}"


@every_page
def test_yaml_blocks_parse(page: Path) -> None:
    """Every YAML example is YAML, and says something."""
    for block in parts_of(page)[1]:
        if block.language in {"yaml", "yml"}:
            assert yaml.safe_load(block.text), f"{page.relative_to(ROOT)}:{block.line}"


def _codes(page: Path) -> set[str]:
    """Give what stands in backticks in a page's prose."""
    return set(re.findall(r"`([^`\n]+)`", parts_of(page)[0]))


@every_page
def test_files_of_the_checkout_are_there(page: Path) -> None:
    """A path in backticks that begins in a folder of the checkout leads somewhere, but where a name is the reader's."""
    folders = ("benchmarks", "docs", "images", "recipes", "src", "tests", ".ci")
    for code in _codes(page):
        is_path = re.fullmatch(rf"(?:{'|'.join(map(re.escape, folders))})/[\w./-]*", code)
        if is_path and not MADE_BY_THE_READER.search(code) and code not in STATE_DIRECTORY_TOO:
            assert (ROOT / code).exists(), f"{page.relative_to(ROOT)} names {code}"


@every_page
def test_modules_are_there(page: Path) -> None:
    """A dotted name of the package is a module, something in one, or a label."""
    for name in set(re.findall(r"\bcrossmatrix(?:\.[a-z_]+)+\b", text_of(page))) - _labels():
        module, _, last = name.rpartition(".")
        path = ROOT.joinpath("src", *name.split("."))
        is_module = path.is_dir() or path.with_suffix(".py").is_file()
        assert is_module or hasattr(import_module(module), last), f"{page.relative_to(ROOT)} names {name}"


def _labels() -> set[str]:
    """Give the labels that the code puts on what is ours."""
    texts = (text_of(path) for path in (ROOT / "src").rglob("*.py"))
    return {f"crossmatrix.{word}" for text in texts for word in re.findall(r"\{LABEL\}\.(\w+)", text)}


def test_every_label_is_told() -> None:
    """The table of labels has all that the code writes, and no other."""
    rows = re.findall(r"^\| (`crossmatrix\..*?) \|", text_of(DOCS / "reference" / "state-directory.md"), re.MULTILINE)
    assert {name for row in rows for name in re.findall(r"`([\w.]+)`", row)} == _labels()


def test_every_benchmark_is_told() -> None:
    """The table of benchmarks has all scripts that can be called, and no other."""
    table = sections_of(ROOT / "CONTRIBUTING.md")["Benchmarks"]
    assert set(re.findall(r"^\| `(\w+\.py)` \|", table, re.MULTILINE)) == {
        path.name for path in (ROOT / "benchmarks").glob("*.py")
    }


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ("explanation/evidence.md", f"at least {MIN_CASES_SHARE:.0%} of the cases"),
        ("explanation/evidence.md", f"fewer than {MIN_INSTRUCTIONS}"),
        ("how-to/compare.md", f"(default `{THRESHOLD:.0%}`)"),
        ("how-to/engines.md", f"API {OLDEST_API[0]}.{OLDEST_API[1]} or newer"),
        ("how-to/free-disk-space.md", f"less than {LEAST_FREE_BYTES >> 30} GiB are free"),
        ("reference/commands.md", f"and {_IN_A_FILE} in a file or a pipe"),
        ("reference/records.md", f"the {NUMBERS[OTHER_FUNCTIONS]} costliest"),
        ("tutorial.md", f"about {ROOMY_BYTES >> 30} GiB of free disk"),
    ],
)
def test_numbers_are_those_of_the_code(page: str, words: str) -> None:
    """A number on a page that the code decides is the code's."""
    assert words in " ".join(text_of(DOCS / page).split())


def test_changelog_has_what_is_not_released() -> None:
    """The changelog has a section for what comes next."""
    assert "Unreleased" in sections_of(ROOT / "CHANGELOG.md")


def test_every_page_is_reachable() -> None:
    """Whoever starts at the index comes to every page of docs/ by links."""
    seen: set[Path] = set()
    waiting = [DOCS / "index.md"]
    while waiting:
        page = waiting.pop()
        if page in seen or page.suffix != ".md" or not page.is_file():
            continue
        seen.add(page)
        waiting += [(page.parent / link.partition("#")[0]).resolve() for link in links_of(page) if link[0] != "#"]
    assert set(DOCS.rglob("*.md")) <= seen


@pytest.mark.parametrize("word", [*Verdict, *FindingKind], ids=str)
def test_every_verdict_and_finding_is_explained(word: Verdict | FindingKind) -> None:
    """The glossary has a row for each verdict and each kind of finding, with more than its name."""
    rows = re.findall(rf"^\| `{word.value}` \|(.*)\|$", text_of(DOCS / "reference" / "glossary.md"), re.MULTILINE)
    assert len(rows) == 1
    assert len(rows[0].split()) > 4


def test_glossary_has_no_other_verdicts_and_findings() -> None:
    """What the glossary calls a verdict or a finding is one."""
    sections = sections_of(DOCS / "reference" / "glossary.md")
    for title, kind in (("Verdicts", Verdict), ("Findings", FindingKind)):
        assert set(re.findall(r"^\| `([\w-]+)` \|", sections[title], re.MULTILINE)) == {word.value for word in kind}


def test_good_verdicts_are_told_from_bad_ones() -> None:
    """The glossary says of just those verdicts that they are good with which a run ends with exit code 0."""
    rows = re.findall(
        r"^\| `([\w-]+)` \| (\w+) \|", sections_of(DOCS / "reference" / "glossary.md")["Verdicts"], re.MULTILINE
    )
    assert {name for name, kind in rows if kind == "good"} == {word.value for word in Verdict if word.as_expected}


def test_the_table_of_verdicts_is_that_of_the_code() -> None:
    """The page on verdicts has the rows of the docstring by which cells are judged, word by word."""
    page = re.findall(r"^\| (\d+) \| (.+?) \| `([\w-]+)` \|$", text_of(DOCS / "explanation/verdicts.md"), re.MULTILINE)
    rows: list[tuple[str, str, str]] = []
    for line in re.split(r"^== .*$", inspect.cleandoc(judge.__doc__ or ""), flags=re.MULTILINE)[2].splitlines():
        number, what, verdict = line[:4].strip(), line[4:70].strip(), line[70:].strip()
        if number:
            rows.append((number, what, verdict))
        elif what:
            rows[-1] = (rows[-1][0], f"{rows[-1][1]} {what}", rows[-1][2])
    assert len(rows) > 10
    assert [(number, what.replace("`", ""), verdict) for number, what, verdict in page] == [
        (number, what.replace("`", ""), verdict) for number, what, verdict in rows
    ]


def test_every_library_has_its_reason() -> None:
    """Each library that the project needs is explained, and no other stands in that table."""
    project = tomllib.loads(text_of(ROOT / "pyproject.toml"))["project"]
    needed = {re.split(r"[<>=\[ ]", line)[0] for line in project["dependencies"]}
    table = sections_of(DOCS / "explanation" / "libraries.md")["At run time"]
    assert set(re.findall(r"^\| (\w+) \| .+ \| .+ \|$", table, re.MULTILINE)) - {"library"} == needed


@every_page
def test_nothing_is_left_to_do(page: Path) -> None:
    """No page has a place that somebody still has to fill."""
    assert "TODO" not in text_of(page)
    assert not re.search(r"^[A-Z]{2}[A-Z_-]{3,}$", parts_of(page)[0], re.MULTILINE)
