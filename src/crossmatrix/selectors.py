"""Words that pick cells: ``library=nettle,endian=big``, ``target=a|b``, and globs over cell ids."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import translate
from functools import lru_cache
from typing import TYPE_CHECKING

from crossmatrix.catalog import in_series
from crossmatrix.errors import UsageError, nearest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from crossmatrix.catalog import Cell

KEYS = (
    "library",
    "version",
    "variant",
    "toolchain",
    "compiler",
    "target",
    "endian",
    "libc",
    "profile",
    "tier",
    "id",
)
"""What a cell can be picked by; ``compiler`` is the toolchain's family."""


def facts_of(cell: Cell) -> dict[str, str]:
    """Give what is known of a cell by each of ``KEYS``."""
    build = cell.build
    return {
        "library": build.library.name,
        "version": build.source.version,
        "variant": build.variant.name,
        "toolchain": build.toolchain.name,
        "compiler": build.toolchain.family,
        "target": build.target.name,
        "endian": build.target.endian.value,
        "libc": build.target.libc,
        "profile": cell.profile.name,
        "tier": cell.tier.name,
        "id": cell.id,
    }


def is_glob(text: str) -> bool:
    """Say whether a text holds ``*``, ``?`` or ``[``."""
    return any(sign in text for sign in "*?[")


def glob_matches(glob: str, text: str) -> bool:
    """Say whether a glob matches a whole text; ``*`` also matches ``/``."""
    return text == glob or (is_glob(glob) and _compiled(glob).match(text) is not None)


@lru_cache(maxsize=4096)
def _compiled(glob: str) -> re.Pattern[str]:
    return re.compile(translate(glob))


@dataclass(frozen=True, kw_only=True, slots=True)
class Term:
    """One word, ``key=value``; ``values`` are alternatives, each a name or a glob."""

    key: str
    values: tuple[str, ...]

    @classmethod
    def parse(cls, word: str) -> Term:
        """Read ``target=aarch64*|x86_64-linux-musl``.

        Raises:
            UsageError: it has no ``=`` or no value, or the key is unknown.
        """
        key, equals, value = (part.strip() for part in word.partition("="))
        if not equals:
            raise UsageError(
                f"selector {word.strip()!r} is not of the form key=value",
                hint=f"keys: {', '.join(KEYS)}; a glob over cell ids is an argument of its own",
            )
        if key not in KEYS:
            raise UsageError(f"unknown key {key!r} in selector {word.strip()!r}; {nearest(key, KEYS)}")
        values = tuple(part.strip() for part in value.split("|"))
        if not all(values):
            raise UsageError(f"selector {word.strip()!r} has an empty value", hint=f"write {key}=NAME or {key}=A|B")
        return cls(key=key, values=values)

    def __str__(self) -> str:
        """Give the word as it is written."""
        return f"{self.key}={'|'.join(self.values)}"

    def matches(self, facts: Mapping[str, str]) -> bool:
        """Say whether one of the alternatives matches; for a version, its series (``3.0``) does too."""
        fact = facts.get(self.key, "")
        return any(self._value_matches(value, fact) for value in self.values)

    def unknown(self, known: Iterable[str]) -> tuple[str, ...]:
        """Give the alternatives that match none of the known values."""
        names = set(known)
        return tuple(value for value in self.values if not any(self._value_matches(value, name) for name in names))

    def _value_matches(self, value: str, fact: str) -> bool:
        return glob_matches(value, fact) or (self.key == "version" and in_series(fact, value))


def parse_terms(text: str) -> tuple[Term, ...]:
    """Read words that must all match, separated by commas.

    Raises:
        UsageError: a word cannot be read.
    """
    return tuple(Term.parse(word) for word in text.split(","))


def where_matches(where: Iterable[str], facts: Mapping[str, str]) -> bool:
    """Say whether a cell matches all words of an exclusion; no words match every cell."""
    return all(term.matches(facts) for word in where for term in _where_terms(word))


@lru_cache(maxsize=4096)
def _where_terms(word: str) -> tuple[Term, ...]:
    return parse_terms(word)


@dataclass(frozen=True, kw_only=True, slots=True)
class Selection:
    """Which cells of a matrix are meant.

    Attributes:
        only: cells that match all words of one of these; all cells where there are none.
        skip: cells that match all words of one of these are not meant.
        globs: cells whose id matches one of these; all cells where there are none.
    """

    only: tuple[tuple[Term, ...], ...] = ()
    skip: tuple[tuple[Term, ...], ...] = ()
    globs: tuple[str, ...] = ()

    @classmethod
    def parse(cls, only: Sequence[str] = (), skip: Sequence[str] = (), globs: Sequence[str] = ()) -> Selection:
        """Read what the user wrote.

        Args:
            only: texts such as ``library=nettle,endian=big``; the words of one text must all match, and a cell is
                meant when one of the texts matches.
            skip: texts of the same form, for cells that are not meant.
            globs: over cell ids.

        Raises:
            UsageError: a word cannot be read or its key is unknown.
        """
        return cls(
            only=tuple(parse_terms(text) for text in only),
            skip=tuple(parse_terms(text) for text in skip),
            globs=tuple(glob.strip() for glob in globs),
        )

    def matches(self, facts: Mapping[str, str]) -> bool:
        """Say whether a cell with these facts is meant; see ``facts_of``."""
        return (
            (not self.globs or any(glob_matches(glob, facts.get("id", "")) for glob in self.globs))
            and (not self.only or _any_matches(self.only, facts))
            and not _any_matches(self.skip, facts)
        )


def _any_matches(alternatives: Iterable[tuple[Term, ...]], facts: Mapping[str, str]) -> bool:
    return any(all(term.matches(facts) for term in terms) for terms in alternatives)
