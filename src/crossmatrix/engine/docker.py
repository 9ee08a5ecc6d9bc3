"""The engine that speaks Docker's API: what the runner asks for, put together from its parts."""

from __future__ import annotations

import shutil
import socket
from typing import TYPE_CHECKING, Self

from crossmatrix.engine.client import check_version, describe
from crossmatrix.engine.creation import Limits, labelled, remove_all, started, sweep
from crossmatrix.engine.faults import GoneError
from crossmatrix.engine.images import Images
from crossmatrix.engine.owners import HOME_LABEL, process_labels

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from contextlib import AbstractContextManager
    from pathlib import Path

    from crossmatrix.catalog import Release
    from crossmatrix.engine.client import Client
    from crossmatrix.engine.containers import LiveContainer
    from crossmatrix.engine.types import ContainerSpec, EngineInfo, ImageRef, ImageSpec


class DockerEngine:
    """An engine that answered. Can be shared between threads."""

    def __init__(
        self,
        client: Client,
        *,
        home: Path,
        root: Path,
        environ: Mapping[str, str],
        source_file: Callable[[Release], Path] | None = None,
    ) -> None:
        self.client = client
        self._home = home.absolute()
        version = client.ask("say its version", lambda api: api.version(api_version=False))
        check_version(version, client.endpoint)
        info = client.ask("describe itself", lambda api: api.info())
        self._info = describe(version, info, client.endpoint)
        self._mapped = self._info.rootless or self._info.kind == "podman"
        self._limits = Limits.of(info, core=not self._mapped)
        # The engine's folder can be looked at only where the engine runs on this machine, not in a machine of its own.
        self._here = client.endpoint.socket is not None and info.get("Name") == socket.gethostname()
        self._images = Images(
            client,
            home=self._home,
            root=root,
            environ=environ,
            private=self._info.private,
            source_file=source_file,
        )

    @property
    def info(self) -> EngineInfo:
        """What it is."""
        return self._info

    @property
    def home_label(self) -> str:
        """The value of the label that names our state directory."""
        return str(self._home)

    def close(self) -> None:
        """Close all connections."""
        self.client.close()

    def image(self, spec: ImageSpec) -> ImageRef | None:
        """Find a built image, or None."""
        return self._images.find(spec)

    def build_image(self, spec: ImageSpec, *, on_line: Callable[[str], None]) -> ImageRef:
        """Build an image, its base and those it needs first; one that exists is taken as it is."""
        return self._images.build(spec, on_line)

    def check_images(self, specs: Iterable[ImageSpec]) -> None:
        """See that the Debian suites of images that are missing exist, before anything is built."""
        self._images.check(specs)

    def has_volume(self, name: str) -> bool:
        """Whether a named volume exists."""
        try:
            self.client.ask(f"look at volume {name}", lambda api: api.inspect_volume(name))
        except GoneError:
            return False
        return True

    def create_volume(self, name: str, labels: Mapping[str, str]) -> None:
        """Create a named volume; that it exists already is not an error."""
        given = {HOME_LABEL: self.home_label, **process_labels(), **labels}
        self.client.ask(f"create volume {name}", lambda api: api.create_volume(name, labels=given))

    def remove_volume(self, name: str) -> None:
        """Remove a named volume; that there is none is not an error."""
        try:
            self.client.ask(f"remove volume {name}", lambda api: api.remove_volume(name))
        except GoneError:
            return

    def container(self, spec: ContainerSpec) -> AbstractContextManager[LiveContainer]:
        """Start a container; on leaving it is removed, whatever happened, unless it is to be kept."""
        return started(
            self.client,
            spec,
            limits=self._limits,
            home=self.home_label,
            chown=self._mapped,
        )

    def stop_containers(self, labels: Mapping[str, str]) -> int:
        """Stop and remove all containers that carry these labels, kept ones too; gives their number."""
        return remove_all(self.client, [container_id for container_id, _ in labelled(self.client, labels)])

    def sweep(self) -> int:
        """Remove containers that dead runs of this state directory left; gives their number."""
        return sweep(self.client, self.home_label)

    def free_bytes(self) -> int | None:
        """Free space where the engine keeps its data, or None where that cannot be seen."""
        if not self._here or not self._info.root:
            return None
        try:
            return shutil.disk_usage(self._info.root).free
        except OSError:
            return None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
