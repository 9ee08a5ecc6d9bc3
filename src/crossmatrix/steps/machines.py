"""ELF's numbers for a target, as the header of every object carries them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elftools.elf.enums import ENUM_E_MACHINE

from crossmatrix.catalog import Endian
from crossmatrix.errors import UsageError, nearest

if TYPE_CHECKING:
    from crossmatrix.catalog import Target


def elf_numbers(target: Target) -> tuple[int, int, int]:
    """Give ELF class (1: 32 bits, 2: 64), byte order (1: little, 2: big) and machine of a target.

    Raises:
        UsageError: ELF knows no such machine.
    """
    machine = ENUM_E_MACHINE.get(target.machine)
    if not isinstance(machine, int):
        names = (name for name in ENUM_E_MACHINE if str(name).startswith("EM_"))
        raise UsageError(f"target {target.name}: ELF has no machine {target.machine}; {nearest(target.machine, names)}")
    return (2 if target.bits == 64 else 1, 2 if target.endian is Endian.BIG else 1, machine)  # noqa: PLR2004
