"""Cells -> build and run jobs, their keys and edges, and which of them need not be run."""

from crossmatrix.plan.jobs import Decision, ImageState, Job, JobKind, Plan
from crossmatrix.plan.planning import Known, Scripts, decide, plan

__all__ = ["Decision", "ImageState", "Job", "JobKind", "Known", "Plan", "Scripts", "decide", "plan"]
