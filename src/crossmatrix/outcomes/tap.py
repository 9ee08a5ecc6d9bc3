"""Perl's TAP, as OpenSSL's recipes print it: a plan, results, subtests indented by four, comments.

Outside facts: the TAP 13 specification, Perl's Test::More, and OpenSSL's ``test/testutil`` whose C programs print
subtests (``    ok 1 - test_tbl_standard``) and iterations of them one step deeper.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from crossmatrix.outcomes.faults import main_fault
from crossmatrix.outcomes.last_words import death_words
from crossmatrix.outcomes.lines import last_lines
from crossmatrix.records import OutcomeStatus

if TYPE_CHECKING:
    from collections.abc import Iterable

_RESULT = re.compile(r"^(?P<bad>not )?ok\b(?:\s+(?P<number>\d+))?(?P<rest>(?:\s.*)?)$")
_SUB_RESULT = re.compile(r"^(?P<indent>(?: {4})+)(?P<bad>not )?ok\s+(?P<number>\d+)(?:\s+-)?\s*(?P<rest>.*)$")
_PLAN = re.compile(r"^1\.\.(?P<count>\d{1,9})(?:\s*#\s*skip\w*\s*(?P<reason>.*))?\s*$", re.IGNORECASE)
_DIRECTIVE = re.compile(r"(?<!\\)#\s*(?P<word>skip|todo)\w*:?\s*(?P<reason>.*)$", re.IGNORECASE)
_BAIL = re.compile(r"^\s*Bail out!\s*(?P<reason>.*)$")
_NAMED_SUBCASES = 5
_STEP = 4


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """One result line. ``name`` is its description, or ``case N`` where it has none."""

    name: str
    status: OutcomeStatus
    cause: str = ""
    output: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Tap:
    """A TAP stream read.

    Attributes:
        cases: results of the outermost level, in order.
        planned: how many the plan promised; None where there was no plan.
        skipped: why the whole file was skipped; None where it was not.
        bailed: the words of ``Bail out!``; None where there was none.
        pending: what was printed after the last result.
    """

    cases: tuple[Case, ...]
    planned: int | None
    skipped: str | None
    bailed: str | None
    pending: tuple[str, ...]


@dataclass(slots=True)
class _Reader:
    """What is known while lines come in."""

    cases: list[Case] = field(default_factory=list)
    planned: int | None = None
    skipped: str | None = None
    bailed: str | None = None
    printed: list[str] = field(default_factory=list)
    bad_subcases: list[tuple[int, str]] = field(default_factory=list)
    explained: list[str] = field(default_factory=list)
    explaining: bool = False

    def line(self, line: str) -> None:
        """Take one line."""
        plan, result, sub, bail = _PLAN.match(line), _RESULT.match(line), _SUB_RESULT.match(line), _BAIL.match(line)
        if self.explaining and result is None and (not line.strip() or line.startswith("#")):
            self.explained.append(line)
            return
        self.close()
        if plan is not None and self.planned is None:
            self.planned = int(plan["count"])
            self.skipped = plan["reason"] or "no reason given" if self.planned == 0 else None
        elif result is not None:
            self.result(result, line)
        else:
            self.printed.append(line)
            if sub is not None and sub["bad"] and _DIRECTIVE.search(sub["rest"]) is None:
                self.bad_subcases.append((len(sub["indent"]) // _STEP, sub["rest"] or f"case {sub['number']}"))
            if bail is not None and self.bailed is None:
                self.bailed = bail["reason"] or "no reason given"

    def result(self, match: re.Match[str], line: str) -> None:
        """Take a result line of the outermost level."""
        name, status, cause = _read_result(match, len(self.cases) + 1)
        if status is OutcomeStatus.FAILED:
            fault = main_fault(self.printed)
            cause = death_words(fault, self.printed) if fault is not None else _subcases(self.bad_subcases)
            self.explained = [*self.printed, line]
            self.explaining = True
        self.cases.append(Case(name=name, status=status, cause=cause))
        self.printed = []
        self.bad_subcases = []

    def close(self) -> None:
        """Give the failed case before this line what was printed about it."""
        if self.explaining:
            last = self.cases[-1]
            self.cases[-1] = Case(
                name=last.name,
                status=last.status,
                cause=last.cause or "failed without saying why",
                output=last_lines(self.explained),
            )
            self.explaining = False


def read_tap(lines: Iterable[str]) -> Tap:
    """Read the TAP of one test file, whole or cut; what is no TAP belongs to the next result."""
    reader = _Reader()
    for line in lines:
        reader.line(line)
    reader.close()
    return Tap(
        cases=tuple(reader.cases),
        planned=reader.planned,
        skipped=reader.skipped,
        bailed=reader.bailed,
        pending=tuple(reader.printed),
    )


def _read_result(match: re.Match[str], number: int) -> tuple[str, OutcomeStatus, str]:
    rest = match["rest"].strip()
    directive = _DIRECTIVE.search(rest)
    if directive is not None:
        rest = rest[: directive.start()]
    name = rest.strip().removeprefix("- ").strip().replace("\\#", "#")
    name = name if name not in {"", "-"} else f"case {number}"
    bad = match["bad"] is not None
    if directive is None:
        return name, OutcomeStatus.FAILED if bad else OutcomeStatus.PASSED, ""
    reason = directive["reason"].strip() or "no reason given"
    if directive["word"].lower() == "skip":
        return name, OutcomeStatus.SKIPPED, reason
    if bad:
        return name, OutcomeStatus.SKIPPED, f"TODO, fails as upstream expects: {reason}"
    return name, OutcomeStatus.PASSED, f"TODO, passes though upstream expects it to fail: {reason}"


def _subcases(bad: list[tuple[int, str]]) -> str:
    """Name what failed inside: the functions, each with its failed iterations; these are printed first."""
    names: list[str] = []
    inner: list[str] = []
    for depth, name in bad:
        if depth > 1:
            inner.append(name)
        else:
            shown = ", ".join(inner[:_NAMED_SUBCASES]) + (", ..." if len(inner) > _NAMED_SUBCASES else "")
            names.append(f"{name} ({shown})" if inner else name)
            inner = []
    names += inner
    more = f" and {len(names) - _NAMED_SUBCASES} more" if len(names) > _NAMED_SUBCASES else ""
    return "failed: " + ", ".join(names[:_NAMED_SUBCASES]) + more if names else ""
