"""From the axes of a matrix to its cells: selected, left out with a reason, explained."""

from crossmatrix.matrix.cells import find_matrix, matrices_with
from crossmatrix.matrix.expand import Expansion, LeftOut, expand
from crossmatrix.matrix.sources import fallback_note, pinned_source, series_of

__all__ = [
    "Expansion",
    "LeftOut",
    "expand",
    "fallback_note",
    "find_matrix",
    "matrices_with",
    "pinned_source",
    "series_of",
]
