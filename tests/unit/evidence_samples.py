"""Cells, and all the files that the jobs of a sound green cell leave; tests change one of them."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

from tests.unit.elf_bytes import Symbol, archive, elf, function

from crossmatrix.catalog import (
    Build,
    Cell,
    Emulator,
    Endian,
    Library,
    Profile,
    SourceSpec,
    Target,
    Tier,
    Toolchain,
    Variant,
)
from crossmatrix.checksums import sha256_bytes
from crossmatrix.evidence import gather, vacuous
from crossmatrix.outcomes import Case, Judgement, judge, parse_suite
from crossmatrix.records import StageRecord, StageStatus, VectorFamily, Vectors

FUNCTIONS = {
    "openssl": ("aes_v8_ctr32_encrypt_blocks", "sha256_block_armv8", "gcm_ghash_v8"),
    "nettle": ("_nettle_chacha_core", "_nettle_chacha_4core"),
}
OPENSSL_LOG = """\
Using HARNESS_JOBS=2
=== RUN 15-test_sha
=== RUN 30-test_evp
=== BEGIN 15-test_sha
1..2
qemu-aarch64_be ../../work/src/test/sha_test => 0
ok 1 - running sha_test
ok 2 - running sha512_test
=== END 15-test_sha exit=0 seconds=0.250
15-test_sha.t .. ok
=== BEGIN 30-test_evp
1..1
    # Subtest: ../../work/src/test/evp_test
    1..2
    ok 1 - run_file_tests
    ok 2 - run_more
ok 1 - running evp_test
=== END 30-test_evp exit=0 seconds=1.500
30-test_evp.t .. ok
Files=2, Tests=3,  2 wallclock secs ( 0.01 usr  0.01 sys +  0.58 cusr  0.17 csys =  0.77 CPU)
Result: PASS
"""
NETTLE_LOG = """\
=== PLAN 2
=== RUN aes-test
=== BEGIN aes-test
PASS: aes
==================
All 1 tests passed
==================
=== END aes-test exit=0 seconds=0.012
=== RUN x86-ibt-test
=== BEGIN x86-ibt-test
SKIP: x86-ibt
==================
All 0 tests passed
==================
=== END x86-ibt-test exit=0 seconds=0.010
"""
OPENSSL_SUMMARY = """\
Command line (with current working directory = .):

    /usr/bin/perl ./Configure linux-aarch64 no-shared no-module {option}

Enabled features:

    aria
    {enabled}

Disabled features:

    afalgeng                [not-linux]
    {disabled}
"""
NETTLE_SUMMARY = """\
configure: summary of build options:

  Version:           nettle 3.10.2
  Host type:         {arch}-unknown-linux-musl
  ABI:               standard
  Assembly files:    {files}
  Compiler:          {arch}-linux-musl-gcc
"""
VERSION = """\
OpenSSL 3.0.20 14 Apr 2026 (Library: OpenSSL 3.0.20 14 Apr 2026)
platform: linux-aarch64
options:  bn(64,64)
"""

VECTORS = Vectors(seed="1", families=(VectorFamily(algorithm="aes-256-ctr", digest="aa", opened=True),))


def target(endian: Endian = Endian.BIG) -> Target:
    """Give aarch64 with musl, of either byte order."""
    arch = "aarch64_be" if endian is Endian.BIG else "aarch64"
    name = f"{arch}-linux-musl"
    return Target(
        name=name,
        arch=arch,
        machine="EM_AARCH64",
        endian=endian,
        bits=64,
        libc="musl",
        configure=(("openssl", "linux-aarch64"), ("nettle", name)),
    )


def cell(library: str = "openssl", *, assembly: bool = True, profile: Profile | None = None) -> Cell:
    """Give a big-endian cell built by gcc."""
    version = {"openssl": "3.0.20", "nettle": "3.10.2"}[library]
    options = () if assembly else ("no-asm",) if library == "openssl" else ("--disable-assembler",)
    variant = Variant(name="asm" if assembly else "no-asm", description="", options=options, assembly=assembly)
    tier = Tier(name="smoke", tests=(), timeout_s=60, estimate_s=1)
    return Cell(
        build=Build(
            library=Library(
                name=library,
                title=library,
                releases=(),
                variants=(variant,),
                configure=(),
                environment=(),
                tiers=(tier,),
                default_tier="smoke",
                workload=(),
                build_estimate_s=1,
                build_timeout_s=1,
            ),
            source=SourceSpec(library=library, version=version, digest="0" * 64),
            variant=variant,
            toolchain=Toolchain(name="gcc-12", family="gcc", version="12", image="gcc-12", tools=()),
            target=target(),
        ),
        profile=profile or Profile(name="default", description="", emulator="qemu-7.2", cpu="max"),
        emulator=Emulator(name="qemu-7.2", version="7.2", image="qemu-7.2", plugin="/opt/crossmatrix/count.so"),
        tier=tier,
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Green:
    """A cell and everything that its two jobs left."""

    cell: Cell
    build: dict[str, bytes]
    run: dict[str, bytes]
    log: str
    vectors: Vectors | None = VECTORS
    suite_exit: int = 0

    def with_build(self, **files: bytes | None) -> Green:
        """Replace artifacts, by name with ``_`` for ``-`` and ``__`` for ``.``; None takes one away."""
        return replace(self, build=_changed(self.build, files, "artifacts/"))

    def with_run(self, **files: bytes | None) -> Green:
        """Replace files of the run, named likewise; ``counts`` is the plugin's."""
        return replace(self, run=_changed(self.run, files, ""))

    def reasons(self) -> tuple[str, ...]:
        """Give the reasons why it is vacuous."""
        evidence = gather(self.cell, self.build, self.run)
        suite = parse_suite(self.cell.build.library.name, self.log)
        return vacuous(self.cell, evidence, suite=suite, vectors=self.vectors)

    def judgement(self) -> Judgement:
        """Judge it as the runner does."""
        ok = StageStatus.OK
        test = StageRecord(name="test", status=StageStatus.FAILED if self.suite_exit else ok, exit_code=self.suite_exit)
        case = Case(
            cell=self.cell,
            build_stages=(StageRecord(name="configure", status=ok), StageRecord(name="build", status=ok)),
            run_stages=(test, StageRecord(name="evidence", status=ok), StageRecord(name="vectors", status=ok)),
            suite=parse_suite(self.cell.build.library.name, self.log),
            vacuous=self.reasons(),
        )
        return judge(case)


def assembly_object(*names: str, endian: str = "big") -> bytes:
    """Give an object as the assembler makes it: no compiler's name in it."""
    marks = (Symbol(name="$x", type="notype", bind="local"), Symbol(name=".Lloop", type="notype", bind="local"))
    return elf(*marks, *map(function, names), endian=endian, comment="")


def counts(functions: dict[str, int], **classes: int) -> bytes:
    """Give a file of the plugin's."""
    rows = [{"name": name, "object": "workload", "count": count} for name, count in functions.items()]
    total = sum(functions.values())
    value = {"schema": 1, "program": "workload", "pid": 7, "instructions": total, "functions": rows, "classes": classes}
    return json.dumps(value).encode()


def green(library: str = "openssl", *, assembly: bool = True, profile: Profile | None = None) -> Green:
    """Give a sound green cell."""
    names = FUNCTIONS[library] if assembly else ()
    objects = {f"asm{number}.o": assembly_object(name) for number, name in enumerate(names)}
    members = {"plain_c.o": elf(function("AES_encrypt"), endian="big"), **objects}
    program = elf(*map(function, (*names, "AES_encrypt", "main", "__init_libc")), endian="big")
    build = {
        "artifacts/workload": program,
        f"artifacts/{'openssl' if library == 'openssl' else 'nettle-hash'}": program,
        f"artifacts/{'libcrypto.a' if library == 'openssl' else 'libnettle.a'}": archive(members),
        f"artifacts/{'libssl.a' if library == 'openssl' else 'libhogweed.a'}": archive({"b.o": elf(endian="big")}),
        "artifacts/configure-summary.txt": summary(library, assembly=assembly).encode(),
        "assembly/sources.tsv": b"",
    }
    build |= {f"assembly/{name}": data for name, data in objects.items()}
    ran = dict.fromkeys(names, 50_000) | {"AES_encrypt": 900_000, "main": 10}
    classes = {"aes": 4000, "pmull": 4000, "sha1": 4000, "sha2": 4000, "sha512": 4000} if assembly else {"aes": 0}
    run = {
        "version.txt": VERSION.encode() if library == "openssl" else b"nettle 3.10.2\n",
        "cpu.txt": b"OPENSSL_armcap=0x7d\n" if library == "openssl" and assembly else b"",
        "emulator.txt": b"qemu-aarch64_be version 7.2.22 (Debian 1:7.2+dfsg-7+deb12u18)\n",
        "evidence/count-7.json": counts(ran, **classes),
        "evidence/workload.sha256": f"{sha256_bytes(program)}\n".encode(),
    }
    if library == "openssl" and not assembly:
        run["cpu.txt"] = b"Undefined\n"
    log = OPENSSL_LOG if library == "openssl" else NETTLE_LOG
    return Green(cell=cell(library, assembly=assembly, profile=profile), build=build, run=run, log=log)


def summary(library: str, *, assembly: bool = True, arch: str = "aarch64_be") -> str:
    """Give the configure summary of a library."""
    if library == "nettle":
        return NETTLE_SUMMARY.format(arch=arch, files="arm64/crypto arm64" if assembly else "none")
    off = "asm                     [option] OPENSSL_NO_ASM"
    return OPENSSL_SUMMARY.format(
        option="" if assembly else "no-asm", enabled="asm" if assembly else "", disabled="" if assembly else off
    )


def _changed(files: dict[str, bytes], changes: dict[str, bytes | None], folder: str) -> dict[str, bytes]:
    changed = dict(files)
    for key, data in changes.items():
        name = "evidence/count-7.json" if key == "counts" else folder + key.replace("__", ".").replace("_", "-")
        if data is None:
            changed.pop(name)
        else:
            changed[name] = data
    return changed
