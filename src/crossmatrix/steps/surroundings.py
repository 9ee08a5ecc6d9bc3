"""The environment that a stage's processes see, and which tests are left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crossmatrix.selectors import facts_of, where_matches

if TYPE_CHECKING:
    from crossmatrix.catalog import Cell, Library

PLAIN = (("HOME", "/scratch"), ("LC_ALL", "C"), ("TZ", "UTC"))
"""What every process gets. PATH is the image's own."""

BUILDING = (("CCACHE_DIR", "/ccache"), ("CCACHE_DEPEND", "1"), ("SOURCE_DATE_EPOCH", "1"))
"""What is added for builds. A fixed date makes two builds of one source the same, and ccache useful.

What is in no cache yet is preprocessed once and not twice, as both libraries list their headers while they compile:
12.9 instead of 15.6 s of CPU time for 90 files of OpenSSL, 11.3 s without ccache.
"""


def build_environment(library: Library) -> tuple[tuple[str, str], ...]:
    """Give the environment of a build's stages."""
    return _merged(PLAIN, BUILDING, library.environment)


def profile_environment(cell: Cell) -> tuple[tuple[str, str], ...]:
    """Give the variables that a profile sets: capabilities and, where there is an emulator, its CPU.

    A variable that is None is unset, so it is not here; one that is "" is here, because it is set.
    """
    variables = tuple((name, value) for name, value in cell.profile.environment if value is not None)
    if cell.profile.cpu and not cell.build.target.native:
        variables += (("QEMU_CPU", cell.profile.cpu),)
    return variables


def suite_environment(cell: Cell) -> tuple[tuple[str, str], ...]:
    """Give the environment of the test suite: the plain one, the library's, and the profile's, which wins."""
    unset = {name for name, value in cell.profile.environment if value is None}
    merged = _merged(PLAIN, cell.build.library.environment, profile_environment(cell))
    return tuple((name, value) for name, value in merged if name not in unset)


def emulator_of(cell: Cell) -> str:
    """Give the command that starts a program of the cell: ``qemu-<arch>``, or nothing on native cells."""
    return "" if cell.build.target.native else f"qemu-{cell.build.target.arch}"


def left_out_tests(cell: Cell) -> tuple[str, ...]:
    """Give the tests (globs) that exclusions of the library leave out of this cell's suite, each once."""
    facts = facts_of(cell)
    tests = (
        test
        for exclusion in cell.build.library.exclusions
        if exclusion.kind == "leave-out" and where_matches(exclusion.where, facts)
        for test in exclusion.tests
    )
    return tuple(dict.fromkeys(tests))


def _merged(*parts: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    return tuple({name: value for part in parts for name, value in part}.items())
