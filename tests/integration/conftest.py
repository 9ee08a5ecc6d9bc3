"""A real engine and real images. Where there is neither and none can be had, these tests fail: nothing is skipped."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.integration.probe_image import CHECKOUT, PROBE_ROOT, SPECS

from crossmatrix.engine import connect, engine_status, stop_private

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from crossmatrix.engine import DockerEngine
    from crossmatrix.engine.types import ImageRef


@pytest.fixture(scope="session")
def state_home() -> Path:
    """Give the user's own state directory: images are built once for tests and runs, and so is a daemon's data."""
    named = os.environ.get("CROSSMATRIX_HOME", "")
    return Path(named).expanduser().absolute() if named else CHECKOUT / ".crossmatrix"


@pytest.fixture(scope="session")
def engine(state_home: Path) -> Iterator[DockerEngine]:
    """Give an engine: one that runs, or a daemon of our own, which is stopped again if it was started here."""
    ran = engine_status(state_home).running
    with connect(os.environ, state_home, root=PROBE_ROOT, note=print) as connected:
        yield connected
    if connected.info.private and not ran:
        stop_private(state_home)


@pytest.fixture(scope="session")
def probe(engine: DockerEngine) -> ImageRef:
    """Give a small image, built in a second once its base is there."""
    return engine.build_image(SPECS["probe"], on_line=print)


@pytest.fixture(scope="session")
def images(engine: DockerEngine) -> Mapping[str, ImageRef]:
    """Give the project's own images by name; what is missing is built."""
    # Here and not above: the tests of the engine alone need none of this.
    from crossmatrix.api.workspace import Workspace  # noqa: PLC0415

    workspace = Workspace.at(CHECKOUT, os.environ)
    fetcher = workspace.fetcher(tell=print)
    with workspace.engine(fetcher) as builder:
        assert builder.info.url == engine.info.url
        return {name: builder.build_image(spec, on_line=print) for name, spec in workspace.image_specs().items()}
