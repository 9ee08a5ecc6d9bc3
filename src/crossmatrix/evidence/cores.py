"""Where a program under qemu-user died: from the core file that qemu leaves beside it.

qemu writes ``qemu_<program>_<date>-<time>_<pid>.core`` into the working directory where the limit on core files is
not 0. Its notes come first, so that the first 64 KiB say all that is needed here.

Outside facts: ``struct elf_prstatus`` of Linux (signal first, general registers after it), as qemu's
``linux-user/elfload.c`` writes it in the target's byte order.
"""

from __future__ import annotations

from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING, Any

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from crossmatrix.evidence.binary import PARSE_ERRORS
from crossmatrix.evidence.symbols import code_symbols, plain_name

if TYPE_CHECKING:
    from collections.abc import Mapping

_PRSTATUS = 1
_PC_AT = {
    "EM_AARCH64": (112 + 32 * 8, 8),
    "EM_X86_64": (112 + 16 * 8, 8),
    "EM_PPC64": (112 + 32 * 8, 8),
    "EM_RISCV": (112, 8),
    "EM_ARM": (72 + 15 * 4, 4),
}
"""Offset and size in bytes of the program counter in the status note."""

_SIGNALS = {4: "SIGILL", 5: "SIGTRAP", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE", 11: "SIGSEGV", 31: "SIGSYS"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Death:
    """A signal, and the address of the instruction at which it came."""

    signal: str
    address: int


def read_core(core: bytes) -> Death | None:
    """Read a core file, or its first 64 KiB; None where it is none, or of a machine that is not known here."""
    try:
        elf = ELFFile(BytesIO(core))
        order = "little" if elf.little_endian else "big"
        place = _PC_AT.get(elf["e_machine"])
        status = _status_note(elf, core, order)
    except PARSE_ERRORS:
        return None
    if place is None or status is None or len(status) < place[0] + place[1]:
        return None
    number = int.from_bytes(status[:4], "little" if order == "little" else "big")
    address = int.from_bytes(status[place[0] : sum(place)], "little" if order == "little" else "big")
    return Death(signal=_SIGNALS.get(number, f"signal {number}"), address=address)


def function_at(program: bytes, address: int) -> str:
    """Give the function of a static program that an address lies in, or an empty text."""
    try:
        elf = ELFFile(BytesIO(program))
        table = elf.get_section_by_name(".symtab")
        if not isinstance(table, SymbolTableSection):
            return ""
        starts = [(symbol["st_value"], symbol["st_size"], name) for name, symbol in code_symbols(elf, table)]
    except PARSE_ERRORS:
        return ""
    sized = [entry for entry in starts if entry[0] <= address < entry[0] + entry[1]]
    before = [entry for entry in starts if entry[0] <= address and not entry[1]]
    nearest = max(sized or before, default=None)
    return plain_name(nearest[2]) if nearest is not None else ""


def fault_lines(files: Mapping[str, bytes], programs: Mapping[str, bytes]) -> tuple[str, ...]:
    """Say where programs died, in lines that ``outcomes`` reads: ``crossmatrix: fault signal=... pc=...``.

    Args:
        files: content by path of a run job's ``out`` folder; those that end in ``.core`` are looked at.
        programs: static programs by name (``workload``).

    Returns:
        One line a core file that can be read, in the order of their paths.
    """
    lines = []
    for path, data in sorted(files.items()):
        death = read_core(data) if path.endswith(".core") else None
        if death is None:
            continue
        name = path.rpartition("/")[2].removeprefix("qemu_")
        program = max((known for known in programs if name.startswith(known)), key=len, default="")
        symbol = function_at(programs[program], death.address) if program else ""
        pairs = {"signal": death.signal, "pc": f"{death.address:#x}", "symbol": symbol, "program": program}
        words = " ".join(f"{key}={value}" for key, value in pairs.items() if value)
        lines.append(f"crossmatrix: fault {words}")
    return tuple(lines)


def _status_note(elf: Any, core: bytes, order: str) -> bytes | None:  # noqa: ANN401 - pyelftools has no types
    """Find the first status note; the notes are read here, for a cut file's later segments are not there."""
    byteorder: Any = order
    for segment in elf.iter_segments():
        if segment["p_type"] != "PT_NOTE":
            continue
        position, end = segment["p_offset"], min(segment["p_offset"] + segment["p_filesz"], len(core))
        while position + 12 <= end:
            sizes = [int.from_bytes(core[position + at : position + at + 4], byteorder) for at in (0, 4, 8)]
            start = position + 12 + (sizes[0] + 3) // 4 * 4
            if sizes[2] == _PRSTATUS:
                return core[start : start + sizes[1]]
            position = start + (sizes[1] + 3) // 4 * 4
    return None
