"""Sources: what a user asks for, and how it is fetched, patched and packed."""

from crossmatrix.steps.sources.fetching import Fetched, Fetcher
from crossmatrix.steps.sources.specs import from_option, pinned, source_specs, with_patches
from crossmatrix.steps.sources.versions import available_versions, newest_available

__all__ = [
    "Fetched",
    "Fetcher",
    "available_versions",
    "from_option",
    "newest_available",
    "pinned",
    "source_specs",
    "with_patches",
]
