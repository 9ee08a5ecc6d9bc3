"""What run and measuring jobs do in their containers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.plan_samples import DEFAULT, LIBRARY, TARGET, TIER, cell

from crossmatrix.catalog import Cell, Exclusion, Profile
from crossmatrix.steps import bench_steps, run_steps, steps_digest
from crossmatrix.steps.runs import suite_words
from crossmatrix.steps.surroundings import profile_environment, suite_environment

if TYPE_CHECKING:
    from crossmatrix.steps.stage import Stage, Steps

AFALG = Exclusion(where=(), tests=("test_afalg",), kind="leave-out", reason="no socket option")


def openssl(*exclusions: Exclusion, tests: tuple[str, ...] = (), profile: Profile = DEFAULT) -> Cell:
    """Give an OpenSSL cell."""
    library = replace(LIBRARY, name="openssl", exclusions=exclusions)
    return replace(cell(profile, library=library), tier=replace(TIER, tests=tests))


def native() -> Cell:
    """Give a cell that runs without an emulator."""
    target = replace(TARGET, name="x86_64-linux-musl", arch="x86_64", native=True)
    return cell(target=target)


def stage(steps: Steps, name: str) -> Stage:
    """Give a stage by name."""
    return next(one for one in steps.stages if one.name == name)


def test_the_suite_comes_last_and_may_fail() -> None:
    """The emulator is checked first; words, evidence, vectors and the suite follow, and their failures are results."""
    steps = run_steps(cell(), processes=2)
    assert [(one.name, one.may_fail) for one in steps.stages] == [
        ("emulator", False),
        ("words", True),
        ("evidence", True),
        ("vectors", True),
        ("test", True),
    ]
    assert steps.outputs == "/scratch/out"
    assert stage(steps, "test").timeout_s == TIER.timeout_s


def test_unset_and_empty_are_two_values() -> None:
    """A variable that is None is nowhere, even if the library sets it; one that is empty is set."""
    profile = replace(DEFAULT, environment=(("OPENSSL_armcap", ""), ("NETTLE_TEST_SEED", None)))
    wanted = cell(profile)
    assert dict(profile_environment(wanted)) == {"OPENSSL_armcap": "", "QEMU_CPU": "max"}
    assert "NETTLE_TEST_SEED" not in dict(suite_environment(wanted))
    assert dict(suite_environment(wanted))["OPENSSL_armcap"] == ""
    evidence = stage(run_steps(wanted, processes=1), "evidence").script
    assert "env -i OPENSSL_armcap= QEMU_CPU=max " in evidence


def test_commas_reach_the_program() -> None:
    """A value with a comma goes by the process environment, never by qemu's -E, which splits it."""
    profile = replace(DEFAULT, environment=(("NETTLE_FAT_OVERRIDE", "arch:6,neon"),))
    steps = run_steps(cell(profile), processes=1)
    assert "NETTLE_FAT_OVERRIDE=arch:6,neon" in stage(steps, "evidence").script
    assert dict(stage(steps, "test").environment)["NETTLE_FAT_OVERRIDE"] == "arch:6,neon"
    assert not any("-E NETTLE_FAT_OVERRIDE" in one.script for one in steps.stages)


def test_native_cells_have_no_emulator_and_no_cpu() -> None:
    """On a native target nothing is emulated: no qemu, no plugin in use, no QEMU_CPU."""
    steps = run_steps(native(), processes=2)
    assert all("EMULATOR=''\n" in one.script for one in steps.stages)
    assert all("QEMU_CPU" not in dict(one.environment) for one in steps.stages)
    assert not any("qemu-x86_64" in one.script for one in steps.stages)


def test_emulated_cells_name_their_emulator() -> None:
    """The emulator is the one for the target's architecture, and the evidence is counted by the plugin."""
    steps = run_steps(cell(), processes=2)
    assert all("EMULATOR=qemu-aarch64_be\n" in one.script for one in steps.stages)
    assert "PLUGIN=/opt/crossmatrix/count.so" in stage(steps, "evidence").script


@pytest.mark.parametrize(
    ("tests", "exclusions", "words"),
    [
        ((), (), ("alltests",)),
        ((), (AFALG,), ("alltests", "-test_afalg")),
        (("test_evp*", "test_sha"), (AFALG, AFALG), ("test_evp*", "test_sha", "-test_afalg")),
        (("test_sha",), (replace(AFALG, where=("endian=little",)),), ("test_sha",)),
        (("test_sha",), (replace(AFALG, kind="expected-failure"),), ("test_sha",)),
    ],
)
def test_left_out_tests(tests: tuple[str, ...], exclusions: tuple[Exclusion, ...], words: tuple[str, ...]) -> None:
    """What is left out where the cell is becomes -NAME after the tier's words; other kinds of exclusion do not."""
    assert suite_words(openssl(*exclusions, tests=tests)) == words


def test_nettle_is_always_run_whole() -> None:
    """A suite that is always run whole takes no words."""
    assert suite_words(cell()) == ()


def test_the_suite_is_run_by_upstreams_harness_in_blocks() -> None:
    """OpenSSL's own run_tests.pl runs the test files; each is started through our recorder."""
    steps = run_steps(openssl(), processes=3)
    script = stage(steps, "test").script
    assert "perl test/run_tests.pl" in script
    assert "HARNESS_PERL=/scratch/recipe" in script
    assert "JOBS=3\n" in script
    assert [file.path for file in steps.inputs] == ["/scratch/suite.pl"]


def test_measuring_goes_by_the_workload_list() -> None:
    """A measuring job gives bench.pl the emulator, the plugin, the profile's variables and the algorithms asked for."""
    profile = replace(DEFAULT, environment=(("OPENSSL_armcap", ""),))
    script = stage(bench_steps(cell(profile), processes=2, algorithms=("sha256",)), "bench").script
    assert "set -- sha256\n" in script
    assert "VARIABLES='OPENSSL_armcap=\nQEMU_CPU=max'\n" in script


def test_times_are_taken_alone_and_on_native_cells_only() -> None:
    """Native cells measure one at a time and add the library's own speed program; emulated ones never do."""
    steps = bench_steps(native(), processes=4)
    assert "JOBS=1\n" in stage(steps, "bench").script
    assert [one.name for one in steps.stages][-1] == "speed"
    assert [file.path for file in steps.inputs] == ["/scratch/bench.pl", "/scratch/speed.pl"]
    assert "speed" not in [one.name for one in bench_steps(cell(), processes=4).stages]


@given(st.integers(1, 64), st.integers(1, 64))
def test_the_digest_ignores_processes(one: int, other: int) -> None:
    """Two run jobs that differ only in their processes have one digest."""
    wanted = openssl()
    assert steps_digest(run_steps(wanted, processes=one)) == steps_digest(run_steps(wanted, processes=other))


def test_the_digest_tells_profiles_apart() -> None:
    """Unset, empty and another value of a variable, another CPU, other tests: each gives another digest."""
    cells = (
        openssl(),
        openssl(profile=replace(DEFAULT, environment=(("OPENSSL_armcap", ""),))),
        openssl(profile=replace(DEFAULT, environment=(("OPENSSL_armcap", "0x1"),))),
        openssl(profile=replace(DEFAULT, cpu="cortex-a53")),
        openssl(AFALG),
        openssl(tests=("test_sha",)),
        cell(),
    )
    assert len({steps_digest(run_steps(one, processes=1)) for one in cells}) == len(cells)
