"""What the library's own test suite said."""

from __future__ import annotations

from enum import StrEnum

from crossmatrix.records.model import Record


class OutcomeStatus(StrEnum):
    """The result of one test case."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"


class Outcome(Record):
    """The result of one test case in one cell.

    ``file`` is the suite's unit (``03-test_internal_asn1`` for OpenSSL, ``aes-test`` for nettle), ``case`` the case
    (empty where the suite reports files alone), ``duration_s`` None where unknown, ``cause`` why it failed or was
    skipped, in the suite's own words, and ``output`` the last lines that a failed case printed.
    """

    file: str
    case: str = ""
    status: OutcomeStatus
    duration_s: float | None = None
    cause: str = ""
    output: str = ""

    @property
    def name(self) -> str:
        """The name that is compared between cells."""
        return f"{self.file}/{self.case}" if self.case else self.file


class SuiteResult(Record):
    """A whole test log read: ``cut`` is empty, or says in what way the log is not whole."""

    outcomes: tuple[Outcome, ...] = ()
    cut: str = ""
    hung: str = ""
