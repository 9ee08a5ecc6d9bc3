"""The pages: commands in them are real, choose what exists, and are described whole in the reference."""

from __future__ import annotations

import re
import shlex
from functools import cache
from typing import TYPE_CHECKING

import pytest
from tests.unit.doc_pages import (
    COMMANDS,
    MADE_BY_THE_READER,
    ROOT,
    every_page,
    options_of_tasks,
    parts_of,
    sections_of,
    text_of,
)

from crossmatrix.api.choosing import check_algorithms
from crossmatrix.errors import ExitCode, UsageError
from crossmatrix.matrix import expand
from crossmatrix.matrix.cells import matrices_with
from crossmatrix.recipes import load_catalog
from crossmatrix.selectors import Selection

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from crossmatrix.catalog import Catalog

INVOKE_ITSELF = {"--list", "--help", "--version"}
"""Options of invoke's own that pages may use, also behind a task."""
STANDS_FOR_A_TASK = {"TASK"}
TAKES_A_BARE_WORD = {"matrix": 1, "list": 1, "plan": 1, "bench": 1, "compare": 2}
"""How many words without an option each task takes, directly behind its name."""


def _flags(name: str) -> set[str]:
    return {f"--{option.replace('_', '-')}" for option in options_of_tasks()[name]}


def _rows(text: str) -> dict[str, str]:
    """Give the rows of option tables: option, and the rest of the row."""
    return dict(re.findall(r"^\| `(--[a-z-]+)` \| (.*)$", text, re.MULTILINE))


@cache
def _documented(name: str) -> dict[str, str]:
    """Give the options that a task's section describes, in tables of its own or of the sections that it links to."""
    sections = sections_of(COMMANDS)
    own = sections[name]
    anchors = {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-"): title for title in sections}
    shared = [anchors[anchor] for anchor in re.findall(r"\(#([\w-]+)\)", own) if anchor in anchors]
    rows: dict[str, str] = {}
    for title in shared:
        if title not in options_of_tasks():
            rows |= _rows(sections[title])
    left_out = re.findall(r"all but `(--[\w-]+)`", own)
    return {flag: row for flag, row in (rows | _rows(own)).items() if flag not in left_out}


def _command_lines(page: Path) -> Iterator[tuple[str, list[str]]]:
    """Give all calls of bootstrap and invoke on a page, in blocks and in code within a line: where, and the words."""
    prose, blocks = parts_of(page)
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
    if name not in options_of_tasks():
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
        if isinstance(options_of_tasks()[name][flag[2:].replace("-", "_")], bool) or equals:
            continue
        if not rest:
            return f"{name} {flag} needs a value"
        rest.pop(0)
    return ""


def test_every_task_has_its_section() -> None:
    """The reference has a section for each task, and lists them all in its first table."""
    sections = sections_of(COMMANDS)
    assert set(options_of_tasks()) <= set(sections)
    listed = re.findall(r"^\| \[`(\w+)`\]\(#(\w+)\) \|", text_of(COMMANDS), re.MULTILINE)
    assert {name for name, _ in listed} == set(options_of_tasks())
    assert all(name == anchor for name, anchor in listed)


@pytest.mark.parametrize("name", sorted(options_of_tasks()))
def test_every_option_is_described_and_no_other(name: str) -> None:
    """A task's section describes just the options that the task takes."""
    assert set(_documented(name)) == _flags(name)


@pytest.mark.parametrize("name", sorted(options_of_tasks()))
def test_defaults_are_told(name: str) -> None:
    """Where an option has a default that is a word, its row names it."""
    for option, default in options_of_tasks()[name].items():
        if isinstance(default, str) and default:
            assert f"`{default}`" in _documented(name)[f"--{option.replace('_', '-')}"], option


def test_exit_codes_are_told() -> None:
    """The reference has a row for each exit code."""
    rows = re.findall(r"^\| (\d+) \| \S", sections_of(COMMANDS)["Exit codes"], re.MULTILINE)
    assert [int(row) for row in rows] == [code.value for code in ExitCode]


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
        elif flag not in INVOKE_ITSELF and not isinstance(options_of_tasks()[name][flag[2:].replace("-", "_")], bool):
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
