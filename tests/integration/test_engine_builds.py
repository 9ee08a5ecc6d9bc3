"""Images on a real engine."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest
from tests.integration.probe_image import SPECS

from crossmatrix.engine.imagelocks import image_lock
from crossmatrix.errors import InfrastructureError

if TYPE_CHECKING:
    from pathlib import Path

    from crossmatrix.engine import DockerEngine
    from crossmatrix.engine.types import ImageRef


def test_built_image_is_found_with_its_contents(engine: DockerEngine, probe: ImageRef) -> None:
    """An image that was built is found by its tag, with the exact versions that are in it."""
    found = engine.image(SPECS["probe"])
    assert found == probe
    assert dict(probe.packages)["dash"].startswith("0.5")


def test_failed_build_shows_its_last_lines(engine: DockerEngine) -> None:
    """A build that fails is an infrastructure error with the lines that say why."""
    lines: list[str] = []
    with pytest.raises(InfrastructureError, match="the reason stands here"):
        engine.build_image(SPECS["broken"], on_line=lines.append)
    assert "step 3" in lines


def test_second_builder_waits_and_says_so(tmp_path: Path) -> None:
    """Two runs do not build one image twice: the second waits, and says for what."""
    said: list[str] = []
    waiting = threading.Event()

    def tell(line: str) -> None:
        said.append(line)
        waiting.set()

    def second() -> None:
        with image_lock(tmp_path, "crossmatrix/x:1", tell):
            said.append("mine")

    with image_lock(tmp_path, "crossmatrix/x:1", said.append):
        thread = threading.Thread(target=second)
        thread.start()
        assert waiting.wait(30)
    thread.join(30)
    assert list(dict.fromkeys(said)) == ["Waiting for another run, which builds crossmatrix/x:1", "mine"]
