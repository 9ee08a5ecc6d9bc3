"""The tasks of `invoke`: thin, all logic is in the package."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from crossmatrix.api.workspace import Workspace
from crossmatrix.cli import cost, upkeep
from crossmatrix.cli import matrix as cells
from crossmatrix.cli.options import (
    BEFORE_AND_AFTER,
    CHOICE,
    FRESH,
    JOBS,
    MANNER,
    Option,
    command,
    format_option,
    look_over,
    with_bare_words,
)

if TYPE_CHECKING:
    from crossmatrix.cli.options import Options
    from crossmatrix.errors import ExitCode

HERE = Workspace.at(Path(__file__).parent, os.environ)


@command(*with_bare_words(CHOICE, ("cells",), "matrix"), *MANNER, default=True)
def matrix(options: Options) -> ExitCode:
    """Build and test every cell of a matrix and print one report."""
    return cells.matrix(HERE, options.choice(), options.manner())


@command(*with_bare_words(CHOICE, ("cells",), "list"), format_option("text", "json"), name="list")
def list_cells(options: Options) -> ExitCode:
    """List the cells of a matrix, and what is left out and why."""
    return cells.list_cells(HERE, options.choice(), options.format(("text", "json")))


@command(*with_bare_words(CHOICE, ("cells",), "plan"), FRESH, format_option("text", "json"))
def plan(options: Options) -> ExitCode:
    """Print jobs, edges, what is cached and why not, and start nothing."""
    return cells.plan(HERE, options.choice(), options.format(("text", "json")), fresh=options.flag("fresh"))


@command(CHOICE[0], Option(name="name", help="of an image under images/; repeat it for more", default=[]))
def images(options: Options) -> ExitCode:
    """Build the toolchain and emulator images that are missing, and say what is in them."""
    return cells.images(HERE, options.choice(), options.words("name"))


@command(
    Option(name="run", help="latest, a run's id or its beginning", default="latest"),
    format_option("text", "json", "md"),
)
def report(options: Options) -> ExitCode:
    """Print the report of an earlier run again, and write its files again."""
    return cells.report(HERE, options.text("run"), options.format(("text", "json", "md")))


@command(
    *(option for option in with_bare_words(CHOICE, ("cells",), "bench") if option.name != "tier"),
    Option(name="algorithms", help="names in docs/reference/algorithms.md, separated by commas (default: all)"),
    JOBS,
    FRESH,
    format_option("text", "json"),
)
def bench(options: Options) -> ExitCode:
    """Count instructions per byte and per operation: invoke bench ['GLOB,...']."""
    return cost.bench(HERE, options.choice(), options.manner(), options.format(("text", "json")))


@command(
    *with_bare_words(BEFORE_AND_AFTER, ("before", "after"), "compare"),
    Option(name="threshold", help="change in cost, in per cent, past which the exit code is 1", default="1%"),
    format_option("text", "md", "json"),
)
def compare(options: Options) -> ExitCode:
    """Hold two cells or two runs against each other: verdicts, evidence, cost."""
    form = options.format(("text", "md", "json"))
    return cost.compare(HERE, options.text("before"), options.text("after"), form, options.text("threshold"))


@command(
    Option(name="status", help="say which engine is used (the default)", default=False),
    Option(name="stop", help="stop the private engine", default=False),
)
def engine(options: Options) -> ExitCode:
    """Show the Docker Engine in use, or stop the private one."""
    return upkeep.engine(HERE, status=options.flag("status"), stop=options.flag("stop"))


@command()
def doctor(_options: Options) -> ExitCode:
    """Check every prerequisite and say how to mend what is missing."""
    return upkeep.doctor(HERE)


@command(
    Option(name="dry_run", help="only say what would be removed", default=False),
    Option(name="older_than", help="only what is older: 90m, 12h, 7d"),
    Option(name="keep", help="remove the oldest until this much is left: 500M, 20G"),
    Option(name="everything", help="of all state directories on this engine", default=False),
)
def clean(options: Options) -> ExitCode:
    """Remove containers, volumes, images, results and runs of ours, and nothing else."""
    return upkeep.clean(
        HERE,
        dry_run=options.flag("dry_run"),
        older_than=options.text("older_than"),
        keep=options.text("keep"),
        everything=options.flag("everything"),
    )


@command(
    Option(name="unit", help="only the tests that need neither Docker nor network", default=False),
    Option(name="sabotage", help="only the lies told about real builds; slow", default=False),
    Option(name="options", help="more words for pytest"),
)
def test(options: Options) -> ExitCode:
    """Run the project's own tests."""
    return upkeep.run_tests(
        HERE,
        unit=options.flag("unit"),
        sabotage=options.flag("sabotage"),
        options=options.text("options"),
    )


@command()
def lint(_options: Options) -> ExitCode:
    """Run ruff, mypy and import-linter."""
    return upkeep.lint(HERE)


look_over(sys.argv)
