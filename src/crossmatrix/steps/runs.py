"""The stages of a run job: emulator, words, evidence, vectors, test; or bench."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crossmatrix.steps.builds import check_library
from crossmatrix.steps.scripts_text import clean_function, script_text, with_values
from crossmatrix.steps.stage import InputFile, Stage, Steps
from crossmatrix.steps.surroundings import (
    PLAIN,
    emulator_of,
    left_out_tests,
    profile_environment,
    suite_environment,
)

if TYPE_CHECKING:
    from crossmatrix.catalog import Cell

OUTPUTS = "/scratch/out"

_EMULATOR_S = 120
_WORDS_S = 120
_EVIDENCE_S = 900
_VECTORS_S = 900


def run_steps(cell: Cell, *, processes: int) -> Steps:
    """Give all that a run job of a test tier does.

    The build's volume is at ``/work``, read-only.

    Args:
        cell: what is run.
        processes: test files side by side.

    Raises:
        UsageError: there are no scripts for the library.
    """
    library = cell.build.library.name
    check_library(library)
    return Steps(
        inputs=(InputFile(path="/scratch/suite.pl", data=script_text("suite.pl").encode()),),
        stages=(
            emulator_stage(cell),
            clean_stage(cell, "words", f"{library}-words.sh", _WORDS_S),
            clean_stage(cell, "evidence", "evidence.sh", _EVIDENCE_S),
            clean_stage(cell, "vectors", "vectors.sh", _VECTORS_S),
            Stage(
                name="test",
                script=with_values(
                    f"{library}-suite.sh",
                    suite_words(cell),
                    emulator=emulator_of(cell),
                    jobs=str(max(1, processes)),
                ),
                timeout_s=cell.tier.timeout_s,
                environment=suite_environment(cell),
                directory="/scratch",
                may_fail=True,
            ),
        ),
        outputs=OUTPUTS,
    )


def suite_words(cell: Cell) -> tuple[str, ...]:
    """Give the harness's arguments: the tier's tests, then with ``-`` in front what is left out.

    nettle's suite takes none: it is always run whole.
    """
    if cell.build.library.name != "openssl":
        return ()
    return (*(cell.tier.tests or ("alltests",)), *(f"-{test}" for test in left_out_tests(cell)))


def emulator_stage(cell: Cell) -> Stage:
    """Give the stage that checks that programs of the build start at all; a failure says nothing of the library."""
    return clean_stage(cell, "emulator", "emulator.sh", _EMULATOR_S, may_fail=False)


def clean_stage(cell: Cell, name: str, script: str, timeout_s: int, *, may_fail: bool = True) -> Stage:
    """Give a stage whose programs see the profile's variables and nothing else."""
    values = with_values(script, emulator=emulator_of(cell), plugin=cell.emulator.plugin)
    return Stage(
        name=name,
        script=clean_function(profile_environment(cell)) + values,
        timeout_s=timeout_s,
        environment=PLAIN,
        directory="/scratch",
        may_fail=may_fail,
    )
