"""The OpenWrt trap: a command's default differs between versions, and what one sealed the other cannot open.

In 2017 an assembly patch was withdrawn because data encrypted by ``openssl enc`` of 1.1 did not decrypt with 1.0. The
assembly was right; the default digest had changed from md5 to sha256. So a default is compared as a default.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING

from crossmatrix.analysis.words import counted
from crossmatrix.records import Finding, FindingKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crossmatrix.records import CellRecord


def default_findings(records: Sequence[CellRecord]) -> Iterator[Finding]:
    """Give one finding for each default that is not the same in all cells of a library, with all its names."""
    defaults: defaultdict[tuple[str, str], dict[str, list[CellRecord]]] = defaultdict(dict)
    for record in records:
        for name, value in record.vectors.defaults.items() if record.vectors else ():
            defaults[record.library, name].setdefault(value, []).append(record)
    for (library, name), values in sorted(defaults.items()):
        if len(values) > 1:
            words = " and ".join(_user(value, cells) for value, cells in sorted(values.items()))
            subject = name if name.startswith(f"{library} ") else f"{library} {name}"
            yield Finding(
                kind=FindingKind.DIFFERENT_DEFAULT,
                serious=False,
                subject=subject,
                cells=tuple(cells[0].id for _, cells in sorted(values.items())),
                message=(
                    f"different default, not corruption: {subject} is {words}; "
                    f"name it explicitly to exchange data between them"
                ),
            )


def _user(value: str, cells: Sequence[CellRecord]) -> str:
    versions = sorted({f"{record.library}-{record.version}" for record in cells})
    where = ", ".join(versions) if len(versions) <= 2 else counted(len(cells), "cell")  # noqa: PLR2004 - names
    return f"{value} in {where} (first {cells[0].id})"


def explained_by_defaults(algorithm: str, groups: Sequence[Sequence[CellRecord]]) -> bool:
    """Say whether a default that the algorithm's name mentions divides the cells just as their outputs do.

    A default named ``openssl enc -md`` or ``enc-digest`` bears on what is named after the command ``enc``:
    ``enc``, ``enc-aes-256-cbc``.

    Args:
        algorithm: whose outputs differ.
        groups: the cells by output; within one group all outputs are the same.
    """
    command = _words(algorithm)[0]
    names = {name for group in groups for record in group if record.vectors for name in record.vectors.defaults}
    for name in sorted(names):
        if command not in _words(name)[:2]:
            continue
        values = [{record.vectors.defaults.get(name) for record in group if record.vectors} for group in groups]
        if all(len(value) == 1 for value in values) and len(frozenset(v for s in values for v in s)) == len(groups):
            return True
    return False


def _words(name: str) -> list[str]:
    return re.split(r"[^a-z0-9]+", name.lower()) or [""]
