"""What runs inside a container, from unpack to bench; and how sources are fetched."""

from crossmatrix.steps.bench import bench_steps
from crossmatrix.steps.builds import build_steps
from crossmatrix.steps.digests import steps_digest
from crossmatrix.steps.runs import run_steps

__all__ = ["bench_steps", "build_steps", "run_steps", "steps_digest"]
