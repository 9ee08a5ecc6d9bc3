"""The image folders: what every Dockerfile and script in them must keep to, read as text."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

IMAGES = Path(__file__).parents[2] / "images"
FOLDERS = sorted(path.parent for path in IMAGES.glob("*/Dockerfile"))
TOOLCHAINS = ("gcc-12", "clang-16")
TRIPLES = ("aarch64-linux-musl", "aarch64_be-linux-musl", "x86_64-linux-musl")

every_folder = pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)


def _instructions(folder: Path) -> list[str]:
    """Give a Dockerfile's instructions, comments dropped and continued lines joined."""
    lines = [line for line in (folder / "Dockerfile").read_text().splitlines() if not line.startswith("#")]
    return [line for line in re.sub(r"\\\n\s*", "", "\n".join(lines)).splitlines() if line.strip()]


def _scripts(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.sh"))


def test_all_four_images_are_there() -> None:
    """The sysroot, two toolchains and the emulator each have a folder."""
    assert {folder.name for folder in FOLDERS} >= {"musl-sysroot", "qemu-7.2", *TOOLCHAINS}


@every_folder
def test_base_is_an_argument(folder: Path) -> None:
    """A Dockerfile names no image: the base, and the images it copies from, come as arguments."""
    instructions = _instructions(folder)
    assert instructions[0] == "ARG BASE"
    first_stage = next(index for index, line in enumerate(instructions) if line.startswith("FROM "))
    arguments = {line.removeprefix("ARG ") for line in instructions[:first_stage]}
    origins = [line.split()[1] for line in instructions if line.startswith("FROM ")]
    assert {origin.strip("${}") for origin in origins} == arguments
    assert all(re.fullmatch(r"\$\{[A-Z_]+\}", origin) for origin in origins)
    assert origins[-1] == "${BASE}"


@every_folder
def test_needs_are_the_arguments(folder: Path) -> None:
    """What image.yaml says an image needs is what its Dockerfile takes, and the other way round."""
    needs = yaml.safe_load((folder / "image.yaml").read_text()).get("needs", [])
    expected = {f"{name.upper().replace('-', '_').replace('.', '_')}_IMAGE" for name in needs}
    assert set(re.findall(r"^ARG (\w+_IMAGE)$", (folder / "Dockerfile").read_text(), re.MULTILINE)) == expected


@every_folder
def test_no_address_is_written_down(folder: Path) -> None:
    """Packages come from wherever the base image takes them: no mirror, registry or other address is named."""
    for path in (folder / "Dockerfile", *_scripts(folder)):
        text = path.read_text()
        assert "://" not in text, path
        assert not re.search(r"sources\.list|pip3? install|curl|wget", text), path


@every_folder
def test_finishing_script_is_the_same_everywhere(folder: Path) -> None:
    """The script that ends every image is one script: a folder's checksum covers all that goes into its image."""
    assert (folder / "finish-image.sh").read_bytes() == (FOLDERS[0] / "finish-image.sh").read_bytes()


def test_checking_script_is_the_same_in_both_toolchains() -> None:
    """Both compilers have to pass one and the same check."""
    assert len({(IMAGES / name / "check-image.sh").read_bytes() for name in TOOLCHAINS}) == 1


@every_folder
def test_image_ends_as_an_ordinary_user(folder: Path) -> None:
    """Every image ends with the user builder, a home in /scratch, a fixed locale and its list of packages."""
    instructions = _instructions(folder)
    last_stage = instructions[max(i for i, line in enumerate(instructions) if line.startswith("FROM ")) :]
    text = "\n".join(last_stage)
    assert "finish-image.sh" in text
    assert "USER builder" in last_stage
    assert re.search(r"^ENV .*\bHOME=/scratch\b.*\bLANG=C\.UTF-8\b", text, re.MULTILINE)


@every_folder
def test_packages_are_installed_lean_and_with_retries(folder: Path) -> None:
    """No recommended packages come along, and a mirror that stumbles once does not fail a build."""
    for line in _instructions(folder):
        if "apt-get" in line:
            assert "--no-install-recommends" in line
            assert line.count("Acquire::Retries=3") == line.count("apt-get")


@every_folder
def test_scripts_stop_at_the_first_error(folder: Path) -> None:
    """Scripts are POSIX sh, and none goes on after a command that failed."""
    for path in _scripts(folder):
        text = path.read_text()
        assert text.startswith("#!/bin/sh\n"), path
        assert re.search(r"^set -eu$", text, re.MULTILINE), path


@pytest.mark.parametrize("name", TOOLCHAINS)
def test_every_target_has_wrappers(name: str) -> None:
    """Both toolchains make and check compilers for the three targets."""
    for script in ("write-wrappers.sh", "check-image.sh"):
        text = (IMAGES / name / script).read_text()
        for triple in TRIPLES:
            assert re.search(rf"^(wrap|check) {triple} ", text, re.MULTILINE), (script, triple)


def test_plugin_declares_what_it_calls() -> None:
    """Every function of QEMU that the plugin calls is declared in its own header, and none is declared for nothing."""
    folder = IMAGES / "qemu-7.2"
    declared = set(re.findall(r"\b(qemu_plugin_\w+)\(", (folder / "qemu_api.h").read_text()))
    sources = "".join(path.read_text() for path in folder.glob("*.c"))
    called = set(re.findall(r"\b(qemu_plugin_\w+)\(", sources)) - {"qemu_plugin_install"}
    assert called == declared


def test_plugin_is_checked_while_its_image_is_built() -> None:
    """A plugin that counts wrongly fails the image's build, in both byte orders."""
    last = "\n".join(_instructions(IMAGES / "qemu-7.2"))
    assert "check-plugin.pl aarch64 aarch64_be" in last
