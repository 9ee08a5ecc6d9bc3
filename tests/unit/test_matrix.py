"""From axes to cells."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crossmatrix.catalog import (
    Catalog,
    Emulator,
    Endian,
    Exclusion,
    Library,
    MatrixBlock,
    MatrixRecipe,
    Profile,
    Release,
    SourceSpec,
    Target,
    Tier,
    Toolchain,
    Tools,
    Variant,
)
from crossmatrix.errors import UsageError
from crossmatrix.matrix import expand, find_matrix, matrices_with, pinned_source, series_of
from crossmatrix.matrix.select import nearest_id
from crossmatrix.selectors import KEYS, Selection, facts_of

if TYPE_CHECKING:
    from collections.abc import Sequence


def _library(name: str, versions: Sequence[str], variants: Sequence[str], exclusions: tuple[Exclusion, ...]) -> Library:
    return Library(
        name=name,
        title=name.title(),
        releases=tuple(Release(version=version, file=f"{name}-{version}", sha256=version) for version in versions),
        variants=tuple(Variant(name=one, description="", options=(), assembly=one != "no-asm") for one in variants),
        configure=(),
        environment=(),
        tiers=tuple(Tier(name=one, tests=(), timeout_s=1, estimate_s=1) for one in ("smoke", "full")),
        default_tier="smoke",
        workload=(),
        build_estimate_s=1,
        build_timeout_s=1,
        exclusions=exclusions,
    )


def _catalog(  # noqa: PLR0913 - each axis can be given
    *,
    variants: Sequence[str] = ("asm", "no-asm"),
    targets: Sequence[str] = ("little", "big"),
    toolchains: Sequence[str] = ("gcc-12", "clang-16"),
    profiles: Sequence[str] = ("default",),
    exclude: tuple[Exclusion, ...] = (),
    exclusions: tuple[Exclusion, ...] = (),
) -> Catalog:
    tools = tuple(Tools(target=name, cc="", cxx="", ar="", ranlib="", nm="", strip="") for name in targets)
    block = MatrixBlock(
        libraries=(("openssl", "3.0"), ("nettle", "3.10")),
        variants=tuple(variants),
        targets=tuple(targets),
        toolchains=tuple(toolchains),
        profiles=tuple(profiles),
    )
    return Catalog(
        libraries=(
            _library("openssl", ("3.5.7", "3.0.20", "3.0.9"), variants, exclusions),
            _library("nettle", ("3.10.2",), variants, ()),
        ),
        targets=tuple(
            Target(
                name=name,
                arch=name,
                machine="EM_X",
                endian=Endian.BIG if "big" in name else Endian.LITTLE,
                bits=64,
                libc="musl",
                configure=(),
            )
            for name in targets
        ),
        toolchains=tuple(
            Toolchain(name=name, family=name.partition("-")[0], version="1", image="i", tools=tools)
            for name in toolchains
        ),
        emulators=(Emulator(name="qemu", version="1", image="q", plugin="/p"),),
        profiles=tuple(Profile(name=name, description="", emulator="qemu", cpu="max") for name in profiles),
        images=(),
        matrices=(
            MatrixRecipe(name="quick", description="", blocks=(block,), exclude=exclude),
            MatrixRecipe(
                name="newer",
                description="",
                blocks=(replace(block, libraries=(("openssl", "3.5"),)),),
            ),
        ),
    )


def _ids(catalog: Catalog, selection: Selection | None = None) -> list[str]:
    return [cell.id for cell in expand(catalog, "quick", selection=selection).cells]


names = st.lists(st.sampled_from(["a", "b-big", "c", "d.1", "e=0"]), min_size=1, max_size=4, unique=True)


@given(variants=names, targets=names, toolchains=names, profiles=names)
def test_the_size_is_the_product_of_the_axes(
    variants: list[str],
    targets: list[str],
    toolchains: list[str],
    profiles: list[str],
) -> None:
    """A matrix has as many cells as its axes multiply to, each with an id of its own."""
    catalog = _catalog(variants=variants, targets=targets, toolchains=toolchains, profiles=profiles)
    ids = _ids(catalog)
    assert len(ids) == 2 * len(variants) * len(targets) * len(toolchains) * len(profiles)
    assert len(set(ids)) == len(ids)


@given(targets=names, profiles=names)
def test_an_id_picks_its_cell_alone(targets: list[str], profiles: list[str]) -> None:
    """Every cell's id, used as a selector, gives that one cell back."""
    catalog = _catalog(targets=targets, profiles=["default", *profiles])
    for name in _ids(catalog)[::5]:
        assert _ids(catalog, Selection.parse(globs=[name])) == [name]


@given(
    word=st.sampled_from(
        ["target=big", "variant=asm,toolchain=gcc-12", "library=nettle", "compiler=*", "endian=little"]
    ),
)
def test_what_is_left_out_and_what_is_not_make_the_product(word: str) -> None:
    """An exclusion moves cells from one list to the other, and none is lost or counted twice."""
    everything = _ids(_catalog())
    exclusion = Exclusion(where=tuple(word.split(",")), tests=(), kind="leave-out", reason="because", link="L")
    expansion = expand(_catalog(exclude=(exclusion,)), "quick")
    kept, left_out = [cell.id for cell in expansion.cells], [one.id for one in expansion.left_out]
    assert sorted(kept + left_out) == sorted(everything)
    assert left_out == _ids(_catalog(), Selection.parse(only=[word]))
    assert {(one.reason, one.link, one.kind) for one in expansion.left_out} == {("because", "L", "leave-out")}


@given(st.lists(st.sampled_from(["library=nettle", "variant=asm", "target=big|little", "toolchain=cl*"]), min_size=1))
def test_selecting_keeps_the_order_of_the_matrix(texts: list[str]) -> None:
    """A selection leaves cells away and moves none."""
    everything = _ids(_catalog())
    picked = _ids(_catalog(), Selection.parse(only=texts))
    assert picked == [name for name in everything if name in set(picked)]


def test_the_variant_is_outermost_within_a_library() -> None:
    """The order is library, variant, target, toolchain, profile."""
    assert _ids(_catalog())[:5] == [
        "openssl-3.0.20/asm/gcc-12/little",
        "openssl-3.0.20/asm/clang-16/little",
        "openssl-3.0.20/asm/gcc-12/big",
        "openssl-3.0.20/asm/clang-16/big",
        "openssl-3.0.20/no-asm/gcc-12/little",
    ]


def test_ten_thousand_cells_expand() -> None:
    """A matrix of 10,000 cells with selectors and exclusions loses none of them."""
    catalog = _catalog(
        targets=[f"t{i}" for i in range(25)],
        toolchains=[f"gcc-{i}" for i in range(10)],
        profiles=["default", *(f"p={i}" for i in range(9))],
        exclude=(Exclusion(where=("target=t3", "toolchain=gcc-3"), tests=(), kind="leave-out", reason="R"),),
    )
    selection = Selection.parse(only=["target=t*,library=openssl|nettle"], skip=["version=3.5"], globs=["*"])
    expansion = expand(catalog, "quick", selection=selection)
    assert len(expansion.cells) + len(expansion.left_out) == 10_000
    assert len(expansion.left_out) == 40


class TestLeftOut:
    """Cells that are part of the product and not run."""

    def test_a_toolchain_without_the_target(self) -> None:
        """What cannot be compiled is left out with that reason."""
        catalog = _catalog()
        gcc, clang = catalog.toolchains
        catalog = replace(catalog, toolchains=(gcc, replace(clang, tools=clang.tools[:1])))
        expansion = expand(catalog, "quick", selection=Selection.parse(only=["library=nettle,variant=asm"]))
        assert len(expansion.cells) == 3
        [one] = expansion.left_out
        assert (one.id, one.kind) == ("nettle-3.10.2/asm/clang-16/big", "unsupported")
        assert one.reason == "toolchain 'clang-16' has no target 'big'"

    def test_an_exclusion_of_the_library(self) -> None:
        """A library's exclusion of whole cells is for that library alone."""
        exclusion = Exclusion(where=("endian=big",), tests=(), kind="unsupported", reason="R", link="L")
        expansion = expand(_catalog(exclusions=(exclusion,)), "quick")
        assert {one.cell.build.library.name for one in expansion.left_out} == {"openssl"}
        assert len(expansion.left_out) == 4

    @pytest.mark.parametrize(("tests", "kind"), [(("test_x",), "leave-out"), ((), "expected-failure")])
    def test_exclusions_that_leave_the_cell_in(self, tests: tuple[str, ...], kind: str) -> None:
        """Single tests, and cells that are expected to fail, are still run."""
        exclusion = Exclusion(where=(), tests=tests, kind=kind, reason="R")
        assert expand(_catalog(exclusions=(exclusion,)), "quick").left_out == ()

    def test_what_does_not_apply_is_no_part_of_the_product(self) -> None:
        """A profile for one library, variant or architecture makes no cell elsewhere, left out or not."""
        catalog = _catalog(profiles=("default", "special"))
        default, special = catalog.profiles
        for limited in (
            replace(special, libraries=("nettle",)),
            replace(special, variants=("asm",)),
            replace(special, targets=("big",)),
        ):
            expansion = expand(replace(catalog, profiles=(default, limited)), "quick")
            assert len(expansion.cells) == 16 + 8
            assert expansion.left_out == ()


class TestSources:
    """Which source a cell is made of."""

    def test_a_series_is_its_newest_release(self) -> None:
        """3.0 means 3.0.20, whatever newer series there are, and no note is needed."""
        expansion = expand(_catalog(), "quick")
        sources = {cell.build.source for cell in expansion.cells if cell.build.library.name == "openssl"}
        [source] = sources
        assert (source.version, source.digest) == ("3.0.20", "3.0.20")
        assert source.release is not None
        assert expansion.notes == ()

    def test_a_fallback_is_noted(self) -> None:
        """Where the newest cannot be had, the caller names another of the series, and the user is told."""
        expansion = expand(_catalog(), "quick", versions={("openssl", "3.0"): "3.0.9"})
        assert expansion.cells[0].build.source.version == "3.0.9"
        assert expansion.notes == ("Openssl 3.0: 3.0.9 is used; 3.0.20, the newest pinned release, cannot be had",)

    def test_a_fallback_of_another_series_is_refused(self) -> None:
        """3.5.7 does not stand for 3.0."""
        with pytest.raises(UsageError, match=r"'3\.5\.7' is no pinned release of '3\.0'"):
            expand(_catalog(), "quick", versions={("openssl", "3.0"): "3.5.7"})

    @pytest.mark.parametrize("key", ["openssl", "openssl-3.0"])
    def test_the_users_own_source_stands_instead(self, key: str) -> None:
        """A source given for the library, or for one series of it, is in the ids and in the cells."""
        own = SourceSpec(library="openssl", version="git-0123456789ab", digest="d", directory="/src", ref="main")
        expansion = expand(_catalog(), "quick", sources={key: own})
        assert expansion.cells[0].id == "openssl-git-0123456789ab/asm/gcc-12/little"
        assert expansion.cells[-1].id.startswith("nettle-3.10.2/")

    def test_an_unknown_series_names_the_nearest(self) -> None:
        """A version that is not pinned is a usage error."""
        with pytest.raises(UsageError, match=r"no pinned release of openssl is '3\.0\.21'; did you mean '3\.0\.20'"):
            pinned_source(_catalog().libraries[0], "3.0.21")

    def test_the_series_of_a_matrix(self) -> None:
        """What has to be had for a matrix is known before it is expanded."""
        assert series_of(find_matrix(_catalog(), "quick")) == (("openssl", "3.0"), ("nettle", "3.10"))


class TestTiers:
    """How much of each suite runs."""

    def test_the_matrix_decides_over_the_library(self) -> None:
        """The library's own tier is what is left where nothing else was said."""
        catalog = _catalog()
        quick = replace(catalog.matrices[0], tiers=(("nettle", "full"),))
        cells = expand(replace(catalog, matrices=(quick,)), "quick").cells
        assert {(cell.build.library.name, cell.tier.name) for cell in cells} == {
            ("openssl", "smoke"),
            ("nettle", "full"),
        }

    def test_the_user_decides_over_the_matrix(self) -> None:
        """A tier that is asked for is every library's, and can be selected by."""
        expansion = expand(_catalog(), "quick", tier="full", selection=Selection.parse(only=["tier=full"]))
        assert len(expansion.cells) == 16

    def test_an_unknown_tier_names_the_nearest(self) -> None:
        """A tier that a library does not have is a usage error."""
        with pytest.raises(UsageError, match="Openssl has no tier 'smok'; did you mean 'smoke'"):
            expand(_catalog(), "quick", tier="smok")


class TestSayingWhatIsWrong:
    """Selections that pick nothing."""

    @pytest.mark.parametrize(
        ("selection", "message"),
        [
            (Selection.parse(only=["endian=bg"]), "unknown endian 'bg' in selector 'endian=bg'; did you mean 'big'?"),
            (Selection.parse(skip=["toolchain=gcc-21"]), "unknown toolchain 'gcc-21'"),
            (Selection.parse(only=["version=3.5"]), "no cell of matrix 'quick' has version=3.5"),
            (Selection.parse(only=["tier=full"]), "it has tier=smoke"),
            (Selection.parse(only=["target=big|litle"]), "unknown target 'litle' in selector 'target=big|litle'"),
            (Selection.parse(only=["endian=big"], skip=["target=big"]), "leaves none of the 16 cells"),
            (
                Selection.parse(globs=["openssl-3.0.20/asm/gcc-21/big"]),
                "the nearest is 'openssl-3.0.20/asm/gcc-12/big'",
            ),
            (Selection.parse(globs=["openssl-3.5.7/*"]), "use --matrix newer, which has it"),
            (Selection.parse(globs=["*", "nothing"]), "no cell of matrix 'quick' matches 'nothing'"),
        ],
    )
    def test_a_selection_of_nothing_is_explained(self, selection: Selection, message: str) -> None:
        """The message names the word, and what is nearest to it or where it is."""
        with pytest.raises(UsageError) as caught:
            expand(_catalog(), "quick", selection=selection)
        assert message in str(caught.value)

    def test_skipping_what_is_not_in_the_matrix_is_no_error(self) -> None:
        """A name that exists elsewhere may be skipped in every matrix."""
        assert len(_ids(_catalog(), Selection.parse(skip=["version=3.5"]))) == 16

    def test_an_unknown_matrix_names_the_nearest(self) -> None:
        """A misspelt matrix is a usage error."""
        with pytest.raises(UsageError, match="unknown matrix 'quik'; did you mean 'quick'"):
            expand(_catalog(), "quik")

    def test_matrices_that_have_a_cell(self) -> None:
        """An id, or a glob over ids, can be looked up in all matrices."""
        assert matrices_with(_catalog(), "*/asm/gcc-12/big") == ("quick", "newer")
        assert matrices_with(_catalog(), "openssl-3.5.7/asm/gcc-12/big") == ("newer",)
        assert matrices_with(_catalog(), "nothing") == ()

    def test_the_nearest_of_no_ids_is_nothing(self) -> None:
        """With no ids there is no nearest one."""
        assert nearest_id("openssl", []) == ""


def test_a_cell_of_two_blocks_is_there_once() -> None:
    """Blocks may overlap; the first that names a cell decides its place."""
    catalog = _catalog()
    quick = catalog.matrices[0]
    doubled = replace(quick, blocks=quick.blocks * 2)
    assert _ids(replace(catalog, matrices=(doubled,))) == _ids(catalog)


def test_facts_hold_every_key() -> None:
    """Whatever a selector can name is known of each cell."""
    cell = expand(_catalog(), "quick").cells[0]
    facts = facts_of(cell)
    assert tuple(facts) == KEYS
    assert (facts["id"], facts["compiler"], facts["endian"]) == (cell.id, "gcc", "little")
