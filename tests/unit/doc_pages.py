"""The pages, taken apart for tests of what they say."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
import tasks
from invoke.collection import Collection

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
COMMANDS = DOCS / "reference" / "commands.md"
PAGES = (*(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")), *sorted(DOCS.rglob("*.md")))

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
def text_of(page: Path) -> str:
    """Give a page, or another file of text, whole."""
    return page.read_text(encoding="utf-8")


@cache
def parts_of(page: Path) -> tuple[str, tuple[Block, ...]]:
    """Give a page's prose, and its fenced code blocks."""
    prose: list[str] = []
    blocks: list[Block] = []
    inside: list[str] = []
    fence, language, start = "", "", 0
    for number, line in enumerate(text_of(page).splitlines(), 1):
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
def anchors_of(page: Path) -> frozenset[str]:
    """Give the anchors that GitHub makes of a page's headings."""
    seen: dict[str, int] = {}
    anchors: list[str] = []
    for heading in re.findall(r"^#{1,6} +(.+?) *#*$", parts_of(page)[0], re.MULTILINE):
        slug = re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")
        anchors.append(slug if slug not in seen else f"{slug}-{seen[slug]}")
        seen[slug] = seen.get(slug, 0) + 1
    return frozenset(anchors)


def links_of(page: Path) -> tuple[str, ...]:
    """Give the targets of a page's links and images, those outside of the checkout left out."""
    found = re.findall(r"\]\(\s*([^)\s]+)[^)]*\)", re.sub(r"`[^`]*`", "", parts_of(page)[0]))
    return tuple(link for link in found if not re.match(r"[a-z]+:", link))


def sections_of(page: Path) -> dict[str, str]:
    """Give a page's sections by the text of their second-level heading."""
    parts = re.split(r"^## +(.+)$", parts_of(page)[0], flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


@cache
def options_of_tasks() -> dict[str, dict[str, object]]:
    """Give every task's options with their defaults, as invoke knows them."""
    collection = Collection.from_module(tasks)
    return {
        name: {argument.name: argument.default for argument in collection[name].get_arguments()}
        for name in collection.task_names
    }
