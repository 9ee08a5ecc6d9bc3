"""What a cell's record says besides its verdict."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.unit.plan_samples import TARGET, TOOLCHAIN, cell

from crossmatrix.plan import JobKind
from crossmatrix.records import ImageRecord
from crossmatrix.runner.told import blank, compiler_of
from crossmatrix.store import JobResult

CROSSING = {
    "gcc-12": "12.2.0-1",
    "gcc-12-aarch64-linux-gnu": "12.2.0-2",
    "gcc-12-arm-linux-gnueabihf": "12.2.0-3",
    "gcc-12-x86-64-linux-gnu": "12.2.0-4",
    "gcc-12-base": "12.2.0-5",
    "gcc-12-aarch64-linux-gnu-base": "12.2.0-6",
}


def built_with(packages: dict[str, str]) -> JobResult:
    """Give the result of a build in an image with these packages."""
    image = ImageRecord(name="gcc-12", tag="t", id="sha256:1", contents="c" * 64, packages=packages)
    return JobResult(key="k", kind=JobKind.BUILD, id="b", run_id="r", inputs={}, ok=True, sound=True, image=image)


@pytest.mark.parametrize(
    ("arch", "packages", "words"),
    [
        ("aarch64", CROSSING, "gcc-12 (12.2.0-2)"),
        ("aarch64_be", CROSSING, "gcc-12 (12.2.0-2)"),
        ("arm", CROSSING, "gcc-12 (12.2.0-3)"),
        ("x86_64", CROSSING, "gcc-12 (12.2.0-4)"),
        ("s390x", CROSSING, "gcc-12 (12.2.0-1)"),
        ("s390x", {"gcc-12-aarch64-linux-gnu": "12.2.0-2"}, "gcc-12 (12.2.0-2)"),
        ("s390x", {"gcc-12-base": "12.2.0-5"}, "gcc-12"),
        ("s390x", {}, "gcc-12"),
    ],
)
def test_the_compiler_is_told_by_the_package_for_the_architecture(
    arch: str, packages: dict[str, str], words: str
) -> None:
    """The package that crosses to the target's architecture, of whatever byte order, else the compiler's own."""
    one = cell(target=replace(TARGET, arch=arch))
    assert compiler_of(one, built_with(packages)) == words


def test_a_compiler_s_name_is_no_pattern() -> None:
    """A family with signs that mean something in patterns is found all the same."""
    toolchain = replace(TOOLCHAIN, name="g++-12", family="g++")
    packages = {"g++-12-aarch64-linux-gnu": "12.2.0-9"}
    assert compiler_of(cell(toolchain=toolchain), built_with(packages)) == "g++-12 (12.2.0-9)"
    assert compiler_of(cell(), None) == "gcc-12"


@pytest.mark.parametrize("native", [True, False])
def test_a_native_cell_has_no_emulated_cpu(*, native: bool) -> None:
    """The record's environment has what the programs saw: QEMU_CPU only where there is an emulator."""
    one = cell(target=replace(TARGET, native=native))
    assert one.profile.cpu
    assert ("QEMU_CPU" in blank(one).environment) is not native
