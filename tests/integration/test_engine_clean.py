"""Cleaning up on a real engine, for a state directory of its own."""

from __future__ import annotations

import os
import uuid
from typing import TYPE_CHECKING

from tests.integration.probe_image import CHECKOUT, PROBE_ROOT

from crossmatrix.api.clean import Cleaned, clean
from crossmatrix.api.doctor import examine
from crossmatrix.engine import CHOICE, connect, creation
from crossmatrix.engine.owners import BORN_LABEL, PID_LABEL, process_labels
from crossmatrix.engine.types import ContainerSpec

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from crossmatrix.engine import DockerEngine
    from crossmatrix.engine.types import ImageRef


def _spec(probe: ImageRef) -> ContainerSpec:
    name = f"crossmatrix-test-{uuid.uuid4().hex[:12]}"
    return ContainerSpec(
        image=probe,
        name=name,
        labels={"crossmatrix.run": name},
        mounts=(),
        memory_bytes=64 << 20,
        cpus=1.0,
        keep=True,
    )


def _clean(engine: DockerEngine, home: Path, *, dry_run: bool = False) -> Cleaned:
    return clean(engine, home, dry_run=dry_run, older_than_s=None, keep_bytes=None, everything=False)


def test_clean_removes_ours_and_keeps_the_living(
    engine: DockerEngine,
    probe: ImageRef,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A dry run names what a clean then removes; a living run's container stays, and so does its volume."""
    volume = f"crossmatrix-test-{uuid.uuid4().hex[:12]}"
    environ = {**os.environ, "DOCKER_HOST": engine.info.url, CHOICE: "auto"}
    with connect(environ, tmp_path, root=PROBE_ROOT) as here:
        here.create_volume(volume, {})
        live, dead = _spec(probe), _spec(probe)
        with here.container(live):
            with monkeypatch.context() as patch:
                gone = {**process_labels(), PID_LABEL: "4194999", BORN_LABEL: "1.00"}
                patch.setattr(creation, "process_labels", lambda: gone)
                with here.container(dead):
                    pass
            named = _clean(here, tmp_path, dry_run=True)
            done = _clean(here, tmp_path)
        assert [item.name for item in named.removed] == [item.name for item in done.removed] == [dead.name]
        assert {item.name for item in done.kept} == {live.name, volume}
        assert here.stop_containers(live.labels) == 1
        left = _clean(here, tmp_path)
        assert [(item.kind, item.name, item.size_bytes) for item in left.removed] == [("volume", volume, 0)]
        assert not here.has_volume(volume)


def test_doctor_sees_the_engine(engine: DockerEngine, tmp_path: Path) -> None:
    """With a real engine no row is missing, and the engine's has its version."""
    rows = examine({**os.environ, "DOCKER_HOST": engine.info.url, CHOICE: "auto"}, tmp_path, CHECKOUT)
    by_name = {row.name: row for row in rows}
    assert engine.info.version in by_name["engine"].detail
    assert {row.name for row in rows if row.status == "missing"} <= {"recipes"}
