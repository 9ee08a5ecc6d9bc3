"""Every way to make a green cell lie is caught by its evidence, and the reason names the lie."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from tests.unit.elf_bytes import archive, elf, function, mach_o
from tests.unit.evidence_samples import (
    FUNCTIONS,
    NETTLE_LOG,
    OPENSSL_LOG,
    Green,
    assembly_object,
    counts,
    green,
    summary,
)
from tests.unit.record_samples import cell_record

from crossmatrix.catalog import Profile, SourceSpec
from crossmatrix.evidence import gather, unmeasured, vacuous_by_neighbours
from crossmatrix.records import Evidence, Execution, Figure, Figures, TestCounts, VectorFamily, Vectors, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable

    from crossmatrix.records import CellRecord

RAN = dict.fromkeys(FUNCTIONS["openssl"], 50_000)
REST = {"AES_encrypt": 900_000}
CLASSES = {"aes": 4000, "pmull": 4000, "sha1": 4000, "sha2": 4000, "sha512": 4000}


def profile(
    *, asks: tuple[str, ...] = (), forbids: tuple[str, ...] = (), environment: dict[str, str | None] | None = None
) -> Profile:
    """Give a profile of capabilities."""
    return Profile(
        name="caps",
        description="",
        emulator="qemu-7.2",
        cpu="max",
        environment=tuple((environment or {}).items()),
        asks=asks,
        forbids=forbids,
    )


def with_profile(given: Green, chosen: Profile) -> Green:
    """Run a cell's files under another profile."""
    return replace(given, cell=replace(given.cell, profile=chosen))


def armcap(value: str, name: str = "OPENSSL_armcap") -> Green:
    """Give the sound cell, said to be run with a capability value."""
    return with_profile(green(), profile(environment={name: value}))


def fat(value: str, said: str) -> Green:
    """Give a nettle cell run with an override, and what the library printed."""
    cell = with_profile(green("nettle"), profile(environment={"NETTLE_FAT_OVERRIDE": value}))
    return cell.with_run(cpu__txt=said.encode())


def c_fallback() -> Green:
    """Let configure fall back to C without saying so anywhere but in its summary."""
    given = green("nettle")
    return given.with_build(configure_summary__txt=summary("nettle", assembly=False).encode())


def no_objects() -> Green:
    """Build in C and say that there is assembly."""
    plain = green(assembly=False)
    return replace(green(), build=plain.build | {"artifacts/configure-summary.txt": summary("openssl").encode()})


def smuggled(*, listed: bool) -> Green:
    """Put assembly into a library that must have none, in the build's list or hidden from it."""
    given = green(assembly=False)
    bad = assembly_object("aes_v8_encrypt")
    members = {"plain_c.o": elf(function("AES_encrypt"), endian="big"), "bad.o": bad}
    build = given.build | {"artifacts/libcrypto.a": archive(members)}
    return replace(given, build=build | ({"assembly/bad.o": bad} if listed else {}))


def other_source(version: str) -> Green:
    """Say that the cell is of another version than what was built."""
    given = green()
    source = SourceSpec(library="openssl", version=version, digest="1" * 64)
    return replace(given, cell=replace(given.cell, build=replace(given.cell.build, source=source)))


def by_clang(comment: str) -> Green:
    """Say that clang compiled a program that names another compiler, or the other way round."""
    given = green()
    program = elf(*map(function, FUNCTIONS["openssl"]), endian="big", comment=comment)
    toolchain = given.cell.build.toolchain
    if "clang" not in comment:
        toolchain = replace(toolchain, name="clang-16", family="clang")
    cell = replace(given.cell, build=replace(given.cell.build, toolchain=toolchain))
    return replace(given, cell=cell).with_build(workload=program, openssl=program)


def probes_only() -> Green:
    """Let nothing of the assembly run but what runs everywhere."""
    given = green()
    names = ("OPENSSL_cleanse", "_armv8_aes_probe")
    bad = assembly_object(*names)
    program = elf(*map(function, names), endian="big")
    build = given.build | {
        "assembly/cpuid.o": bad,
        "artifacts/workload": program,
        "artifacts/libcrypto.a": archive({"cpuid.o": bad, "plain.o": elf(endian="big")}),
    }
    run = given.run | {"evidence/count-7.json": counts(dict.fromkeys(names, 60_000) | REST, **CLASSES)}
    return replace(given, build=build, run=run)


def sealed() -> Vectors:
    """Give outputs of which one could not be opened again."""
    return Vectors(seed="1", families=(VectorFamily(algorithm="chacha20", digest="aa", opened=False),))


LOG_WITHOUT_TOTALS = OPENSSL_LOG.partition("Files=")[0]
SKIPPED = NETTLE_LOG.replace("PASS: aes", "SKIP: aes").replace("All 1 tests", "All 0 tests")
EMPTY = "Using HARNESS_JOBS=2\nFiles=0, Tests=0,  0 wallclock secs\nResult: NOTESTS\n"
LONG_PLAN = OPENSSL_LOG.replace("1..2\nqemu", "1..5\nqemu")

LIES: dict[str, tuple[Callable[[], Green], str]] = {
    "configure fell back to C, its summary says so": (c_fallback, "no assembly"),
    "configure fell back to C, only the objects say so": (no_objects, "no object that was made from assembly"),
    "no-asm was left in the options": (
        lambda: green().with_build(configure_summary__txt=summary("openssl", assembly=False).encode()),
        "no assembly",
    ),
    "assembly in a cell without, listed": (lambda: smuggled(listed=True), "objects made from assembly"),
    "assembly in a cell without, hidden": (lambda: smuggled(listed=False), "no compiler's work"),
    "the variant's option was dropped": (
        lambda: green(assembly=False).with_build(configure_summary__txt=summary("openssl").encode()),
        "there is assembly",
    ),
    "an assembly function ran in a cell without": (
        lambda: replace(green(), cell=green(assembly=False).cell),
        "assembly functions ran in variant no-asm",
    ),
    "no assembly function ran": (
        lambda: green().with_run(counts=counts(REST, **CLASSES)),
        "no assembly function ran",
    ),
    "only probes and cleansing ran": (
        probes_only,
        "accelerates anything",
    ),
    "the assembly was not linked": (
        lambda: green().with_build(workload=elf(function("main"), endian="big")),
        "linked into the workload",
    ),
    "the host's program in the place of the target's": (
        lambda: green().with_build(openssl=elf(function("main"), machine="EM_X86_64")),
        "wrong machine",
    ),
    "the host's workload in the place of the target's": (
        lambda: green().with_build(workload=elf(*map(function, FUNCTIONS["openssl"]), machine="EM_X86_64")),
        "EM_X86_64",
    ),
    "the other byte order": (
        lambda: green().with_build(openssl=elf(function("main"), endian="little")),
        "wrong byte order",
    ),
    "32 bits": (lambda: green().with_build(openssl=elf(function("main"), endian="big", bits=32)), "wrong width"),
    "another libc": (
        lambda: green().with_build(openssl=elf(endian="big", interpreter="/lib/ld-linux-aarch64_be.so.1")),
        "wrong libc",
    ),
    "a Mach-O program": (lambda: green().with_build(openssl=mach_o()), "wrong machine"),
    "a script in the place of the program": (
        lambda: green().with_build(openssl=b"#!/bin/sh\nexit 0\n"),
        "it is a script",
    ),
    "an empty archive": (lambda: green().with_build(libcrypto__a=b"!<arch>\n"), "libcrypto.a is empty"),
    "an archive of another machine": (
        lambda: green().with_build(libcrypto__a=archive({"a.o": elf(machine="EM_X86_64")})),
        "not for aarch64_be-linux-musl",
    ),
    "stale assembly of another build": (
        lambda: green().with_build(libcrypto__a=archive({"a.o": elf(function("AES_encrypt"), endian="big")})),
        "none of the build's assembly objects",
    ),
    "C under the assembly's names": (
        lambda: green().with_build(
            workload=elf(*(function(name, size=8) for name in FUNCTIONS["openssl"]), function("main"), endian="big")
        ),
        "has other code under names of the library's assembly: aes_v8_ctr32_encrypt_blocks",
    ),
    "another program than the build's was counted": (
        lambda: replace(green(), run=green().run | {"evidence/workload.sha256": b"0" * 64 + b"\n"}),
        "the workload that ran is not the one that the build left",
    ),
    "a stripped workload": (
        lambda: green().with_build(workload=elf(function("main"), endian="big", stripped=True)),
        "no symbol table",
    ),
    "gcc where clang was asked for": (lambda: by_clang("GCC: (Debian 12.2.0-14) 12.2.0"), "not compiled by clang"),
    "clang where gcc was asked for": (lambda: by_clang("Debian clang version 16.0.6"), "not compiled by gcc"),
    "another version": (lambda: other_source("3.0.2"), "wrong version"),
    "artifacts of another target, by its summary": (
        lambda: green("nettle").with_build(configure_summary__txt=summary("nettle", arch="powerpc64").encode()),
        "wrong target",
    ),
    "artifacts of another target, by its own word": (
        lambda: green().with_run(version__txt=b"OpenSSL 3.0.20\nplatform: linux64-s390x\n"),
        "wrong target",
    ),
    "a program that ran on the host's CPU": (lambda: green().with_run(counts=None), "host's CPU"),
    "a workload that did nothing": (
        lambda: green().with_run(counts=counts({"aes_v8_ctr32_encrypt_blocks": 12})),
        "fewer than",
    ),
    "damaged counts": (lambda: green().with_run(counts=b"{"), "cannot be read"),
    "the emulator of another architecture": (
        lambda: green().with_run(emulator__txt=b"qemu-aarch64 version 7.2.22 (Debian)\n"),
        "the emulator was that of aarch64",
    ),
    "another emulator's version": (
        lambda: green().with_run(emulator__txt=b"qemu-aarch64_be version 10.0.2 (Debian)\n"),
        "qemu 10.0.2",
    ),
    "what ran it is no emulator of ours": (
        lambda: green().with_run(emulator__txt=b"some wrapper 1.0\n"),
        "does not say that it is qemu: 'some wrapper 1.0'",
    ),
    "an emulator with the wrong CPU": (
        lambda: with_profile(green(), profile(asks=("SHA3",))),
        "SHA3 was asked for",
    ),
    "a forbidden capability was seen": (lambda: with_profile(green(), profile(forbids=("PMULL",))), "PMULL must not"),
    "a misspelt capability variable": (lambda: armcap("0x7d", "OPENSSL_armcaps"), "does not read OPENSSL_armcaps"),
    "another machine's capability variable": (lambda: armcap("0x7d", "OPENSSL_ppccap"), "not read on aarch64_be"),
    "a capability value without effect": (lambda: armcap("0x1"), "the library says 0x7d"),
    "a capability value that is no number": (lambda: armcap("NEON"), "no number"),
    "an unknown word of the fat override": (
        lambda: fat("sha256", "libnettle: cpu features:\n"),
        "does not know the word 'sha256'",
    ),
    "a fat override without effect": (
        lambda: fat("aes", "libnettle: cpu features: sha1 instructions\n"),
        "the library says sha1",
    ),
    "a capability detected and not used": (
        lambda: green().with_run(counts=counts(RAN | REST, **(CLASSES | {"aes": 1}))),
        "1 instructions of class aes",
    ),
    "a forbidden class of instructions ran": (
        lambda: with_profile(green(), profile(forbids=("AES",))).with_run(cpu__txt=b"OPENSSL_armcap=0x1\n"),
        "AES must not be used",
    ),
    "crypto instructions in a cell without assembly": (
        lambda: green(assembly=False).with_run(counts=counts(REST, aes=4000)),
        "4000 instructions of class aes were executed, in variant no-asm",
    ),
    "an empty list of tests": (lambda: replace(green(), log=EMPTY), "no test result"),
    "no log": (lambda: replace(green(), log=""), "the log is empty"),
    "every test skipped": (lambda: replace(green("nettle"), log=SKIPPED), "all 2 tests were skipped"),
    "a plan longer than its results": (lambda: replace(green(), log=LONG_PLAN), "planned 5 cases and shows 2"),
    "a log without its end": (lambda: replace(green(), log=LOG_WITHOUT_TOTALS), "final totals"),
    "totals that count more than there is": (
        lambda: replace(green(), log=OPENSSL_LOG.replace("Tests=3", "Tests=118")),
        "say 118 tests, 3 were read",
    ),
    "no outputs for the fixed inputs": (lambda: replace(green(), vectors=None), "vectors.json"),
    "fixed inputs that reached no algorithm": (lambda: replace(green(), vectors=Vectors(seed="1")), "no algorithm"),
    "what was sealed did not come back": (
        lambda: replace(green(), vectors=sealed()),
        "sealed with chacha20 did not come back",
    ),
    "no word of the library": (lambda: green().with_run(version__txt=None, cpu__txt=None), "did not say its version"),
}


@pytest.mark.parametrize("library", ["openssl", "nettle"])
@pytest.mark.parametrize("assembly", [True, False])
def test_the_sound_cell_is_green(library: str, assembly: bool) -> None:  # noqa: FBT001 - pytest passes it
    """Without a lie the same files give a passed cell, so that a caught lie is no accident."""
    judgement = green(library, assembly=assembly).judgement()
    assert judgement.verdict is Verdict.PASSED, judgement.reason


@pytest.mark.parametrize("lie", LIES)
def test_a_lie_is_caught(lie: str) -> None:
    """One lie makes the cell vacuous, and its first reason or one after it names the lie."""
    make, words = LIES[lie]
    judgement = make().judgement()
    assert judgement.verdict is Verdict.VACUOUS
    assert words in judgement.reason


def test_there_are_enough_lies() -> None:
    """The list does not shrink unseen."""
    assert len(LIES) >= 53


def _ran(
    toolchain: str,
    functions: dict[str, int],
    tests: int = 100,
    *,
    skipped: int = 0,
    verdict: Verdict = Verdict.PASSED,
) -> CellRecord:
    evidence = Evidence(assembly_functions_executed=functions, execution=Execution(emulated=True, instructions=10**6))
    return cell_record(
        id=f"nettle-3.10.2/asm/{toolchain}/aarch64_be-linux-musl",
        toolchain=toolchain,
        evidence=evidence,
        verdict=verdict,
        tests=TestCounts(passed=tests, skipped=skipped),
    )


def test_assembly_that_ran_with_the_other_compiler_must_run_here() -> None:
    """A function that one toolchain's cell executed and its twin did not is a reason against the twin."""
    whole, part = _ran("gcc-12", {"f": 9, "g": 9}), _ran("clang-16", {"f": 9})
    reasons = vacuous_by_neighbours((whole, part))
    assert list(reasons) == ["nettle-3.10.2/asm/clang-16/aarch64_be-linux-musl"]
    assert "ran with gcc-12 did not run here: g" in next(iter(reasons.values()))


def test_probes_of_a_neighbour_prove_nothing() -> None:
    """Assembly that runs in every build is not missed."""
    reasons = vacuous_by_neighbours((_ran("gcc-12", {"f": 9, "OPENSSL_cleanse": 9}), _ran("clang-16", {"f": 9})))
    assert reasons == {}


def test_a_suite_far_shorter_than_elsewhere_is_suspect() -> None:
    """Below four fifths of what the same source and tier ran elsewhere the cell is named, with both numbers."""
    reasons = vacuous_by_neighbours((_ran("gcc-12", {"f": 9}), _ran("clang-16", {"f": 9}, tests=79)))
    assert "only 79 tests ran" in reasons["nettle-3.10.2/asm/clang-16/aarch64_be-linux-musl"]
    assert vacuous_by_neighbours((_ran("gcc-12", {"f": 9}), _ran("clang-16", {"f": 9}, tests=80))) == {}


def test_a_case_that_skipped_itself_did_not_run() -> None:
    """A suite as long as elsewhere of which a third is skipped here alone is suspect."""
    reasons = vacuous_by_neighbours((_ran("gcc-12", {"f": 9}), _ran("clang-16", {"f": 9}, tests=66, skipped=34)))
    assert "only 66 tests ran, the same source and tier had 100" in next(iter(reasons.values()))


UNLISTED = ": the workload does not list it"
MEASURED = Figures(figures=(Figure(algorithm="sha256", unit="instructions/byte", size_bytes=16, value=2.0),))
MEASUREMENTS: dict[str, tuple[Green, Figures | None, str]] = {
    "nothing was left": (green(), None, "the measurements are missing"),
    "no figure": (green(), Figures(), "not one algorithm was measured"),
    "no figure, and not because the build lacks all that was asked for": (
        green(),
        Figures(asked=("aes-256-ctr", "md2"), missing=("aes-256-ctr: too short to time", f"md2{UNLISTED}")),
        "not one algorithm was measured: aes-256-ctr",
    ),
    "an algorithm died": (
        green(),
        MEASURED.model_copy(update={"missing": ("aes-256-ctr, 16 bytes: signal 4", "x25519: exit code 1")}),
        "not measured: aes-256-ctr, 16 bytes: signal 4 (and 1 more)",
    ),
    "runs do not agree": (
        green(),
        MEASURED.model_copy(update={"missing": ("x448: runs of 2 calls do not agree, they differ by up to 7",)}),
        "runs of 2 calls do not agree",
    ),
    "a misspelt capability variable": (armcap("0x7d", "OPENSSL_armcaps"), MEASURED, "does not read OPENSSL_armcaps"),
    "a capability that is not there": (with_profile(green(), profile(asks=("SHA3",))), MEASURED, "SHA3 was asked for"),
    "C in the place of assembly": (c_fallback(), MEASURED, "no assembly"),
    "another version": (other_source("3.5.7"), MEASURED, "wrong version"),
    "another variant's workload": (
        green().with_build(workload=green(assembly=False).build["artifacts/workload"]),
        MEASURED,
        "no function of the library's assembly is linked into the workload",
    ),
    "a workload whose functions cannot be told": (
        green().with_build(workload=elf(endian="big", stripped=True)),
        MEASURED,
        "has no symbol table",
    ),
}


@pytest.mark.parametrize("lie", MEASUREMENTS)
def test_figures_of_something_else_or_of_nothing_are_caught(lie: str) -> None:
    """A cell that is measured is held to its name too, and to having measured what it could."""
    given, figures, words = MEASUREMENTS[lie]
    evidence = gather(given.cell, given.build, given.run)
    assert any(words in reason for reason in unmeasured(given.cell, evidence, figures))


@pytest.mark.parametrize(
    "missing",
    [(), ("md2: the workload does not list it",), ("sha256: one block size alone, so no bulk rate",)],
)
def test_sound_figures_are_green(missing: tuple[str, ...]) -> None:
    """What was never to be had is no doubt, and neither are the counts of the fixed workload, which was not run."""
    given = green()
    run = {path: data for path, data in given.run.items() if not path.startswith("evidence/")}
    evidence = gather(given.cell, given.build, run)
    assert unmeasured(given.cell, evidence, MEASURED.model_copy(update={"missing": missing})) == ()


def _went_through(toolchain: str, *algorithms: str, variant: str = "asm") -> CellRecord:
    families = tuple(VectorFamily(algorithm=name, digest="aa") for name in algorithms)
    return cell_record(
        id=f"nettle-3.10.2/{variant}/{toolchain}/aarch64_be-linux-musl",
        variant=variant,
        toolchain=toolchain,
        verdict=Verdict.PASSED,
        vectors=Vectors(seed="1", families=families),
    )


def test_the_fixed_inputs_go_through_every_algorithm() -> None:
    """What the same source and variant offers elsewhere must be there here too; another variant may offer less."""
    whole, part = _went_through("gcc-12", "aes", "sha256"), _went_through("clang-16", "sha256")
    other = _went_through("gcc-12", "sha256", variant="no-asm")
    reasons = vacuous_by_neighbours((whole, part, other))
    assert list(reasons) == [part.id]
    assert reasons[part.id] == f"the fixed inputs did not go through aes, as in {whole.id}"


def test_a_cell_without_fixed_inputs_is_not_doubted_for_its_neighbours() -> None:
    """A cell that was only measured has no outputs; one that lost them has its own reason."""
    measured = _went_through("clang-16").model_copy(update={"vectors": None})
    assert vacuous_by_neighbours((_went_through("gcc-12", "aes"), measured)) == {}


def test_only_green_cells_are_doubted() -> None:
    """A cell that failed has its verdict already."""
    records = (_ran("gcc-12", {"f": 9}), _ran("clang-16", {}, tests=1, verdict=Verdict.FAILED))
    assert vacuous_by_neighbours(records) == {}
