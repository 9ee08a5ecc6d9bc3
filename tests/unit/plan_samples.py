"""A small catalog and cells for tests of planning and running."""

from __future__ import annotations

from dataclasses import replace

from crossmatrix.catalog import (
    Build,
    Cell,
    Emulator,
    Endian,
    Library,
    Profile,
    Release,
    SourceSpec,
    Target,
    Tier,
    Toolchain,
    Tools,
    Variant,
)
from crossmatrix.plan import ImageState

TIER = Tier(name="full", tests=(), timeout_s=900, estimate_s=75)
ASM = Variant(name="asm", description="with assembly", options=("--enable-arm64-crypto",), assembly=True)
RELEASE = Release(version="3.10.2", file="nettle-3.10.2.tar.gz", sha256="a" * 64)
LIBRARY = Library(
    name="nettle",
    title="nettle",
    releases=(RELEASE,),
    variants=(ASM,),
    configure=("--enable-mini-gmp",),
    environment=(("NETTLE_TEST_SEED", "0"),),
    tiers=(TIER,),
    default_tier="full",
    workload=(),
    build_estimate_s=40,
    build_timeout_s=1800,
)
TARGET = Target(
    name="aarch64_be-linux-musl",
    arch="aarch64_be",
    machine="EM_AARCH64",
    endian=Endian.BIG,
    bits=64,
    libc="musl",
    configure=(("nettle", "aarch64_be-linux-musl"),),
)
TOOLCHAIN = Toolchain(
    name="gcc-12",
    family="gcc",
    version="12",
    image="gcc-12",
    tools=(Tools(target=TARGET.name, cc="cc", cxx="c++", ar="ar", ranlib="ranlib", nm="nm", strip="strip"),),
)
EMULATOR = Emulator(name="qemu-7.2", version="7.2", image="qemu-7.2", plugin="/opt/crossmatrix/count.so")
SOURCE = SourceSpec(library="nettle", version="3.10.2", digest="a" * 64, release=RELEASE)
DEFAULT = Profile(name="default", description="everything on", emulator="qemu-7.2", cpu="max")
IMAGES = {
    name: ImageState(name=name, tag=f"crossmatrix/{name}:0123456789abcdef", contents="c" * 64)
    for name in ("gcc-12", "qemu-7.2")
}


def cell(profile: Profile = DEFAULT, **changes: object) -> Cell:
    """Give a cell; ``changes`` replace fields of its build."""
    build = Build(library=LIBRARY, source=SOURCE, variant=ASM, toolchain=TOOLCHAIN, target=TARGET)
    return Cell(
        build=replace(build, **changes),  # type: ignore[arg-type]
        profile=profile,
        emulator=EMULATOR,
        tier=TIER,
    )


class FixedScripts:
    """Digests of steps that never change."""

    def for_build(self, _build: Build) -> str:
        """Give a build's."""
        return "build steps"

    def for_run(self, _cell: Cell) -> str:
        """Give a run's."""
        return "run steps"
