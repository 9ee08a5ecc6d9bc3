"""Checksums of values and bytes: the only way in which keys, digests and tags are made."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path


def sha256_bytes(data: bytes) -> str:
    """Give the sha256 of bytes, 64 hex digits."""
    return hashlib.sha256(data).hexdigest()


def sha256_file(path: Path) -> str:
    """Give the sha256 of a file's content, read in pieces."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def sha256_value(value: Mapping[str, object] | Sequence[object]) -> str:
    """Give the sha256 of a JSON-like value, the same whatever the order of its mappings."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return sha256_bytes(text.encode())
