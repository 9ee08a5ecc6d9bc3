"""Programs, objects, archives and core files are read from bytes, of any machine and byte order."""

from __future__ import annotations

import struct
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.elf_bytes import MACHINES, Symbol, archive, elf, function, mach_o

from crossmatrix.evidence import NotABinaryError, fault_lines, functions_of, linked_functions, read_binary
from crossmatrix.evidence.binary import comments, read_machine
from crossmatrix.evidence.cores import Death, function_at, read_core
from crossmatrix.evidence.symbols import archive_members, has_code, plain_name


@pytest.mark.parametrize("machine", sorted(MACHINES))
@pytest.mark.parametrize("endian", ["little", "big"])
@pytest.mark.parametrize("bits", [32, 64])
def test_machine_byte_order_and_width_are_read(machine: str, endian: str, bits: int) -> None:
    """Every combination is told as it is."""
    binary = read_binary(elf(machine=machine, endian=endian, bits=bits), path="p")
    assert (binary.machine, binary.endian, binary.bits, binary.linkage) == (machine, endian, bits, "static")


@pytest.mark.parametrize(
    ("data", "libc", "linkage"),
    [
        (elf(interpreter="/lib/ld-musl-aarch64_be.so.1"), "musl", "dynamic"),
        (elf(interpreter="/lib/ld-linux-aarch64.so.1"), "glibc", "dynamic"),
        (elf(interpreter="/system/bin/linker64"), "", "dynamic"),
        (elf(function("__init_libc")), "musl", "static"),
        (elf(function("__libc_setup_tls")), "glibc", "static"),
        (elf(code=b"GNU C Library (Debian GLIBC 2.36)"), "glibc", "static"),
        (elf(function("main")), "", "static"),
    ],
)
def test_libc_and_linkage(data: bytes, libc: str, linkage: str) -> None:
    """The interpreter, else symbols, else nothing tell the libc; an interpreter makes a program dynamic."""
    binary = read_binary(data, path="p")
    assert (binary.libc, binary.linkage) == (libc, linkage)


def test_mach_o_is_recognised() -> None:
    """A program for macOS is told by its first bytes."""
    binary = read_binary(mach_o(), path="openssl")
    assert (binary.machine, binary.endian, binary.bits) == ("mach-o arm64", "little", 64)
    assert read_binary(b"\xca\xfe\xba\xbe" + bytes(60), path="p").machine == "mach-o universal"


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "the file is empty"),
        (b"#!/bin/sh\n", "it is a script"),
        (b"MZ\x90\x00", "Windows or UEFI"),
        (b"abcdefgh", "it begins with b'abcd'"),
        (elf()[:80], "damaged"),
    ],
)
def test_what_is_no_program_says_what_it_is(data: bytes, words: str) -> None:
    """The error names the file, what it is instead, and what to do."""
    with pytest.raises(NotABinaryError) as caught:
        read_binary(data, path="artifacts/openssl")
    assert words in caught.value.message
    assert "artifacts/openssl" in caught.value.message
    assert caught.value.hint


def test_an_unknown_machine_keeps_its_number() -> None:
    """A machine that pyelftools does not know is still told apart."""
    data = bytearray(elf())
    data[18:20] = (61_000).to_bytes(2, "little")
    assert read_machine(bytes(data))[0] == "machine 61000"


def test_comments_name_the_compiler() -> None:
    """What compilers leave is read, and nothing where they left nothing."""
    assert comments(elf(comment="Debian clang version 16.0.6")) == ("Debian clang version 16.0.6",)
    assert comments(elf(comment="")) == ()
    assert comments(b"junk") == ()


def test_functions_of_assembly_objects() -> None:
    """Functions, and untyped code labels that are global or begin with _; no mapping symbols, no local labels."""
    data = elf(
        function("aes_v8_encrypt"),
        Symbol(name="_vpaes_encrypt_core", type="notype", bind="local"),
        Symbol(name="helper", type="func", bind="local"),
        Symbol(name="entry", type="notype", bind="global"),
        Symbol(name="Loop_outer", type="notype", bind="local"),
        Symbol(name="$x", type="notype", bind="local"),
        Symbol(name=".Lconst", type="notype", bind="local"),
        Symbol(name="table", type="object"),
        Symbol(name="memcpy", section=0),
        Symbol(name=".ppc_function", type="notype"),
    )
    names = ("_vpaes_encrypt_core", "aes_v8_encrypt", "entry", "helper", "ppc_function")
    assert functions_of({"a.o": data, "b.o": b"junk"}) == {"a.o": names, "b.o": ()}


@pytest.mark.parametrize("endian", ["little", "big"])
@pytest.mark.parametrize("bits", [32, 64])
def test_linked_functions(endian: str, bits: int) -> None:
    """All code of a program's symbol table; None where there is none."""
    program = elf(function("main"), Symbol(name="loop", type="notype", bind="local"), endian=endian, bits=bits)
    assert linked_functions(program) == frozenset({"main", "loop"})
    assert linked_functions(elf(function("main"), stripped=True)) is None
    assert linked_functions(b"junk") is None


def test_names_are_made_plain() -> None:
    """POWER's dots and symbol versions are no part of a function's name."""
    assert plain_name(".AES_encrypt") == "AES_encrypt"
    assert plain_name("memcpy@@GLIBC_2.17") == "memcpy"
    assert plain_name(".Lx") == ".Lx"


def test_archives_are_taken_apart() -> None:
    """Short, long and repeated names, and contents of odd length, come out as they went in."""
    members = {"a.o": b"odd", "libcrypto-lib-aesv8-armx.o": b"even", "c.o": b""}
    assert archive_members(archive(members)) == members
    twice = archive({"a.o": b"1"}) + archive({"a.o": b"2"})[8:]
    assert sorted(archive_members(twice).values()) == [b"1", b"2"]


def test_damaged_archives_give_what_can_be_read() -> None:
    """A cut archive gives the members before the cut, anything else none."""
    data = archive({"a.o": b"1234", "b.o": b"5678"})
    assert archive_members(data[:-30])["a.o"] == b"1234"
    assert archive_members(b"junk") == {}
    assert archive_members(b"") == {}


def test_code_is_told_from_data() -> None:
    """Only a section of instructions makes an object code."""
    assert has_code(elf())
    assert not has_code(elf(code=b""))
    assert not has_code(b"junk")


def core(*, endian: str = "big", machine: int = 183, signal: int = 4, pc: int = 0x4001C0) -> bytes:
    """Give a core file with the status note of aarch64."""
    order = "<" if endian == "little" else ">"
    status = struct.pack(order + "I", signal) + bytes(108) + bytes(256) + struct.pack(order + "Q", pc) + bytes(16)
    note = struct.pack(order + "III", 5, len(status), 1) + b"CORE\0\0\0\0" + status
    ident = b"\x7fELF\x02" + (b"\x01" if order == "<" else b"\x02") + b"\x01" + bytes(9)
    header = struct.pack(order + "HHIQQQIHHHHHH", 4, machine, 1, 0, 64, 0, 0, 64, 56, 1, 0, 0, 0)
    program = struct.pack(order + "IIQQQQQQ", 4, 0, 120, 0, 0, len(note), 0, 4)
    return ident + header + program + note


@pytest.mark.parametrize("endian", ["little", "big"])
def test_a_core_file_tells_signal_and_address(endian: str) -> None:
    """The status note of either byte order is read; a cut or foreign file gives nothing."""
    assert read_core(core(endian=endian)) == Death(signal="SIGILL", address=0x4001C0)
    assert read_core(core(endian=endian, machine=62 + 9000)) is None
    assert read_core(core(endian=endian)[:200]) is None
    assert read_core(b"junk") is None


def test_the_address_is_named_by_the_program() -> None:
    """The function that an address lies in is that of the symbol around or before it."""
    program = elf(Symbol(name="boom", value=0x100), Symbol(name="later", value=0x200))
    assert function_at(program, 0x102) == "boom"
    assert function_at(program, 0x300) == ""
    assert function_at(b"junk", 0x102) == ""


def test_fault_lines_are_what_outcomes_reads() -> None:
    """One line a core file, with the program that its name tells."""
    program = elf(Symbol(name="boom", value=0x4001C0), endian="big")
    files = {"evidence/qemu_workload_20260101-000000_7.core": core(), "version.txt": b"", "bad.core": b"x"}
    line = "crossmatrix: fault signal=SIGILL pc=0x4001c0 symbol=boom program=workload"
    assert fault_lines(files, {"workload": program}) == (line,)


@settings(deadline=None)
@given(cut=st.integers(0, 700), flip=st.integers(0, 699), value=st.integers(0, 255))
def test_damaged_files_never_raise_anything_else(cut: int, flip: int, value: int) -> None:
    """A file that was cut or changed anywhere is read or refused, never a surprise."""
    data = bytearray(elf(function("main"), function("_helper"), interpreter="/lib/ld-musl-x.so.1"))
    data[flip % len(data)] = value
    broken = bytes(data[: max(cut, 1)])
    with suppress(NotABinaryError):
        assert read_binary(broken, path="p").path == "p"
    assert set(functions_of({"a.o": broken})) == {"a.o"}
    assert isinstance(comments(broken), tuple)
    assert isinstance(archive_members(archive({"a.o": broken})[: cut + 8]), dict)
