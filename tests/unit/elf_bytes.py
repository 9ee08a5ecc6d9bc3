"""Small ELF files, Mach-O headers and archives made of bytes, for tests that start no compiler."""

from __future__ import annotations

import struct
from dataclasses import dataclass

MACHINES = {
    "EM_386": 3,
    "EM_PPC64": 21,
    "EM_S390": 22,
    "EM_ARM": 40,
    "EM_X86_64": 62,
    "EM_AARCH64": 183,
    "EM_RISCV": 243,
    "EM_LOONGARCH": 258,
}
TYPES = {"notype": 0, "object": 1, "func": 2, "section": 3, "file": 4}
BINDS = {"local": 0, "global": 1}
TEXT = 1
COMMENT = 2
INTERP = 3
_SYMBOL_TABLE = 4
_STRINGS = 5
_NAMES = 6
_EXECUTABLE = 0x6


@dataclass(frozen=True, kw_only=True, slots=True)
class Symbol:
    """A symbol; ``section`` is TEXT, COMMENT or 0 for undefined, ``size`` in bytes."""

    name: str
    type: str = "func"
    bind: str = "global"
    section: int = TEXT
    value: int = 0
    size: int = 4


@dataclass(frozen=True, kw_only=True, slots=True)
class _Section:
    name: str
    kind: int
    flags: int
    data: bytes
    link: int = 0
    info: int = 0
    size: int = 0


def function(name: str, *, size: int = 4) -> Symbol:
    """Give a global function."""
    return Symbol(name=name, size=size)


def elf(  # noqa: PLR0913 - each is one thing that a test varies
    *symbols: Symbol,
    machine: str = "EM_AARCH64",
    endian: str = "little",
    bits: int = 64,
    comment: str = "GCC: (Debian 12.2.0-14) 12.2.0",
    interpreter: str = "",
    code: bytes = b"\0" * 16,
    stripped: bool = False,
) -> bytes:
    """Make a whole ELF file: header, a program header where there is an interpreter, sections and symbols."""
    order = "<" if endian == "little" else ">"
    strings, table = _symbol_table(symbols, order, bits)
    sections = [
        _Section(name="", kind=0, flags=0, data=b""),
        _Section(name=".text", kind=1, flags=_EXECUTABLE, data=code),
        _Section(
            name=".comment" if comment else ".none", kind=1, flags=0, data=comment.encode() + b"\0" if comment else b""
        ),
        _Section(name=".interp", kind=1, flags=2, data=interpreter.encode() + b"\0" if interpreter else b""),
        _Section(
            name=".other" if stripped else ".symtab",
            kind=1 if stripped else 2,
            flags=0,
            data=table,
            link=_STRINGS,
            info=1,
            size=24 if bits == 64 else 16,
        ),
        _Section(name=".strtab", kind=3, flags=0, data=strings),
    ]
    names = b"".join(section.name.encode() + b"\0" for section in sections) + b".shstrtab\0"
    sections.append(_Section(name=".shstrtab", kind=3, flags=0, data=names))
    return _put_together(sections, names, order, bits, MACHINES[machine])


def archive(members: dict[str, bytes]) -> bytes:
    """Make an archive as GNU ``ar`` does, with a table of long names."""
    long_names = b""
    body = b""
    for name, data in members.items():
        stored = f"{name}/"
        if len(stored) > 16:
            stored = f"/{len(long_names)}"
            long_names += name.encode() + b"/\n"
        body += _member(stored, data)
    return b"!<arch>\n" + _member("/", b"\0\0\0\0") + (_member("//", long_names) if long_names else b"") + body


def mach_o(*, cpu: int = 0x0100000C) -> bytes:
    """Make the first bytes of a 64-bit little-endian Mach-O file; the default CPU is arm64."""
    return struct.pack("<IIIIIIII", 0xFEEDFACF, cpu, 0, 2, 0, 0, 0, 0)


def _member(name: str, data: bytes) -> bytes:
    header = f"{name:<16}{'0':<12}{'0':<6}{'0':<6}{'644':<8}{len(data):<10}`\n"
    return header.encode() + data + (b"\n" if len(data) % 2 else b"")


def _symbol_table(symbols: tuple[Symbol, ...], order: str, bits: int) -> tuple[bytes, bytes]:
    strings = b"\0"
    rows = bytes(24 if bits == 64 else 16)
    for symbol in symbols:
        at = len(strings)
        strings += symbol.name.encode() + b"\0"
        info = BINDS[symbol.bind] << 4 | TYPES[symbol.type]
        if bits == 64:
            rows += struct.pack(order + "IBBHQQ", at, info, 0, symbol.section, symbol.value, symbol.size)
        else:
            rows += struct.pack(order + "IIIBBH", at, symbol.value, symbol.size, info, 0, symbol.section)
    return strings, rows


def _put_together(sections: list[_Section], names: bytes, order: str, bits: int, machine: int) -> bytes:
    wide = bits == 64
    header_size, program_size = (64, 56) if wide else (52, 32)
    offset = header_size + program_size
    body = b""
    rows = b""
    interp = (0, 0)
    for number, section in enumerate(sections):
        at = offset + len(body)
        if number == INTERP:
            interp = (at, len(section.data))
        body += section.data
        name = names.index(b"\0" + section.name.encode() + b"\0") + 1 if section.name else 0
        kind = section.kind if section.data else 0
        form = "IIQQQQIIQQ" if wide else "IIIIIIIIII"
        rows += struct.pack(
            order + form,
            name,
            kind,
            section.flags,
            0,
            at,
            len(section.data),
            section.link,
            section.info,
            1,
            section.size,
        )
    programs = 1 if interp[1] else 0
    if wide:
        program = struct.pack(order + "IIQQQQQQ", 3, 4, interp[0], 0, 0, interp[1], interp[1], 1)
    else:
        program = struct.pack(order + "IIIIIIII", 3, interp[0], 0, 0, interp[1], interp[1], 4, 1)
    ident = b"\x7fELF" + bytes((2 if wide else 1, 1 if order == "<" else 2, 1)) + bytes(9)
    form = "HHIQQQIHHHHHH" if wide else "HHIIIIIHHHHHH"
    header = struct.pack(
        order + form,
        2,
        machine,
        1,
        0,
        header_size,
        offset + len(body),
        0,
        header_size,
        program_size,
        programs,
        64 if wide else 40,
        len(sections),
        _NAMES,
    )
    return ident + header + program + body + rows
