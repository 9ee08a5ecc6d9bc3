"""The lies that are told about real builds, by what they say."""

from __future__ import annotations

from tests.integration.lying import Brought, Lie, after, before, instead, without
from tests.integration.real_cells import (
    BIG,
    HOST,
    LITTLE,
    nettle,
    with_build_variable,
    with_control,
    with_cpu,
    with_emulator,
    with_options,
    with_toolchain,
    with_tools_of,
    with_variable,
    with_version,
    x86,
)

from crossmatrix.catalog import MustFail
from crossmatrix.records import Verdict

_ARTIFACTS = "/work/out/artifacts"
_COUNTS = "/scratch/out/evidence/count-*.json"
_VECTORS = "/scratch/out/vectors.json"
_LOG = "/scratch/out/suite.log"
_BEFORE_THE_TESTS = "cat > /scratch/nm"
_AFTER_THE_TESTS = 'exit "$(cat /scratch/suite.code)"'


def _all_tests(line: str) -> str:
    """Give shell lines that put a program of one line in the place of every test."""
    return (
        "for part in testsuite tools; do\n"
        '    for test in $(cat "/work/suite/$part.list"); do\n'
        f"        printf '#!/bin/sh\\n{line}\\n' > \"/scratch/src/$part/$test\"\n"
        "    done\n"
        f"done\n{_BEFORE_THE_TESTS}"
    )


_FAILING_TEST = instead(
    "test", _BEFORE_THE_TESTS, f"printf '#!/bin/sh\\nexit 1\\n' > /scratch/src/testsuite/aes-test\n{_BEFORE_THE_TESTS}"
)


def _log(lines: str) -> str:
    """Give shell lines that change the log in the end, and call the tests good."""
    return f"{lines}\nexit 0"


ASSEMBLY = {
    # First, because it takes longest: nothing of it is in the compilers' cache.
    "a piece of assembly that the other toolchain's cell has": Lie(
        cell=lambda: with_toolchain(nettle(), name="gcc-12-again"),
        build=(after("unpack", "rm /work/src/arm64/chacha-4core.asm"),),
        beside=nettle,
        words="assembly that ran with gcc-12 did not run here: _nettle_chacha_",
    ),
    "configure was told to leave the assembly out": Lie(
        cell=lambda: with_options(nettle(), "--disable-assembler"),
        words="the configure summary says that there is no assembly",
    ),
    "a site file of configure switches the assembly off": Lie(
        cell=lambda: with_build_variable(nettle(), "CONFIG_SITE", "/work/check/site"),
        build=(after("unpack", "mkdir -p /work/check; echo enable_assembler=no > /work/check/site"),),
        words="the library has no object that was made from assembly",
    ),
    "configure found no assembly, fell back to C, and its summary names assembly": Lie(
        build=(after("unpack", "rm -r /work/src/arm64"),),
        words="the library has no object that was made from assembly",
    ),
    "a build with assembly under the name of no-asm": Lie(
        cell=lambda: nettle("no-asm"),
        really=nettle,
        words="the configure summary says that there is assembly, in variant no-asm",
    ),
    "assembly slipped into a library without": Lie(
        cell=lambda: nettle("no-asm"),
        build=(
            before(
                "collect",
                "cd /work/check; printf '.globl nettle_slipped\\nnettle_slipped:\\n nop\\n ret\\n' > slipped.s\n"
                f"{BIG}-gcc -c slipped.s; {BIG}-ar r /work/src/libnettle.a slipped.o",
            ),
        ),
        words="libnettle.a(slipped.o) is no compiler's work",
    ),
    "another variant's workload in the place of the build's": Lie(
        into_build=(Brought(of=lambda: nettle("no-asm"), artifact="workload"),),
        build=(after("workload", f"cp /work/brought/workload {_ARTIFACTS}/workload"),),
        words="has other code under names of the library's assembly",
    ),
    "another variant's workload run in the place of the build's": Lie(
        into_run=(Brought(of=lambda: nettle("no-asm"), artifact="workload"),),
        run=(instead("evidence", f"{_ARTIFACTS}/workload", "/scratch/brought/workload"),),
        words="the workload that ran is not the one that the build left",
    ),
    "a workload that does nothing": Lie(
        run=(instead("evidence", "workload evidence", "workload list"),),
        words="no assembly function ran in the workload",
    ),
}

IDENTITY = {
    "everything of the little-endian cell under the big-endian name": Lie(
        really=lambda: nettle(target=LITTLE),
        words="wrong byte order",
    ),
    "everything made for and run on the host under the target's name": Lie(
        really=lambda: x86(native=True),
        words="wrong machine",
    ),
    "an archive that another cell left": Lie(
        into_build=(Brought(of=lambda: nettle(target=LITTLE), artifact="libnettle.a"),),
        build=(after("collect", f"cp /work/brought/libnettle.a {_ARTIFACTS}/libnettle.a"),),
        words="is EM_AARCH64, little-endian, 64 bits, not for aarch64_be-linux-musl",
    ),
    "the host's program in the place of the target's": Lie(
        into_build=(Brought(of=x86, artifact="nettle-hash"),),
        build=(after("collect", f"cp /work/brought/nettle-hash {_ARTIFACTS}/nettle-hash"),),
        words="wrong machine: artifacts/nettle-hash is for EM_X86_64",
    ),
    "another target's compiler": Lie(
        cell=lambda: with_tools_of(nettle(), LITTLE),
        verdict=Verdict.CONFIGURE_FAILED,
        words="compiles for another machine than aarch64_be-linux-musl",
    ),
    "another compiler than the toolchain's": Lie(
        cell=lambda: with_toolchain(nettle(), name="gcc-12", family="clang"),
        words="was not compiled by clang",
    ),
    "a tree that was built in before": Lie(
        build=(after("unpack", "echo stale > /work/src/aes-encrypt.o"),),
        verdict=Verdict.CONFIGURE_FAILED,
        words="the source is dirty",
    ),
    "another version of the library": Lie(
        cell=lambda: with_version(nettle(), "3.8.1"),
        words="the library says 'nettle 3.10.2', the cell is of 3.8.1",
    ),
}

EMULATION = {
    "the emulator of the other byte order": Lie(
        run=(instead("emulator", "EMULATOR=qemu-aarch64_be", "EMULATOR=qemu-aarch64"),),
        verdict=Verdict.INFRASTRUCTURE,
        words="qemu-aarch64 cannot start a program of the build",
    ),
    "another version of the emulator": Lie(
        cell=lambda: with_emulator(nettle(), version="8.2"),
        words="the cell's is 8.2",
    ),
    "a CPU without the extensions that were built in": Lie(
        cell=x86,
        really=lambda: with_cpu(x86(), "qemu64"),
        verdict=Verdict.CRASHED,
        words="SIGILL",
    ),
    "run on the host's CPU": Lie(
        cell=x86,
        really=lambda: x86(native=True),
        words="it may have run on the host's CPU",
    ),
    "a negative control that passes": Lie(
        cell=lambda: with_control(
            x86(), MustFail(signal="SIGILL", function="nettle_aes128_encrypt", reason="the CPU lacks AES")
        ),
        verdict=Verdict.UNEXPECTED_PASS,
        words="must fail with SIGILL in nettle_aes128_encrypt",
    ),
    "the plugin was not loaded": Lie(
        run=(instead("evidence", ' -plugin "$PLUGIN,out=/scratch/out/evidence/count-%p.json"', ""),),
        words="the plugin left no counts",
    ),
    "the plugin is not there": Lie(
        cell=lambda: with_emulator(nettle(), plugin="/opt/crossmatrix/none.so"),
        verdict=Verdict.INFRASTRUCTURE,
        words="ould not load plugin",
    ),
    "the plugin's counts were lost": Lie(
        run=(before("vectors", f"rm {_COUNTS}"),),
        words="the plugin left no counts",
    ),
    "the plugin's counts were cut short": Lie(
        run=(before("vectors", f'for file in {_COUNTS}; do head -c 300 "$file" > cut; cp cut "$file"; done'),),
        words="a count of the plugin cannot be read",
    ),
    "a misspelt word in the capabilities": Lie(
        cell=lambda: with_variable(nettle("fat", profile="fat=aes"), "NETTLE_FAT_OVERRIDE", "aess"),
        words="nettle does not know the word 'aess'",
    ),
    "the capabilities did not reach the program": Lie(
        cell=lambda: nettle("fat", profile="fat=aes"),
        really=lambda: nettle("fat"),
        words="capability aes was asked for and the library does not see it",
    ),
    "capabilities that must not be there": Lie(
        cell=lambda: nettle("fat", profile="fat=none"),
        really=lambda: nettle("fat", profile="fat=all"),
        words="capability aes must not be there",
    ),
}

TESTS = {
    "every test skipped itself": Lie(
        run=(instead("test", _BEFORE_THE_TESTS, _all_tests("exit 77")),),
        words="tests were skipped",
    ),
    "an empty list of tests": Lie(
        run=(
            instead("test", "/work/suite/testsuite.list", "/dev/null"),
            instead("test", "set -- tools", "set --"),
        ),
        words="no test result was found in the log",
    ),
    "a log cut short": Lie(
        run=(instead("test", _AFTER_THE_TESTS, _log(f"head -c 900 {_LOG} > cut; cp cut {_LOG}")),),
        words="the test log is not whole",
    ),
    "a log cut between two tests": Lie(
        run=(instead("test", _AFTER_THE_TESTS, _log(f"sed -i '/^=== RUN tools$/,$d' {_LOG}")),),
        words="test programs were to be run",
    ),
    "totals that count more tests than there are": Lie(
        run=(instead("test", _AFTER_THE_TESTS, _log(f"sed -i 's/^All 1 tests/All 3 tests/' {_LOG}")),),
        words="its totals say 3 tests, 1 lines were read",
    ),
    "a suite that fails and says that it did not": Lie(
        run=(_FAILING_TEST, instead("test", _AFTER_THE_TESTS, _log(""))),
        verdict=Verdict.FAILED,
        words="aes-test",
    ),
    "a failed test taken out of the log": Lie(
        run=(_FAILING_TEST, instead("test", _AFTER_THE_TESTS, _log(f"sed -i '/^FAIL: /d' {_LOG}"))),
        verdict=Verdict.FAILED,
        words="aes-test: ended with exit code 1 and no failed test",
    ),
    "far fewer tests than the neighbour": Lie(
        run=(instead("test", "/work/suite/testsuite.list", "/dev/null"),),
        beside=lambda: nettle("no-asm"),
        words="the same source and tier had",
    ),
    "the tests left out": Lie(
        run=(without("test"),),
        verdict=Verdict.ABORTED,
        words="its tests were not run",
    ),
}

INPUTS = {
    "no outputs of the fixed inputs": Lie(
        run=(before("test", f"rm {_VECTORS}"),),
        words="the outputs for the fixed inputs are missing",
    ),
    "outputs cut short": Lie(
        run=(before("test", f"head -c 9000 {_VECTORS} > cut; cp cut {_VECTORS}"),),
        words="the outputs for the fixed inputs are missing",
    ),
    "fixed inputs that went through nothing": Lie(
        run=(before("test", f"""echo '{{"seed": "0", "families": []}}' > {_VECTORS}"""),),
        words="the fixed inputs went through no algorithm",
    ),
    "what was sealed did not come back": Lie(
        run=(before("test", f"""sed -i 's/"opened": *true/"opened": false/' {_VECTORS}"""),),
        words="did not come back",
    ),
    "an algorithm fewer than the neighbour": Lie(
        run=(
            before(
                "test",
                "perl -MJSON::PP -0777 -ne '$_ = decode_json($_); pop @{$_->{families}}; print encode_json($_)' "
                f"{_VECTORS} > cut; cp cut {_VECTORS}",
            ),
        ),
        beside=lambda: nettle(target=LITTLE),
        words="the fixed inputs did not go through",
    ),
}

LIES = ASSEMBLY | IDENTITY | EMULATION | TESTS | INPUTS
SOUND = {
    "with assembly, big-endian": nettle,
    "without assembly, big-endian": lambda: nettle("no-asm"),
    "with assembly, little-endian": lambda: nettle(target=LITTLE),
    "with assembly chosen by a variable": lambda: nettle("fat", profile="fat=aes"),
    f"for {HOST}, emulated": x86,
}
