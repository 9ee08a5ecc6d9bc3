"""From the files that a cell's jobs left to its evidence. Pure: it takes paths and bytes, and reads no disk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from crossmatrix.checksums import sha256_bytes
from crossmatrix.evidence.binary import NotABinaryError, comments, read_binary, read_machine
from crossmatrix.evidence.capabilities import detected, guest_words
from crossmatrix.evidence.counts import Counts, execution_of, read_counts
from crossmatrix.evidence.library_word import read_library_word
from crossmatrix.evidence.symbols import (
    archive_members,
    functions_of,
    has_code,
    linked_functions,
    linked_sizes,
    other_code,
)
from crossmatrix.records import BinaryEvidence, Evidence

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from crossmatrix.catalog import Cell, Target

PROGRAMS = {"openssl": "openssl", "nettle": "nettle-hash"}
"""The command-line tool that stands for each library."""

ARCHIVES = {"openssl": ("libcrypto.a", "libssl.a"), "nettle": ("libnettle.a", "libhogweed.a")}
WORKLOAD = "artifacts/workload"
RAN = "evidence/workload.sha256"
"""Where the run job leaves the checksum of the program that it had counted."""

NO_COUNTS = "the plugin left no counts"
"""What is missing where the fixed workload was not run under the plugin."""

COMMENTED_SHARE = 0.5
"""Where at least this share of a library's members names its compiler, one that does not is no compiler's work."""

_COMMENT = b".comment"
"""Name of the section, sought as bytes: a thousand members are read in no time that way."""

_NAMED = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class _Assembly:
    """What the build's assembly became: objects in the archives, functions in the workload, and what is odd."""

    objects: tuple[str, ...]
    functions: tuple[str, ...]
    odd: tuple[str, ...]


def gather(cell: Cell, build: Mapping[str, bytes], run: Mapping[str, bytes]) -> Evidence:
    """Put together what shows that a cell did what its name says.

    Args:
        cell: what was built and run.
        build: content by path of the build job's ``out`` folder: ``artifacts/openssl``, ``artifacts/libcrypto.a``,
            ``artifacts/workload``, ``artifacts/configure-summary.txt``, ``assembly/*.o``.
        run: the same of the run job's: ``version.txt``, ``cpu.txt``, ``emulator.txt``, ``evidence/count-*.json``,
            ``evidence/workload.sha256``.

    Returns:
        The evidence. Nothing makes this raise: what is missing, damaged or contradicts itself stands in ``missing``.
    """
    library = cell.build.library.name
    missing: list[str] = []
    binary = _program(library, build, missing)
    assembly = _assembly(cell, build)
    missing += _workload(cell, build, binary)
    missing += assembly.odd
    counts = read_counts({path: data for path, data in run.items() if _is_count(path)})
    missing += _ran_another(build, run, counts)
    missing += [f"a count of the plugin cannot be read: {problem}" for problem in counts.unreadable]
    missing += _absent_words(cell, build, run)
    version = _text(run, "version.txt")
    cpu = guest_words(_text(run, "cpu.txt"), cell.build.target.arch)
    execution = execution_of(counts, emulator=_text(run, "emulator.txt"), assembly=assembly.functions)
    return Evidence(
        binary=binary.model_copy(update={"assembly_objects": assembly.objects}) if binary is not None else None,
        library_says=read_library_word(
            summary=_text(build, "artifacts/configure-summary.txt"), version=version, cpu=cpu
        ),
        execution=execution,
        assembly_functions_present=assembly.functions,
        assembly_functions_executed=execution.assembly_functions,
        capabilities_asked=cell.profile.asks,
        capabilities_detected=detected(cpu or version),
        missing=(*missing, *_uncounted(cell, counts)),
    )


def _is_count(path: str) -> bool:
    return path.startswith("evidence/count") and path.endswith(".json")


def _text(files: Mapping[str, bytes], path: str) -> str:
    return files.get(path, b"").decode(errors="replace")


def _program(library: str, build: Mapping[str, bytes], missing: list[str]) -> BinaryEvidence | None:
    path = f"artifacts/{PROGRAMS.get(library, library)}"
    path = path if path in build else WORKLOAD
    if path not in build:
        missing.append(f"the build left no program ({PROGRAMS.get(library, library)} or workload)")
        return None
    try:
        return read_binary(build[path], path=path)
    except NotABinaryError as error:
        missing.append(error.message)
        return None


def _workload(cell: Cell, build: Mapping[str, bytes], program: BinaryEvidence | None) -> Iterator[str]:
    """Say how the workload, or its compiler, contradicts the cell or the program beside it."""
    data = build.get(WORKLOAD)
    if data is None:
        yield "the build left no workload program, so nothing shows which functions can run"
        return
    try:
        workload = read_binary(data, path=WORKLOAD)
    except NotABinaryError as error:
        yield error.message
        return
    same = program is None or (program.machine, program.endian, program.bits) == (
        workload.machine,
        workload.endian,
        workload.bits,
    )
    if not same:
        yield f"{WORKLOAD} is {_kind_of(workload)}, which {program.path if program else 'the program'} is not"
    if cell.build.variant.assembly and linked_functions(data) is None:
        yield f"{WORKLOAD} has no symbol table, so it cannot be told which assembly functions are in it"
    yield from _wrong_compiler(cell, comments(data))


def _kind_of(binary: BinaryEvidence) -> str:
    return f"{binary.machine}, {binary.endian}-endian, {binary.bits} bits"


def _wrong_compiler(cell: Cell, said: tuple[str, ...]) -> Iterator[str]:
    """Hold ``.comment`` against the toolchain; start files and libc may come from GCC in a clang cell."""
    by_clang = any("clang version" in text for text in said)
    family = cell.build.toolchain.family
    if said and family == "clang" and not by_clang:
        yield f"{WORKLOAD} was not compiled by clang: it names {', '.join(said[:_NAMED])}"
    if family == "gcc" and by_clang:
        named = next(text for text in said if "clang version" in text)
        yield f"{WORKLOAD} was not compiled by gcc alone: it names {named}"


def _assembly(cell: Cell, build: Mapping[str, bytes]) -> _Assembly:
    objects = {
        path.removeprefix("assembly/"): data
        for path, data in build.items()
        if path.startswith("assembly/") and path.endswith((".o", ".obj"))
    }
    members: dict[str, bytes] = {}
    odd: list[str] = []
    for name in ARCHIVES.get(cell.build.library.name, ()):
        data = build.get(f"artifacts/{name}")
        found = archive_members(data) if data is not None else {}
        if not found:
            odd.append(f"{name} is {'empty or damaged' if data is not None else 'missing'}")
        odd += _foreign_members(cell.build.target, name, found)
        members |= {f"{name}({member})": content for member, content in found.items()}
    contents = set(members.values())
    in_archive = {name: data for name, data in objects.items() if data in contents} if members else objects
    if objects and not in_archive:
        odd.append("none of the build's assembly objects is in the library's archives")
    if not cell.build.variant.assembly:
        odd += _handwritten(members)
    defined = {name for names in functions_of(in_archive).values() for name in names}
    linked = linked_sizes(build.get(WORKLOAD, b""))
    other = other_code(in_archive.values(), linked or {}) & defined
    if other:
        odd.append(f"{WORKLOAD} has other code under names of the library's assembly: {_some(other)}")
    functions = (defined if linked is None else defined & linked.keys()) - other
    return _Assembly(objects=tuple(sorted(in_archive)), functions=tuple(sorted(functions)), odd=tuple(odd))


def _ran_another(build: Mapping[str, bytes], run: Mapping[str, bytes], counts: Counts) -> Iterator[str]:
    """Hold the program that was counted against the one that is looked into here."""
    ran = _text(run, RAN).strip()
    if counts.files and not ran:
        yield "the checksum of the workload that ran is missing, so it may not be the one that the build left"
    elif ran and WORKLOAD in build and ran != sha256_bytes(build[WORKLOAD]):
        yield f"the workload that ran is not the one that the build left ({WORKLOAD})"


def _foreign_members(target: Target, archive: str, members: Mapping[str, bytes]) -> Iterator[str]:
    wanted = (target.machine, target.endian.value, target.bits)
    for name, data in members.items():
        try:
            kind = read_machine(data)
        except NotABinaryError:
            continue
        if kind != wanted:
            yield f"{archive}({name}) is {kind[0]}, {kind[1]}-endian, {kind[2]} bits, not for {target.name}"
            return


def _some(names: Collection[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(sorted(names)[:_NAMED]) + more


def _handwritten(members: Mapping[str, bytes]) -> Iterator[str]:
    """Find members with code that no compiler put its name on, in a library whose members have it otherwise."""
    bare = sorted(name for name, data in members.items() if _COMMENT not in data and has_code(data))
    if bare and len(members) - len(bare) >= COMMENTED_SHARE * len(members):
        yield f"{', '.join(bare[:_NAMED])} is no compiler's work (no .comment), in a library without assembly"


def _absent_words(cell: Cell, build: Mapping[str, bytes], run: Mapping[str, bytes]) -> Iterator[str]:
    if not _text(build, "artifacts/configure-summary.txt").strip():
        yield "the build left no configure summary"
    if not _text(run, "version.txt").strip():
        yield "the library did not say its version"
    if cell.build.library.name == "openssl" and not _text(run, "cpu.txt").strip():
        yield "the library did not say which capabilities it sees (cpu.txt)"
    if not cell.build.target.native and not _text(run, "emulator.txt").strip():
        yield "the emulator did not say its version"


def _uncounted(cell: Cell, counts: Counts) -> Iterator[str]:
    if not cell.build.target.native and not counts.files:
        yield NO_COUNTS
