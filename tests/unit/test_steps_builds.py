"""What a build job does in its container."""

from __future__ import annotations

import re
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from tests.unit.plan_samples import LIBRARY, TARGET, TOOLCHAIN, cell

from crossmatrix.catalog import Build, Endian, Library, Target
from crossmatrix.errors import UsageError
from crossmatrix.steps import build_steps, steps_digest
from crossmatrix.steps.machines import elf_numbers
from crossmatrix.steps.scripts_text import clean_function, script_text, with_values

RECIPES = Path(__file__).parents[2] / "recipes"
SCRIPTS_FOLDER = RECIPES.parent / "src/crossmatrix/steps/scripts"
SCRIPTS = sorted(path.name for path in SCRIPTS_FOLDER.glob("*.sh"))
OPENSSL: Library = replace(LIBRARY, name="openssl", title="OpenSSL", configure=("no-shared",))
OPENSSL_TARGET: Target = replace(TARGET, configure=(("openssl", "linux-aarch64"), ("nettle", TARGET.name)))


def nettle() -> Build:
    """Give a nettle build with the real workload."""
    build = cell().build
    return replace(build, library=replace(build.library, workload=("libraries/nettle/workload.c",)))


def openssl() -> Build:
    """Give an OpenSSL build."""
    return replace(cell().build, library=OPENSSL, target=OPENSSL_TARGET)


def script_of(build: Build, stage: str) -> str:
    """Give the script of a build's stage."""
    steps = build_steps(build, recipes=RECIPES, processes=2)
    return next(one.script for one in steps.stages if one.name == stage)


@pytest.mark.programs
@pytest.mark.parametrize("name", SCRIPTS)
def test_every_script_is_posix_sh(name: str) -> None:
    """Every script parses in sh, also with its values in front."""
    text = clean_function((("A", ""),)) + with_values(name, ("it's", "$HOME"), cc="a b", jobs="2")
    done = subprocess.run(["sh", "-n", "-eu", "-c", text], capture_output=True, text=True, check=False, timeout=30)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.programs
def test_values_reach_the_script_as_they_are() -> None:
    """Values and arguments with quotes, blanks and dollars reach sh unchanged, and are not exported."""
    script = with_values("vectors.sh", ("two words", "it's $HOME"), odd='a\'b "$c"\nd').replace(
        script_text("vectors.sh"), ""
    )
    script += 'printf "%s|%s|%s|" "$#" "$2" "$ODD"; env | grep -c ^ODD= || true'
    done = subprocess.run(["sh", "-eu", "-c", script], capture_output=True, text=True, check=True, timeout=30)
    assert done.stdout == "2|it's $HOME|a'b \"$c\"\nd|0\n"


@pytest.mark.programs
def test_a_clean_program_sees_the_given_variables_alone() -> None:
    """A variable set to nothing is there, a variable that is not named is not, whatever the shell has."""
    script = clean_function((("SET", "x y"), ("EMPTY", ""))) + "clean env | sort"
    done = subprocess.run(
        ["sh", "-eu", "-c", script],
        capture_output=True,
        text=True,
        check=True,
        timeout=30,
        env={"PATH": "/usr/bin:/bin", "OTHER": "1"},
    )
    assert done.stdout == "EMPTY=\nSET=x y\n"


def test_stages_come_in_order_and_stop_at_the_first_failure() -> None:
    """A build unpacks, configures, builds, collects and links the workload; none of it may fail."""
    steps = build_steps(nettle(), recipes=RECIPES, processes=2)
    assert [stage.name for stage in steps.stages] == ["unpack", "configure", "build", "collect", "workload"]
    assert not any(stage.may_fail for stage in steps.stages)
    assert all(stage.timeout_s > 0 for stage in steps.stages)
    assert steps.outputs == "/work/out"


def test_no_stage_reaches_the_host_or_the_network() -> None:
    """No script names a folder of the host or fetches anything."""
    for name in SCRIPTS:
        assert not re.search(r"docker|/home/|/root|\bcurl\b|\bwget\b|apt-get|https?://", script_text(name)), name


def test_a_dirty_tree_is_refused() -> None:
    """Unpacking stops where a tree is there already; configuring does where the source holds objects."""
    assert "a build needs a fresh tree" in script_of(nettle(), "unpack")
    assert "the source is dirty" in script_of(nettle(), "configure")


def test_the_compiler_is_checked_before_configuring() -> None:
    """Class, byte order and machine of the target stand in the check, which comes before configure."""
    script = script_of(nettle(), "configure")
    assert "CLASS=2\nDATA=2\nMACHINE=183\n" in script
    assert script.index("compiles for another machine") < script.index("./configure")


@pytest.mark.parametrize(
    ("machine", "endian", "bits", "numbers"),
    [
        ("EM_AARCH64", Endian.BIG, 64, (2, 2, 183)),
        ("EM_X86_64", Endian.LITTLE, 64, (2, 1, 62)),
        ("EM_PPC", Endian.BIG, 32, (1, 2, 20)),
    ],
)
def test_elf_numbers(machine: str, endian: Endian, bits: int, numbers: tuple[int, int, int]) -> None:
    """ELF's numbers follow from the target."""
    assert elf_numbers(replace(TARGET, machine=machine, endian=endian, bits=bits)) == numbers


def test_an_unknown_machine_names_the_nearest() -> None:
    """A machine that ELF does not know is an error that names the nearest one."""
    with pytest.raises(UsageError, match="did you mean 'EM_AARCH64'"):
        elf_numbers(replace(TARGET, machine="EM_AARCH46"))


def test_configure_gets_target_library_variant_and_target_options_in_that_order() -> None:
    """OpenSSL's target is the first argument; options of the library come before those of variant and target."""
    target = replace(OPENSSL_TARGET, options=(("openssl", ("no-foo",)),))
    script = script_of(replace(openssl(), target=target), "configure")
    assert "set -- linux-aarch64 no-shared --enable-arm64-crypto no-foo\n" in script


def test_autoconf_gets_the_host() -> None:
    """The target becomes --host, and programs that run in the build are compiled by the machine's own compiler."""
    script = script_of(nettle(), "configure")
    assert "HOST=aarch64_be-linux-musl" in script
    assert '--host="$HOST"' in script
    assert "CC_FOR_BUILD" in script


def test_builds_run_no_tests() -> None:
    """Building compiles test programs and starts none, because they are for another machine."""
    assert "crossmatrix-list" in script_of(nettle(), "build")
    assert not re.search(r"make[^\n]*\bcheck\b", script_of(nettle(), "build"))
    assert not re.search(r"make[^\n]*\b(check|test|tests)\b(?!/)", script_of(openssl(), "build"))


@pytest.mark.programs
@pytest.mark.parametrize(
    ("words", "programs"),
    [
        (("test_sha",), "test/sha_test"),
        (("test_evp*", "test_sha"), "test/evp_test test/evp_extra_test test/sha_test"),
        (("test_sha", "alltests"), ""),
        (("test_sha", "30"), ""),
        (("test_nothing",), ""),
    ],
)
def test_the_programs_of_the_wanted_tests_are_known(tmp_path: Path, words: tuple[str, ...], programs: str) -> None:
    """Recipes name their programs; a word that is no test of the tree wants all of them."""
    recipes = tmp_path / "test" / "recipes"
    recipes.mkdir(parents=True)
    (recipes / "05-test_sha.t").write_text('simple_test("test_sha", "sha_test", "sha");\n')
    (recipes / "30-test_evp.t").write_text('ok(run(test(["evp_test", data_file("evp.txt")])));\n')
    (recipes / "30-test_evp_extra.t").write_text('ok(run(test(["evp_extra_test"])));\n')
    every = "apps/openssl fuzz/bignum-test test/evp_test test/evp_extra_test test/sha_test test/evp_skey_test"
    done = subprocess.run(
        ["perl", str(SCRIPTS_FOLDER / "openssl-programs.pl"), *words],
        input=every,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
        timeout=30,
    )
    assert done.stdout.strip() == programs


def test_a_build_with_other_tests_is_another_build() -> None:
    """The words of the suite are in the script, so that a wider tier builds again."""
    assert "set -- test_sha\n" in script_of(replace(openssl(), suite=("test_sha",)), "build")


def test_the_workload_comes_with_its_headers() -> None:
    """All headers beside the workload, and those that both libraries share, are put in; C files are compiled once."""
    steps = build_steps(nettle(), recipes=RECIPES, processes=1)
    paths = [file.path for file in steps.inputs]
    assert len(paths) == len(set(paths))
    assert "/work/workload/libraries/nettle/workload.c" in paths
    assert "/work/workload/libraries/common/vectors.h" in paths
    assert "set -- libraries/nettle/workload.c\n" in script_of(nettle(), "workload")


def test_a_missing_workload_file_is_named() -> None:
    """A workload file that is not there is an error that names it."""
    build = nettle()
    broken = replace(build, library=replace(build.library, workload=("libraries/nettle/none.c",)))
    with pytest.raises(UsageError, match=r"none\.c cannot be read"):
        build_steps(broken, recipes=RECIPES, processes=1)


def test_what_cannot_be_built_is_said() -> None:
    """A library without scripts, a target without compiler or configure name: each is an error that says so."""
    build = nettle()
    with pytest.raises(UsageError, match="no steps for the library 'nettel'; did you mean 'nettle'"):
        build_steps(replace(build, library=replace(build.library, name="nettel")), recipes=RECIPES, processes=1)
    with pytest.raises(UsageError, match="gcc-12 does not compile for m68k-linux-gnu"):
        build_steps(replace(build, target=replace(TARGET, name="m68k-linux-gnu")), recipes=RECIPES, processes=1)
    with pytest.raises(UsageError, match="no configure name for nettle"):
        build_steps(replace(build, target=replace(TARGET, configure=())), recipes=RECIPES, processes=1)


def test_the_digest_does_not_depend_on_processes_or_limits() -> None:
    """How many compilers run side by side and how long a stage may take change no result."""
    build = nettle()
    slow = replace(build, library=replace(build.library, build_timeout_s=9))
    digests = {
        steps_digest(build_steps(build, recipes=RECIPES, processes=1)),
        steps_digest(build_steps(build, recipes=RECIPES, processes=7)),
        steps_digest(build_steps(slow, recipes=RECIPES, processes=1)),
    }
    assert len(digests) == 1


def test_the_digest_depends_on_all_that_decides_a_build() -> None:
    """Options, environment, tools, target and the workload's files each change the digest."""
    build = nettle()
    tools = replace(TOOLCHAIN.tools[0], flags=("-mcpu=x",))
    others = (
        replace(build, variant=replace(build.variant, options=())),
        replace(build, library=replace(build.library, environment=())),
        replace(build, library=replace(build.library, configure=())),
        replace(build, library=replace(build.library, workload=())),
        replace(build, toolchain=replace(TOOLCHAIN, tools=(tools,))),
        replace(build, target=replace(TARGET, endian=Endian.LITTLE)),
    )
    digests = {steps_digest(build_steps(one, recipes=RECIPES, processes=1)) for one in (build, *others)}
    assert len(digests) == 1 + len(others)
