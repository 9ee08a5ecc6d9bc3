"""What the analysis found by holding cells against each other."""

from __future__ import annotations

from enum import StrEnum

from crossmatrix.records.model import Record


class FindingKind(StrEnum):
    """What a finding is about; those in ``SERIOUS`` make a run end with exit code 1."""

    REFERENCE_PARITY = "reference-parity"
    REFERENCE_EMPTY = "reference-empty"
    DIFFERENT_RESULT = "different-result"
    DIFFERENT_DEFAULT = "different-default"
    NOT_OPENED = "not-opened"
    FEWER_TESTS = "fewer-tests"
    NEVER_EXECUTED = "never-executed"
    AXIS_WITHOUT_EFFECT = "axis-without-effect"
    EXCLUSION_EXPIRED = "exclusion-expired"
    REPEATED_WARNING = "repeated-warning"


class Finding(Record):
    """One thing that the cells show together. ``axis`` is ``assembly``, ``endian``, ``compiler``, ... or empty."""

    kind: FindingKind
    serious: bool
    axis: str = ""
    subject: str = ""
    cells: tuple[str, ...] = ()
    message: str
