"""From YAML to the catalog; every problem is reported at once, with its file and line."""

from crossmatrix.recipes.convert import version_key
from crossmatrix.recipes.load import load_catalog

__all__ = ["load_catalog", "version_key"]
