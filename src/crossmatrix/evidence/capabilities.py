"""The words in which libraries speak of a CPU's capabilities.

Outside facts: OpenSSL's ``crypto/arm_arch.h``, ``crypto/ppc_arch.h``, ``crypto/s390x_arch.h`` and the manual page
OPENSSL_ia32cap; nettle's ``fat-*.c``, which print to standard error when NETTLE_FAT_VERBOSE is set.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

ARMCAP = {
    0: "NEON",
    1: "TICK",
    2: "AES",
    3: "SHA1",
    4: "SHA256",
    5: "PMULL",
    6: "SHA512",
    7: "CPUID",
    8: "RNG",
    9: "SM3",
    10: "SM4",
    11: "SHA3",
    12: "UNROLL8_EOR3",
    13: "SVE",
    14: "SVE2",
    15: "SHA3_WORTH_USING",
    16: "UNROLL12_EOR3",
}
PPCCAP = {0: "FPU64", 1: "ALTIVEC", 2: "CRYPTO207", 3: "FPU", 4: "MADD300", 5: "MFTB", 6: "MFSPR268", 7: "BRD31"}
IA32CAP = (
    {4: "TSC", 23: "MMX", 25: "SSE", 26: "SSE2", 33: "PCLMULQDQ", 41: "SSSE3", 43: "XOP", 54: "MOVBE", 57: "AESNI"}
    | {60: "AVX", 62: "RDRAND"},
    {3: "BMI1", 5: "AVX2", 8: "BMI2", 16: "AVX512F", 18: "RDSEED", 19: "ADX", 29: "SHA", 30: "AVX512BW"},
)
S390X_FACILITIES = {17: "MSA", 76: "MSA3", 77: "MSA4", 57: "MSA5", 129: "VX", 146: "MSA8", 155: "MSA9"}
_DOUBLEWORD = 64

CAPABILITY_VARIABLES = {
    "OPENSSL_armcap": ("aarch64", "aarch64_be", "arm", "armeb"),
    "OPENSSL_ppccap": ("ppc", "ppc64", "ppc64le"),
    "OPENSSL_s390xcap": ("s390x",),
    "OPENSSL_ia32cap": ("i386", "x86_64"),
    "OPENSSL_riscvcap": ("riscv32", "riscv64"),
    "OPENSSL_sparcv9cap": ("sparc", "sparc64"),
}
"""OpenSSL's variables, and the architectures (qemu's words) on which each is read."""

ABSOLUTE_VARIABLES = frozenset({"OPENSSL_armcap", "OPENSSL_ppccap"})
"""Those whose value is taken as it is, so that what is detected must be what was asked."""

FAT_WORDS = {
    "aarch64": (r"none", r"aes", r"pmull", r"sha1", r"sha2"),
    "arm": (r"none", r"arch:\d", r"neon"),
    "ppc64": (r"none", r"crypto_ext", r"altivec", r"power9"),
    "s390x": (r"none", r"vf", r"msa", r"msa_x1", r"msa_x2", r"msa_x4"),
    "x86_64": (r"none", r"vendor:(?:intel|amd)", r"aesni", r"sha_ni", r"pclmul"),
}
"""What NETTLE_FAT_OVERRIDE understands, patterns; it ignores every other word without saying so."""

RISCVCAP = frozenset(
    {"RV64GC", "ZBA", "ZBB", "ZBC", "ZBS", "ZBKB", "ZBKC", "ZBKX", "ZKND", "ZKNE", "ZKNH", "ZKSED"}
    | {"ZKSH", "ZKR", "ZKT", "V", "ZVBB", "ZVBC", "ZVKB", "ZVKG", "ZVKNED", "ZVKNHA", "ZVKNHB", "ZVKSED", "ZVKSH"},
)
"""What OPENSSL_riscvcap can name (crypto/riscv_arch.def)."""

_OPENSSL_WORDS = {
    "OPENSSL_armcap": frozenset(ARMCAP.values()),
    "OPENSSL_ppccap": frozenset(PPCCAP.values()),
    "OPENSSL_s390xcap": frozenset(S390X_FACILITIES.values()),
    "OPENSSL_ia32cap": frozenset(word for bits in IA32CAP for word in bits.values()),
    "OPENSSL_riscvcap": RISCVCAP,
}

_FAMILIES = {"aarch64_be": "aarch64", "armeb": "arm", "ppc64le": "ppc64"}

_FAT_PHRASES = (
    (re.compile(r"cpu features:.*\baes instructions\b"), "aes"),
    (re.compile(r"cpu features:.*\bpolynomial multiply long\b"), "pmull"),
    (re.compile(r"cpu features:.*\bsha1 instructions\b"), "sha1"),
    (re.compile(r"cpu features:.*\bsha2 instructions\b"), "sha2"),
    (re.compile(r"cpu features:.*\bcrypto extensions\b"), "crypto_ext"),
    (re.compile(r"enabling altivec code"), "altivec"),
    (re.compile(r"enabling arch 3\.00 code"), "power9"),
    (re.compile(r"enabling vector facility code"), "vf"),
    (re.compile(r"hardware accelerated SHA1 "), "msa"),
    (re.compile(r"hardware accelerated AES128 "), "msa_x1"),
    (re.compile(r"hardware accelerated AES192 "), "msa_x2"),
    (re.compile(r"hardware accelerated GHASH"), "msa_x4"),
)
_X86 = frozenset({"x86_64", "i386"})
_HOST_VOICE = re.compile(
    r"^libnettle: (?:cpu features: vendor:|(?:not )?using (?:aes|sha_ni|pclmulqdq) instructions|intel SSE2 )",
)
_FAT_LIST = re.compile(r"cpu features: (?P<words>(?:vendor|arch):\S+)")

_HEX_CAP = re.compile(r"OPENSSL_(?P<kind>armcap|ppccap)=(?P<value>0x[0-9a-fA-F]+)")
_IA32 = re.compile(r"OPENSSL_ia32cap=(?P<values>0x[0-9a-fA-F]+(?::0x[0-9a-fA-F]+)*)")
_RISCV = re.compile(r"OPENSSL_riscvcap=(?P<words>[A-Za-z0-9_]+)")
_STFLE = re.compile(r"OPENSSL_s390xcap=stfle:(?P<values>0x[0-9a-fA-F]+(?::0x[0-9a-fA-F]+)*)")
_C_NUMBER = re.compile(r"0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]*")
_ENV = re.compile(r"\benv:(?P<value>\S*)")

CLASSES = {
    "openssl": {"AES": "aes", "PMULL": "pmull", "SHA1": "sha1", "SHA256": "sha2", "SHA512": "sha512"},
    "nettle": {"aes": "aes", "pmull": "pmull", "sha1": "sha1", "sha2": "sha2"},
}
"""Capabilities of aarch64 by library, and the plugin's class of instructions that each stands for."""


def guest_words(cpu: str, arch: str) -> str:
    """Take the emulator's own voice out of what NETTLE_FAT_VERBOSE printed.

    qemu itself is linked with the machine's nettle (through GnuTLS), reads the same variables, and so tells the host's
    capabilities before the guest's library tells its own.

    Args:
        cpu: both voices.
        arch: of the target, qemu's word.

    Returns:
        The guest's lines; the text as it is where the target is x86 itself.
    """
    if arch in _X86:
        return cpu
    return "\n".join(line for line in cpu.splitlines() if _HOST_VOICE.search(line) is None)


def detected(cpu: str) -> tuple[str, ...]:
    """Read the capabilities that a library says it has seen.

    Args:
        cpu: what ``openssl version -a``, ``openssl info -cpusettings`` or NETTLE_FAT_VERBOSE printed.

    Returns:
        The library's own words, in its order.
    """
    words: list[str] = []
    for match in _HEX_CAP.finditer(cpu):
        names = ARMCAP if match["kind"] == "armcap" else PPCCAP
        words += _bits(int(match["value"], 16), names)
    for match in _IA32.finditer(cpu):
        for value, bits in zip(match["values"].split(":"), IA32CAP, strict=False):
            words += _bits(int(value, 16), bits)
    for match in _STFLE.finditer(cpu):
        words += _facilities(match["values"].split(":"))
    for match in _RISCV.finditer(cpu):
        words += [word.upper() for word in match["words"].split("_") if word]
    for match in _FAT_LIST.finditer(cpu):
        words += match["words"].split(",")
    words += [word for pattern, word in _FAT_PHRASES if pattern.search(cpu) is not None]
    return tuple(dict.fromkeys(words))


def known_patterns(library: str, arch: str) -> tuple[str, ...] | None:
    """Give patterns of all words that ``detected`` can ever give for a library on an architecture.

    Args:
        library: its name.
        arch: of the target, qemu's word.

    Returns:
        Patterns; empty where the library tells of no capability there, None for a library whose words are not known.
    """
    if library == "openssl":
        variables = [name for name, arches in CAPABILITY_VARIABLES.items() if arch in arches]
        return tuple(sorted(re.escape(word) for name in variables for word in _OPENSSL_WORDS.get(name, ())))
    if library == "nettle":
        return tuple(pattern for pattern in fat_patterns(arch) if pattern != "none")
    return None


def detected_value(cpu: str, variable: str) -> int | None:
    """Read the number behind ``OPENSSL_armcap=0x..`` or ``OPENSSL_ppccap=0x..``, or None where there is none."""
    for match in _HEX_CAP.finditer(cpu):
        if f"OPENSSL_{match['kind']}" == variable:
            return int(match["value"], 16)
    return None


def environment_word(cpu: str) -> str | None:
    """Give what the library says it found in the variable (``env:0x1``), or None."""
    match = _ENV.search(cpu)
    return match["value"] if match is not None else None


def fat_patterns(arch: str) -> tuple[str, ...]:
    """Give the patterns of NETTLE_FAT_OVERRIDE's words on an architecture; none where nettle has no fat build."""
    return FAT_WORDS.get(_FAMILIES.get(arch, arch), ())


def unknown_fat_words(arch: str, value: str) -> tuple[str, ...]:
    """Give the words of a NETTLE_FAT_OVERRIDE that nettle would ignore."""
    patterns = fat_patterns(arch)
    words = [word for word in value.split(",") if word]
    return tuple(word for word in words if not any(re.fullmatch(pattern, word) for pattern in patterns))


def number_of(value: str) -> int | None:
    """Read a capability value as C's ``strtoul(value, NULL, 0)`` does, or None where that leaves some of it unread.

    An empty value is 0: it switches everything off.
    """
    text = value.strip()
    if not text:
        return 0
    if _C_NUMBER.fullmatch(text) is None:
        return None
    return int(text, 8 if text.isdecimal() and text.startswith("0") else 0)


def _bits(value: int, names: Mapping[int, str]) -> list[str]:
    return [name for bit, name in names.items() if value >> bit & 1]


def _facilities(values: list[str]) -> list[str]:
    """Facility bits count from the most significant bit of the first doubleword."""
    words = []
    for facility, name in S390X_FACILITIES.items():
        index, bit = divmod(facility, _DOUBLEWORD)
        if index < len(values) and int(values[index], 16) >> (_DOUBLEWORD - 1 - bit) & 1:
            words.append(name)
    return words
