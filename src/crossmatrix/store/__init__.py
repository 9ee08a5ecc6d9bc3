"""The state directory: results by job key, runs with their records, locks."""

from crossmatrix.store.atomic import write_bytes, write_text
from crossmatrix.store.results import JobResult, Results
from crossmatrix.store.runs import Runs
from crossmatrix.store.state import TREE, State, is_state

__all__ = ["TREE", "JobResult", "Results", "Runs", "State", "is_state", "write_bytes", "write_text"]
