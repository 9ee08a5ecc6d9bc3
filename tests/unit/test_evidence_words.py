"""Capabilities, configure summaries and the plugin's counts in the libraries' and the plugin's own words."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.evidence_samples import VERSION, counts, summary

from crossmatrix.evidence import detected
from crossmatrix.evidence.capabilities import (
    ARMCAP,
    detected_value,
    environment_word,
    fat_patterns,
    guest_words,
    known_patterns,
    number_of,
    unknown_fat_words,
)
from crossmatrix.evidence.counts import execution_of, read_counts
from crossmatrix.evidence.library_word import (
    configure_words,
    nettle_value,
    platform_of,
    read_library_word,
    says_assembly,
)


@pytest.mark.parametrize(
    ("cpu", "words"),
    [
        ("CPUINFO: OPENSSL_armcap=0xbd", ("NEON", "AES", "SHA1", "SHA256", "PMULL", "CPUID")),
        ("OPENSSL_armcap=0x1 env:0x1", ("NEON",)),
        ("CPUINFO: OPENSSL_armcap=0x0", ()),
        ("CPUINFO: N/A", ()),
        ("OPENSSL_ppccap=0x6", ("ALTIVEC", "CRYPTO207")),
        ("OPENSSL_ia32cap=0x0200000200000010:0x20000020", ("TSC", "PCLMULQDQ", "AESNI", "AVX2", "SHA")),
        ("OPENSSL_riscvcap=ZBA_ZBB_V env:_v", ("ZBA", "ZBB", "V")),
        ("OPENSSL_s390xcap=stfle:0x0000400000000000:0x0:0x4000000000000000", ("MSA", "VX")),
        ("libnettle: cpu features: arch:7,neon\nlibnettle: enabling armv6 code.", ("arch:7", "neon")),
        ("libnettle: cpu features: vendor:intel,aesni,sha_ni", ("vendor:intel", "aesni", "sha_ni")),
        ("libnettle: cpu features: aes instructions sha2 instructions", ("aes", "sha2")),
        ("libnettle: cpu features: polynomial multiply long instructions (PMULL/PMULL2)", ("pmull",)),
        ("libnettle: cpu features: crypto extensions\nlibnettle: enabling altivec code.", ("crypto_ext", "altivec")),
        ("libnettle: enabling vector facility code.", ("vf",)),
        ("libnettle: cpu features:", ()),
        ("", ()),
    ],
)
def test_capabilities_are_told_in_the_librarys_words(cpu: str, words: tuple[str, ...]) -> None:
    """Each library's way of speaking gives its own names, and nothing seen gives none."""
    assert detected(cpu) == words


def test_the_emulators_own_nettle_is_not_the_guests() -> None:
    """Qemu is linked with the host's nettle, which speaks first; only the guest's words count, but for x86 guests."""
    host = "libnettle: cpu features: vendor:amd,aesni,sha_ni,pclmul\nlibnettle: using aes instructions.\n"
    both = host + "libnettle: cpu features: sha1 instructions\n"
    assert detected(guest_words(both, "aarch64_be")) == ("sha1",)
    assert guest_words(host, "x86_64") == host


@given(value=st.integers(0, 2**17 - 1))
def test_every_bit_of_armcap_has_one_name(value: int) -> None:
    """As many names as bits, and the number can be read too."""
    cpu = f"CPUINFO: OPENSSL_armcap={value:#x}"
    assert len(detected(cpu)) == value.bit_count()
    assert detected_value(cpu, "OPENSSL_armcap") == value
    assert detected_value(cpu, "OPENSSL_ppccap") is None


def test_the_environment_that_the_library_found() -> None:
    """``env:`` is what it read, which may be empty, and absent where it read none."""
    assert environment_word("OPENSSL_armcap=0x1 env:0x1") == "0x1"
    assert environment_word("OPENSSL_armcap=0x0 env:") == ""
    assert environment_word("OPENSSL_armcap=0x1") is None


@pytest.mark.parametrize(
    ("value", "number"),
    [
        *(("", 0), ("0", 0), ("0x1d", 29), ("0X1D", 29), ("12", 12), ("010", 8)),
        *((word, None) for word in ("NEON", "0xg", "0x1dz", "08", "1_0", "0b1", "0o7", "0x")),
    ],
)
def test_numbers_as_c_reads_them(value: str, number: int | None) -> None:
    """Empty is 0, a leading 0 is octal; words, and what Python alone reads, are no number."""
    assert number_of(value) == number


def test_fat_words_of_each_architecture() -> None:
    """Known words pass in either byte order, others are named; where there is no fat build every word is unknown."""
    assert unknown_fat_words("aarch64_be", "aes,pmull,sha1,sha2") == ()
    assert unknown_fat_words("aarch64", "aes,sha256,neon") == ("sha256", "neon")
    assert unknown_fat_words("arm", "arch:7,neon,arch:12") == ("arch:12",)
    assert unknown_fat_words("x86_64", "vendor:intel,aesni,vendor:via") == ("vendor:via",)
    assert unknown_fat_words("ppc64le", "power9,none") == ()
    assert unknown_fat_words("s390x", "msa_x4,msa_x3") == ("msa_x3",)
    assert unknown_fat_words("mips", "aes") == ("aes",)
    assert fat_patterns("mips") == ()
    assert len(ARMCAP) == 17


def test_summaries_say_whether_there_is_assembly() -> None:
    """Nettle's ``Assembly files:``, OpenSSL's features and its command line each say so; silence is None."""
    assert says_assembly(summary("nettle")) is True
    assert says_assembly(summary("nettle", assembly=False)) is False
    assert says_assembly(summary("openssl")) is True
    assert says_assembly(summary("openssl", assembly=False)) is False
    assert says_assembly("    perl ./Configure linux-aarch64 no-asm") is False
    assert says_assembly("Configured for linux-aarch64.") is None


def test_values_of_summaries() -> None:
    """Host, target and platform can be read, and are empty where they are not told."""
    assert nettle_value(summary("nettle"), "Host type") == "aarch64_be-unknown-linux-musl"
    assert nettle_value("", "Host type") == ""
    assert configure_words(summary("openssl"))[:2] == ("linux-aarch64", "no-shared")
    assert configure_words("") == ()
    assert platform_of(VERSION) == "linux-aarch64"
    assert platform_of("") == ""


def test_the_librarys_word_keeps_what_matters() -> None:
    """A long summary is cut, blank lines go, and assembly is told."""
    word = read_library_word(summary=summary("nettle") + "\n\nline" * 200, version=" v \n", cpu="")
    assert len(word.configure_summary.splitlines()) == 80
    assert (word.version, word.assembly) == ("v", True)


def test_counts_of_several_processes_are_added() -> None:
    """A workload that forks leaves a file each; functions and classes are summed."""
    files = {
        "evidence/count-1.json": counts({"f": 3, "g": 1}, aes=2),
        "evidence/count-2.json": counts({".f": 4}, aes=1),
    }
    found = read_counts(files)
    assert (found.files, found.instructions) == (2, 8)
    assert found.functions == {"f": 7, "g": 1}
    assert found.classes == {"aes": 3}


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"{", "no JSON"),
        (b"[]", "instance"),
        (b"\xff", "no JSON"),
        (json.dumps({"schema": 2, "instructions": 1}).encode(), "schema 2, this version reads 1"),
        (json.dumps({"schema": 1}).encode(), "instructions"),
    ],
)
def test_unreadable_counts_say_why(data: bytes, words: str) -> None:
    """A damaged file is named with what is wrong; the others still count."""
    found = read_counts({"evidence/count-1.json": data, "evidence/count-2.json": counts({"f": 3})})
    assert found.files == 1
    assert found.unreadable[0].startswith("evidence/count-1.json: ")
    assert words in found.unreadable[0]


def test_execution_is_sorted_into_assembly_and_the_rest() -> None:
    """Assembly functions that ran, the costliest first, and the forty costliest others."""
    many = {f"c{number}": number + 1 for number in range(60)}
    found = read_counts({"evidence/count-1.json": counts({"asm_a": 5, "asm_b": 9, "asm_idle": 0} | many)})
    execution = execution_of(found, emulator="qemu-x version 7.2\n", assembly=("asm_a", "asm_b", "asm_idle"))
    assert list(execution.assembly_functions.items()) == [("asm_b", 9), ("asm_a", 5)]
    assert len(execution.other_functions) == 40
    assert next(iter(execution.other_functions)) == "c59"
    assert (execution.emulated, execution.emulator) == (True, "qemu-x version 7.2")


@settings(deadline=None)
@given(data=st.binary(max_size=60), text=st.text(max_size=120))
def test_nothing_raises(data: bytes, text: str) -> None:
    """Whatever the files hold, it is read or refused."""
    assert read_counts({"evidence/count-1.json": data}).files == 0
    assert isinstance(detected(text), tuple)
    word = read_library_word(summary=text, version=text, cpu=text)
    assert word.assembly in {True, False, None}


@given(value=st.integers(0, (1 << 64) - 1))
@pytest.mark.parametrize(("variable", "arch"), [("armcap", "aarch64"), ("ppccap", "ppc64le"), ("ia32cap", "x86_64")])
def test_whatever_openssl_can_say_is_known(variable: str, arch: str, value: int) -> None:
    """Law: a word that is read from a number is one that a profile may ask for or forbid."""
    patterns = known_patterns("openssl", arch)
    assert patterns is not None
    for word in detected(f"OPENSSL_{variable}={value:#x}"):
        assert any(re.fullmatch(pattern, word) for pattern in patterns), word


def test_words_of_an_unknown_library_are_not_judged() -> None:
    """Where nobody knows a library's words, none is called wrong; one that says nothing on a CPU has none there."""
    assert known_patterns("mbedtls", "aarch64") is None
    assert known_patterns("nettle", "riscv64") == ()
    assert "aes" in (known_patterns("nettle", "aarch64_be") or ())
    assert "none" not in (known_patterns("nettle", "aarch64") or ())
