"""TAP and nettle logs become outcomes, and a cell's stages, outcomes and evidence become its verdict."""

from crossmatrix.outcomes.case import Case
from crossmatrix.outcomes.faults import Fault, FaultKind, fault_of_exit, faults_in, main_fault, read_words
from crossmatrix.outcomes.suite import parse_suite
from crossmatrix.outcomes.verdicts import Judgement, judge

__all__ = [
    "Case",
    "Fault",
    "FaultKind",
    "Judgement",
    "fault_of_exit",
    "faults_in",
    "judge",
    "main_fault",
    "parse_suite",
    "read_words",
]
