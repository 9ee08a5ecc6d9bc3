"""Words that pick cells."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crossmatrix.errors import ExitCode, UsageError
from crossmatrix.selectors import KEYS, Selection, Term, glob_matches, parse_terms, where_matches

LIBRARIES = ("openssl", "nettle")
ENDIANS = ("big", "little")
TARGETS = ("aarch64-linux-musl", "aarch64_be-linux-musl", "x86_64-linux-musl")


def _facts(library: str, endian: str, target: str) -> dict[str, str]:
    return {
        "library": library,
        "version": "3.0.20" if library == "openssl" else "3.10.2",
        "endian": endian,
        "target": target,
        "profile": "armcap=0x1",
        "id": f"{library}-1/asm/gcc-12/{target}@armcap=0x1",
    }


CELLS = tuple(_facts(library, endian, target) for library in LIBRARIES for endian in ENDIANS for target in TARGETS)

words = st.one_of(
    st.sampled_from([f"library={name}" for name in (*LIBRARIES, "openssl|nettle", "*ss*")]),
    st.sampled_from([f"endian={name}" for name in (*ENDIANS, "b*")]),
    st.sampled_from([f"target={name}" for name in (*TARGETS, "aarch64*", "*_*", "[ax]*musl")]),
)
texts = st.lists(words, min_size=1, max_size=3).map(",".join)
groups = st.lists(texts, max_size=3)


def _picked(selection: Selection) -> set[str]:
    return {str(sorted(cell.items())) for cell in CELLS if selection.matches(cell)}


ALL = {str(sorted(cell.items())) for cell in CELLS}


@given(text=texts)
def test_only_and_skip_complement_each_other(text: str) -> None:
    """Every cell is picked by exactly one of --only TEXT and --skip TEXT."""
    only, skip = _picked(Selection.parse(only=[text])), _picked(Selection.parse(skip=[text]))
    assert only | skip == ALL
    assert not only & skip


@given(left=texts, right=texts)
def test_repeated_words_are_a_union(left: str, right: str) -> None:
    """--only A --only B picks what either picks, and --skip likewise leaves out what either does."""
    both = _picked(Selection.parse(only=[left, right]))
    assert both == _picked(Selection.parse(only=[left])) | _picked(Selection.parse(only=[right]))
    skipped = _picked(Selection.parse(skip=[left, right]))
    assert skipped == _picked(Selection.parse(skip=[left])) & _picked(Selection.parse(skip=[right]))


@given(left=texts, right=texts)
def test_words_of_one_text_are_an_intersection(left: str, right: str) -> None:
    """--only A,B picks what both pick."""
    both = _picked(Selection.parse(only=[f"{left},{right}"]))
    assert both == _picked(Selection.parse(only=[left])) & _picked(Selection.parse(only=[right]))


@given(only=groups, skip=groups, globs=st.lists(st.sampled_from(["open*", "*musl*", "*@armcap=0x1"]), max_size=2))
def test_the_parts_of_a_selection_all_hold(only: list[str], skip: list[str], globs: list[str]) -> None:
    """What is picked is picked by only, by globs, and not by skip, each on its own."""
    whole = _picked(Selection.parse(only, skip, globs))
    parts = (Selection.parse(only=only), Selection.parse(skip=skip), Selection.parse(globs=globs))
    assert whole == _picked(parts[0]) & _picked(parts[1]) & _picked(parts[2])


@given(st.lists(words, min_size=1, max_size=3))
def test_a_term_is_written_as_it_is_read(parts: list[str]) -> None:
    """Reading what a term writes gives the term again."""
    terms = parse_terms(",".join(parts))
    assert parse_terms(",".join(str(term) for term in terms)) == terms


def test_nothing_said_picks_everything() -> None:
    """An empty selection means all cells."""
    assert _picked(Selection.parse()) == _picked(Selection()) == ALL


def test_spaces_around_words_do_not_matter() -> None:
    """A selector in quotes may be written with spaces."""
    assert Selection.parse(only=[" library = nettle , endian = big "]) == Selection.parse(
        only=["library=nettle,endian=big"]
    )


def test_a_value_may_hold_an_equals_sign() -> None:
    """Profiles are called armcap=0x1, so only the first equals sign divides."""
    assert Term.parse("profile=armcap=0x1") == Term(key="profile", values=("armcap=0x1",))
    assert Selection.parse(only=["profile=armcap=*"]).matches(CELLS[0])


def test_a_version_is_also_picked_by_its_series() -> None:
    """version=3.0 means 3.0.20, but version=3.1 does not mean 3.10.2."""
    openssl, nettle = CELLS[0], CELLS[-1]
    assert Term.parse("version=3.0").matches(openssl)
    assert not Term.parse("version=3.1").matches(nettle)
    assert Term.parse("version=3.1*").matches(nettle)


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("libary=nettle", "unknown key 'libary' in selector 'libary=nettle'; did you mean 'library'?"),
        ("nettle", "selector 'nettle' is not of the form key=value"),
        ("", "selector '' is not of the form key=value"),
        ("library=", "selector 'library=' has an empty value"),
        ("library=a|", "selector 'library=a|' has an empty value"),
        ("=nettle", "unknown key ''"),
    ],
)
def test_a_word_that_cannot_be_read_is_a_usage_error(word: str, message: str) -> None:
    """The message shows the word and the nearest right key, and the exit code is that for usage."""
    with pytest.raises(UsageError) as caught:
        Selection.parse(only=[word])
    assert message in str(caught.value)
    assert caught.value.exit_code is ExitCode.USAGE


@given(st.text(max_size=30))
def test_any_text_is_read_or_refused(text: str) -> None:
    """No text of a user's ends in anything but terms or a usage error."""
    try:
        terms = parse_terms(text)
    except UsageError:
        return
    assert terms
    assert all(term.key in KEYS and all(term.values) for term in terms)


@given(st.text(alphabet="ab[]*?!-/@", max_size=12), st.text(alphabet="ab/@-", max_size=12))
def test_any_glob_can_be_compared(glob: str, text: str) -> None:
    """A glob with stray brackets is no crash, and a text always matches itself and the star."""
    assert isinstance(glob_matches(glob, text), bool)
    assert glob_matches(text, text)
    assert glob_matches("*", text)


def test_an_exclusion_without_words_is_everywhere() -> None:
    """No words match every cell; several must all match, commas or not."""
    cell = CELLS[0]
    assert where_matches((), cell)
    assert where_matches(("library=openssl", "endian=big"), cell)
    assert where_matches(("library=openssl,endian=big",), cell)
    assert not where_matches(("library=openssl", "endian=little"), cell)


def test_unknown_alternatives_are_named() -> None:
    """Each alternative that matches none of the known values is given, the others are not."""
    assert Term.parse("target=x*|aarch64|sparc*").unknown(TARGETS) == ("aarch64", "sparc*")
