"""Two small images for tests of the engine itself: one that builds in a second, one that fails to."""

from __future__ import annotations

from pathlib import Path

from crossmatrix.catalog import Catalog, ImageRecipe
from crossmatrix.engine import image_specs

CHECKOUT = Path(__file__).parents[2]
PROBE_ROOT = CHECKOUT / "tests" / "data"
"""Laid out like a checkout: its ``images/`` has the two folders."""

_CATALOG = Catalog(
    libraries=(),
    targets=(),
    toolchains=(),
    emulators=(),
    profiles=(),
    images=(ImageRecipe(name="probe", suite="bookworm"), ImageRecipe(name="broken", suite="bookworm")),
    matrices=(),
)
SPECS = image_specs(_CATALOG, PROBE_ROOT)
