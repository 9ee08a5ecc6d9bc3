"""Why a green cell may prove nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crossmatrix.evidence.binary_rules import wrong_assembly, wrong_binary, wrong_library
from crossmatrix.evidence.execution_rules import (
    assembly_did_not_run,
    capabilities_not_as_asked,
    classes_not_as_detected,
    environment_without_effect,
    not_emulated,
)
from crossmatrix.evidence.gather import NO_COUNTS
from crossmatrix.evidence.suite_rules import figures_not_whole, tests_did_not_run, vectors_not_whole

if TYPE_CHECKING:
    from crossmatrix.catalog import Cell
    from crossmatrix.records import Evidence, Figures, SuiteResult, Vectors

RULES = (
    wrong_binary,
    not_emulated,
    wrong_library,
    wrong_assembly,
    assembly_did_not_run,
    environment_without_effect,
    capabilities_not_as_asked,
    classes_not_as_detected,
)
"""The rules on a cell and its evidence, the gravest first: the first reason is what the report shows."""

MEASURED_RULES = (
    wrong_binary,
    wrong_library,
    wrong_assembly,
    environment_without_effect,
    capabilities_not_as_asked,
)
"""Those of them that need no counts of the fixed workload, which a cell that is measured does not run."""


def vacuous(cell: Cell, evidence: Evidence, *, suite: SuiteResult | None, vectors: Vectors | None) -> tuple[str, ...]:
    """Find every reason why this cell's green would prove nothing.

    Args:
        cell: what its name says.
        evidence: what ``gather`` found.
        suite: its test log read.
        vectors: its outputs for the fixed inputs; None where there are none.

    Returns:
        Sentences for a user, the gravest first; empty where the evidence is sound. Whatever is ``missing`` from the
        evidence is a reason too.
    """
    reasons = [reason for rule in RULES for reason in rule(cell, evidence)]
    reasons += tests_did_not_run(suite)
    reasons += vectors_not_whole(vectors)
    reasons += evidence.missing
    return tuple(dict.fromkeys(reasons))


def unmeasured(cell: Cell, evidence: Evidence, figures: Figures | None) -> tuple[str, ...]:
    """Find every reason why a measured cell's figures are not those of what its name says, or not all there.

    Args:
        cell: what its name says.
        evidence: what ``gather`` found.
        figures: its measurements; None where there are none.
    """
    reasons = [reason for rule in MEASURED_RULES for reason in rule(cell, evidence)]
    reasons += figures_not_whole(figures)
    reasons += (reason for reason in evidence.missing if reason != NO_COUNTS)
    return tuple(dict.fromkeys(reasons))
