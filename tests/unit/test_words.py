"""The command line is looked over before invoke reads it."""

from __future__ import annotations

import pytest

from crossmatrix.cli.options import CHOICE, MANNER, Option, format_option, options_of_invoke
from crossmatrix.cli.words import check_words
from crossmatrix.errors import UsageError

TASKS = {
    "matrix": (*CHOICE, *MANNER),
    "compare": (
        Option(name="before", help="", positional=True),
        Option(name="after", help="", positional=True),
        format_option("text"),
    ),
    "lint": (),
}


@pytest.mark.parametrize(
    "line",
    [
        "",
        "--list",
        "--search-root /a/b matrix",
        "-r /a/b matrix --only a=b",
        "matrix --only=a=b --skip c=d --jobs 2 --fresh --keep-container",
        "compare latest 2026 --format text",
        "compare a/b c/d --format=text",
        "lint matrix --fresh",
        "matrix --help",
        "--help matrix",
        "-h matrix",
        "matrix --jobs -1",
    ],
)
def test_what_invoke_understands_passes(line: str) -> None:
    """Tasks, their options with and without ``=``, several tasks, and all that is invoke's own."""
    words = line.split()
    check_words(words, TASKS, options_of_invoke())
    assert not words or words[0].startswith("-") or words[0] in TASKS


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("matrx", "no task 'matrx'; did you mean 'matrix'"),
        ("matrix --onyl a=b", "no option '--onyl'; did you mean '--only'"),
        ("--lisst", "no option '--lisst'; did you mean '--list'"),
        ("lint --fresh", "lint: there is no option '--fresh'"),
        ("matrix --only", "--only needs a value"),
        ("matrix --only --fresh", "--only needs a value"),
        ("matrix lint x", "lint: cannot make anything of the word 'x'"),
        ("compare a b c", "cannot make anything of the word 'c'"),
    ],
)
def test_what_does_not_exist_is_named_with_what_does(line: str, message: str) -> None:
    """The error names the word, its task and the nearest right one."""
    with pytest.raises(UsageError, match=message):
        check_words(line.split(), TASKS, options_of_invoke())
