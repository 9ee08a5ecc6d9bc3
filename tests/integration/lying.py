"""Lies about cells: changes of what their jobs do, told where they happen in life.

A change alters a stage's script or brings in a file. It is part of the job's key, so that lies about the run alone
share the sound cell's build.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tests.integration.real_cells import nettle

from crossmatrix.records import Verdict
from crossmatrix.runner.job_steps import JobSteps
from crossmatrix.steps import steps_digest
from crossmatrix.steps.stage import InputFile, Stage, Steps

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from crossmatrix.catalog import Build, Cell

    Change = Callable[[Steps], Steps]

FEW_TESTS = (
    *("aes-test", "cbc-test", "chacha-test", "ecdsa-sign-test", "gcm-test", "hmac-test", "sha1-test", "sha256-test"),
    *("sha3-256-test", "poly1305-test", "version-test", "symbols-test", "x86-ibt-test", "sexp-conv-test"),
)
"""The suite of these cells, sound ones too: the whole one takes a minute, which no lie here needs."""


def before(stage: str, lines: str) -> Change:
    """Give a change that does something at the beginning of a stage."""
    return _in_stage(stage, lambda script: f"{lines}\n{script}")


def after(stage: str, lines: str) -> Change:
    """Give a change that does something at the end of a stage."""

    def added(script: str) -> str:
        assert not script.rstrip().splitlines()[-1].startswith("exit"), f"nothing comes after the end of {stage}"
        return f"{script}\n{lines}\n"

    return _in_stage(stage, added)


def instead(stage: str, old: str, new: str) -> Change:
    """Give a change that replaces words of a stage, wherever they stand in it."""

    def replaced(script: str) -> str:
        assert old in script, f"stage {stage} has no {old!r}"
        return script.replace(old, new)

    return _in_stage(stage, replaced)


def without(stage: str) -> Change:
    """Give a change that leaves a stage out."""

    def left(steps: Steps) -> Steps:
        stages = tuple(one for one in steps.stages if one.name != stage)
        assert len(stages) == len(steps.stages) - 1
        return replace(steps, stages=stages)

    return left


def _in_stage(name: str, change: Callable[[str], str]) -> Change:
    def changed(steps: Steps) -> Steps:
        assert name in {stage.name for stage in steps.stages}

        def one(stage: Stage) -> Stage:
            return replace(stage, script=change(stage.script)) if stage.name == name else stage

        return replace(steps, stages=tuple(map(one, steps.stages)))

    return changed


_TABLES = "ecc-secp*.h ecc-curve[24]*.h ecc-gost-gc*.h"
_EVERY_LENGTH = "index < CX_LENGTHS; index++"
FEW_BUILT: tuple[Change, ...] = (
    before("build", f"few='{'|'.join(FEW_TESTS)}'"),
    instead("build", '> "/work/suite/$part.list"', '| grep -x -E "$few" > "/work/suite/$part.list"'),
    instead("build", "for part in tools testsuite examples", "for part in tools testsuite"),
    instead("build", 'make -j"$JOBS"\n', 'make -j"$JOBS" SUBDIRS=tools\n'),
    # The curves' tables take longest. They are the same in every build, and kept where the compilers' cache is.
    after(
        "configure",
        "if [ -d /ccache/tables ]; then\n"
        "    cp /ccache/tables/*.h /work/src/\n"
        "    sed -i 's/^\\(ecc-.*\\.h:\\) eccdata\\.stamp$/\\1/' /work/src/Makefile\n"
        "fi",
    ),
    after(
        "build",
        "if [ ! -d /ccache/tables ]; then\n"
        f"    cd /work/src && mkdir /ccache/tables.$$ && cp {_TABLES} /ccache/tables.$$/\n"
        "    mv -T /ccache/tables.$$ /ccache/tables || rm -r /ccache/tables.$$\n"
        "fi",
    ),
    # One length of sixteen is enough for what is told here.
    before(
        "workload",
        f"grep -q '{_EVERY_LENGTH}' /work/workload/libraries/common/vectors.h\n"
        f"sed -i 's/{_EVERY_LENGTH}/index < CX_LENGTHS; index += 16/' /work/workload/libraries/common/vectors.h",
    ),
)
FEW_RUN: tuple[Change, ...] = (instead("test", "set -- tools examples", "set -- tools"),)


@dataclass(frozen=True, kw_only=True, slots=True)
class Brought:
    """A file that another cell's build left, put at ``/work/brought/`` of a build or ``/scratch/brought/`` of a run."""

    of: Callable[[], Cell]
    artifact: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Lie:
    """One way to make a cell lie, and how it must come out.

    Attributes:
        words: that the reason must have.
        verdict: that it must end with.
        cell: whose name it is told under.
        really: the cell whose jobs are carried out under that name; None for the same.
        build: what its build job does otherwise.
        run: what its run job does otherwise.
        into_build: files of other cells that its build job gets.
        into_run: the same of its run job.
        beside: a sound cell in the same run.
    """

    words: str
    verdict: Verdict = Verdict.VACUOUS
    cell: Callable[[], Cell] = nettle
    really: Callable[[], Cell] | None = None
    build: tuple[Change, ...] = ()
    run: tuple[Change, ...] = ()
    into_build: tuple[Brought, ...] = ()
    into_run: tuple[Brought, ...] = ()
    beside: Callable[[], Cell] | None = None


@dataclass(frozen=True, kw_only=True)
class LyingSteps(JobSteps):
    """The steps of every run, with a short suite, and with a lie in those of one cell."""

    liar: str = ""
    really: Cell | None = None
    build_changes: tuple[Change, ...] = ()
    run_changes: tuple[Change, ...] = ()

    def for_build(self, build: Build) -> str:
        """Give the digest of a build's steps."""
        return steps_digest(self._build(build, 1))

    def for_run(self, cell: Cell) -> str:
        """Give the digest of a run's steps."""
        return steps_digest(self._run(cell, 1))

    def _build(self, build: Build, processes: int) -> Steps:
        lies = build.id == self.liar.partition("@")[0]
        steps = super()._build(self.really.build if lies and self.really else build, processes)
        return _changed(steps, (*FEW_BUILT, *(self.build_changes if lies else ())))

    def _run(self, cell: Cell, processes: int) -> Steps:
        lies = cell.id == self.liar
        steps = super()._run(self.really if lies and self.really else cell, processes)
        return _changed(steps, (*FEW_RUN, *(self.run_changes if lies else ())))


def _changed(steps: Steps, changes: Iterable[Change]) -> Steps:
    for change in changes:
        steps = change(steps)
    return steps


def puts(folder: str, files: Iterable[tuple[str, bytes]]) -> Change:
    """Give a change that puts files, by name, into ``brought/`` of a folder before the first stage."""
    inputs = tuple(InputFile(path=f"{folder}/brought/{name}", data=data, executable=True) for name, data in files)
    return lambda steps: replace(steps, inputs=(*steps.inputs, *inputs))
