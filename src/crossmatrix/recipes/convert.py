"""Checked recipes to the catalog."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from crossmatrix.catalog import (
    Catalog,
    DebianSource,
    Emulator,
    Exclusion,
    ImageRecipe,
    Library,
    MatrixBlock,
    MatrixRecipe,
    MustFail,
    Profile,
    Release,
    Target,
    Tier,
    Toolchain,
    Tools,
    Variant,
)
from crossmatrix.recipes.things import blocks_of, named_by, variants_of, workload_files

if TYPE_CHECKING:
    from pathlib import Path

    from crossmatrix.recipes.models import (
        EmulatorModel,
        ImageModel,
        LibraryModel,
        MatrixModel,
        ProfileModel,
        ReleaseModel,
        TargetModel,
        ToolchainModel,
        ToolsModel,
        ToolsOverrideModel,
    )
    from crossmatrix.recipes.things import Block, Thing, Things

_PART = re.compile(r"(\d+)|([a-zA-Z]+)")


def version_key(version: str) -> tuple[tuple[int, int, str], ...]:
    """Give what versions are ordered by: numbers as numbers, ``1.1.1w`` after ``1.1.1v``."""
    return tuple((1, int(found[1]), "") if found[1] else (0, 0, found[2]) for found in _PART.finditer(version))


def catalog_of(things: Things, own: Path) -> Catalog:
    """Make the catalog of recipes in which nothing is wrong; ``own`` is the checkout's ``recipes/``."""
    return Catalog(
        libraries=tuple(_library(things, thing, own) for thing in things.libraries.values()),
        targets=tuple(_target(thing.name, thing.model) for thing in things.targets.values()),
        toolchains=tuple(_toolchain(thing.name, thing.model) for thing in things.toolchains.values()),
        emulators=tuple(_emulator(thing.name, thing.model) for thing in things.emulators.values()),
        profiles=tuple(_profile(thing.name, thing.model) for thing in things.profiles.values()),
        images=tuple(_image(thing.name, thing.model) for thing in things.images.values()),
        matrices=tuple(_matrix(things, thing) for thing in things.matrices.values()),
    )


def _release(version: str, model: ReleaseModel) -> Release:
    debian = model.debian
    return Release(
        version=version,
        file=model.file,
        sha256=model.sha256,
        urls=model.urls,
        debian=DebianSource(package=debian.package, suite=debian.suite, file=debian.file) if debian else None,
    )


def _library(things: Things, thing: Thing[LibraryModel], own: Path) -> Library:
    model = thing.model
    newest_first = sorted(model.releases, key=version_key, reverse=True)
    return Library(
        name=thing.name,
        title=model.title,
        releases=tuple(_release(version, model.releases[version]) for version in newest_first),
        variants=tuple(
            Variant(name=name, description=one.description, options=one.options, assembly=one.assembly)
            for name, one in model.variants.items()
        ),
        configure=model.configure,
        environment=tuple(model.environment.items()),
        tiers=tuple(
            Tier(name=name, tests=one.tests, timeout_s=one.timeout_s, estimate_s=one.estimate_s)
            for name, one in model.tiers.items()
        ),
        default_tier=model.default_tier,
        workload=_workload(things, thing, own),
        algorithms=model.algorithms,
        build_estimate_s=model.build_estimate_s,
        build_timeout_s=model.build_timeout_s,
        exclusions=tuple(
            Exclusion(where=one.where, tests=one.tests, kind=one.kind, reason=one.reason, link=one.link)
            for one in model.exclusions
        ),
    )


def _workload(things: Things, thing: Thing[LibraryModel], own: Path) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for i, pattern in enumerate(thing.model.workload):
        folder = things.folders[thing.node.find(["workload", i]).place.file]
        for path in workload_files(folder, pattern):
            found[path.relative_to(own).as_posix() if folder == own else str(path.resolve())] = None
    return tuple(found)


def _target(name: str, model: TargetModel) -> Target:
    return Target(
        name=name,
        arch=model.arch,
        machine=model.machine,
        endian=model.endian,
        bits=model.bits,
        libc=model.libc,
        configure=tuple((library, text.replace("{target}", name)) for library, text in model.configure.items()),
        options=tuple(model.options.items()),
        native=model.native,
    )


def _toolchain(name: str, model: ToolchainModel) -> Toolchain:
    tools = tuple(_tools(target, model.tools, override) for target, override in model.targets.items())
    return Toolchain(name=name, family=model.family, version=model.version, image=model.image, tools=tools)


def _tools(target: str, shared: ToolsModel, override: ToolsOverrideModel) -> Tools:
    def command(own: str | None, otherwise: str) -> str:
        return (otherwise if own is None else own).replace("{target}", target)

    flags = shared.flags if override.flags is None else override.flags
    return Tools(
        target=target,
        cc=command(override.cc, shared.cc),
        cxx=command(override.cxx, shared.cxx),
        ar=command(override.ar, shared.ar),
        ranlib=command(override.ranlib, shared.ranlib),
        nm=command(override.nm, shared.nm),
        strip=command(override.strip, shared.strip),
        flags=tuple(flag.replace("{target}", target) for flag in flags),
    )


def _emulator(name: str, model: EmulatorModel) -> Emulator:
    return Emulator(name=name, version=model.version, image=model.image, plugin=model.plugin)


def _profile(name: str, model: ProfileModel) -> Profile:
    control = model.must_fail
    return Profile(
        name=name,
        description=model.description,
        emulator=model.emulator,
        cpu=model.cpu,
        environment=tuple(model.environment.items()),
        libraries=model.libraries,
        targets=model.targets,
        variants=model.variants,
        asks=model.asks,
        forbids=model.forbids,
        must_fail=MustFail(signal=control.signal, function=control.function, reason=control.reason)
        if control
        else None,
    )


def _image(name: str, model: ImageModel) -> ImageRecipe:
    sources = tuple(_release(source.version, source) for source in model.sources)
    return ImageRecipe(name=name, suite=model.suite, needs=model.needs, sources=sources)


def _matrix(things: Things, thing: Thing[MatrixModel]) -> MatrixRecipe:
    model = thing.model
    return MatrixRecipe(
        name=thing.name,
        description=model.description,
        blocks=tuple(_block(things, block) for block in blocks_of(thing)),
        tiers=tuple(model.tiers.items()),
        exclude=tuple(
            Exclusion(where=one.where, tests=(), kind="leave-out", reason=one.reason, link=one.link)
            for one in model.exclude
        ),
    )


def _block(things: Things, block: Block) -> MatrixBlock:
    return MatrixBlock(
        libraries=tuple((name, series) for name, wanted in block.libraries.items() for series in wanted),
        variants=named_by(block.variants, variants_of(things, block.libraries)),
        targets=named_by(block.targets, things.names["target"]),
        toolchains=named_by(block.toolchains, things.names["toolchain"]),
        profiles=named_by(block.profiles, things.names["profile"]),
    )
