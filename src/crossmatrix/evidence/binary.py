"""What a program file is: class, byte order, machine, libc, how it is linked. From bytes, with pyelftools."""

from __future__ import annotations

import struct
from io import BytesIO
from typing import Any

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.enums import ENUM_E_MACHINE
from elftools.elf.sections import SymbolTableSection

from crossmatrix.errors import CrossmatrixError
from crossmatrix.records import BinaryEvidence

PARSE_ERRORS = (ELFError, ArithmeticError, LookupError, ValueError, AttributeError, TypeError, struct.error, OSError)
"""What pyelftools and what it stands on raise for a damaged file."""

_ELF = b"\x7fELF"
_HEADER_BYTES = 20
_MACHINES = {number: name for name, number in ENUM_E_MACHINE.items() if isinstance(number, int)}
_MACH_O = {
    b"\xfe\xed\xfa\xce": ("big", 32),
    b"\xce\xfa\xed\xfe": ("little", 32),
    b"\xfe\xed\xfa\xcf": ("big", 64),
    b"\xcf\xfa\xed\xfe": ("little", 64),
}
_MACH_O_CPUS = {7: "x86", 12: "arm", 18: "powerpc"}
_MACH_O_CPU_MASK = 0xFF_FFFF
_UNIVERSAL = b"\xca\xfe\xba\xbe"
_MUSL = frozenset({"__init_libc", "__libc_start_init", "static_init_tls", "__stdio_exit_needed", "__init_ssp"})
_GLIBC = frozenset({"__libc_setup_tls", "_dl_relocate_static_pie", "_IO_2_1_stdout_", "__libc_csu_init"})


class NotABinaryError(CrossmatrixError):
    """A file that should be a program or an object is none."""


def read_machine(data: bytes) -> tuple[str, str, int]:
    """Read the first bytes of an ELF file.

    Returns:
        Machine (``EM_AARCH64``), byte order (``little`` or ``big``) and bits.

    Raises:
        NotABinaryError: it is no ELF file.
    """
    if data[:4] != _ELF or len(data) < _HEADER_BYTES or data[4] not in {1, 2} or data[5] not in {1, 2}:
        raise NotABinaryError("no ELF file", hint="look at the build's log for what wrote it")
    endian = "little" if data[5] == 1 else "big"
    number = int.from_bytes(data[18:20], "little" if endian == "little" else "big")
    return _MACHINES.get(number, f"machine {number}"), endian, 32 if data[4] == 1 else 64


def read_binary(data: bytes, *, path: str) -> BinaryEvidence:
    """Read a program, whatever it was built for.

    Args:
        data: the whole file.
        path: its name in the cell's artifacts.

    Returns:
        The facts; ``assembly_objects`` is left empty. A Mach-O file is recognised by its first bytes and no more.

    Raises:
        NotABinaryError: it is neither ELF nor Mach-O, or damaged.
    """
    if data[:4] in _MACH_O:
        return _mach_o(data, path)
    if data[:4] == _UNIVERSAL:
        return BinaryEvidence(
            path=path, machine="mach-o universal", endian="", bits=0, libc="libSystem", linkage="dynamic"
        )
    try:
        machine, endian, bits = read_machine(data)
        elf = ELFFile(BytesIO(data))
        interpreter, needed = _interpreter(elf)
        libc = _libc_of(interpreter) or _libc_of_symbols(elf, data)
    except NotABinaryError as error:
        raise NotABinaryError(f"{path} is no program: {_what(data)}", hint=error.hint) from error
    except PARSE_ERRORS as error:
        raise NotABinaryError(f"{path} is a damaged ELF file: {error}", hint="build it again") from error
    linkage = "dynamic" if interpreter or needed else "static"
    return BinaryEvidence(path=path, machine=machine, endian=endian, bits=bits, libc=libc, linkage=linkage)


def comments(data: bytes) -> tuple[str, ...]:
    """Give what compilers and linkers left in ``.comment`` (``GCC: (Debian 12.2.0-14) 12.2.0``); none where damaged."""
    try:
        section = ELFFile(BytesIO(data)).get_section_by_name(".comment")
        content = bytes(section.data()) if section is not None else b""
    except PARSE_ERRORS:
        return ()
    return tuple(text.decode(errors="replace") for text in content.split(b"\0") if text.strip())


def _what(data: bytes) -> str:
    if not data:
        return "the file is empty"
    if data[:2] == b"#!":
        return "it is a script"
    if data[:2] == b"MZ":
        return "it is a program for Windows or UEFI"
    return f"it begins with {data[:4]!r}"


def _mach_o(data: bytes, path: str) -> BinaryEvidence:
    endian, bits = _MACH_O[data[:4]]
    cpu = int.from_bytes(data[4:8], "little" if endian == "little" else "big") & _MACH_O_CPU_MASK
    name = _MACH_O_CPUS.get(cpu, f"cpu {cpu}")
    machine = f"mach-o {name}{'64' if bits == 64 and cpu in _MACH_O_CPUS else ''}"  # noqa: PLR2004 - bits
    return BinaryEvidence(path=path, machine=machine, endian=endian, bits=bits, libc="libSystem", linkage="dynamic")


def _interpreter(elf: Any) -> tuple[str, bool]:  # noqa: ANN401 - pyelftools has no types
    interpreter, needed = "", False
    for segment in elf.iter_segments():
        kind = segment["p_type"]
        if kind == "PT_INTERP":
            interpreter = str(segment.get_interp_name())
        elif kind == "PT_DYNAMIC":
            needed = any(tag.entry.d_tag == "DT_NEEDED" for tag in segment.iter_tags())
    return interpreter, needed


def _libc_of(interpreter: str) -> str:
    name = interpreter.rpartition("/")[2]
    if "musl" in name:
        return "musl"
    return "glibc" if name.startswith(("ld-linux", "ld64.so", "ld.so", "ld-2")) else ""


def _libc_of_symbols(elf: Any, data: bytes) -> str:  # noqa: ANN401 - pyelftools has no types
    table = elf.get_section_by_name(".symtab")
    if isinstance(table, SymbolTableSection):
        names = {symbol.name for symbol in table.iter_symbols()}
        if names & _GLIBC:
            return "glibc"
        if names & _MUSL:
            return "musl"
    return "glibc" if b"GNU C Library" in data else ""
