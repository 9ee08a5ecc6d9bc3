"""What exists: libraries, targets, toolchains, emulators, profiles. Values alone; nothing here touches the world."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Endian(StrEnum):
    """Byte order of a target."""

    LITTLE = "little"
    BIG = "big"


def in_series(version: str, series: str) -> bool:
    """Say whether a version is that one or of that series: ``3.0.20`` of ``3.0``, ``1.1.1w`` of ``1.1.1``.

    With patches on top (``3.0.20+p1a2b3c4d``) it is still of ``3.0.20``.
    """
    rest = version.removeprefix(series)
    return version.startswith(series) and (not rest or rest[0] in ".+" or (rest[0].isalpha() and series[-1:].isdigit()))


@dataclass(frozen=True, kw_only=True, slots=True)
class DebianSource:
    """Where a release lies in Debian: the source package, its suite, and the file's name there."""

    package: str
    suite: str
    file: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Release:
    """One pinned release of a library (or of another source, such as musl).

    ``urls`` are upstream's own addresses; every origin gives the same file, checked by ``sha256``.
    """

    version: str
    file: str
    sha256: str
    urls: tuple[str, ...] = ()
    debian: DebianSource | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Variant:
    """A named way to configure a library. ``assembly`` says whether its own assembly must run in it."""

    name: str
    description: str
    options: tuple[str, ...]
    assembly: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Tier:
    """How much of the test suite runs. ``tests`` are words of the library's own harness, empty for all.

    ``estimate_s`` is what a run took on two idle cores; it decides order alone.
    """

    name: str
    tests: tuple[str, ...]
    timeout_s: int
    estimate_s: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Exclusion:
    """What is not run, or must fail, and why. Expires: when what it excuses passes, that is a finding.

    Attributes:
        where: selector words (``target=...``, ``variant=...``) that a cell must all match.
        tests: test files or cases it covers, globs; empty means the whole cell.
        kind: ``leave-out`` (never run), ``unsupported`` (cell is not run) or ``expected-failure``.
        reason: why, for a person.
        link: where upstream says so.
    """

    where: tuple[str, ...]
    tests: tuple[str, ...]
    kind: str
    reason: str
    link: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Library:
    """How a library is configured, built, tested and measured.

    Attributes:
        name: ``openssl`` or ``nettle``; also decides which steps are used.
        title: how a person writes it.
        releases: the pinned ones, newest first.
        variants: by which it can be configured.
        configure: options that every variant gets.
        environment: set while configuring, building and testing, name and value.
        tiers: by which its suite can be run.
        default_tier: the one that is run where nothing else was asked.
        workload: C files that make the workload program, paths relative to ``recipes/``, or absolute where an
            additional recipe folder brings them.
        algorithms: names that the workload program can measure, in any build; empty where nobody wrote them down.
        build_estimate_s: what a build took on two idle cores; decides order alone.
        build_timeout_s: after which a build is ended.
        exclusions: what is left out where, with reasons.
    """

    name: str
    title: str
    releases: tuple[Release, ...]
    variants: tuple[Variant, ...]
    configure: tuple[str, ...]
    environment: tuple[tuple[str, str], ...]
    tiers: tuple[Tier, ...]
    default_tier: str
    workload: tuple[str, ...]
    build_estimate_s: int
    build_timeout_s: int
    exclusions: tuple[Exclusion, ...] = ()
    algorithms: tuple[str, ...] = ()

    def releases_of(self, series: str) -> tuple[Release, ...]:
        """Give the pinned releases that a version or series (``3.0``) means, newest first."""
        return tuple(release for release in self.releases if in_series(release.version, series))


@dataclass(frozen=True, kw_only=True, slots=True)
class Target:
    """What the binaries run on.

    Attributes:
        name: the triple, such as ``aarch64_be-linux-musl``.
        arch: qemu's word for it: ``qemu-<arch>`` runs its programs.
        machine: ELF machine, such as ``EM_AARCH64``.
        endian: byte order.
        bits: 32 or 64.
        libc: ``musl`` or ``glibc``.
        configure: per library, its own configure name (OpenSSL: ``linux-aarch64``; autoconf: ``--host``).
        options: per library, options of configure that this target needs.
        native: runs on the engine's own CPU (x86_64), without an emulator.
    """

    name: str
    arch: str
    machine: str
    endian: Endian
    bits: int
    libc: str
    configure: tuple[tuple[str, str], ...]
    options: tuple[tuple[str, tuple[str, ...]], ...] = ()
    native: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Tools:
    """The commands of a toolchain for one target, as they are called inside its image."""

    target: str
    cc: str
    cxx: str
    ar: str
    ranlib: str
    nm: str
    strip: str
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Toolchain:
    """A compiler family and version with its binutils and sysroots, in one image."""

    name: str
    family: str
    version: str
    image: str
    tools: tuple[Tools, ...]

    def tools_for(self, target: str) -> Tools | None:
        """Give the commands for a target, or None where this toolchain has none."""
        return next((tools for tools in self.tools if tools.target == target), None)


@dataclass(frozen=True, kw_only=True, slots=True)
class Emulator:
    """One exact qemu-user build, in one image. ``plugin`` is the path of our counting plugin in it."""

    name: str
    version: str
    image: str
    plugin: str


@dataclass(frozen=True, kw_only=True, slots=True)
class MustFail:
    """A profile that must fail, and how: a negative control."""

    signal: str
    function: str
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Profile:
    """How a build is executed.

    Attributes:
        name: ``default``, ``armcap=0x1``, ...; part of a cell's id after ``@`` unless it is ``default``.
        cpu: qemu's CPU model, fully pinned, or empty for the emulator's own default.
        environment: capability variables by name; None means unset, "" means set and empty: two different things.
        libraries: to which it applies; empty for all.
        targets: to which it applies (``Target.arch``); empty for all.
        variants: to which it applies; empty for all.
        asks: capabilities that must be seen by the library, names as the library says them.
        forbids: capabilities that must not be seen.
        must_fail: where it is a negative control.
    """

    name: str
    description: str
    emulator: str
    cpu: str
    environment: tuple[tuple[str, str | None], ...] = ()
    libraries: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    variants: tuple[str, ...] = ()
    asks: tuple[str, ...] = ()
    forbids: tuple[str, ...] = ()
    must_fail: MustFail | None = None

    def applies_to(self, library: str, variant: str, arch: str) -> bool:
        """Say whether a build of this library and variant for this architecture can be run under it."""
        return (
            (not self.libraries or library in self.libraries)
            and (not self.variants or variant in self.variants)
            and (not self.targets or arch in self.targets)
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class ImageRecipe:
    """A folder under ``images/``: what it is built from.

    Attributes:
        name: of the folder.
        suite: Debian's, of the base image.
        needs: other images of ours that its Dockerfile copies from; each is passed as build argument
            ``<NAME>_IMAGE`` (upper case, other characters than letters and digits as ``_``).
        sources: releases that are put into the build context as ``sources/<file>``.
    """

    name: str
    suite: str
    needs: tuple[str, ...] = ()
    sources: tuple[Release, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class MatrixBlock:
    """One product of axes.

    ``libraries`` are pairs of name and version or version series (``3.0``). A variant that a library does not have,
    or a profile that does not apply, is no part of the product.
    """

    libraries: tuple[tuple[str, str], ...]
    variants: tuple[str, ...]
    targets: tuple[str, ...]
    toolchains: tuple[str, ...]
    profiles: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class MatrixRecipe:
    """A named set of cells: the products of its blocks, one after the other, less what it leaves out.

    ``tiers`` are pairs of library and tier; a cell that two blocks name is there once.
    """

    name: str
    description: str
    blocks: tuple[MatrixBlock, ...]
    tiers: tuple[tuple[str, str], ...] = ()
    exclude: tuple[Exclusion, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Catalog:
    """All recipes, checked against each other."""

    libraries: tuple[Library, ...]
    targets: tuple[Target, ...]
    toolchains: tuple[Toolchain, ...]
    emulators: tuple[Emulator, ...]
    profiles: tuple[Profile, ...]
    images: tuple[ImageRecipe, ...]
    matrices: tuple[MatrixRecipe, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class SourceSpec:
    """Which tree of a library is asked for, before anything was fetched.

    Attributes:
        library: its name.
        version: what stands in cell ids: ``3.0.20``, ``git-1a2b3c4d5e6f``, ``dir-1a2b3c4d5e6f``, and with patches
            ``3.0.20+p1a2b3c4d``.
        digest: sha256 that decides everything in the tree: of the pinned file, of the git tree, or of the
            directory's content, combined with the patches'.
        release: where it is a pinned one.
        directory: of the local git checkout or directory otherwise.
        ref: in the git checkout; empty for a plain directory.
        patches: files, applied in order.
    """

    library: str
    version: str
    digest: str
    release: Release | None = None
    directory: str = ""
    ref: str = ""
    patches: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Build:
    """A source compiled once: source x variant x toolchain x target.

    ``suite`` are the tests, in words of the library's own harness, whose programs are built too; empty for all. Most of
    OpenSSL's build is test programs, each linked to the whole library, and a smoke tier runs few of them.
    """

    library: Library
    source: SourceSpec
    variant: Variant
    toolchain: Toolchain
    target: Target
    suite: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """The cell id's part before the profile."""
        return f"{self.library.name}-{self.source.version}/{self.variant.name}/{self.toolchain.name}/{self.target.name}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Cell:
    """A build run under a profile, with one tier of its suite. What the report has a field for."""

    build: Build
    profile: Profile
    emulator: Emulator
    tier: Tier

    @property
    def id(self) -> str:
        """One string everywhere: selector, folder, log name, report row, history key."""
        name = self.profile.name
        return self.build.id if name == "default" else f"{self.build.id}@{name}"
