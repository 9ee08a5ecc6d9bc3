"""Commands as a user gives them: exit codes, words, and never a traceback for a mistake."""

from __future__ import annotations

import errno
import io
import json
import os
import subprocess
import sys
import tarfile
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import pytest
from tests.unit.command_samples import CHECKOUT, Shell, shell
from tests.unit.fake_engine import Act

from crossmatrix import __version__
from crossmatrix.api.workspace import Workspace
from crossmatrix.cli.guard import console, exit_code_of, guarded
from crossmatrix.cli.options import command_line
from crossmatrix.errors import (
    CrossmatrixError,
    ExitCode,
    InfrastructureError,
    NoEngineError,
    NoSpaceError,
    PatchError,
    Problem,
    RecipeError,
    SourceError,
    StoreError,
    TransientError,
    UsageError,
)

CELL = "nettle-3.10.2/asm/gcc-12/little"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    """Give a small checkout without an engine."""
    return shell(tmp_path / "é t", monkeypatch)


def raising(error: BaseException) -> ExitCode:
    """Raise an error where a command would do its work."""
    raise error


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (UsageError("no such thing", hint="look again"), 2),
        (PatchError("hunk 1 does not apply"), 2),
        (RecipeError([Problem(file="a.yaml", line=1, message="wrong")]), 2),
        (StoreError("of a newer version"), 2),
        (InfrastructureError("gone"), 3),
        (TransientError("gone for now"), 3),
        (NoEngineError("none answers"), 3),
        (NoSpaceError("full"), 3),
        (SourceError("cannot be had"), 3),
        (CrossmatrixError("else"), 1),
        (KeyboardInterrupt(), 130),
    ],
)
def test_every_family_of_error_has_its_exit_code(
    error: BaseException, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is said goes to stderr, with the hint and without a traceback."""
    with pytest.raises(SystemExit) as end:
        guarded(lambda: raising(error))()
    assert end.value.code == code
    out, err = capsys.readouterr()
    assert out == ""
    assert "Traceback" not in err
    assert all(line in err for line in str(error).splitlines())


@pytest.mark.parametrize("defect", [ZeroDivisionError(), ValueError("x"), KeyError("y"), AttributeError("z")])
def test_a_defect_of_ours_keeps_its_traceback(defect: Exception, capsys: pytest.CaptureFixture[str]) -> None:
    """Only mistakes and faults are made quiet; a defect ends with 1 and is called one."""
    assert exit_code_of(lambda: raising(defect)) is ExitCode.UNEXPECTED
    err = capsys.readouterr().err
    assert "Traceback" in err
    assert "a defect of Crossmatrix" in err


@pytest.mark.parametrize("number", [errno.ENOENT, errno.EACCES, errno.EIO, errno.ENOSPC, errno.ENOTDIR, errno.EMFILE])
def test_what_the_system_refuses_is_a_fault(number: int, capsys: pytest.CaptureFixture[str]) -> None:
    """An error of the system that nobody foresaw: exit code 3, a sentence with the file, no traceback."""
    refusal = OSError(number, os.strerror(number), "/some/file")
    assert exit_code_of(lambda: raising(refusal)) is ExitCode.INFRASTRUCTURE
    err = capsys.readouterr().err
    assert f"/some/file: {os.strerror(number)}" in err
    assert "Traceback" not in err


def test_a_closed_standard_output_is_said(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """With nowhere to print to nothing is started."""
    monkeypatch.setattr(sys, "stdout", None)
    assert exit_code_of(lambda: raising(AssertionError())) is ExitCode.USAGE
    assert "standard output is closed" in capsys.readouterr().err


def test_a_task_that_is_content_lets_the_next_one_run() -> None:
    """Only a code other than 0 ends the process."""
    guarded(lambda: ExitCode.OK)()
    with pytest.raises(SystemExit):
        guarded(lambda: ExitCode.UNEXPECTED)()


def test_several_tasks_on_one_line(here: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    """All have their turn, up to the first that does not end with 0."""
    assert here.invoke("list", "--format", "json", "plan", "--format", "json") == 0
    assert "jobs" in capsys.readouterr().out
    assert here.invoke("list", "plan", "nettle-*", "--format", "json") == 0
    out = capsys.readouterr().out
    assert "openssl" in out.partition("{")[0]
    assert "openssl" not in out.partition("{")[2]
    assert here.invoke("list", "nettle-*", "list") == 2
    assert "--cells" in capsys.readouterr().err
    assert here.invoke("report", "list") == 2
    assert capsys.readouterr().out == ""


def test_markup_in_an_error_is_shown_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    """A glob with brackets in a message is no markup."""
    exit_code_of(lambda: raising(UsageError("no cell matches 'nettle[/]x'")))
    assert "nettle[/]x" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("columns", "width"),
    [("0", 100), ("00", 100), ("", 100), ("-5", 100), ("many", 100), ("²", 100), ("1", 1), ("77", 77)],
)
def test_a_width_that_makes_no_sense_is_none(monkeypatch: pytest.MonkeyPatch, columns: str, width: int) -> None:
    """COLUMNS counts where it is a width; else a file gets 100."""
    monkeypatch.setenv("COLUMNS", columns)
    assert console().width == width


class Gone(io.StringIO):
    """A pipe whose reader has gone, noticed when it is flushed."""

    def flush(self) -> NoReturn:
        """Notice it."""
        raise BrokenPipeError


def test_output_that_nobody_reads_is_no_success(monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader that goes before everything was written: exit code 1, no traceback."""
    monkeypatch.setattr(sys, "stdout", Gone())
    assert exit_code_of(lambda: ExitCode.OK) is ExitCode.UNEXPECTED


def real_invoke(word: str, home: Path, output: int) -> subprocess.CompletedProcess[bytes]:
    """Call `invoke WORD` in a process of its own."""
    program = "from invoke.main import program; program.run()"
    command = [sys.executable, "-c", f"import sys; sys.argv[0] = 'invoke'; {program}", word]
    environment = {**os.environ, "CROSSMATRIX_HOME": str(home)}
    return subprocess.run(
        command, cwd=CHECKOUT, env=environment, stdout=output, stderr=subprocess.PIPE, check=False, timeout=120
    )


@pytest.mark.programs
@pytest.mark.parametrize("word", ["list", "--list"])
def test_a_real_pipe_that_breaks(tmp_path: Path, word: str) -> None:
    """Into a pipe that nobody reads: nothing on stderr, and 1; also where `invoke` itself prints."""
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = real_invoke(word, tmp_path, writer)
    finally:
        os.close(writer)
    assert (done.returncode, done.stderr) == (1, b"")


@pytest.mark.programs
@pytest.mark.parametrize("word", ["list", "--list"])
def test_a_disk_that_is_full_for_the_output(tmp_path: Path, word: str) -> None:
    """Output that cannot be written is a fault with a sentence."""
    with Path("/dev/full").open("wb") as full:
        done = real_invoke(word, tmp_path, full.fileno())
    assert done.returncode == 3
    assert b"the output, or a file, cannot be written: No space left" in done.stderr
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("matrix", "--jobs", "0"), "--jobs 0: at least 1 job"),
        (("matrix", "--jobs", "x"), "--jobs wants a whole number, not 'x'"),
        (("bench", "--jobs=-1"), "at least 1 job"),
        (("matrix", "--keep-going", "--fail-fast"), "exclude each other"),
        (("matrix", "--matrix", "quik"), "did you mean 'quick'?"),
        (("list", "--matrix", "quik"), "did you mean 'quick'?"),
        (("plan", "--tier", "smok"), "did you mean 'smoke'?"),
        (("list", "netle-*"), "the nearest is"),
        (("list", "--only", "librar=nettle"), "did you mean 'library'?"),
        (("list", "--only", "library=netle"), "did you mean 'nettle'?"),
        (("list", "--skip", "nettle"), "key=value"),
        (("plan", "--format", "jsn"), "did you mean 'json'?"),
        (("report", "--format", "html"), "unknown --format 'html'"),
        (("report",), "invoke matrix"),
        (("images", "--name", "gcc-13"), "did you mean 'gcc-12'?"),
        (("compare", "a", "b", "--threshold", "much"), "--threshold wants per cent"),
        (("compare", "a", "b", "--threshold=-1"), "cannot be negative"),
        (("bench", "--algorithms", "sha257"), "did you mean 'sha256'?"),
        (("bench", "--algorithms", "x25519,sha265", "--only", "library=nettle"), "no algorithm of nettle"),
        (("bench", "--algorithms", ",", CELL), "value of --algorithms is empty"),
        (("bench", "--algorithms", "qqq"), "algorithms.md"),
        (("matrix", "--mirror", "/nowhere"), "--mirror /nowhere: there is no such folder"),
        (("plan", "--mirror", "/dev/null"), "--mirror /dev/null: this is no folder"),
        (("list", "--mirror", "/dev/null/x"), "--mirror /dev/null/x: there is no such folder"),
        (("bench", "--mirror", "/", "--mirror", "/nowhere"), "--mirror /nowhere"),
        (("compare",), "invoke compare BEFORE AFTER"),
        (("compare", "a"), "invoke compare BEFORE AFTER"),
        (("compare", "--threshold", "1%", "--after", "b"), "invoke compare BEFORE AFTER"),
        (("clean", "--dry-run=no"), "takes no value"),
        (("list", "--matrix=quick", "--matrix=quick"), "--matrix is given twice"),
        (("matrix", ""), "--cells is empty"),
        (("--", "list"), "behind `--`"),
        (("clean", "--older-than", "7"), "--older-than"),
        (("clean", "--keep", "nan"), "--keep"),
        (("test", "--unit", "--sabotage"), "exclude each other"),
        (("test", "--unit", "--options", "'unbalanced"), "no closing quotation"),
        (("matrx",), "did you mean 'matrix'?"),
        (("matrix", "--feil-fast"), "did you mean '--fail-fast'?"),
        (("matrix", "--matrix"), "needs a value"),
        (("list", "--source", "openssl"), "openssl"),
        (("list", "--patch", "openssl=/nowhere.patch"), "/nowhere.patch"),
    ],
)
def test_mistakes_are_usage_errors(
    here: Shell, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], said: str
) -> None:
    """Each ends with 2, names what is wrong or the nearest right name, prints nothing else, and starts nothing."""
    assert here.invoke(*words) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err
    assert "Traceback" not in err
    assert not (here.workspace.home / "runs").exists()


@pytest.mark.parametrize("words", [("list",), ("plan",), ("matrix",), ("bench",), ("images",)])
def test_a_mirror_in_the_environment_must_be_there(
    here: Shell, capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    """Every command that may take files from it refuses a CROSSMATRIX_MIRROR that is no folder."""
    environ = {**here.workspace.environ, "CROSSMATRIX_MIRROR": "/nowhere"}
    assert replace(here, workspace=replace(here.workspace, environ=environ)).invoke(*words) == 2
    assert "CROSSMATRIX_MIRROR=/nowhere: there is no such folder" in capsys.readouterr().err


@pytest.mark.parametrize("words", [("list",), ("plan",), ("matrix",), ("bench",)])
@pytest.mark.parametrize("option", ["--source", "--patch"])
@pytest.mark.parametrize("name", ["openssl", "openssl-3.0", "openssl-3.0.20"])
def test_what_no_cell_uses_is_refused(
    here: Shell, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], option: str, name: str
) -> None:
    """A source or patch of a library that no chosen cell is of: exit code 2, both names in the message."""
    files = {"--source": b"not the pinned one", "--patch": b"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"}
    file = here.workspace.root / "given"
    file.write_bytes(files[option])
    file = packed(file) if option == "--source" else file
    assert here.invoke(*words, "--only", "library=nettle", option, f"{name}={file}") == 2
    err = capsys.readouterr().err
    assert f"no chosen cell is of {name}" in err
    assert "nettle 3.10.2" in err
    assert here.invoke("list", option, f"{name}={file}") == 0


def packed(file: Path) -> Path:
    """Pack a tree that has the look of both libraries."""
    archive = file.with_suffix(".tar")
    with tarfile.open(archive, "w") as tar:
        for name in ("configure", "Configure", "config"):
            tar.add(file, arcname=f"tree/{name}")
    return archive


def test_further_recipe_folders_are_named_in_the_environment(
    here: Shell, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Matrices of both folders can be asked for; one that is not there is a problem of the recipes."""
    names = ("one", "two words")
    for name in names:
        (tmp_path / name / "matrices").mkdir(parents=True)
        text = (here.workspace.root / "recipes/matrices/quick.yaml").read_text()
        (tmp_path / name / "matrices" / f"{name[:3]}.yaml").write_text(text)
    paths = [str(tmp_path / name) for name in names]
    environ = {**here.workspace.environ, "CROSSMATRIX_RECIPES": ":".join((*paths, ""))}
    more = replace(here, workspace=Workspace.at(here.workspace.root, environ))
    assert [more.invoke("list", "--matrix", matrix) for matrix in ("quick", "one", "two")] == [0, 0, 0]
    environ["CROSSMATRIX_RECIPES"] = f"{paths[0]}:/nowhere"
    capsys.readouterr()
    assert replace(here, workspace=Workspace.at(here.workspace.root, environ)).invoke("list") == 2
    assert "/nowhere" in capsys.readouterr().err


@pytest.mark.parametrize(("mirror", "code"), [("", 0), ("/", 0), ("/nowhere", 3)])
def test_doctor_names_version_and_mirror(
    here: Shell, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, mirror: str, code: int
) -> None:
    """Its first row has our version; a CROSSMATRIX_MIRROR that is no folder is missing, and unset none is looked at."""
    monkeypatch.setattr("crossmatrix.cli.upkeep.examine", lambda *_words: ())
    environ = {**here.workspace.environ, "CROSSMATRIX_MIRROR": mirror}
    assert replace(here, workspace=replace(here.workspace, environ=environ)).invoke("doctor") == code
    out = capsys.readouterr().out
    assert __version__ in out.splitlines()[0]
    assert ("mirror" in out) == bool(mirror)


def test_all_problems_of_recipes_are_shown(here: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    """Two errors at once, each with file and line, exit code 2."""
    matrix = here.workspace.root / "recipes/matrices/quick.yaml"
    matrix.write_text(matrix.read_text().replace("[asm, no-asm]", "[amz]").replace("[little, big]", "[litle]"))
    assert here.invoke("list") == 2
    err = capsys.readouterr().err
    assert "2 problems" in err
    assert "quick.yaml:3" in err
    assert "quick.yaml:4" in err


def test_no_engine_is_an_infrastructure_fault(here: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    """`matrix` ends with 3, says which engine was asked, and leaves no run behind."""
    assert here.invoke("matrix", CELL) == 3
    assert "DOCKER_HOST" in capsys.readouterr().err
    assert not (here.workspace.home / "runs").exists()


def test_plan_needs_no_engine(here: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    """Jobs are shown all the same, and a note beside them says what could not be seen."""
    assert here.invoke("plan", "nettle-*", "--format", "json") == 0
    out, err = capsys.readouterr()
    assert {job["kind"] for job in json.loads(out)["jobs"]} == {"build", "run"}
    assert "no engine answers" in err
    assert not here.workspace.home.exists()


def test_list_gives_cells_by_bare_word_or_option(here: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    """A glob directly after the task is the same as --cells."""
    assert here.invoke("list", "nettle-*", "--format", "json") == 0
    bare = json.loads(capsys.readouterr().out)
    assert here.invoke("list", "--format", "json", "--cells", "nettle-*") == 0
    assert json.loads(capsys.readouterr().out) == bare
    assert bare
    assert all(cell.startswith("nettle-") for cell in bare)


def test_words_of_one_only_must_all_match(here: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    """`--only a,b` means both, `--only a --only b` either, and --skip takes away."""

    def chosen(*words: str) -> int:
        assert here.invoke("list", "--format", "json", *words) == 0
        return len(json.loads(capsys.readouterr().out))

    assert chosen("--only", "library=openssl,target=big") == 2
    assert chosen("--only", "library=openssl", "--only", "target=big") == 5
    assert chosen("--only", "library=openssl", "--skip", "target=big,variant=asm") == 3


def test_matrix_runs_and_ends_with_the_run_s_code(here: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    """A failing build: 1, the verdict and the command that reruns the cell on the terminal, reports beside the run."""
    engine = here.with_engine()
    engine.on("JOBS=*", Act(code=1, output=b"error: nothing works\n"))
    engine.leaves("*", {})
    assert here.invoke("matrix", CELL) == 1
    out = capsys.readouterr().out
    assert CELL in out
    assert "failed" in out
    assert "bootstrap' matrix --matrix quick --only" in out
    latest = here.workspace.home / "runs" / "latest"
    names = {path.name for path in latest.iterdir()}
    assert names >= {"run.json", "cells", "report.json", "report.md", "report.html", "junit.xml"}
    assert json.loads((latest / "run.json").read_text())["command"] == f"invoke matrix {CELL}"
    assert command_line(["/x/.venv/bin/invoke", "--search-root", "/x", "matrix", "a b"]) == "invoke matrix 'a b'"


@pytest.mark.parametrize(
    "words",
    [
        ["clean"],
        ["clean", "--dry-run", "--everything"],
        ["doctor"],
        ["engine", "--stop"],
        ["engine"],
        ["list"],
        ["plan"],
        ["report"],
        ["compare", "latest", "latest"],
    ],
    ids=" ".join,
)
def test_a_folder_that_was_named_by_mistake_stays_as_it_is(
    here: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    """What only looks, or removes, leaves nothing in a folder that is no state directory."""
    monkeypatch.setattr("crossmatrix.cli.upkeep.examine", lambda *_words: ())
    foreign = tmp_path / "papers"
    files = ("thesis.txt", "tmp/a/b", "tmp/base-a/b", "results/2024/c", f"results/{'a1' * 32}/d", "runs/x/run.json")
    for name in files:
        (foreign / name).parent.mkdir(parents=True, exist_ok=True)
        (foreign / name).write_text("my only copy")
    environ = {**here.workspace.environ, "CROSSMATRIX_HOME": str(foreign)}
    replace(here, workspace=Workspace.at(here.workspace.root, environ)).invoke(*words)
    left = {path.relative_to(foreign).as_posix() for path in foreign.rglob("*") if path.is_file()}
    assert left == set(files)
    assert {path.name for path in foreign.iterdir()} == {"thesis.txt", "tmp", "results", "runs"}


def test_what_only_looks_makes_no_state_directory(here: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there is none, none is made: neither a folder nor a lock."""
    monkeypatch.setattr("crossmatrix.cli.upkeep.examine", lambda *_words: ())
    for words in (["clean"], ["engine", "--stop"], ["doctor"], ["list"], ["plan"], ["report"]):
        here.invoke(*words)
        assert not here.workspace.home.exists(), words


def test_matrix_is_the_default_task(here: Shell) -> None:
    """`invoke` alone does the quick matrix."""
    engine = here.with_engine()
    engine.on("*", Act(error=InfrastructureError("gone")))
    assert here.invoke() == 3
    run = json.loads((here.workspace.home / "runs/latest/run.json").read_text())
    assert (run["matrix"], len(run["cells"])) == ("quick", 6)


def test_bench_takes_a_bare_word_and_prints_json_alone(here: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    """`invoke bench GLOB --format json` prints nothing but the figures."""
    engine = here.with_engine()
    engine.on("*", Act(error=InfrastructureError("gone")))
    assert here.invoke("bench", CELL, "--format", "json") == 3
    assert "figures" in json.loads(capsys.readouterr().out)
    run = json.loads((here.workspace.home / "runs/latest/run.json").read_text())
    assert [(cell["id"], cell["tier"]) for cell in run["cells"]] == [(CELL, "bench")]


def test_a_name_that_one_of_the_libraries_has_is_measured(here: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    """Names are looked up among all libraries of the chosen cells, and a rerun command has its own."""
    here.with_engine().on("*", Act(error=InfrastructureError("gone")))
    assert here.invoke("bench", "--algorithms", "x25519,aes-256-ctr") == 3
    out = capsys.readouterr().out
    assert "--algorithms x25519 --only id=nettle" in out
    assert "--algorithms aes-256-ctr --only id=openssl" in out


def test_report_prints_an_earlier_run_again(here: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    """Text, JSON and Markdown, with the exit code that the run had."""
    here.with_engine().on("*", Act(error=InfrastructureError("gone")))
    assert here.invoke("matrix", CELL) == 3
    capsys.readouterr()
    assert here.invoke("report") == 3
    assert CELL in capsys.readouterr().out
    assert here.invoke("report", "--format", "json") == 3
    assert json.loads(capsys.readouterr().out)["cells"][0]["id"] == CELL
    assert here.invoke("report", "--format", "md", "--run", "20") == 3
    assert CELL in capsys.readouterr().out


def test_report_of_a_state_directory_that_cannot_be_written(
    here: Shell, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The report is printed all the same, and nothing is said of the files."""
    here.with_engine().on("*", Act(error=InfrastructureError("gone")))
    here.invoke("matrix", CELL)
    capsys.readouterr()

    def refuse(*_args: object, **_named: object) -> NoReturn:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("tempfile.mkstemp", refuse)
    assert here.invoke("report", "--format", "md") == 3
    out, err = capsys.readouterr()
    assert CELL in out
    assert err == ""


def test_report_of_a_run_whose_process_died(here: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    """It says `Killed`, shows what had finished, and is no success."""
    here.with_engine().on("*", Act(error=InfrastructureError("gone")))
    here.invoke("matrix", CELL)
    file = here.workspace.home / "runs/latest/run.json"
    record = json.loads(file.read_text())
    file.write_text(json.dumps({**record, "state": "running", "finished": "", "exit_code": None, "cells": []}))
    capsys.readouterr()
    assert here.invoke("report") == 1
    out = capsys.readouterr().out
    assert "Killed before its end" in out
    assert CELL in out
    assert json.loads(file.read_text())["state"] == "running"


def test_compare_says_of_both_names_that_they_do_not_exist(here: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    """Both mistakes are seen at once, with the nearest right names."""
    here.with_engine().on("*", Act(error=InfrastructureError("gone")))
    here.invoke("matrix", CELL)
    capsys.readouterr()
    assert here.invoke("compare", "latst", f"{CELL}x") == 2
    err = capsys.readouterr().err
    assert "'latst'" in err
    assert "did you mean 'latest'?" in err
    assert f"did you mean '{CELL}'?" in err


def test_one_mistake_is_told_once(here: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    """Where both names fail for one reason, such as that there are no runs, it is printed once."""
    assert here.invoke("compare", "a", "b") == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == len(set(lines))


def test_help_behind_a_task_that_wants_words(here: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    """`invoke compare --help` shows help, and the names can be given by options too."""
    assert here.invoke("compare", "--help") == 0
    assert "--before" in capsys.readouterr().out
    here.with_engine().on("*", Act(error=InfrastructureError("gone")))
    here.invoke("matrix", CELL)
    bare = here.invoke("compare", "latest", "latest")
    assert here.invoke("compare", "--after", "latest", "--before", "latest") == bare
    assert here.invoke("compare", "latest", "--after", "latest") == bare


def test_compare_wants_two_of_a_kind(here: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    """A run against a cell is refused with the way to write it."""
    here.with_engine().on("*", Act(error=InfrastructureError("gone")))
    here.invoke("matrix", CELL)
    capsys.readouterr()
    assert here.invoke("compare", "latest", CELL) == 2
    assert "RUN:CELL" in capsys.readouterr().err


def test_compare_of_equal_runs_is_no_difference(here: Shell) -> None:
    """The same run twice: exit code 0."""
    engine = here.with_engine()
    engine.on("JOBS=*", Act(code=1, output=b"error: nothing works\n"))
    engine.leaves("*", {})
    here.invoke("matrix", CELL)
    assert here.invoke("compare", "latest", "latest") == 0


def test_images_are_named_with_what_is_in_them(here: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    """What is missing is built; each image is shown with tag and number of packages."""
    engine = here.with_engine()
    engine.images.clear()
    assert here.invoke("images", "--name", "qemu") == 0
    assert engine.built == ["qemu"]
    assert "qemu: crossmatrix/qemu:" in capsys.readouterr().out


def test_an_image_that_cannot_be_built_is_an_infrastructure_fault(
    here: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 3 and the reason."""
    engine = here.with_engine()
    engine.images.clear()
    engine.image_faults["qemu"] = InfrastructureError("no mirror answers")
    assert here.invoke("images", "--name", "qemu") == 3
    assert "no mirror answers" in capsys.readouterr().err


def test_every_image_that_cannot_be_built_is_told(here: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    """Not the first alone: each with its reason and what to do."""
    engine = here.with_engine()
    engine.images.clear()
    engine.image_faults["qemu"] = InfrastructureError("no mirror answers", hint="see to the network")
    engine.image_faults["gcc-12"] = InfrastructureError("make failed")
    assert here.invoke("images", "--name", "qemu", "--name", "gcc-12") == 3
    told = capsys.readouterr().err
    assert all(words in told for words in ("qemu: no mirror answers", "see to the network", "gcc-12: make failed"))


@pytest.mark.parametrize("words", [("matrix", CELL), ("bench", CELL), ("images",)])
def test_a_suite_that_does_not_exist_is_told_before_anything_begins(here: Shell, words: tuple[str, ...]) -> None:
    """Wrong usage, exit code 2: no image is built, no run is begun; with all images there, nothing is asked."""
    engine = here.with_engine()
    engine.refused = UsageError("there is no Debian suite 'bookwrom'")
    engine.images.clear()
    assert here.invoke(*words) == 2
    assert engine.built == []
    assert here.workspace.state().runs.ids() == ()


def test_an_engine_is_looked_at_or_stopped(here: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    """Both at once contradict each other."""
    assert here.invoke("engine", "--status", "--stop") == 2
    assert "exclude each other" in capsys.readouterr().err


def test_a_state_directory_of_a_newer_version_is_refused(here: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    """Before anything is started, by every command that reads it."""
    here.workspace.home.mkdir()
    (here.workspace.home / "format").write_text("99\n")
    for words in (("matrix", CELL), ("plan", CELL), ("report",), ("compare", "a", "b"), ("clean", "--dry-run")):
        assert here.invoke(*words) == 2, words
        assert "newer Crossmatrix" in capsys.readouterr().err


@pytest.mark.parametrize("place", ["/proc/nowhere", "/dev/null", "/dev/null/x", "file", "file/below", "x" * 300])
def test_a_place_that_can_be_no_state_directory(here: Shell, capsys: pytest.CaptureFixture[str], place: str) -> None:
    """Wherever CROSSMATRIX_HOME points: exit code 2 and the variable's name, by all commands that write there."""
    (here.workspace.root / "file").write_text("")
    elsewhere = replace(here, workspace=replace(here.workspace, home=here.workspace.root / place))
    for words in (("matrix",), ("bench",), ("images",)):
        assert elsewhere.invoke(*words) == 2, words
        assert "CROSSMATRIX_HOME" in capsys.readouterr().err
    # It writes nothing where no engine was ever started; only a name that no folder can have is refused.
    assert elsewhere.invoke("engine", "--stop") == (2 if len(place) > 255 else 0)
    assert ("CROSSMATRIX_HOME" if len(place) > 255 else "No private engine") in "".join(capsys.readouterr())


@pytest.mark.parametrize("content", [b"\xff\xfe", b"\xc2\xb2", b"one", b"\0" * 9, b"-1", b"\xd9\xa1"])
def test_a_format_that_is_no_number(here: Shell, capsys: pytest.CaptureFixture[str], content: bytes) -> None:
    """A state directory whose format file holds anything but a number is refused with its name."""
    here.workspace.home.mkdir()
    (here.workspace.home / "format").write_bytes(content)
    for words in (("plan",), ("report",), ("clean",)):
        assert here.invoke(*words) == 2
        assert "expected the number of a format" in capsys.readouterr().err


def test_the_state_directory_can_lie_elsewhere(tmp_path: Path) -> None:
    """CROSSMATRIX_HOME moves it; without it, it lies in the checkout; a relative one counts from here."""
    assert Workspace.at(tmp_path, {}).home == tmp_path / ".crossmatrix"
    assert Workspace.at(tmp_path, {"CROSSMATRIX_HOME": "/elsewhere"}).home.as_posix() == "/elsewhere"
    assert Workspace.at(tmp_path, {"CROSSMATRIX_HOME": "here"}).home.is_absolute()
