"""What shows that a cell did what its name says."""

from __future__ import annotations

from pydantic import Field

from crossmatrix.records.model import Record


class BinaryEvidence(Record):
    """What pyelftools reads in the library's program and archive.

    Attributes:
        path: of the program in the cell's artifacts.
        machine: such as ``EM_AARCH64``.
        endian: ``little`` or ``big``.
        bits: 32 or 64.
        libc: ``musl``, ``glibc`` or empty where it cannot be told.
        linkage: ``static`` or ``dynamic``.
        assembly_objects: members of the library's archives that come from assembly sources of the build.
    """

    path: str
    machine: str
    endian: str
    bits: int
    libc: str
    linkage: str
    assembly_objects: tuple[str, ...] = ()


class LibraryWord(Record):
    """What the library says of itself.

    Attributes:
        configure_summary: the lines of the configure summary that matter.
        version: ``openssl version -a`` or the like, whole.
        cpu: ``CPUINFO: OPENSSL_armcap=0x..`` or what NETTLE_FAT_VERBOSE printed.
        assembly: what the summary says of assembly files: True, False, or None where it says nothing.
    """

    configure_summary: str = ""
    version: str = ""
    cpu: str = ""
    assembly: bool | None = None


class Execution(Record):
    """What the counting plugin saw while the fixed workload ran.

    Attributes:
        emulated: whether the plugin ran at all, which it cannot do on the host's own CPU.
        emulator: what ``qemu-<arch> --version`` says.
        instructions: all that were executed.
        assembly_functions: executed instructions by assembly function.
        other_functions: executed instructions of the forty costliest other functions.
        classes: executed instructions by extension class: ``aes``, ``pmull``, ``sha1``, ``sha2``, ...
    """

    emulated: bool
    emulator: str = ""
    instructions: int = 0
    assembly_functions: dict[str, int] = Field(default_factory=dict)
    other_functions: dict[str, int] = Field(default_factory=dict)
    classes: dict[str, int] = Field(default_factory=dict)


class Evidence(Record):
    """All that shows that a cell did what its name says.

    Attributes:
        assembly_functions_present: global and local functions defined by the build's assembly objects, as linked.
        assembly_functions_executed: those of them that ran in the workload, and how many instructions they executed.
        capabilities_asked: by the profile.
        capabilities_detected: by the library at run time, in the library's words (``AES``, ``PMULL``, ``SHA256``...).
        missing: what could not be had, each with the reason.
    """

    binary: BinaryEvidence | None = None
    library_says: LibraryWord | None = None
    execution: Execution | None = None
    assembly_functions_present: tuple[str, ...] = ()
    assembly_functions_executed: dict[str, int] = Field(default_factory=dict)
    capabilities_asked: tuple[str, ...] = ()
    capabilities_detected: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


class VectorFamily(Record):
    """The outputs of one algorithm for the fixed inputs.

    Attributes:
        algorithm: the name common to both libraries: ``sha256``, ``aes-256-ctr``, ``hmac-sha256``, ``rsa-2048-sha256``.
        digest: sha256 over all outputs, hex.
        lengths: per input length in bytes (as text), 16 hex digits of the sha256 over the outputs of that length.
        opened: what was sealed came back by the inverse operation; None where there is none.
        note: such as ``alignment 3 differs at length 17`` where the cell does not agree with itself.
    """

    algorithm: str
    digest: str
    lengths: dict[str, str] = Field(default_factory=dict)
    opened: bool | None = None
    note: str = ""


class Vectors(Record):
    """The fixed inputs' outputs, of every algorithm that the library offers."""

    seed: str
    defaults: dict[str, str] = Field(default_factory=dict)
    families: tuple[VectorFamily, ...] = ()
