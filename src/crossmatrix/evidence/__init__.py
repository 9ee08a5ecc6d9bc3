"""ELF files, symbols, libraries' own words and plugin counts become evidence; rules say when it proves nothing."""

from crossmatrix.evidence.binary import NotABinaryError, read_binary
from crossmatrix.evidence.capabilities import detected
from crossmatrix.evidence.cores import fault_lines
from crossmatrix.evidence.gather import gather
from crossmatrix.evidence.neighbours import vacuous_by_neighbours
from crossmatrix.evidence.suite_rules import not_in_build
from crossmatrix.evidence.symbols import functions_of, linked_functions
from crossmatrix.evidence.vacuity import unmeasured, vacuous

__all__ = [
    "NotABinaryError",
    "detected",
    "fault_lines",
    "functions_of",
    "gather",
    "linked_functions",
    "not_in_build",
    "read_binary",
    "unmeasured",
    "vacuous",
    "vacuous_by_neighbours",
]
