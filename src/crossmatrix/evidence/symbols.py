"""Functions: those that assembly objects define, those that a program contains, and the members of archives.

Which source is right? The assembly objects that were put into the library's archives say which functions *could*
run; the symbol table of the workload says which of them were linked and *can* run. A function counts as present when
both name it.

Outside facts: perlasm and nettle's m4 give most functions ``STT_FUNC``; some perlasm dialects leave local helpers
(``_vpaes_encrypt_core``) and 32-bit ones without a type. ``$x`` and ``$d`` are mapping symbols of the Arm ABIs, ``.L``
labels are local to the assembler, and big-endian ELFv1 on POWER calls the code of ``f`` ``.f``. Linking leaves a
function's size as it is, but for the linkers of RISC-V and LoongArch, which shorten calls.
"""

from __future__ import annotations

import re
from io import BytesIO
from typing import TYPE_CHECKING, Any

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from crossmatrix.evidence.binary import PARSE_ERRORS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

_EXECUTABLE = 0x4
_FUNCTION_TYPES = frozenset({"STT_FUNC", "STT_LOOS"})
_NO_FUNCTION = re.compile(r"^(?:\$|\.L|L\d|\.{2}|$)")
_LOCAL_HELPER = re.compile(r"^_[A-Za-z]")
_ARCHIVE = b"!<arch>\n"
_ARCHIVE_HEADER = 60
_NAME_BYTES = 16
_SIZE_AT = slice(48, 58)
_RELAXED = frozenset({"EM_RISCV", "EM_LOONGARCH"})


def plain_name(name: str) -> str:
    """Give a function's name without the dot of POWER's code symbols and without a version (``@@GLIBC_2.17``)."""
    name = name.partition("@")[0]
    return name[1:] if name.startswith(".") and not name.startswith(".L") else name


def functions_of(objects: Mapping[str, bytes]) -> Mapping[str, tuple[str, ...]]:
    """Find the functions that assembly objects define.

    Args:
        objects: content by file name.

    Returns:
        By file name, the names, sorted: all symbols of type function, and labels of code without a type that are
        global or begin with ``_``. A file that is no readable object gives none.
    """
    return {name: tuple(sorted(set(_functions(data)))) for name, data in objects.items()}


def linked_functions(program: bytes) -> frozenset[str] | None:
    """Give the names of all code in a program's symbol table, or None where it has none (stripped)."""
    sizes = linked_sizes(program)
    return frozenset(sizes) if sizes is not None else None


def linked_sizes(program: bytes) -> Mapping[str, frozenset[int]] | None:
    """Give the sizes in bytes, by name, of all code in a program's symbol table, or None where it has none."""
    try:
        elf = ELFFile(BytesIO(program))
        table = elf.get_section_by_name(".symtab")
        if not isinstance(table, SymbolTableSection):
            return None
        return _sizes(elf, table) or None
    except PARSE_ERRORS:
        return None


def other_code(objects: Iterable[bytes], linked: Mapping[str, frozenset[int]]) -> frozenset[str]:
    """Find names under which a program has other code than the objects.

    A function that the library has in C too has the same name there; its size tells the two apart. Where a size is not
    known, or the linker may change it, nothing is said.

    Args:
        objects: content of the objects that define the functions.
        linked: what ``linked_sizes`` says of the program.
    """
    known: dict[str, frozenset[int]] = {}
    for data in objects:
        for name, sizes in _object_sizes(data).items():
            known[name] = known.get(name, frozenset()) | sizes
    both = {name: (sizes, linked[name]) for name, sizes in known.items() if name in linked}
    return frozenset(name for name, (own, there) in both.items() if 0 not in own | there and not own & there)


def archive_members(data: bytes) -> Mapping[str, bytes]:
    """Take an ``ar`` archive apart: content by member name; a repeated name gets ``#2``. Stops where it is damaged."""
    members: dict[str, bytes] = {}
    if not data.startswith(_ARCHIVE):
        return members
    long_names = b""
    position = len(_ARCHIVE)
    while position + _ARCHIVE_HEADER <= len(data):
        header = data[position : position + _ARCHIVE_HEADER]
        digits = header[_SIZE_AT].strip()
        if not digits.isdigit() or header[58:60] != b"`\n":
            break
        size = int(digits)
        start = position + _ARCHIVE_HEADER
        content = data[start : start + size]
        raw = header[:_NAME_BYTES].rstrip()
        if raw == b"//":
            long_names = content
        elif raw not in {b"/", b"/SYM64/"}:
            name = _member_name(raw, long_names)
            members[name if name not in members else f"{name}#{len(members)}"] = content
        position = start + size + size % 2
    return members


def has_code(data: bytes) -> bool:
    """Say whether an object has any instructions."""
    try:
        return any(
            section["sh_flags"] & _EXECUTABLE and section["sh_size"]
            for section in ELFFile(BytesIO(data)).iter_sections()
        )
    except PARSE_ERRORS:
        return False


def _member_name(raw: bytes, long_names: bytes) -> str:
    if raw.startswith(b"/") and raw[1:].isdigit():
        return long_names[int(raw[1:]) :].partition(b"/\n")[0].decode(errors="replace")
    return raw.rstrip(b"/").decode(errors="replace")


def _functions(data: bytes) -> Iterator[str]:
    try:
        elf = ELFFile(BytesIO(data))
        for section in elf.iter_sections():
            if isinstance(section, SymbolTableSection):
                for name, symbol in code_symbols(elf, section):
                    if _is_function(name, symbol):
                        yield plain_name(name)
    except PARSE_ERRORS:
        return


def _object_sizes(data: bytes) -> Mapping[str, frozenset[int]]:
    try:
        elf = ELFFile(BytesIO(data))
        table = elf.get_section_by_name(".symtab")
        known = isinstance(table, SymbolTableSection) and elf["e_machine"] not in _RELAXED
        return _sizes(elf, table) if known else {}
    except PARSE_ERRORS:
        return {}


def _sizes(elf: Any, table: Any) -> Mapping[str, frozenset[int]]:  # noqa: ANN401 - pyelftools has no types
    sizes: dict[str, set[int]] = {}
    for name, symbol in code_symbols(elf, table):
        sizes.setdefault(plain_name(name), set()).add(int(symbol["st_size"]))
    return {name: frozenset(found) for name, found in sizes.items()}


def _is_function(name: str, symbol: Any) -> bool:  # noqa: ANN401 - pyelftools has no types
    if symbol["st_info"]["type"] in _FUNCTION_TYPES:
        return True
    exported = symbol["st_info"]["bind"] in {"STB_GLOBAL", "STB_WEAK"}
    return exported or _LOCAL_HELPER.match(plain_name(name)) is not None


def code_symbols(elf: Any, table: Any) -> Iterator[tuple[str, Any]]:  # noqa: ANN401 - pyelftools has no types
    """Give the symbols that lie in executable sections and may be functions."""
    executable = {number for number, section in enumerate(elf.iter_sections()) if section["sh_flags"] & _EXECUTABLE}
    for symbol in table.iter_symbols():
        kind = symbol["st_info"]["type"]
        if symbol["st_shndx"] in executable and (kind in _FUNCTION_TYPES or kind == "STT_NOTYPE"):
            name = str(symbol.name)
            if _NO_FUNCTION.match(name) is None:
                yield name, symbol
