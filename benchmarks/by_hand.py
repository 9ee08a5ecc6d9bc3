"""The same cells by `invoke matrix` and by hand, a shell loop of `docker run`: wall time and CPU time of each.

Measured, one after the other on one machine: our run with an empty state directory (so nothing is cached but the images
and the source files, which both share), then by_hand.sh for each cell in turn, with `make -j2` and the suite's own two
jobs. By hand nothing is collected: no evidence, no vectors, no report. CPU time is that of the whole machine meanwhile
(all processes), so nothing else should work on it. Printed: both, and ours over by hand.

    python benchmarks/by_hand.py [CELLS ...] [--matrix quick]

CELLS are globs over cell ids; without them all cells of the matrix. Needs an engine on this machine, its command-line
client `docker`, and the images (`invoke images`).
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from crossmatrix.api.choosing import choose
from crossmatrix.api.options import Choice
from crossmatrix.api.workspace import Workspace
from crossmatrix.engine import CHOICE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crossmatrix.catalog import Cell

ROOT = Path(__file__).resolve().parents[1]


@dataclass
class Spent:
    """What a piece of work took, in seconds of the wall clock and of all CPUs."""

    wall_s: float = 0.0
    cpu_s: float = 0.0


@contextmanager
def measured() -> Iterator[Spent]:
    """Measure what happens inside."""
    spent = Spent()
    wall, cpu = time.monotonic(), _busy()
    yield spent
    spent.wall_s, spent.cpu_s = time.monotonic() - wall, _busy() - cpu


def _busy() -> float:
    times = psutil.cpu_times()
    return float(times.user + times.nice + times.system + times.irq + times.softirq)


def invoke(environ: dict[str, str], *words: str) -> int:
    """Call a task in the checkout; gives its exit code."""
    return subprocess.run([sys.executable, "-m", "invoke", *words], cwd=ROOT, env=environ, check=False).returncode


def by_hand(cell: Cell, images: dict[str, str], tarball: Path, environ: dict[str, str]) -> int:
    """Do one cell by hand; gives the exit code of the last command."""
    build = cell.build
    words = (
        build.library.name,
        build.variant.name,
        build.toolchain.family,
        build.target.name,
        f"qemu-{build.target.arch}",
        images[build.toolchain.image],
        images[cell.emulator.image],
        str(tarball),
    )
    log = subprocess.DEVNULL
    script = Path(__file__).with_name("by_hand.sh")
    return subprocess.run(["sh", str(script), *words], env=environ, stdout=log, stderr=log, check=False).returncode


def main() -> int:
    """Measure both and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("cells", nargs="*", metavar="CELLS")
    parser.add_argument("--matrix", default="quick")
    options = parser.parse_args()
    workspace = Workspace.at(ROOT, os.environ)
    cells = choose(workspace, Choice(matrix=options.matrix, cells=tuple(options.cells))).cells
    fetcher = workspace.fetcher(tell=print)
    with workspace.engine(fetcher) as engine, tempfile.TemporaryDirectory() as scratch:
        images = {name: spec.tag for name, spec in workspace.image_specs().items()}
        environ = {**os.environ, "DOCKER_HOST": engine.info.url, CHOICE: "auto"}
        mirror = Path(scratch) / "mirror"
        mirror.mkdir()
        tarballs = {}
        for release in {cell.build.source.release for cell in cells if cell.build.source.release}:
            tarballs[release.sha256] = mirror / release.file
            shutil.copyfile(fetcher.release_file(release), mirror / release.file)
        home = {**environ, "CROSSMATRIX_HOME": str(Path(scratch) / "home"), "CROSSMATRIX_MIRROR": str(mirror)}
        with measured() as tool:
            code = invoke(home, "matrix", "--matrix", options.matrix, "--cells", ",".join(cell.id for cell in cells))
        with measured() as hand:
            failed = [cell.id for cell in cells if by_hand(cell, images, tarballs[cell.build.source.digest], environ)]
        invoke(home, "clean")
    print(f"{len(cells)} cells")
    print(f"  invoke matrix: {tool.wall_s:7.0f} s wall, {tool.cpu_s:7.0f} s CPU, exit code {code}")
    print(f"  by hand:       {hand.wall_s:7.0f} s wall, {hand.cpu_s:7.0f} s CPU, {len(failed)} failed {failed or ''}")
    print(f"  ours / by hand: {tool.wall_s / hand.wall_s:.2f} wall, {tool.cpu_s / hand.cpu_s:.2f} CPU")
    return 1 if code or failed else 0


if __name__ == "__main__":
    sys.exit(main())
