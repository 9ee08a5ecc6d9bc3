"""What a build is made with and runs on: targets, toolchains, emulators, profiles."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Endian(StrEnum):
    """Byte order of a target."""

    LITTLE = "little"
    BIG = "big"


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
