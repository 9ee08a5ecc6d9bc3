"""Rules on what was built: is it this cell's, and is the assembly in it?"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from crossmatrix.evidence.library_word import configure_words, nettle_value, platform_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crossmatrix.catalog import Cell
    from crossmatrix.records import Evidence, LibraryWord

_NAMED = 3
_RELEASE = re.compile(r"^\d+(?:\.\d+)+[a-z]*$")


def wrong_binary(cell: Cell, evidence: Evidence) -> Iterator[str]:
    """The program is of another machine, byte order, width or libc than the target."""
    binary, target = evidence.binary, cell.build.target
    if binary is None:
        return
    endian = target.endian.value
    if binary.endian != endian:
        yield f"wrong byte order: {binary.path} is {binary.endian}-endian, {target.name} is {endian}-endian"
    if binary.machine != target.machine:
        yield f"wrong machine: {binary.path} is for {binary.machine}, {target.name} is {target.machine}"
    if binary.bits != target.bits:
        yield f"wrong width: {binary.path} has {binary.bits} bits, {target.name} has {target.bits}"
    if binary.libc and binary.libc != target.libc:
        yield f"wrong libc: {binary.path} is linked with {binary.libc}, {target.name} has {target.libc}"


def wrong_assembly(cell: Cell, evidence: Evidence) -> Iterator[str]:
    """Assembly is missing in a variant that has it, or there in one that has none."""
    says = evidence.library_says.assembly if evidence.library_says is not None else None
    objects = evidence.binary.assembly_objects if evidence.binary is not None else ()
    if cell.build.variant.assembly:
        if says is False:
            yield f"the configure summary says that there is no assembly, in variant {cell.build.variant.name}"
        if not objects:
            yield "the library has no object that was made from assembly"
        elif not evidence.assembly_functions_present:
            yield "no function of the library's assembly is linked into the workload"
        return
    if says is True:
        yield f"the configure summary says that there is assembly, in variant {cell.build.variant.name}"
    if objects:
        yield f"the library has objects made from assembly, in variant {cell.build.variant.name}: {_some(objects)}"


def wrong_library(cell: Cell, evidence: Evidence) -> Iterator[str]:
    """The library's version, target or options are another cell's."""
    word = evidence.library_says
    if word is None:
        return
    release = cell.build.source.version.partition("+")[0]
    if (
        word.version
        and _RELEASE.match(release)
        and not re.search(rf"(?<![\w.]){re.escape(release)}(?![\w.])", word.version)
    ):
        said = next((line.strip() for line in word.version.splitlines() if line.strip()), "")
        yield f"wrong version: the library says {said[:80]!r}, the cell is of {release}"
    yield from _wrong_target(cell, word)
    yield from _wrong_options(cell, word)


def _wrong_target(cell: Cell, word: LibraryWord) -> Iterator[str]:
    library, target = cell.build.library.name, cell.build.target
    asked = dict(target.configure).get(library, "")
    if not asked:
        return
    host = nettle_value(word.configure_summary, "Host type")
    if host and host.partition("-")[0] != asked.partition("-")[0]:
        yield f"wrong target: configure was run for {host}, the cell's is {asked}"
    words = configure_words(word.configure_summary)
    if words and asked not in words:
        yield f"wrong target: configured with {_some(words)}, the cell's target is {asked}"
    platform = platform_of(word.version)
    if library == "openssl" and platform and platform != asked:
        yield f"wrong target: the library says platform {platform}, the cell's is {asked}"


def _wrong_options(cell: Cell, word: LibraryWord) -> Iterator[str]:
    """Only OpenSSL repeats its command line."""
    words = configure_words(word.configure_summary)
    if not words:
        return
    variant = cell.build.variant
    absent = [option for option in variant.options if option not in words]
    if absent:
        yield f"configured without {_some(absent)}, which variant {variant.name} wants"
    if variant.assembly and "no-asm" in words:
        yield f"configured with no-asm, in variant {variant.name}"


def _some(names: tuple[str, ...] | list[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more
