"""A cell's files become its evidence; native cells and odd ones are treated fairly."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.elf_bytes import elf, function
from tests.unit.evidence_samples import FUNCTIONS, VECTORS, Green, counts, green

from crossmatrix.catalog import Profile, SourceSpec
from crossmatrix.evidence import gather, vacuous
from crossmatrix.evidence.execution_rules import is_trivial
from crossmatrix.evidence.suite_rules import tests_did_not_run as suite_reasons
from crossmatrix.evidence.suite_rules import vectors_not_whole
from crossmatrix.outcomes import parse_suite
from crossmatrix.records import Outcome, OutcomeStatus, SuiteResult, VectorFamily, Vectors


def native() -> Green:
    """Give a sound cell that runs without an emulator, and so without the plugin."""
    given = green("nettle")
    build = given.cell.build
    target = replace(build.target, native=True)
    return replace(given, cell=replace(given.cell, build=replace(build, target=target))).with_run(
        counts=None, emulator__txt=b""
    )


def test_evidence_holds_what_the_files_say() -> None:
    """Binary, assembly, functions, capabilities and the library's word all come out."""
    sound = green()
    evidence = gather(sound.cell, sound.build, sound.run)
    assert evidence.binary is not None
    assert evidence.binary.path == "artifacts/openssl"
    assert evidence.binary.assembly_objects == ("asm0.o", "asm1.o", "asm2.o")
    assert evidence.assembly_functions_present == tuple(sorted(FUNCTIONS["openssl"]))
    assert evidence.assembly_functions_executed == dict.fromkeys(sorted(FUNCTIONS["openssl"]), 50_000)
    assert "SHA512" in evidence.capabilities_detected
    assert evidence.library_says is not None
    assert evidence.library_says.assembly is True
    assert evidence.missing == ()


def test_a_function_that_was_not_linked_is_not_present() -> None:
    """What the workload cannot run is no part of what must have run."""
    sound = green()
    program = elf(*map(function, ("aes_v8_ctr32_encrypt_blocks", "main")), endian="big")
    evidence = gather(sound.cell, sound.build | {"artifacts/workload": program}, sound.run)
    assert evidence.assembly_functions_present == ("aes_v8_ctr32_encrypt_blocks",)


def test_a_native_cell_needs_no_plugin() -> None:
    """On the machine's own CPU the plugin cannot run, and that is no reason."""
    assert native().reasons() == ()


def test_empty_folders_give_reasons_and_no_error() -> None:
    """A cell that left nothing has evidence that says so, line by line."""
    cell = green().cell
    evidence = gather(cell, {}, {})
    reasons = vacuous(cell, evidence, suite=None, vectors=None)
    assert evidence.binary is None
    for words in ("no program", "workload", "libcrypto.a is missing", "summary", "version", "counts", "no log"):
        assert any(words in reason for reason in reasons), words


def test_the_tool_may_be_missing_where_the_workload_is_there() -> None:
    """The workload then stands for the library."""
    sound = green().with_build(openssl=None)
    evidence = gather(sound.cell, sound.build, sound.run)
    assert evidence.binary is not None
    assert evidence.binary.path == "artifacts/workload"


def test_sources_without_a_release_have_no_version_to_hold_against() -> None:
    """A git checkout's id is not what the library calls itself; a patched release is."""
    sound = green()
    for version, right in (("git-1a2b3c4d5e6f", True), ("3.0.20+p1a2b3c4d", True), ("3.0.2+p1", False)):
        source = SourceSpec(library="openssl", version=version, digest="0" * 64)
        cell = replace(sound.cell, build=replace(sound.cell.build, source=source))
        assert (replace(sound, cell=cell).reasons() == ()) is right


def test_capability_profiles_that_hold_are_green() -> None:
    """A value that was taken as it was written, in either way of writing it, gives no reason."""
    for value in ("0x7d", "125", "0175"):
        profile = Profile(
            name="caps",
            description="",
            emulator="qemu-7.2",
            cpu="max",
            environment=(("OPENSSL_armcap", value), ("OPENSSL_ppccap", None), ("LANG", "C")),
            asks=("aes", "SHA512"),
            forbids=("SHA3",),
        )
        assert green(profile=profile).reasons() == ()


def test_an_empty_value_switches_everything_off() -> None:
    """Set and empty is 0, which the library must then say."""
    profile = Profile(name="c", description="", emulator="q", cpu="max", environment=(("OPENSSL_armcap", ""),))
    reasons = green(profile=profile).reasons()
    assert any("OPENSSL_armcap= was asked for and the library says 0x7d" in reason for reason in reasons)


def test_no_asm_cells_do_not_see_capabilities() -> None:
    """In a library without assembly the variable has no effect, which is no lie of the cell."""
    profile = Profile(
        name="c", description="", emulator="q", cpu="max", environment=(("OPENSSL_armcap", "0x1"),), asks=("NEON",)
    )
    assert green(assembly=False, profile=profile).reasons() == ()


def test_the_librarys_own_environment_word_is_held_against_the_profile() -> None:
    """``env:`` with another value shows that the environment did not reach the program."""
    profile = Profile(name="c", description="", emulator="q", cpu="max", environment=(("OPENSSL_armcap", "0x7d"),))
    cell = green(profile=profile).with_run(cpu__txt=b"OPENSSL_armcap=0x7d env:0x1\n")
    assert any("found '0x1' in its environment" in reason for reason in cell.reasons())


def test_trivial_functions_are_few() -> None:
    """Probes and cleansing are trivial; real work is not."""
    assert all(map(is_trivial, ("OPENSSL_cleanse", "_armv8_sha512_probe", "CRYPTO_memcmp", "_nettle_cpuid")))
    assert not any(map(is_trivial, ("sha256_block_armv8", "aes_v8_encrypt", "bn_mul_mont", "_vpaes_encrypt_core")))


def test_many_assembly_functions_may_be_trivial_as_long_as_one_works() -> None:
    """One function that does work is enough for this rule."""
    ran = {"OPENSSL_cleanse": 60_000, "aes_v8_ctr32_encrypt_blocks": 60_000}
    cell = green().with_run(counts=counts(ran, aes=100, pmull=100, sha1=100, sha2=100, sha512=100))
    assert cell.reasons() == ()


def test_suite_rules() -> None:
    """No log, nothing but skips, and nothing that passed are reasons; one pass is none."""
    skipped = Outcome(file="a", status=OutcomeStatus.SKIPPED)
    failed = Outcome(file="b", status=OutcomeStatus.FAILED)
    passed = Outcome(file="c", status=OutcomeStatus.PASSED)
    assert list(suite_reasons(None)) == ["the tests left no log"]
    assert list(suite_reasons(SuiteResult())) == ["the list of tests was empty: not one ran"]
    assert list(suite_reasons(SuiteResult(outcomes=(skipped,)))) == ["all 1 tests were skipped"]
    assert list(suite_reasons(SuiteResult(outcomes=(skipped, failed)))) == ["not one of 2 tests passed"]
    assert list(suite_reasons(SuiteResult(outcomes=(skipped, passed)))) == []


def test_vector_rules() -> None:
    """A family that cannot be opened by nature is no reason; one that disagrees with itself is."""
    digest = VectorFamily(algorithm="sha256", digest="aa")
    assert list(vectors_not_whole(Vectors(seed="1", families=(digest,)))) == []
    noted = digest.model_copy(update={"note": "alignment 3 differs at length 17"})
    assert list(vectors_not_whole(Vectors(seed="1", families=(noted,)))) == [
        "sha256 does not agree with itself: alignment 3 differs at length 17"
    ]


@settings(deadline=None, max_examples=40)
@given(data=st.binary(max_size=80), name=st.sampled_from(sorted([*green().build, *green().run])))
def test_no_file_makes_gathering_raise(data: bytes, name: str) -> None:
    """Any single file may hold anything."""
    sound = green()
    build = sound.build | ({name: data} if name in sound.build else {})
    run = sound.run | ({name: data} if name in sound.run else {})
    evidence = gather(sound.cell, build, run)
    suite = parse_suite("openssl", sound.log)
    assert isinstance(vacuous(sound.cell, evidence, suite=suite, vectors=VECTORS), tuple)
