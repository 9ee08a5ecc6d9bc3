"""The recipes that come with the tool."""

from __future__ import annotations

import re
from pathlib import Path
from textwrap import dedent

import pytest

from crossmatrix.catalog import Catalog, Endian
from crossmatrix.errors import RecipeError
from crossmatrix.matrix import expand
from crossmatrix.recipes import load_catalog
from crossmatrix.recipes.models import MODELS, RESERVED_TIERS, Model
from crossmatrix.recipes.shapes import keys_at

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    """The shipped recipes."""
    return load_catalog(ROOT)


def test_quick_is_the_sixteen_cells(catalog: Catalog) -> None:
    """Both libraries, with and without assembly, both byte orders, both compilers, and nothing left out."""
    expansion = expand(catalog, "quick")
    axes = {
        (
            cell.build.library.name,
            cell.build.variant.name,
            cell.build.target.endian,
            cell.build.toolchain.family,
        )
        for cell in expansion.cells
    }
    assert len(expansion.cells) == len(axes) == 16
    assert expansion.left_out == ()
    assert {cell.tier.name for cell in expansion.cells if cell.build.library.name == "openssl"} == {"smoke"}


def test_quick_builds_with_assembly_first(catalog: Catalog) -> None:
    """Within a library, all builds with assembly come before those without: they are what users wait for."""
    for library in ("openssl", "nettle"):
        variants = [
            cell.build.variant.name for cell in expand(catalog, "quick").cells if cell.build.library.name == library
        ]
        assert variants == ["asm"] * 4 + ["no-asm"] * 4


def test_ci_is_big_endian_with_assembly(catalog: Catalog) -> None:
    """The smallest matrix has a nettle cell with each compiler and an OpenSSL cell."""
    assert [cell.id for cell in expand(catalog, "ci").cells] == [
        "nettle-3.10.2/asm/gcc-12/aarch64_be-linux-musl",
        "nettle-3.10.2/asm/clang-16/aarch64_be-linux-musl",
        "openssl-3.0.20/asm/gcc-12/aarch64_be-linux-musl",
    ]


def test_capabilities_run_four_builds(catalog: Catalog) -> None:
    """Many profiles share few builds, and one of them is a negative control."""
    cells = expand(catalog, "capabilities").cells
    assert len({cell.build.id for cell in cells}) == 4
    assert len(cells) == 28
    controls = [cell for cell in cells if cell.profile.must_fail]
    assert {cell.profile.must_fail.signal for cell in controls if cell.profile.must_fail} == {"SIGILL"}
    assert {cell.build.target.endian for cell in controls} == set(Endian)


def test_native_needs_no_emulator(catalog: Catalog) -> None:
    """Every cell of the native matrix runs on the engine's own CPU."""
    assert all(cell.build.target.native for cell in expand(catalog, "native").cells)


@pytest.mark.parametrize("tier", ["smoke", "core", "full"])
def test_every_tier_works_for_both_libraries(catalog: Catalog, tier: str) -> None:
    """A tier can be asked for in a matrix of both libraries."""
    assert {cell.tier.name for cell in expand(catalog, "quick", tier=tier).cells} == {tier}


def test_reserved_tiers_are_not_shipped(catalog: Catalog) -> None:
    """The names that the tool itself uses are free."""
    names = {tier.name for library in catalog.libraries for tier in library.tiers}
    assert not names & set(RESERVED_TIERS)


def test_every_release_has_two_origins_that_agree(catalog: Catalog) -> None:
    """Each pinned file is to be had from upstream and from Debian, under one checksum."""
    releases = [release for library in catalog.libraries for release in library.releases]
    releases += [source for image in catalog.images for source in image.sources]
    assert all(release.urls and release.debian for release in releases)
    assert len({release.sha256 for release in releases}) == len(releases)


def test_assembly_is_never_excluded_by_accident(catalog: Catalog) -> None:
    """Every exclusion gives a reason and a link."""
    for library in catalog.libraries:
        assert all(exclusion.reason and exclusion.link for exclusion in library.exclusions)


def _keys(model: type[Model]) -> set[str]:
    found: set[str] = set()
    paths: list[tuple[str, ...]] = [()]
    while paths:
        path = paths.pop()
        keys = keys_at(model, path)
        found |= keys
        if len(path) < 4:
            paths += [(*path, key) for key in keys - set(path) if keys_at(model, (*path, key)) - keys]
    return found


@pytest.mark.parametrize("kind", sorted(MODELS))
def test_every_key_is_in_the_reference(kind: str) -> None:
    """A key that recipes can have is explained in docs/reference/recipes.md."""
    page = (ROOT / "docs" / "reference" / "recipes.md").read_text(encoding="utf-8")
    missing = sorted(key for key in _keys(MODELS[kind]) if f"`{key}`" not in page)
    assert missing == []


def test_every_example_of_the_reference_is_yaml_that_loads(tmp_path: Path) -> None:
    """The example folder on the page loads on top of the shipped recipes."""
    page = (ROOT / "docs" / "reference" / "recipes.md").read_text(encoding="utf-8")
    files = 0
    for block in page.split("```yaml\n")[1:]:
        text = block.split("```")[0]
        name = text.splitlines()[0].removeprefix("# ")
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        files += 1
    assert files >= 4
    assert load_catalog(ROOT, [tmp_path]).matrices


def _problems(folder: Path) -> list[str]:
    """Load a folder on top of the shipped recipes and give what is wrong, without advice."""
    try:
        load_catalog(ROOT, [folder])
    except RecipeError as error:
        return [problem.message.partition(";")[0] for problem in error.problems]
    return []


@pytest.mark.parametrize(
    ("guide", "names", "missing"),
    [
        ("add-a-target", ["targets.yaml", "toolchains.yaml", "libraries/openssl.yaml"], []),
        # The image that the page has just told to make is the checkout's.
        ("add-a-compiler", [None, "toolchains.yaml"], ["unknown image 'gcc-13'"]),
        ("published-reports", ["profiles.yaml", "matrices/edk2.yaml"], []),
    ],
)
def test_what_a_guide_shows_can_be_copied(
    tmp_path: Path, guide: str, names: list[str | None], missing: list[str]
) -> None:
    """Each example of a guide, in a folder of its own on top of the shipped recipes, has no problem of its own."""
    page = (ROOT / "docs" / "how-to" / f"{guide}.md").read_text(encoding="utf-8")
    blocks = [dedent(block.split("```")[0]) for block in page.split("```yaml\n")[1:]]
    folder = tmp_path / "recipes"
    for name, block in zip(names, blocks, strict=True):
        if name is not None:
            text = "extends: openssl\n" + block if name.startswith("libraries/") else block
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")
    assert _problems(folder) == missing


def test_openssl_s_algorithms_are_those_of_its_workload(catalog: Catalog) -> None:
    """What `bench --algorithms` takes for OpenSSL is what the tables of its workload program can measure."""
    openssl = next(library for library in catalog.libraries if library.name == "openssl")
    files = sorted((ROOT / "recipes/libraries/openssl").glob("bench_*.h"))
    tables = "".join(file.read_text(encoding="utf-8") for file in files)
    assert set(openssl.algorithms) == set(re.findall(r'^    \{"([a-z0-9-]+)", CX_', tables, re.MULTILINE))


def test_every_algorithm_on_the_page_can_be_asked_for(catalog: Catalog) -> None:
    """The first column of the page's table has names of the recipes, and no name stands twice in a recipe."""
    page = (ROOT / "docs/reference/algorithms.md").read_text(encoding="utf-8")
    table = page.split("## Names in `bench`")[1].split("\n## ")[0]
    firsts = re.findall(r"^\| (`.*?) \|", table, re.MULTILINE)
    told = {name for cell in firsts for name in re.findall(r"`([a-z0-9-]+)`", cell)}
    known = [name for library in catalog.libraries for name in library.algorithms]
    assert told
    assert told <= set(known)
    assert all(len(library.algorithms) == len(set(library.algorithms)) > 0 for library in catalog.libraries)
