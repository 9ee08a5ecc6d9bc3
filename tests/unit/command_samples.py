"""Commands as a user gives them, in this process: a small checkout, its state directory, and `invoke` itself."""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from invoke.collection import Collection
from invoke.program import Program
from tests.unit.recipe_samples import FILES, SHA, write
from tests.unit.runner_samples import sound_engine

from crossmatrix.api.workspace import Workspace
from crossmatrix.checksums import sha256_bytes

if TYPE_CHECKING:
    from types import ModuleType

    import pytest
    from tests.unit.fake_engine import FakeEngine

CHECKOUT = Path(__file__).parents[2]
RELEASE = b"a release"
NO_ENGINE = {"DOCKER_HOST": "unix:///nowhere/docker.sock"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Shell:
    """Gives commands in a checkout; what they print is in ``capsys``."""

    workspace: Workspace
    monkeypatch: pytest.MonkeyPatch

    def invoke(self, *words: str) -> int:
        """Do what `invoke WORDS` does; gives the exit code."""
        self.monkeypatch.setattr(sys, "argv", ["invoke", *words])
        try:
            program = Program(namespace=Collection.from_module(self._tasks()))
            program.run(["invoke", *words])
        except SystemExit as end:
            return int(end.code or 0)
        return 0

    def with_engine(self) -> FakeEngine:
        """Let commands find an engine on which all goes well; the jobs' files are not those of these cells."""
        engine = sound_engine()
        engine.images |= {"qemu"}
        self.monkeypatch.setattr(Workspace, "engine", lambda *_words, **_named: engine)
        return engine

    def _tasks(self) -> ModuleType:
        spec = importlib.util.spec_from_file_location("tasks_under_test", CHECKOUT / "tasks.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        module.HERE = self.workspace  # type: ignore[attr-defined]
        return module


def shell(root: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    """Give a checkout whose releases lie in a mirror, without an engine so far."""
    digest = sha256_bytes(RELEASE)
    files = {name: text.replace(SHA, digest) for name, text in FILES.items()}
    files |= {name.replace("image.yaml", "Dockerfile"): "FROM base\n" for name in files if name.endswith("image.yaml")}
    write(root / "checkout", files)
    mirror = root / "mirror"
    mirror.mkdir()
    for name in ("openssl-3.0.20.tar.gz", "openssl-3.0.9.tar.gz", "openssl-3.5.7.tar.gz", "nettle-3.10.2.tar.gz"):
        (mirror / name).write_bytes(RELEASE)
    environ = {**NO_ENGINE, "CROSSMATRIX_HOME": str(root / "state"), "CROSSMATRIX_MIRROR": str(mirror)}
    return Shell(workspace=Workspace.at(root / "checkout", environ), monkeypatch=monkeypatch)
