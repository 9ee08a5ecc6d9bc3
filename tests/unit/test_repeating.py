"""The command in a cell's record: pasted where the first one was given, it asks for the same."""

from __future__ import annotations

import os
import shlex
from contextlib import chdir
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.unit.command_samples import shell
from tests.unit.runner_samples import World, cell, other_source

from crossmatrix.api.choosing import choose
from crossmatrix.api.options import Choice
from crossmatrix.api.repeating import Asked, program_words
from crossmatrix.api.workspace import Workspace
from crossmatrix.cli.options import CHOICE, Options
from crossmatrix.records import Verdict
from crossmatrix.runner.judging import Judge
from crossmatrix.runner.request import Request

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.unit.command_samples import Shell

    from crossmatrix.catalog import Cell

PATCH = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"
ODD = "it's here"
QUICK = "description: c\nlibraries: {nettle: '3'}\nvariants: [asm]\ntargets: [little]\ntoolchains: [gcc-12]\n"


@dataclass(frozen=True, kw_only=True, slots=True)
class Pasted:
    """What a shell and `invoke` make of a command that was pasted in a folder."""

    workspace: Workspace
    task: str
    choice: Choice
    fresh: bool


def paste(command: str, folder: Path, environ: dict[str, str]) -> Pasted:
    """Read a command as a shell and `invoke` do."""
    words = shlex.split(command)
    while "=" in words[0]:
        name, _, value = words.pop(0).partition("=")
        environ = {**environ, name: value}
    bootstrap, task, *rest = words
    values: dict[str, str | bool | list[str]] = {
        option.name: list[str]() if isinstance(option.default, list) else "" for option in CHOICE
    }
    while rest and rest[0] != "--fresh":
        name = rest.pop(0)
        assert name.startswith("--")
        value = rest.pop(0)
        assert not value.startswith("-")
        known = values[name.removeprefix("--")]
        if isinstance(known, list):
            known.append(value)
        else:
            values[name.removeprefix("--")] = value
    choice = Options(values).choice()
    return Pasted(
        workspace=Workspace.at((folder / bootstrap).parent, environ),
        task=task,
        choice=replace(choice, tier="bench") if task == "bench" else choice,
        fresh=bool(rest),
    )


def command_for(workspace: Workspace, choice: Choice, number: int, verdict: Verdict) -> str:
    """Give the command in the record of one of the cells that were chosen in the current folder."""
    current, chosen = Path.cwd(), choose(workspace, choice)
    cell = chosen.cells[number % len(chosen.cells)]
    asked = Asked(choice=choice, sources=chosen.sources, root=workspace.root, current=current)
    request = Request(
        matrix=choice.matrix,
        cells=chosen.cells,
        program=program_words(workspace, current),
        reproduce={cell.id: asked.words(cell)},
    )
    return Judge(request, World(home=workspace.home).surroundings())._reproduce(cell, verdict)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    """Give a small checkout beside a folder with everything that an option or a variable may name."""
    made = shell(tmp_path, monkeypatch)
    for folder in (tmp_path / ODD, made.workspace.root / ODD, made.workspace.root / "-odd"):
        (folder / "recipes" / "matrices").mkdir(parents=True)
        (folder / "recipes" / "matrices" / "own.yaml").write_text(QUICK)
        (folder / "fix.patch").write_text(PATCH)
        (folder / "mirror").mkdir()
        (folder / "tree").mkdir()
        (folder / "tree" / "configure").write_text("#!/bin/sh\n")
    return made


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    tier=st.sampled_from(["", "full", "bench"]),
    number=st.integers(min_value=0, max_value=100),
    verdict=st.sampled_from(Verdict),
    only=st.sampled_from([(), ("library=nettle|openssl",), ("endian=big",)]),
    current=st.sampled_from([".", "checkout", "checkout/recipes", ODD]),
    place=st.sampled_from([ODD, f"checkout/{ODD}", "checkout/-odd"]),
    absolute=st.booleans(),
    variables=st.sets(st.sampled_from(["CROSSMATRIX_HOME", "CROSSMATRIX_MIRROR", "CROSSMATRIX_RECIPES"])),
    patched=st.booleans(),
    sourced=st.booleans(),
)
def test_a_rerun_command_means_the_same_single_cell(  # noqa: PLR0913, PLR0917 - each is a way in which commands differ
    here: Shell,
    tier: str,
    number: int,
    verdict: Verdict,
    only: Sequence[str],
    current: str,
    place: str,
    absolute: bool,  # noqa: FBT001 - drawn by hypothesis
    variables: set[str],
    patched: bool,  # noqa: FBT001 - as above
    sourced: bool,  # noqa: FBT001 - as above
) -> None:
    """Law: pasted in the same folder, without its variables, it chooses that cell of that source, and no other."""
    tmp, bare = here.workspace.root.parent, {"DOCKER_HOST": here.workspace.environ["DOCKER_HOST"]}
    folder = tmp / current

    def path(name: str) -> str:
        return str(tmp / place / name) if absolute else os.path.relpath(tmp / place / name, folder)

    own = {"CROSSMATRIX_HOME": "state", "CROSSMATRIX_MIRROR": "mirror", "CROSSMATRIX_RECIPES": "recipes"}
    with chdir(folder):
        workspace = Workspace.at(here.workspace.root, bare | {name: path(own[name]) for name in variables})
        choice = Choice(
            matrix="own" if "CROSSMATRIX_RECIPES" in variables else "quick",
            only=() if "CROSSMATRIX_RECIPES" in variables else tuple(only),
            tier=tier,
            patches=(f"nettle={path('fix.patch')}",) if patched else (),
            sources=(f"nettle={path('tree')}",) if sourced and patched else (),
            mirrors=(path("mirror"),) if patched and not path("mirror").startswith("-") else (),
        )
        cells = choose(workspace, choice).cells
        pasted = paste(command_for(workspace, choice, number, verdict), folder, bare)
        assert choose(pasted.workspace, pasted.choice).cells == (cells[number % len(cells)],)
        assert pasted.workspace.root == workspace.root
        assert pasted.workspace.home == workspace.home
        assert pasted.workspace.recipe_folders == workspace.recipe_folders
        folders = [one.resolve() for one in workspace.mirrors(choice.mirrors)]
        assert [one.resolve() for one in pasted.workspace.mirrors(pasted.choice.mirrors)] == folders
    assert pasted.task == ("bench" if tier == "bench" else "matrix")
    assert pasted.fresh == (verdict not in {Verdict.ABORTED, Verdict.INFRASTRUCTURE})


PATCHED = cell(source=replace(cell().build.source, patches=("/p",)))


def words_of(choice: Choice, current: str, *algorithms: str, of: Cell = PATCHED) -> tuple[str, ...]:
    """Give the words for a cell, of a checkout at ``/c``."""
    sources = {"nettle": PATCHED.build.source}
    asked = Asked(choice=choice, algorithms=algorithms, sources=sources, root=Path("/c"), current=Path(current))
    return asked.words(of)


OF_A_CHOICE = {
    "matrix": "--matrix m",
    "tier": "--tier full",
    "sources": "--source nettle=/x",
    "patches": "--patch nettle=/p",
    "mirrors": "--mirror '/m m'",
}
PICKED_BY_THE_ID = {"only", "skip", "cells"}


def test_a_rerun_command_forgets_no_option() -> None:
    """Each option of a choice that changes what is done is in the command, and so is what is measured."""
    assert set(OF_A_CHOICE) | PICKED_BY_THE_ID == {field.name for field in fields(Choice)}
    choice = Choice(matrix="m", tier="full", sources=("nettle=/x",), patches=("nettle=/p",), mirrors=("/m m",))
    words = words_of(choice, "/c", "sha256", "x25519")
    assert set(words) == {*OF_A_CHOICE.values(), "--algorithms sha256,x25519"}


@given(
    st.text(min_size=1, max_size=20).filter(lambda text: text[0] != "~"),
    st.sampled_from(["/c", "/c/d", "/elsewhere", "/cc"]),
)
def test_a_path_in_a_rerun_command_is_the_one_that_was_given(text: str, current: str) -> None:
    """Law: blanks, quotes, ``@REF`` and all come back, and lead from the same folder to the same place."""
    choice = Choice(sources=(f"nettle={text}",), patches=(f"nettle={text}",), mirrors=(text,))
    words = shlex.split(" ".join(words_of(choice, current)))
    source, patch, mirror = words[3].removeprefix("nettle="), words[5].removeprefix("nettle="), words[7]
    assert source == patch == mirror
    assert os.path.join(current, source) in {os.path.join(current, text), os.path.join(current, ".", text)}  # noqa: PTH118
    assert current == "/c" or source.startswith("/")


def test_a_rerun_command_leaves_out_what_concerns_other_cells() -> None:
    """A patch, a source or an algorithm of another library or version would be refused beside this one cell."""
    choice = Choice(sources=("nettle=/x",), patches=("nettle=/p", "openssl=/q"))
    assert words_of(choice, "/c") == ("--matrix quick", "--source nettle=/x", "--patch nettle=/p")
    assert words_of(choice, "/c", of=other_source()) == ("--matrix quick",)
    library = replace(PATCHED.build.library, algorithms=("sha256",))
    assert words_of(Choice(), "/c", "sha256", "x25519", of=cell(library=library))[1:] == ("--algorithms sha256",)


def test_the_checkout_s_own_command_is_short(here: Shell) -> None:
    """In the checkout, with nothing set, it is `./bootstrap`, and files of the checkout are named from there."""
    workspace = Workspace.at(here.workspace.root, {})
    assert program_words(workspace, workspace.root) == "./bootstrap"
    choice = Choice(patches=(f"nettle={workspace.root}/p/fix.patch",))
    asked = Asked(choice=choice, sources={}, root=workspace.root, current=workspace.root)
    assert asked.words(PATCHED)[1] == "--patch nettle=p/fix.patch"


def test_a_command_given_elsewhere_is_whole(here: Shell) -> None:
    """From another folder the program has its path, quoted where that has to be, and what was set stands before it."""
    root = here.workspace.root
    environ = {"CROSSMATRIX_RECIPES": f"{root}/a b", "CROSSMATRIX_ENGINE": "private", "CROSSMATRIX_MIRROR": ""}
    words = program_words(Workspace.at(root, environ), Path("/"))
    assert words == f"CROSSMATRIX_RECIPES='{root}/a b' CROSSMATRIX_ENGINE=private {root}/bootstrap"
