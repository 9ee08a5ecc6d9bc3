"""How long a matrix of 10,000 cells takes to expand and to plan, and how that grows.

Measured by the clock, in one process: the recipes of this checkout are multiplied into 25 targets, up to 10 toolchains
and 10 profiles, then expanded to cells, planned into jobs with keys, decided with nothing in the store, and written
as `invoke plan` writes it. No engine is asked and nothing is fetched. The same is done for a tenth of the cells; the
ratio of the two says whether the cost of a cell grows with the matrix (1.0: it does not).

    python benchmarks/plan_10k.py [--root CHECKOUT] [--limit SECONDS]

Exits with 1 where the large matrix takes longer than the limit (3 s is what `invoke plan` must reach).
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from crossmatrix.catalog import MatrixBlock, MatrixRecipe
from crossmatrix.matrix import expand
from crossmatrix.plan import ImageState, JobKind, decide, plan
from crossmatrix.recipes import load_catalog
from crossmatrix.report.tables import render_plan
from crossmatrix.runner.job_steps import JobSteps

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crossmatrix.catalog import Catalog

TARGETS, PROFILES = 25, 10
LARGE, SMALL = 10, 1
"""Numbers of toolchains: with 2 libraries and 2 variants that makes 10,000 cells and 1,000."""


class NothingKept:
    """A store in which there is nothing yet."""

    def has_result(self, key: str) -> bool:  # noqa: ARG002 - a protocol's
        """No result is kept."""
        return False

    def failed(self, key: str) -> bool:  # noqa: ARG002 - a protocol's
        """Nothing failed."""
        return False

    def last_inputs(self, kind: JobKind, job_id: str) -> Mapping[str, str] | None:  # noqa: ARG002 - a protocol's
        """Nothing ran before."""
        return None

    def doubt(self, _key: str) -> str:
        """Nothing is kept, so nothing is doubted."""
        return ""

    def has_tree(self, key: str) -> bool:  # noqa: ARG002 - a protocol's
        """No tree is left."""
        return False


def multiplied(catalog: Catalog, toolchains: int) -> Catalog:
    """Give a catalog with copies of its targets, toolchains and profiles under other names."""
    arch = catalog.targets[0]
    targets = tuple(replace(arch, name=f"{arch.name}{number:02}") for number in range(TARGETS))
    first = catalog.toolchains[0]
    tools = next(tools for tools in first.tools if tools.target == arch.name)
    everywhere = tuple(replace(tools, target=target.name) for target in targets)
    chains = tuple(replace(first, name=f"gcc-{number}", tools=everywhere) for number in range(toolchains))
    default = next(profile for profile in catalog.profiles if profile.name == "default")
    others = (replace(default, name=f"level={n}", environment=(("LEVEL", str(n)),)) for n in range(1, PROFILES))
    profiles = (default, *others)
    block = MatrixBlock(
        libraries=tuple((library.name, library.releases[0].version) for library in catalog.libraries),
        variants=("asm", "no-asm"),
        targets=tuple(target.name for target in targets),
        toolchains=tuple(chain.name for chain in chains),
        profiles=tuple(profile.name for profile in profiles),
    )
    recipe = MatrixRecipe(name="synthetic", description="for a benchmark", blocks=(block,))
    return replace(catalog, targets=targets, toolchains=chains, profiles=profiles, matrices=(recipe,))


def measure(catalog: Catalog, recipes: Path) -> tuple[int, dict[str, float]]:
    """Give the number of cells and the seconds of each step."""
    marks = [time.perf_counter()]
    cells = expand(catalog, "synthetic").cells
    marks.append(time.perf_counter())
    names = {name for cell in cells for name in (cell.build.toolchain.image, cell.emulator.image)}
    images = {name: ImageState(name=name, tag=f"crossmatrix/{name}:0", contents="") for name in names}
    jobs = plan(cells, images, JobSteps(recipes=recipes))
    marks.append(time.perf_counter())
    decisions = decide(jobs, NothingKept())
    marks.append(time.perf_counter())
    render_plan(decisions)
    marks.append(time.perf_counter())
    steps = ("expand", "plan", "decide", "write")
    return len(cells), {step: after - before for step, before, after in zip(steps, marks, marks[1:], strict=False)}


def main() -> int:
    """Measure both matrices and print seconds, microseconds a cell, and their ratio."""
    parser = argparse.ArgumentParser(description="Time expanding and planning 10,000 cells.")
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent, help="a checkout")
    parser.add_argument("--limit", type=float, default=3.0, help="seconds that the large matrix may take")
    arguments = parser.parse_args()
    catalog = load_catalog(arguments.root)
    a_cell: dict[int, float] = {}
    total = 0.0
    for toolchains in (SMALL, LARGE):
        cells, seconds = measure(multiplied(catalog, toolchains), arguments.root / "recipes")
        total = sum(seconds.values())
        a_cell[toolchains] = total / cells
        parts = ", ".join(f"{step} {value:.2f}" for step, value in seconds.items())
        print(f"{cells:6,} cells: {total:.2f} s of time ({parts}); {total / cells * 1e6:.0f} us a cell")
    print(f"a cell in the large matrix against the small one: {a_cell[LARGE] / a_cell[SMALL]:.2f}")
    print(f"limit {arguments.limit:g} s: {'kept' if total <= arguments.limit else 'MISSED'}")
    return 0 if total <= arguments.limit else 1


if __name__ == "__main__":
    sys.exit(main())
