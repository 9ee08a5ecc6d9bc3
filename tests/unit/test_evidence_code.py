"""Which code stands under a name: that of the assembly, or the C function that the library has under the same name."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.elf_bytes import Symbol, elf, function
from tests.unit.evidence_samples import FUNCTIONS, green

from crossmatrix.checksums import sha256_bytes
from crossmatrix.evidence import gather
from crossmatrix.evidence.symbols import linked_sizes, other_code

SIZES = st.integers(min_value=0, max_value=1 << 20)


def other(objects: list[bytes], program: bytes) -> frozenset[str]:
    """Hold objects against a program."""
    return other_code(objects, linked_sizes(program) or {})


@given(own=SIZES, there=SIZES, endian=st.sampled_from(["little", "big"]), bits=st.sampled_from([32, 64]))
def test_the_size_tells_two_functions_of_one_name_apart(own: int, there: int, endian: str, bits: int) -> None:
    """A function is called other code just where both sizes are known and differ."""
    built = elf(function("f", size=own), endian=endian, bits=bits)
    program = elf(function("f", size=there), function("main"), endian=endian, bits=bits)
    assert other([built], program) == (frozenset("f") if own and there and own != there else frozenset())


@pytest.mark.parametrize("machine", ["EM_RISCV", "EM_LOONGARCH"])
def test_linkers_that_shorten_code_are_believed(machine: str) -> None:
    """Where linking changes sizes they say nothing."""
    built = elf(function("f", size=8), machine=machine)
    assert other([built], elf(function("f", size=4), machine=machine)) == frozenset()


def test_one_of_several_is_enough() -> None:
    """A name that several objects or functions bear is the assembly's where one size fits."""
    helper = Symbol(name="_f", bind="local", size=8)
    objects = [elf(helper), elf(replace(helper, size=12))]
    assert other(objects, elf(replace(helper, size=12), replace(helper, size=20))) == frozenset()
    assert other(objects, elf(replace(helper, size=20))) == frozenset({"_f"})


def test_what_is_not_linked_or_not_readable_is_no_other_code() -> None:
    """A function that the program lacks, a damaged object and a stripped program give nothing."""
    built = elf(function("f", size=8))
    assert other([built, b"\x7fELF"], elf(function("g"))) == frozenset()
    assert other([built], elf(function("f"), stripped=True)) == frozenset()


def test_other_code_is_not_present() -> None:
    """The C function of the same name is neither present nor executed as assembly."""
    sound = green()
    first, *rest = FUNCTIONS["openssl"]
    program = elf(function(first, size=8), *map(function, rest), function("main"), endian="big")
    evidence = gather(sound.cell, sound.build | {"artifacts/workload": program}, sound.run)
    assert first not in evidence.assembly_functions_present
    assert first not in evidence.assembly_functions_executed
    assert set(rest) <= set(evidence.assembly_functions_executed)


def test_the_program_that_was_counted_is_the_build_s() -> None:
    """The checksum that the run job left is that of the workload; without it nothing ties the counts to the build."""
    sound = green()
    assert sound.run["evidence/workload.sha256"].decode().strip() == sha256_bytes(sound.build["artifacts/workload"])
    assert sound.reasons() == ()
    (reason,) = replace(sound, run={path: d for path, d in sound.run.items() if "sha256" not in path}).reasons()
    assert "checksum of the workload that ran is missing" in reason
