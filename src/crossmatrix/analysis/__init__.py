"""What cells show when they are held against each other: parity, same results, coverage, cost. Pure."""

from crossmatrix.analysis.compare import compare, differing_axes
from crossmatrix.analysis.comparison import AxisChange, Change, Comparison, CostChange, CostRow, RunComparison
from crossmatrix.analysis.cost import figures_from_bench
from crossmatrix.analysis.coverage import Coverage, coverage
from crossmatrix.analysis.findings import findings
from crossmatrix.analysis.runs import compare_runs
from crossmatrix.analysis.siblings import are_siblings, compiler_family, without_endian

__all__ = [
    "AxisChange",
    "Change",
    "Comparison",
    "CostChange",
    "CostRow",
    "Coverage",
    "RunComparison",
    "are_siblings",
    "compare",
    "compare_runs",
    "compiler_family",
    "coverage",
    "differing_axes",
    "figures_from_bench",
    "findings",
    "without_endian",
]
