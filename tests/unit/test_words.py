"""The command line is looked over before invoke reads it."""

from __future__ import annotations

import pytest

from crossmatrix.cli.options import CHOICE, MANNER, Option, format_option, options_of_invoke
from crossmatrix.cli.words import WITHOUT_EFFECT, check_words
from crossmatrix.errors import UsageError

TASKS = {
    "matrix": (*CHOICE, *MANNER),
    "compare": (
        Option(name="before", help="", positional=True),
        Option(name="after", help="", positional=True),
        format_option("text"),
    ),
    "report": (Option(name="run", help=""), format_option("text")),
    "engine": (Option(name="status", help="", default=False), Option(name="stop", help="", default=False)),
    "images": (Option(name="name", help="", default=[]),),
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
        ("matrix --matrix a --matrix b", "matrix: --matrix is given twice"),
        ("matrix --matrix=a --matrix=b", "matrix: --matrix is given twice"),
        ("report --format text --run 1 --format=text", "report: --format is given twice"),
        ("compare a b --after c", "compare: --after is given twice"),
        ("matrix --fresh=no", "matrix: --fresh takes no value"),
        ("engine --stop=", "engine: --stop takes no value"),
        ("matrix --jobs=", "value of --jobs is empty"),
        ("matrix --cells ,", "value of --cells is empty"),
        ("matrix --only= --fresh", "value of --only is empty"),
        ("images --name=,,", "value of --name is empty"),
        ("report --run=", "value of --run is empty"),
        ("compare , b", "value of --before is empty"),
        ("compare a b compare", "compare stands twice"),
        ("-- matrix", "nothing can stand behind `--`"),
        ("matrix -- --fresh", "nothing can stand behind `--`"),
        ("--dry matrix", "--dry has no effect"),
        ("-R matrix", "-R has no effect"),
        ("matrix --echo", "--echo has no effect"),
        ("matrix lint x", "lint: cannot make anything of the word 'x'"),
        ("compare a b c", "cannot make anything of the word 'c'"),
    ],
)
def test_what_does_not_exist_is_named_with_what_does(line: str, message: str) -> None:
    """The error names the word, its task and the nearest right one."""
    with pytest.raises(UsageError, match=message):
        check_words(line.split(), TASKS, options_of_invoke())


@pytest.mark.parametrize(
    ("line", "advice"),
    [
        ("report latest", "--run latest"),
        ("engine status", "did you mean --status"),
        ("engine stop", "did you mean --stop"),
        ("images gcc-12", "--name gcc-12"),
        ("matrix --fresh nettle-*", "a glob over cells stands directly after the task"),
        ("matrix --jobs 1 fresh", "did you mean --fresh"),
        ("lint all", "`invoke --help lint`"),
        ("compare a b c", "`invoke --help compare`"),
    ],
)
def test_advice_is_about_the_task_itself(line: str, advice: str) -> None:
    """A word too many: what this task takes stands in the hint, and of globs speak only those tasks that take one."""
    with pytest.raises(UsageError) as caught:
        check_words(line.split(), TASKS, options_of_invoke())
    assert advice in caught.value.hint
    assert ("glob" in caught.value.hint) <= line.startswith("matrix")


def test_a_task_twice_may_have_its_options_twice() -> None:
    """What is given twice is counted for each task of the line."""
    check_words(["report", "--run", "1", "report", "--run", "2"], TASKS, options_of_invoke())
    with pytest.raises(UsageError, match="twice"):
        check_words(["report", "--run", "1", "--run", "2"], TASKS, options_of_invoke())


@pytest.mark.parametrize("name", sorted(WITHOUT_EFFECT))
def test_options_of_invoke_without_effect_exist(name: str) -> None:
    """Each option that is refused is one that invoke offers, and what to do is said."""
    assert name in options_of_invoke()
    assert WITHOUT_EFFECT[name]
