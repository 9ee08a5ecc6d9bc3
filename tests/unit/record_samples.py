"""Sample records for tests: small ones to vary, and one run of sixteen cells as the quick matrix leaves it."""

from __future__ import annotations

from itertools import product

from crossmatrix.checksums import sha256_bytes
from crossmatrix.records import (
    Artifact,
    BinaryEvidence,
    CellRecord,
    Evidence,
    Execution,
    Figure,
    Figures,
    Finding,
    FindingKind,
    ImageRecord,
    LibraryWord,
    Outcome,
    OutcomeStatus,
    RunRecord,
    StageRecord,
    StageStatus,
    TestCounts,
    Verdict,
)

VERSIONS = {"openssl": "3.0.20", "nettle": "3.10.2"}
COMPILERS = {"gcc-12": "gcc 12.2.0-14", "clang-16": "clang 16.0.6"}
ASSEMBLY = {
    "openssl": ("aes_v8_encrypt", "aes_v8_ctr32_encrypt_blocks", "_vpaes_encrypt_core", "sha256_block_armv8"),
    "nettle": ("_nettle_aes128_encrypt_arm64", "_nettle_sha256_compress_n_arm64", "_nettle_chacha_4core"),
}

REJECTED = """\
aarch64_be-linux-musl-clang -O3 -c crypto/sha/sha256-armv8.S -o crypto/sha/sha256-armv8.o
crypto/sha/sha256-armv8.S:1021:19: error: invalid operand for instruction
 ldr x16, [sp, #96]!, lsl 3
                  ^
make[1]: *** [Makefile:9132: crypto/sha/sha256-armv8.o] Error 1
make: *** [Makefile:2201: build_sw] Error 2
"""
HUNG = """\
30-test_defltfips.t ......... ok
30-test_engine.t ............ ok
30-test_evp.t ...............
"""


def cell_record(**overrides: object) -> CellRecord:
    """Give a green cell; what depends on its name (id, endian, library's version) follows the overrides."""
    library = str(overrides.get("library", "nettle"))
    fields: dict[str, object] = {
        "library": library,
        "version": VERSIONS[library],
        "variant": "asm",
        "toolchain": "gcc-12",
        "target": "aarch64_be-linux-musl",
        "profile": "default",
        "tier": "full",
        "verdict": Verdict.PASSED,
        "source_digest": "5" * 64,
        "source_origin": "debian",
    } | overrides
    build = f"{library}-{fields['version']}/{fields['variant']}/{fields['toolchain']}/{fields['target']}"
    name = build if fields["profile"] == "default" else f"{build}@{fields['profile']}"
    defaults: dict[str, object] = {
        "id": name,
        "endian": "big" if str(fields["target"]).startswith("aarch64_be") else "little",
        "compiler": COMPILERS.get(str(fields["toolchain"]), ""),
        "reproduce": f"invoke matrix --only id={name}",
        "outcomes": (outcome("aes-test"), outcome("sha256-test")),
        "tests": TestCounts(passed=2),
        "duration_s": 130.0,
        "started": "2026-03-01T10:00:00+00:00",
        "finished": "2026-03-01T10:02:10+00:00",
    }
    return CellRecord.model_validate(defaults | fields)


def outcome(file: str, status: str = "passed", **overrides: object) -> Outcome:
    """Give the outcome of one test file."""
    fields: dict[str, object] = {"file": file, "status": OutcomeStatus(status), "duration_s": 0.4} | overrides
    return Outcome.model_validate(fields)


def run_record(*cells: CellRecord, **overrides: object) -> RunRecord:
    """Give a finished run of some cells, or of one green cell where none is given."""
    fields: dict[str, object] = {
        "run_id": "20260301-100000-abcd",
        "matrix": "quick",
        "tool": "crossmatrix 0.1.0",
        "host": {"system": "Debian GNU/Linux 12", "cpus": "2", "memory_bytes": str(8 << 30)},
        "engine": {"kind": "docker", "version": "20.10.24", "url": "unix:///var/run/docker.sock"},
        "command": "invoke matrix",
        "started": "2026-03-01T10:00:00+00:00",
        "finished": "2026-03-01T10:41:07+00:00",
        "state": "finished",
        "exit_code": 0,
        "cells": cells or (cell_record(),),
    } | overrides
    return RunRecord.model_validate(fields)


def evidence_sample(library: str, variant: str, target: str) -> Evidence:
    """Give evidence as a healthy cell has it: in ``asm`` all assembly but the last function ran."""
    present = ASSEMBLY[library] if variant == "asm" else ()
    executed = {name: 2_631_168 // (place + 1) for place, name in enumerate(present[:-1])}
    return Evidence(
        binary=BinaryEvidence(
            path="artifacts/openssl" if library == "openssl" else "artifacts/nettle-hash",
            machine="EM_AARCH64",
            endian="big" if "_be" in target else "little",
            bits=64,
            libc="musl",
            linkage="static",
            assembly_objects=("libcrypto.a(aesv8-armx.o)", "libcrypto.a(vpaes-armv8.o)") if present else (),
        ),
        library_says=LibraryWord(
            configure_summary=f"Assembly files: {'arm64/crypto' if present else 'none'}",
            version=f"{library} {VERSIONS[library]}",
            cpu="CPUINFO: OPENSSL_armcap=0xfd" if library == "openssl" else "",
            assembly=bool(present),
        ),
        execution=Execution(
            emulated=True,
            emulator="qemu-aarch64 version 7.2.22",
            instructions=10_355_819,
            assembly_functions=executed,
            other_functions={"AES_encrypt": 55_181, "memcpy": 12_004},
            classes={"aes": 40_960, "pmull": 2_048} if present else {},
        ),
        assembly_functions_present=present,
        assembly_functions_executed=executed,
        capabilities_detected=("AES", "PMULL", "SHA1", "SHA256") if present else (),
    )


def figures_sample() -> Figures:
    """Give figures of two algorithms."""
    sizes = ((0, 2.51), (16, 40.1), (1024, 3.2), (8192, 2.6))
    return Figures(
        figures=(
            *(
                Figure(algorithm="aes-256-ctr", unit="instructions/byte", size_bytes=size, value=value)
                for size, value in sizes
            ),
            Figure(algorithm="rsa-2048-sign", unit="instructions/op", value=7_031_224.0),
        ),
    )


def image_sample(name: str) -> ImageRecord:
    """Give an image with a few packages."""
    return ImageRecord(
        name=name,
        tag=f"crossmatrix/{name}:0123456789abcdef",
        id=f"sha256:{sha256_bytes(name.encode())}",
        packages={"gcc-12": "12.2.0-14", "binutils": "2.40-2", "libc6": "2.36-9"},
    )


def stages_sample(*, failed: str = "", reused: bool = False) -> tuple[StageRecord, ...]:
    """Give the stages of a cell; those after the failed one were not run."""
    stages: list[StageRecord] = []
    status = StageStatus.OK
    for name, seconds in (("unpack", 2.1), ("configure", 9.8), ("build", 71.3), ("test", 49.0), ("evidence", 3.3)):
        if name == failed:
            status = StageStatus.FAILED
        code = {StageStatus.OK: 0, StageStatus.FAILED: 2}.get(status)
        spent = 0.0 if status is StageStatus.NOT_RUN else seconds
        stages.append(
            StageRecord(
                name=name,
                status=status,
                exit_code=code,
                duration_s=spent,
                log=f"logs/sample/{name}.log",
                reused=reused,
            )
        )
        if name == failed:
            status = StageStatus.NOT_RUN
    return tuple(stages)


def outcomes_sample(count: int) -> tuple[Outcome, ...]:
    """Give as many passed outcomes, eleven to a file, and two skipped ones."""
    passed = (
        outcome(f"{number // 11:02d}-test_evp_part{number // 11}", case=f"case {number}", duration_s=0.02)
        for number in range(count)
    )
    skipped = (
        outcome("80-test_afalg", "skipped", cause="afalg is not supported in this build"),
        outcome("95-test_external_pyca", "skipped", cause="no external tests in this configuration"),
    )
    return (*passed, *skipped)


def _troubles() -> dict[str, dict[str, object]]:
    """Give what is wrong in some cells of the sample run, by the cell's id."""
    failing = (
        *outcomes_sample(110),
        outcome(
            "gcm-test",
            "failed",
            cause="exit status 134",
            duration_s=0.31,
            output="gcm-test.c:612: AES-GCM decrypt <wrong> tag\nExpected: 4d5c2af327cd64a62cf35abd2ba6fab4\nabort",
        ),
        outcome("ghash-test", "failed", cause="exit status 1", duration_s=0.12, output="digest differs at byte 0"),
    )
    return {
        "nettle-3.10.2/asm/gcc-12/aarch64_be-linux-musl": {
            "verdict": Verdict.FAILED,
            "reason": "2 of 114 tests failed: gcm-test, ghash-test",
            "outcomes": failing,
            "tests": TestCounts(passed=110, failed=2, skipped=2),
            "log_tail": "PASS: eax\nFAIL: gcm\nFAIL: ghash\n" + "=" * 27 + "\n2 of 114 tests failed\n" + "=" * 27,
            "stages": stages_sample(),
        },
        "openssl-3.0.20/asm/clang-16/aarch64_be-linux-musl": {
            "verdict": Verdict.BUILD_FAILED,
            "reason": "the compiler rejects crypto/sha/sha256-armv8.S: invalid operand for instruction",
            "outcomes": (),
            "tests": TestCounts(),
            "evidence": Evidence(missing=("the build did not finish",)),
            "figures": None,
            "artifacts": (),
            "stages": stages_sample(failed="build"),
            "log_tail": REJECTED,
        },
        "nettle-3.10.2/asm/clang-16/aarch64_be-linux-musl": {
            "verdict": Verdict.VACUOUS,
            "reason": "no assembly function ran, though the variant is asm: configure fell back to C",
        },
        "openssl-3.0.20/no-asm/clang-16/aarch64-linux-musl": {
            "verdict": Verdict.TIMED_OUT,
            "reason": "30-test_evp had not ended after 900 s",
            "stages": stages_sample(failed="test"),
            "log_tail": HUNG,
        },
    }


def _findings() -> tuple[Finding, ...]:
    """Give the findings of the sample run."""
    asm, no_asm = (f"nettle-3.10.2/{variant}/gcc-12/aarch64_be-linux-musl" for variant in ("asm", "no-asm"))
    return (
        Finding(
            kind=FindingKind.REFERENCE_PARITY,
            serious=True,
            axis="assembly",
            subject="gcm-test",
            cells=(asm, no_asm),
            message="gcm-test passes without assembly and fails with it, on big endian with gcc-12",
        ),
        Finding(
            kind=FindingKind.DIFFERENT_RESULT,
            serious=True,
            subject="aes-128-gcm",
            cells=(asm, no_asm),
            message="aes-128-gcm gives another result at length 16; 14 of 15 cells agree with the other one",
        ),
        Finding(
            kind=FindingKind.NEVER_EXECUTED,
            serious=False,
            subject="sha256_block_armv8",
            message="1 assembly function of openssl 3.0.20 ran in no cell: sha256_block_armv8",
        ),
    )


def sixteen_cells(outcomes: int = 118) -> RunRecord:
    """Give the quick matrix's sixteen cells, four of them in trouble, with findings, evidence and figures."""
    troubles = _troubles()
    cells: list[CellRecord] = []
    for library, variant, target, toolchain in product(
        ("openssl", "nettle"),
        ("asm", "no-asm"),
        ("aarch64-linux-musl", "aarch64_be-linux-musl"),
        ("gcc-12", "clang-16"),
    ):
        name = f"{library}-{VERSIONS[library]}/{variant}/{toolchain}/{target}"
        fields: dict[str, object] = {
            "library": library,
            "variant": variant,
            "target": target,
            "toolchain": toolchain,
            "tier": "smoke" if library == "openssl" else "full",
            "outcomes": outcomes_sample(outcomes),
            "tests": TestCounts(passed=outcomes, skipped=2),
            "stages": stages_sample(reused=library == "nettle"),
            "evidence": evidence_sample(library, variant, target),
            "figures": figures_sample(),
            "image": image_sample(toolchain),
            "run_image": image_sample("qemu-7.2"),
            "emulator": "qemu-aarch64 7.2.22",
            "cached": library == "nettle" and variant == "no-asm",
            "artifacts": (
                Artifact(name="library", path=f"artifacts/{name}/lib.a", size_bytes=9_120_334, sha256="c" * 64),
                Artifact(name="suite log", path=f"artifacts/{name}/suite.log", size_bytes=41_200, sha256="d" * 64),
            ),
            "log_tail": "All tests successful.\nFiles=32, Tests=118\nResult: PASS",
        }
        cells.append(cell_record(**(fields | troubles.get(name, {}))))
    return run_record(*cells, exit_code=1, findings=_findings(), notes=("openssl 3.0: took 3.0.20, the newest pinned",))
