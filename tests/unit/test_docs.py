"""The pages: what they say of commands, words and files must be so. Everything is read as text or from the tables."""

from __future__ import annotations

import inspect
import re
import shlex
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import tasks
import yaml
from invoke.collection import Collection

from crossmatrix.analysis.compare import THRESHOLD
from crossmatrix.api.choosing import check_algorithms
from crossmatrix.api.doctor import ROOMY_BYTES
from crossmatrix.api.running import LEAST_FREE_BYTES
from crossmatrix.cli.guard import _IN_A_FILE
from crossmatrix.engine.client import OLDEST_API
from crossmatrix.errors import ExitCode, UsageError
from crossmatrix.evidence.counts import OTHER_FUNCTIONS
from crossmatrix.evidence.execution_rules import MIN_INSTRUCTIONS
from crossmatrix.evidence.neighbours import MIN_CASES_SHARE
from crossmatrix.matrix import expand
from crossmatrix.matrix.cells import matrices_with
from crossmatrix.outcomes import judge
from crossmatrix.recipes import load_catalog
from crossmatrix.records import FindingKind, Verdict
from crossmatrix.selectors import Selection

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crossmatrix.catalog import Catalog

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
COMMANDS = DOCS / "reference" / "commands.md"
PAGES = (*(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")), *sorted(DOCS.rglob("*.md")))

INVOKE_ITSELF = {"--list", "--help", "--version"}
"""Options of invoke's own that pages may use, also behind a task."""
STANDS_FOR_A_TASK = {"TASK"}
TAKES_A_BARE_WORD = {"matrix": 1, "list": 1, "plan": 1, "bench": 1, "compare": 2}
"""How many words without an option each task takes, directly behind its name."""
ONLY_INSIDE_CONTAINERS = {"CROSSMATRIX_SUITE_LOG"}
STATE_DIRECTORY_TOO = {"images/"}
NUMBERS = {40: "forty"}
MADE_BY_THE_READER = re.compile(r"NAME|mine|edk2|gcc-13|no-des|juno-r2")
"""Names of recipes that a page has just told to write."""

every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))


@dataclass(frozen=True, kw_only=True, slots=True)
class Block:
    """A fenced code block: ``language`` may be empty, ``line`` is that of its first fence, from 1."""

    language: str
    line: int
    text: str


@cache
def _text(page: Path) -> str:
    return page.read_text(encoding="utf-8")


@cache
def _split(page: Path) -> tuple[str, tuple[Block, ...]]:
    """Give a page's prose, and its fenced code blocks."""
    prose: list[str] = []
    blocks: list[Block] = []
    inside: list[str] = []
    fence, language, start = "", "", 0
    for number, line in enumerate(_text(page).splitlines(), 1):
        marks = re.match(r"\s*(`{3,})\s*(\w*)\s*$", line)
        if not fence and marks:
            fence, language, start, inside = marks[1], marks[2], number, []
        elif fence and line.strip() == fence:
            blocks.append(Block(language=language, line=start, text="\n".join(inside)))
            fence = ""
        elif fence:
            inside.append(line)
        else:
            prose.append(line)
    assert not fence, f"{page}:{start}: a code block that does not end"
    return "\n".join(prose), tuple(blocks)


@cache
def _anchors(page: Path) -> frozenset[str]:
    """Give the anchors that GitHub makes of a page's headings."""
    seen: dict[str, int] = {}
    anchors: list[str] = []
    for heading in re.findall(r"^#{1,6} +(.+?) *#*$", _split(page)[0], re.MULTILINE):
        slug = re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")
        anchors.append(slug if slug not in seen else f"{slug}-{seen[slug]}")
        seen[slug] = seen.get(slug, 0) + 1
    return frozenset(anchors)


def _links(page: Path) -> tuple[str, ...]:
    """Give the targets of a page's links and images, those outside of the checkout left out."""
    found = re.findall(r"\]\(\s*([^)\s]+)[^)]*\)", re.sub(r"`[^`]*`", "", _split(page)[0]))
    return tuple(link for link in found if not re.match(r"[a-z]+:", link))


def _sections(page: Path) -> dict[str, str]:
    """Give a page's sections by the text of their second-level heading."""
    parts = re.split(r"^## +(.+)$", _split(page)[0], flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


@cache
def _options() -> dict[str, dict[str, object]]:
    """Give every task's options with their defaults, as invoke knows them."""
    collection = Collection.from_module(tasks)
    return {
        name: {argument.name: argument.default for argument in collection[name].get_arguments()}
        for name in collection.task_names
    }


def _flags(name: str) -> set[str]:
    return {f"--{option.replace('_', '-')}" for option in _options()[name]}


def _rows(text: str) -> dict[str, str]:
    """Give the rows of option tables: option, and the rest of the row."""
    return dict(re.findall(r"^\| `(--[a-z-]+)` \| (.*)$", text, re.MULTILINE))


@cache
def _documented(name: str) -> dict[str, str]:
    """Give the options that a task's section describes, in tables of its own or of the sections that it links to."""
    sections = _sections(COMMANDS)
    own = sections[name]
    anchors = {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-"): title for title in sections}
    shared = [anchors[anchor] for anchor in re.findall(r"\(#([\w-]+)\)", own) if anchor in anchors]
    rows: dict[str, str] = {}
    for title in shared:
        if title not in _options():
            rows |= _rows(sections[title])
    left_out = re.findall(r"all but `(--[\w-]+)`", own)
    return {flag: row for flag, row in (rows | _rows(own)).items() if flag not in left_out}


def _command_lines(page: Path) -> Iterator[tuple[str, list[str]]]:
    """Give all calls of bootstrap and invoke on a page, in blocks and in code within a line: where, and the words."""
    prose, blocks = _split(page)
    texts = [(f"line {block.line}", block.text.replace("\\\n", " ")) for block in blocks if block.language != "yaml"]
    texts += [(f"`{code}`", code) for code in re.findall(r"`([^`\n]+)`", prose)]
    for where, text in texts:
        for line in text.splitlines():
            words = _words(line)
            if words:
                yield where, words


def _words(line: str) -> list[str]:
    """Give the words behind ``./bootstrap`` or ``invoke``; empty where a line calls neither."""
    match = re.match(r"\s*(?:\$ |rerun: )?(?:sudo )?(?:[A-Z_]+=\S+ )*(?:\./bootstrap|invoke)( .*)?$", line)
    if match is None:
        return []
    rest = re.sub(r"\[(.*?)\]", r"\1", match[1] or "") if "`" not in line else match[1] or ""
    words = shlex.split(rest, comments=True)
    for number, word in enumerate(words):
        if re.match(r"\d?>|\||&|;", word):
            return words[:number]
    return words


def _problem(words: list[str]) -> str:
    """Say what is wrong with a call; empty where nothing is."""
    if not words or words[0] in INVOKE_ITSELF | STANDS_FOR_A_TASK:
        return ""
    name, *rest = words
    if name not in _options():
        return f"there is no task {name!r}"
    bare = TAKES_A_BARE_WORD.get(name, 0)
    while rest and bare and not rest[0].startswith("-"):
        rest, bare = rest[1:], bare - 1
    while rest:
        flag, equals, _ = rest.pop(0).partition("=")
        if flag in INVOKE_ITSELF:
            continue
        if flag not in _flags(name):
            return f"{name} takes no {flag!r}"
        if isinstance(_options()[name][flag[2:].replace("-", "_")], bool) or equals:
            continue
        if not rest:
            return f"{name} {flag} needs a value"
        rest.pop(0)
    return ""


def test_every_task_has_its_section() -> None:
    """The reference has a section for each task, and lists them all in its first table."""
    sections = _sections(COMMANDS)
    assert set(_options()) <= set(sections)
    listed = re.findall(r"^\| \[`(\w+)`\]\(#(\w+)\) \|", _text(COMMANDS), re.MULTILINE)
    assert {name for name, _ in listed} == set(_options())
    assert all(name == anchor for name, anchor in listed)


@pytest.mark.parametrize("name", sorted(_options()))
def test_every_option_is_described_and_no_other(name: str) -> None:
    """A task's section describes just the options that the task takes."""
    assert set(_documented(name)) == _flags(name)


@pytest.mark.parametrize("name", sorted(_options()))
def test_defaults_are_told(name: str) -> None:
    """Where an option has a default that is a word, its row names it."""
    for option, default in _options()[name].items():
        if isinstance(default, str) and default:
            assert f"`{default}`" in _documented(name)[f"--{option.replace('_', '-')}"], option


def test_exit_codes_are_told() -> None:
    """The reference has a row for each exit code."""
    rows = re.findall(r"^\| (\d+) \| \S", _sections(COMMANDS)["Exit codes"], re.MULTILINE)
    assert [int(row) for row in rows] == [code.value for code in ExitCode]


def test_variables_are_told() -> None:
    """Every variable of ours that the code reads has its row, and no other is named anywhere."""
    sources = (*(ROOT / "src").rglob("*.py"), *(ROOT / "src").rglob("*.sh"), ROOT / "bootstrap", ROOT / "tasks.py")
    read = {name for path in sources for name in re.findall(r"\bCROSSMATRIX_[A-Z]+(?:_[A-Z]+)*\b", _text(path))}
    told = set(re.findall(r"`(CROSSMATRIX_[A-Z_]+)`", _sections(COMMANDS)["Environment variables"]))
    assert told == read - ONLY_INSIDE_CONTAINERS
    for page in PAGES:
        assert set(re.findall(r"\bCROSSMATRIX_[A-Z_]+\b", _text(page))) <= told, page


@every_page
def test_links_lead_somewhere(page: Path) -> None:
    """Each relative link names a file that is there and, where it has one, an anchor of it."""
    for link in _links(page):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{page.relative_to(ROOT)} links to {link}"
        if anchor:
            assert anchor in _anchors(target), f"{page.relative_to(ROOT)} links to {link}"


@every_page
def test_commands_are_real(page: Path) -> None:
    """Each call of bootstrap or invoke on a page names a real task and its real options."""
    for where, words in _command_lines(page):
        assert not _problem(words), f"{page.relative_to(ROOT)}, {where}: {shlex.join(words)}: {_problem(words)}"


def _values(words: list[str]) -> dict[str, list[str]]:
    """Give what a call that is real gives to each option; bare words stand under an empty name."""
    name, *rest = words
    found: dict[str, list[str]] = {}
    while rest:
        flag, equals, value = rest.pop(0).partition("=")
        if not flag.startswith("-"):
            found.setdefault("", []).append(flag + equals + value)
        elif flag not in INVOKE_ITSELF and not isinstance(_options()[name][flag[2:].replace("-", "_")], bool):
            found.setdefault(flag[2:], []).append(value if equals else rest.pop(0))
    return found


@cache
def _catalog() -> Catalog:
    return load_catalog(ROOT, [])


def _meaningless(words: list[str]) -> str:
    """Say why the shipped recipes can make nothing of a call's names; empty where they can."""
    if not words or words[0] not in TAKES_A_BARE_WORD or MADE_BY_THE_READER.search(shlex.join(words)):
        return ""
    given = _values(words)
    bare = given.get("", [])
    if words[0] == "compare":
        ids = [name.rpartition(":")[2] for name in bare if "/" in name]
        return "".join(f"no matrix has {name}; " for name in ids if not matrices_with(_catalog(), name))
    globs = [glob for text in [*bare, *given.get("cells", [])] for glob in text.split(",")]
    selection = Selection.parse(given.get("only", []), given.get("skip", []), globs)
    tier = next(iter(given.get("tier", [])), None)
    try:
        matrix = next(iter(given.get("matrix", [])), "quick")
        cells = expand(_catalog(), matrix, sources={}, selection=selection, tier=tier).cells
        check_algorithms(cells, [name for text in given.get("algorithms", []) for name in text.split(",")])
    except UsageError as error:
        return str(error)
    return "" if cells else "no cell"


@every_page
def test_commands_choose_cells(page: Path) -> None:
    """Matrices, selectors, globs, cells, tiers and algorithms in a page's calls are those of the shipped recipes."""
    for where, words in _command_lines(page):
        assert not _meaningless(words), f"{page.relative_to(ROOT)}, {where}: {shlex.join(words)}: {_meaningless(words)}"


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ("matrix --matrix quack", "unknown matrix 'quack'"),
        ("list --only library=nettel", "unknown library 'nettel'"),
        ("plan 'nettle-9*'", "no cell of matrix 'quick'"),
        ("bench --only library=nettle --algorithms ghash", "no algorithm of nettle"),
        ("matrix --tier most", "no tier 'most'"),
        ("compare latest:nettle-3.10.2/asm/gcc-12/z80 latest", "no matrix has nettle-3.10.2/asm/gcc-12/z80"),
    ],
)
def test_commands_that_choose_nothing_are_seen(words: str, problem: str) -> None:
    """The check of names sees matrices, words, globs, tiers, algorithms and cells that do not exist."""
    assert problem in _meaningless(shlex.split(words))


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ("matrix --matrix quick 'a'", "takes no 'a'"),
        ("matrix --bogus", "takes no '--bogus'"),
        ("matrx", "no task 'matrx'"),
        ("matrix --jobs", "needs a value"),
        ("compare a b c", "takes no 'c'"),
        ("clean a", "takes no 'a'"),
    ],
)
def test_wrong_commands_are_seen(words: str, problem: str) -> None:
    """The check of commands sees unknown tasks and options, missing values, and words that no task takes."""
    assert problem in _problem(shlex.split(words))


@every_page
def test_yaml_blocks_parse(page: Path) -> None:
    """Every YAML example is YAML, and says something."""
    for block in _split(page)[1]:
        if block.language in {"yaml", "yml"}:
            assert yaml.safe_load(block.text), f"{page.relative_to(ROOT)}:{block.line}"


def _codes(page: Path) -> set[str]:
    """Give what stands in backticks in a page's prose."""
    return set(re.findall(r"`([^`\n]+)`", _split(page)[0]))


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
    for name in set(re.findall(r"\bcrossmatrix(?:\.[a-z_]+)+\b", _text(page))) - _labels():
        module, _, last = name.rpartition(".")
        path = ROOT.joinpath("src", *name.split("."))
        is_module = path.is_dir() or path.with_suffix(".py").is_file()
        assert is_module or hasattr(import_module(module), last), f"{page.relative_to(ROOT)} names {name}"


def _labels() -> set[str]:
    """Give the labels that the code puts on what is ours."""
    texts = (_text(path) for path in (ROOT / "src").rglob("*.py"))
    return {f"crossmatrix.{word}" for text in texts for word in re.findall(r"\{LABEL\}\.(\w+)", text)}


def test_every_label_is_told() -> None:
    """The table of labels has all that the code writes, and no other."""
    rows = re.findall(r"^\| (`crossmatrix\..*?) \|", _text(DOCS / "reference" / "state-directory.md"), re.MULTILINE)
    assert {name for row in rows for name in re.findall(r"`([\w.]+)`", row)} == _labels()


def test_every_benchmark_is_told() -> None:
    """The table of benchmarks has all scripts that can be called, and no other."""
    table = _sections(ROOT / "CONTRIBUTING.md")["Benchmarks"]
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
    assert words in " ".join(_text(DOCS / page).split())


def test_changelog_has_what_is_not_released() -> None:
    """The changelog has a section for what comes next."""
    assert "Unreleased" in _sections(ROOT / "CHANGELOG.md")


def test_every_page_is_reachable() -> None:
    """Whoever starts at the index comes to every page of docs/ by links."""
    seen: set[Path] = set()
    waiting = [DOCS / "index.md"]
    while waiting:
        page = waiting.pop()
        if page in seen or page.suffix != ".md" or not page.is_file():
            continue
        seen.add(page)
        waiting += [(page.parent / link.partition("#")[0]).resolve() for link in _links(page) if link[0] != "#"]
    assert set(DOCS.rglob("*.md")) <= seen


@pytest.mark.parametrize("word", [*Verdict, *FindingKind], ids=str)
def test_every_verdict_and_finding_is_explained(word: Verdict | FindingKind) -> None:
    """The glossary has a row for each verdict and each kind of finding, with more than its name."""
    rows = re.findall(rf"^\| `{word.value}` \|(.*)\|$", _text(DOCS / "reference" / "glossary.md"), re.MULTILINE)
    assert len(rows) == 1
    assert len(rows[0].split()) > 4


def test_glossary_has_no_other_verdicts_and_findings() -> None:
    """What the glossary calls a verdict or a finding is one."""
    sections = _sections(DOCS / "reference" / "glossary.md")
    for title, kind in (("Verdicts", Verdict), ("Findings", FindingKind)):
        assert set(re.findall(r"^\| `([\w-]+)` \|", sections[title], re.MULTILINE)) == {word.value for word in kind}


def test_good_verdicts_are_told_from_bad_ones() -> None:
    """The glossary says of just those verdicts that they are good with which a run ends with exit code 0."""
    rows = re.findall(
        r"^\| `([\w-]+)` \| (\w+) \|", _sections(DOCS / "reference" / "glossary.md")["Verdicts"], re.MULTILINE
    )
    assert {name for name, kind in rows if kind == "good"} == {word.value for word in Verdict if word.as_expected}


def test_the_table_of_verdicts_is_that_of_the_code() -> None:
    """The page on verdicts has the rows of the docstring by which cells are judged, word by word."""
    page = re.findall(r"^\| (\d+) \| (.+?) \| `([\w-]+)` \|$", _text(DOCS / "explanation/verdicts.md"), re.MULTILINE)
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
    project = tomllib.loads(_text(ROOT / "pyproject.toml"))["project"]
    needed = {re.split(r"[<>=\[ ]", line)[0] for line in project["dependencies"]}
    table = _sections(DOCS / "explanation" / "libraries.md")["At run time"]
    assert set(re.findall(r"^\| (\w+) \| .+ \| .+ \|$", table, re.MULTILINE)) - {"library"} == needed


@every_page
def test_nothing_is_left_to_do(page: Path) -> None:
    """No page has a place that somebody still has to fill."""
    assert "TODO" not in _text(page)
    assert not re.search(r"^[A-Z]{2}[A-Z_-]{3,}$", _split(page)[0], re.MULTILINE)
