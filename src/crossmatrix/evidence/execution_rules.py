"""Rules on what ran: under the emulator, the assembly, with the capabilities that were asked for."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from crossmatrix.errors import nearest
from crossmatrix.evidence.capabilities import (
    ABSOLUTE_VARIABLES,
    CAPABILITY_VARIABLES,
    CLASSES,
    detected_value,
    environment_word,
    fat_patterns,
    number_of,
    unknown_fat_words,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crossmatrix.catalog import Cell
    from crossmatrix.records import Evidence

MIN_INSTRUCTIONS = 100_000
"""A workload that executed fewer did not do its work: one block of RSA alone costs more."""

MIN_CLASS_INSTRUCTIONS = 16
"""OpenSSL probes a capability by executing one instruction of it; fewer than this many are probes alone."""

TRIVIAL = re.compile(
    r"OPENSSL_(?:cleanse|rdtsc|atomic_add|wipe_cpu|instrument_bus2?|cpuid\w*|ia32_cpuid|ia32_rd\w+|\w+_probe)"
    r"|CRYPTO_memcmp|_?arm\w*_probe|_armv\d_\w+|_nettle_(?:cpuid|stfle|km_status|kimd_status)",
)
"""Assembly that runs in every build and accelerates nothing: probes, cleansing, comparing."""

_ARM64 = frozenset({"aarch64", "aarch64_be"})
_FAT_OVERRIDE = "NETTLE_FAT_OVERRIDE"
_NAMED = 3


def is_trivial(function: str) -> bool:
    """Say whether an assembly function proves nothing by running."""
    return TRIVIAL.fullmatch(function) is not None


def not_emulated(cell: Cell, evidence: Evidence) -> Iterator[str]:
    """The plugin did not see the program on a target that needs an emulator, or it was another emulator."""
    target, execution = cell.build.target, evidence.execution
    if target.native:
        return
    if execution is None or not execution.emulated:
        yield f"nothing shows that the emulator of {target.arch} ran the workload: it may have run on the host's CPU"
        return
    if execution.instructions < MIN_INSTRUCTIONS:
        yield f"the workload executed {execution.instructions} instructions, fewer than {MIN_INSTRUCTIONS}"
    said = execution.emulator.splitlines()[0].strip() if execution.emulator.strip() else ""
    match = re.search(r"qemu-(?P<arch>\w+) version (?P<version>\S+)", said)
    if match is None:
        if said:  # its silence is told as something missing
            yield f"what ran the workload does not say that it is qemu: {said[:80]!r}"
        return
    if match["arch"] != target.arch:
        yield f"the emulator was that of {match['arch']}, the target is {target.arch}"
    wanted = cell.emulator.version.partition("-")[0]
    if wanted and re.match(rf"{re.escape(wanted)}(?![0-9])", match["version"]) is None:
        yield f"the emulator was qemu {match['version']}, the cell's is {wanted}"


def assembly_did_not_run(cell: Cell, evidence: Evidence) -> Iterator[str]:
    """No assembly function ran in a variant that has assembly, or one ran in a variant that has none."""
    executed = evidence.assembly_functions_executed
    if not cell.build.variant.assembly:
        if executed:
            names = ", ".join(list(executed)[:_NAMED])
            yield f"assembly functions ran in variant {cell.build.variant.name}: {names}"
        return
    if cell.build.target.native or evidence.execution is None or not evidence.execution.emulated:
        return
    if not executed:
        yield "no assembly function ran in the workload"
    elif all(is_trivial(name) for name in executed):
        names = ", ".join(list(executed)[:_NAMED])
        yield f"no assembly function ran that accelerates anything, only {names}"


def capabilities_not_as_asked(cell: Cell, evidence: Evidence) -> Iterator[str]:
    """A capability that the profile asks for was not seen, or a forbidden one was."""
    if not cell.build.variant.assembly:
        return
    seen = {word.lower() for word in evidence.capabilities_detected}
    shown = ", ".join(evidence.capabilities_detected) or "none"
    for word in cell.profile.asks:
        if word.lower() not in seen:
            yield f"capability {word} was asked for and the library does not see it (it sees: {shown})"
    for word in cell.profile.forbids:
        if word.lower() in seen:
            yield f"capability {word} must not be there and the library sees it"


def classes_not_as_detected(cell: Cell, evidence: Evidence) -> Iterator[str]:
    """A crypto extension was detected and none of its instructions ran, or one that is forbidden ran.

    Without -march no compiler writes such instructions by itself, so that a variant without assembly has none.
    """
    execution = evidence.execution
    if execution is None or not execution.emulated or cell.build.target.arch not in _ARM64:
        return
    if not cell.build.variant.assembly:
        for name, count in execution.classes.items():
            if count >= MIN_CLASS_INSTRUCTIONS:
                yield f"{count} instructions of class {name} were executed, in variant {cell.build.variant.name}"
        return
    forbidden = {word.lower() for word in cell.profile.forbids}
    for word, name in CLASSES.get(cell.build.library.name, {}).items():
        if name not in execution.classes:
            continue
        count = execution.classes[name]
        if word in evidence.capabilities_detected and count < MIN_CLASS_INSTRUCTIONS:
            yield f"capability {word} was detected, but {count} instructions of class {name} were executed"
        if word.lower() in forbidden and count >= MIN_CLASS_INSTRUCTIONS:
            yield f"capability {word} must not be used, but {count} instructions of class {name} were executed"


def environment_without_effect(cell: Cell, evidence: Evidence) -> Iterator[str]:
    """A capability variable is misspelt, belongs to another machine, or was not taken as it was written."""
    arch = cell.build.target.arch
    for name, value in cell.profile.environment:
        if value is None:
            continue
        if name == _FAT_OVERRIDE:
            yield from _fat_override(cell, evidence, value)
        elif name.startswith("NETTLE_FAT_") and name != "NETTLE_FAT_VERBOSE":
            yield f"nettle does not read {name}; {nearest(name, [_FAT_OVERRIDE])}"
        elif name.startswith("OPENSSL_") and name.lower().rstrip("s").endswith("cap"):
            if name not in CAPABILITY_VARIABLES:
                yield f"OpenSSL does not read {name}; {nearest(name, CAPABILITY_VARIABLES)}"
            elif arch not in CAPABILITY_VARIABLES[name]:
                yield f"{name} is not read on {arch}"
            elif cell.build.variant.assembly:
                yield from _absolute(evidence, name, value)


def _absolute(evidence: Evidence, name: str, value: str) -> Iterator[str]:
    cpu = evidence.library_says.cpu if evidence.library_says is not None else ""
    asked = number_of(value)
    if name not in ABSOLUTE_VARIABLES:
        return
    if asked is None:
        yield f"{name}={value} is no number: OpenSSL takes what it can read of its beginning, 0 where that is nothing"
        return
    seen = detected_value(cpu, name)
    if seen is not None and seen != asked:
        yield f"{name}={value} was asked for and the library says {seen:#x}"
    word = environment_word(cpu)
    if word is not None and word != value:
        yield f"{name}={value} was asked for and the library found {word!r} in its environment"


def _fat_override(cell: Cell, evidence: Evidence, value: str) -> Iterator[str]:
    arch = cell.build.target.arch
    known = [pattern.replace("\\d", "N") for pattern in fat_patterns(arch)]
    if cell.build.library.name != "nettle" or not cell.build.variant.assembly:
        return
    for word in unknown_fat_words(arch, value):
        yield f"nettle does not know the word {word!r} of {_FAT_OVERRIDE} on {arch}; {nearest(word, known)}"
    cpu = evidence.library_says.cpu if evidence.library_says is not None else ""
    if arch not in _ARM64 or "cpu features:" not in cpu:
        return
    asked = {word for word in value.split(",") if word in CLASSES["nettle"]}
    seen = set(evidence.capabilities_detected) & set(CLASSES["nettle"])
    if asked != seen:
        shown = ",".join(sorted(seen)) or "none"
        yield f"{_FAT_OVERRIDE}={value} was asked for and the library says {shown}"
