"""Real cells of nettle as the recipes describe them, and such cells with a value of a recipe changed."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from tests.integration.probe_image import CHECKOUT

from crossmatrix.catalog import Build, Cell
from crossmatrix.matrix.sources import pinned_source
from crossmatrix.recipes import load_catalog

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import TypeVar

    from crossmatrix.catalog import Catalog, Emulator, Library, MustFail, Profile, Target, Tier, Toolchain, Variant

    Named = TypeVar("Named", Emulator, Library, Profile, Target, Tier, Toolchain, Variant)

BIG, LITTLE, HOST = "aarch64_be-linux-musl", "aarch64-linux-musl", "x86_64-linux-musl"


@cache
def _catalog() -> Catalog:
    return load_catalog(CHECKOUT)


def _called(name: str, things: Iterable[Named]) -> Named:
    return next(thing for thing in things if thing.name == name)


def nettle(variant: str = "asm", *, target: str = BIG, profile: str = "default") -> Cell:
    """Give a cell of nettle 3.10 with gcc."""
    catalog = _catalog()
    library = _called("nettle", catalog.libraries)
    chosen = _called(profile, catalog.profiles)
    return Cell(
        build=Build(
            library=library,
            source=pinned_source(library, "3.10"),
            variant=_called(variant, library.variants),
            toolchain=_called("gcc-12", catalog.toolchains),
            target=_called(target, catalog.targets),
        ),
        profile=chosen,
        emulator=_called(chosen.emulator, catalog.emulators),
        tier=_called(library.default_tier, library.tiers),
    )


def x86(*, native: bool = False) -> Cell:
    """Give a cell of the host's own architecture, which is emulated all the same, or is not.

    Its build has the AES extension alone, because qemu 7.2 lacks that for SHA.
    """
    cell = nettle(target=HOST)
    variant = replace(cell.build.variant, options=("--disable-fat", "--enable-x86-aesni"))
    target = replace(cell.build.target, native=native)
    return replace(cell, build=replace(cell.build, variant=variant, target=target))


def with_options(cell: Cell, *options: str) -> Cell:
    """Give a cell whose variant has options of configure besides its own."""
    variant = cell.build.variant
    return replace(cell, build=replace(cell.build, variant=replace(variant, options=(*variant.options, *options))))


def with_build_variable(cell: Cell, name: str, value: str) -> Cell:
    """Give a cell whose library sets one variable more while it is configured, built and tested."""
    library = cell.build.library
    wider = replace(library, environment=(*library.environment, (name, value)))
    return replace(cell, build=replace(cell.build, library=wider))


def with_variable(cell: Cell, name: str, value: str) -> Cell:
    """Give a cell whose profile sets this variable, and no other."""
    return replace(cell, profile=replace(cell.profile, environment=((name, value),)))


def with_cpu(cell: Cell, cpu: str) -> Cell:
    """Give a cell that is run on another CPU."""
    return replace(cell, profile=replace(cell.profile, cpu=cpu))


def with_control(cell: Cell, must_fail: MustFail) -> Cell:
    """Give a cell that must fail."""
    return replace(cell, profile=replace(cell.profile, must_fail=must_fail))


def with_emulator(cell: Cell, *, version: str = "", plugin: str = "") -> Cell:
    """Give a cell whose emulator says that it is of another version, or has its plugin elsewhere."""
    emulator = cell.emulator
    other = replace(emulator, version=version or emulator.version, plugin=plugin or emulator.plugin)
    return replace(cell, emulator=other)


def with_toolchain(cell: Cell, *, name: str, family: str = "gcc") -> Cell:
    """Give a cell whose toolchain says that it is another."""
    toolchain = replace(cell.build.toolchain, name=name, family=family)
    return replace(cell, build=replace(cell.build, toolchain=toolchain))


def with_tools_of(cell: Cell, other: str) -> Cell:
    """Give a cell whose toolchain calls another target's compiler."""
    toolchain, name = cell.build.toolchain, cell.build.target.name
    tools = tuple(replace(one, target=name) for one in toolchain.tools if one.target == other)
    return replace(cell, build=replace(cell.build, toolchain=replace(toolchain, tools=tools)))


def with_version(cell: Cell, version: str) -> Cell:
    """Give a cell that says it is of another version."""
    source = replace(cell.build.source, version=version, digest="0" * 64)
    return replace(cell, build=replace(cell.build, source=source))
