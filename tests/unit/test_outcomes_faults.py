"""Deaths are recognised in the words of emulators, shells, harnesses and our own evidence stage."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crossmatrix.outcomes import Fault, FaultKind, fault_of_exit, faults_in, main_fault, read_words
from crossmatrix.outcomes.faults import SIGNALS, program_of

NAMES = st.text(st.characters(codec="ascii", categories=("Ll", "Lu", "Nd"), include_characters="_-."), min_size=1)


@pytest.mark.parametrize(
    ("line", "signal", "program"),
    [
        ("qemu: uncaught target signal 4 (Illegal instruction) - core dumped", "SIGILL", ""),
        ("qemu: uncaught target signal 11 (Segmentation fault) - core dumped", "SIGSEGV", ""),
        ("qemu: uncaught target signal 10 (Bus error) - core dumped", "SIGBUS", ""),
        ("qemu: uncaught target signal 6 (Aborted) - core dumped", "SIGABRT", ""),
        ("Illegal instruction (core dumped)", "SIGILL", ""),
        ("./run-tests: line 5:  77 Segmentation fault      (core dumped) qemu-x ./aes-test", "SIGSEGV", "aes-test"),
        ("Aborted", "SIGABRT", ""),
        ("qemu-aarch64 ../../work/src/test/sha_test -x => 132", "SIGILL", "sha_test"),
        ("../../util/wrap.pl ../../test/evp_test file.txt => 139", "SIGSEGV", "evp_test"),
        ("qemu-aarch64 -L /usr/x -cpu max ../../test/evp_test => 135", "SIGBUS", "evp_test"),
        ("Dubious, test returned 132 (wstat 33792, 0x8400)", "SIGILL", ""),
        ("04-test_d.t (Wstat: 11 (Signal: SEGV) Tests: 1 Failed: 0)", "SIGSEGV", ""),
        ("crossmatrix: fault signal=SIGILL pc=0x4 symbol=f program=w", "SIGILL", "w"),
    ],
)
def test_a_programs_death_is_recognised(line: str, signal: str, program: str) -> None:
    """Each way of saying it gives the signal's name and, where it is said, the program."""
    fault = main_fault(line)
    assert fault is not None
    assert (fault.kind, fault.what, fault.program) == (FaultKind.PROGRAM, signal, program)


@pytest.mark.parametrize(
    "line",
    [
        "qemu: unhandled CPU exception 0x10003 - aborting",
        "qemu: fatal: Trying to execute code outside RAM or ROM at 0x0",
        "QEMU internal SIGSEGV {code=MAPERR, addr=0x20}",
        "qemu-aarch64: ../accel/tcg/cpu-exec.c:954: cpu_exec: Assertion `cpu == current_cpu' failed.",
        "ERROR:../target/arm/helper.c:1234:foo: code should not be reached",
        "Bail out! ERROR:../accel/tcg/x.c:1:f: assertion failed",
        "Unsupported syscall: 434",
    ],
)
def test_the_emulators_own_faults_are_told_apart(line: str) -> None:
    """What qemu says of itself is no fault of the program under test."""
    fault = main_fault(f"Segmentation fault\n{line}\n")
    assert fault is not None
    assert fault.kind is FaultKind.EMULATOR
    assert fault.what in line


@pytest.mark.parametrize(
    "line",
    [
        "sh: 1: ./aes-test: Exec format error",
        "bash: ./x: cannot execute binary file: Exec format error",
        "sh: 1: qemu-aarch64_be: not found",
        'Can\'t exec "qemu-aarch64": No such file or directory at x line 3.',
        'Can\'t exec "../../../work/src/util/wrap.pl": No such file or directory at /work/src/util/Test.pm line 487.',
        "qemu-aarch64: Error while loading ./sha_test: No such file or directory",
        "Error while loading /work/src/test/sha_test: Permission denied",
        "qemu-aarch64: unable to find CPU model 'maxx'",
        "qemu-aarch64: can't apply global max-arm-cpu.foo=on: Property 'max-arm-cpu.foo' not found",
        "tar: write error: No space left on device",
        "qemu-aarch64: Could not open '/lib/ld-linux-aarch64.so.1': No such file or directory",
        "gcc: fatal error: Killed signal terminated program cc1",
        "crossmatrix: infrastructure: qemu-x cannot start a program of the build",
    ],
)
def test_what_gave_way_below_is_infrastructure(line: str) -> None:
    """These come before any other death, for they cause the others."""
    fault = main_fault(f"qemu: fatal: x\n{line}\nAborted\n")
    assert fault is not None
    assert fault.kind is FaultKind.INFRASTRUCTURE


@pytest.mark.parametrize(
    "line",
    ["ok 1 - abort test", "    # Segmentation faults are tested elsewhere", "qemu-x ../sha_test => 1", "exit=132", ""],
)
def test_other_lines_are_no_death(line: str) -> None:
    """Ordinary output, and ordinary exit codes, are left alone."""
    assert faults_in(line) == ()


def test_what_several_lines_say_of_one_death_is_put_together() -> None:
    """Signal, program, address and symbol may come from four places."""
    log = (
        "qemu: uncaught target signal 4 (Illegal instruction) - core dumped\n"
        "qemu-aarch64 ../test/sha_test => 132\ncrossmatrix: fault pc=0xAB symbol=f\n"
    )
    expected = Fault(kind=FaultKind.PROGRAM, what="SIGILL", program="sha_test", address="0xab", symbol="f")
    assert main_fault(log) == expected


def test_exit_codes_below_128_and_other_signals_are_no_death() -> None:
    """Only the codes of signals that a program dies of count."""
    assert fault_of_exit(1) is None
    assert fault_of_exit(128) is None
    assert fault_of_exit(255) is None
    assert fault_of_exit(132) == Fault(kind=FaultKind.PROGRAM, what="SIGILL")


def test_no_program_in_a_command_of_wrappers() -> None:
    """A command that names nothing but emulator and wrappers gives no program."""
    assert program_of("qemu-aarch64 -cpu max ../util/wrap.pl") == ""


@settings(deadline=None)
@given(
    what=st.sampled_from(sorted(set(SIGNALS.values()))),
    program=st.just("") | NAMES,
    symbol=st.just("") | NAMES,
    address=st.just("") | st.integers(0, 2**64 - 1).map(hex),
)
def test_words_can_be_read_back(what: str, program: str, symbol: str, address: str) -> None:
    """A fault said in a cause is the same fault when a verdict reads it."""
    fault = Fault(kind=FaultKind.PROGRAM, what=what, program=program, symbol=symbol, address=address)
    assert read_words(f"15-x/y: {fault.words}") == fault


def test_words_of_others_can_be_read_back() -> None:
    """The same for the emulator's and the infrastructure's."""
    for kind in (FaultKind.EMULATOR, FaultKind.INFRASTRUCTURE):
        fault = Fault(kind=kind, what="qemu: fatal: x")
        assert read_words(fault.words) == fault
    assert read_words("wrong digest") is None


@settings(deadline=None)
@given(text=st.text(max_size=300))
def test_no_text_raises(text: str) -> None:
    """Whatever a log holds, looking for deaths in it is safe, and a found one can be said and read back in kind."""
    fault = main_fault(text)
    if fault is not None:
        again = read_words(fault.words)
        assert again is not None
        assert again.kind is fault.kind
