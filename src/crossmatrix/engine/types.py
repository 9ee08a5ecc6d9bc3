"""The engine as the runner sees it. The real one speaks Docker's API; unit tests bring a fake that is scripted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from contextlib import AbstractContextManager
    from pathlib import Path

    from crossmatrix.catalog import Release

LABEL = "crossmatrix"
"""Prefix of all labels of ours: ``crossmatrix.run``, ``.job``, ``.kind``, ``.home`` (state directory) and ``.pid``."""


@dataclass(frozen=True, kw_only=True, slots=True)
class EngineInfo:
    """What an engine says of itself. ``kind`` is docker or podman; ``root`` its data folder, as the engine names it."""

    url: str
    kind: str
    version: str
    os: str
    architecture: str
    cpus: int
    memory_bytes: int
    root: str
    rootless: bool
    private: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class ImageSpec:
    """An image that may or may not exist; it cannot run.

    Attributes:
        name: of the folder under ``images/``.
        tag: ``crossmatrix/<name>:<first 16 digits of the checksum of all that goes in>``.
        suite: Debian suite of its base.
        needs: specs of images that its Dockerfile copies from.
        sources: releases whose files go into the build context as ``sources/<file>``.
    """

    name: str
    tag: str
    suite: str
    needs: tuple[ImageSpec, ...] = ()
    sources: tuple[Release, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class ImageRef:
    """An image that exists: by id, with what was installed in it (name -> exact version) and that list's digest."""

    name: str
    tag: str
    id: str
    contents: str
    packages: tuple[tuple[str, str], ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class VolumeMount:
    """A named volume at a path in the container."""

    volume: str
    path: str
    read_only: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class ContainerSpec:
    """A container as house rules 2, 3 and 7 want it: no network, no capabilities, limits, labels, an ordinary user.

    ``scratch_bytes`` is the size of the tmpfs at /scratch (mode 1777, HOME lies in it).
    """

    image: ImageRef
    name: str
    labels: Mapping[str, str]
    mounts: tuple[VolumeMount, ...]
    memory_bytes: int
    cpus: float
    processes: int = 2048
    scratch_bytes: int = 2 << 30
    keep: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Exit:
    """How a command ended: its exit code (128+n for a signal), or None where the time limit ended the container."""

    code: int | None
    duration_s: float


class Container(Protocol):
    """A running container."""

    @property
    def id(self) -> str:
        """The engine's id."""

    def put(self, files: Iterable[tuple[str, bytes, bool]]) -> None:
        """Put files in: (absolute path, content, executable), owned by the ordinary user."""

    def put_file(self, source: Path, path: str) -> None:
        """Put one large host file in at an absolute path, streamed."""

    def run(
        self,
        script: str,
        *,
        environment: Mapping[str, str],
        directory: str,
        timeout_s: float,
        on_output: Callable[[bytes], None],
    ) -> Exit:
        """Run ``sh -eu -c script``, its output as it comes; past the limit the whole container is killed."""

    def take(self, folder: str, into: Path) -> tuple[Path, ...]:
        """Copy a folder's regular files out, owned by the caller; also from a killed container."""


class Engine(Protocol):
    """An engine that answers. Every method raises ``InfrastructureError`` when it stops answering."""

    @property
    def info(self) -> EngineInfo:
        """What it is."""

    def image(self, spec: ImageSpec) -> ImageRef | None:
        """Find a built image, or None."""

    def build_image(self, spec: ImageSpec, *, on_line: Callable[[str], None]) -> ImageRef:
        """Build an image, its base and those it needs first."""

    def check_images(self, specs: Iterable[ImageSpec]) -> None:
        """See that the Debian suites of images that are missing exist; raises ``UsageError`` where one does not."""

    def has_volume(self, name: str) -> bool:
        """Whether a named volume exists."""

    def create_volume(self, name: str, labels: Mapping[str, str]) -> None:
        """Create a named volume; that it exists already is not an error."""

    def remove_volume(self, name: str) -> None:
        """Remove a named volume; that there is none is not an error."""

    def container(self, spec: ContainerSpec) -> AbstractContextManager[Container]:
        """Start a container; on leaving it is removed, whatever happened, unless it is to be kept."""

    def stop_containers(self, labels: Mapping[str, str]) -> int:
        """Stop and remove all containers that carry these labels; gives their number."""

    def sweep(self) -> int:
        """Remove the containers that dead runs of this state directory left; gives their number."""

    def free_bytes(self) -> int | None:
        """Free space where the engine keeps its data, or None where that cannot be seen."""
