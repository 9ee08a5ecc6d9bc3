"""How a container is created, and that it is removed again, whatever happened."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from docker.types import Mount, Ulimit

from crossmatrix.engine.containers import USER, LiveContainer
from crossmatrix.engine.faults import GoneError
from crossmatrix.engine.owners import HOME_LABEL, KEEP_LABEL, KIND_LABEL, is_dead, process_labels
from crossmatrix.errors import InfrastructureError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from docker import APIClient

    from crossmatrix.engine.client import Client
    from crossmatrix.engine.types import ContainerSpec, VolumeMount

_SMALL_TMP_BYTES = 512 << 20


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """Which limits an engine can set: rootless engines on cgroup v1, and some kernels, have none."""

    cpu: bool
    memory: bool
    swap: bool
    processes: bool
    core: bool

    @classmethod
    def of(cls, info: Mapping[str, object], *, core: bool = True) -> Limits:
        """Read them from the engine's answer to ``/info``; what it does not mention it has.

        Args:
            info: the answer.
            core: whether the limit on core files can be set; it says nothing of that.
        """
        return cls(
            cpu=bool(info.get("CpuCfsQuota", True)),
            memory=bool(info.get("MemoryLimit", True)),
            swap=bool(info.get("SwapLimit", True)),
            processes=bool(info.get("PidsLimit", True)),
            core=core,
        )


@contextmanager
def started(client: Client, spec: ContainerSpec, *, limits: Limits, home: str, chown: bool) -> Iterator[LiveContainer]:
    """Create and start a container; on leaving it is removed unless it is to be kept.

    Args:
        client: of the engine.
        spec: what it is to be.
        limits: that the engine can set.
        home: state directory, for the label.
        chown: whether volumes must first be given to the ordinary user (Podman and rootless engines).

    Yields:
        The container, running.

    Raises:
        InfrastructureError: it cannot be created or started.
    """
    if chown:
        _give_volumes(client, spec, limits, home)
    labels = {KIND_LABEL: "job", HOME_LABEL: home, **spec.labels, **process_labels()}
    if spec.keep:
        labels[KEEP_LABEL] = "1"
    answer = client.ask(
        f"create container {spec.name}",
        lambda api: api.create_container(
            spec.image.id,
            ["infinity"],
            entrypoint=["sleep"],
            name=spec.name,
            user=USER,
            hostname="crossmatrix",
            labels=labels,
            environment={"HOME": "/scratch"},
            working_dir="/",
            host_config=_host_config(api, spec, limits),
            network_disabled=True,
        ),
        again=False,
    )
    container_id = str(answer["Id"])
    try:
        client.ask(f"start container {spec.name}", lambda api: api.start(container_id), again=False)
        yield LiveContainer(client, container_id, spec.name)
    finally:
        if not spec.keep:
            remove_at_end(client, container_id)


def _host_config(api: APIClient, spec: ContainerSpec, limits: Limits) -> dict[str, object]:
    """Say what the container may do and use."""
    config: dict[str, object] = api.create_host_config(
        network_mode="none",
        cap_drop=["ALL"],
        security_opt=["no-new-privileges"],
        init=True,
        read_only=True,
        tmpfs={
            "/scratch": f"rw,exec,nosuid,nodev,mode=1777,size={spec.scratch_bytes}",
            "/tmp": f"rw,exec,nosuid,nodev,mode=1777,size={min(spec.scratch_bytes, _SMALL_TMP_BYTES)}",  # noqa: S108
        },
        mounts=[_mount(mount) for mount in spec.mounts],
        ulimits=_ulimits(limits),
        mem_limit=spec.memory_bytes if limits.memory else None,
        memswap_limit=spec.memory_bytes if limits.memory and limits.swap else None,
        nano_cpus=round(spec.cpus * 1e9) if limits.cpu else None,
        pids_limit=spec.processes if limits.processes else None,
    )
    return config


def _ulimits(limits: Limits) -> list[Ulimit]:
    """Give the limits of each process.

    No core files, which would fill the disk; a step that wants one may raise its own limit. Open files alike on every
    engine: Docker's and Podman's own defaults differ, and Podman's cannot be set on every machine.
    """
    files = Ulimit(name="nofile", soft=1024, hard=4096)
    return [files, Ulimit(name="core", soft=0, hard=-1)] if limits.core else [files]


def _mount(mount: VolumeMount) -> Mount:
    """Mount a named volume."""
    return Mount(mount.path, mount.volume, type="volume", read_only=mount.read_only)


def _give_volumes(client: Client, spec: ContainerSpec, limits: Limits, home: str) -> None:
    """Let the ordinary user own the volumes it writes to, by a short container that may do nothing but chown."""
    mounts = [mount for mount in spec.mounts if not mount.read_only]
    if not mounts:
        return
    answer = client.ask(
        f"create container {spec.name}-own",
        lambda api: api.create_container(
            spec.image.id,
            [USER, *(mount.path for mount in mounts)],
            entrypoint=["chown"],
            name=f"{spec.name}-own",
            user="0:0",
            labels={HOME_LABEL: home, **spec.labels, KIND_LABEL: "own", **process_labels()},
            host_config=api.create_host_config(
                network_mode="none",
                cap_drop=["ALL"],
                cap_add=["CHOWN"],
                ulimits=_ulimits(limits),
                mounts=[_mount(mount) for mount in mounts],
            ),
        ),
        again=False,
    )
    container_id = str(answer["Id"])
    try:
        client.ask(f"start container {spec.name}-own", lambda api: api.start(container_id), again=False)
        code = client.ask("wait for chown", lambda api: api.wait(container_id, timeout=60)).get("StatusCode", 0)
        if code != 0:
            # Else the job fails where it first writes, and the library gets the blame.
            raise InfrastructureError(f"The volumes of {spec.name} cannot be given to the user {USER} (chown: {code}).")
    finally:
        remove_at_end(client, container_id)


def remove_at_end(client: Client, container_id: str) -> None:
    """Remove a container; an error on the way out does not hide the one that is already on its way."""
    busy = sys.exc_info()[0] is not None
    try:
        remove(client, container_id)
    except InfrastructureError:
        if not busy:
            raise


def remove(client: Client, container_id: str) -> None:
    """Stop and remove a container at once; that it is gone, or going, is not an error.

    Raises:
        InfrastructureError: the engine does not answer or refuses.
    """
    try:
        client.ask(
            f"remove container {container_id[:12]}", lambda api: api.remove_container(container_id, force=True, v=True)
        )
    except GoneError:
        return
    except InfrastructureError as error:
        if "already in progress" not in error.message:
            raise


def remove_all(client: Client, container_ids: Iterable[str]) -> int:
    """Remove containers side by side.

    Returns:
        Their number.

    Raises:
        InfrastructureError: one of them could not be removed; the others were.
    """
    ids = tuple(container_ids)
    with ThreadPoolExecutor(max_workers=8) as pool:
        for waiting in [pool.submit(remove, client, container_id) for container_id in ids]:
            waiting.result()
    return len(ids)


def labelled(client: Client, labels: Mapping[str, str]) -> tuple[tuple[str, dict[str, str]], ...]:
    """List all containers, running or not, that carry these labels: id and labels.

    Raises:
        InfrastructureError: the engine does not answer.
    """
    wanted = [f"{key}={value}" if value else key for key, value in labels.items()]
    rows = client.ask("list containers", lambda api: api.containers(all=True, filters={"label": wanted}))
    return tuple((str(row["Id"]), dict(row.get("Labels") or {})) for row in rows)


def sweep(client: Client, home: str) -> int:
    """Remove what runs that died in this state directory left running; kept containers stay.

    Returns:
        How many containers were removed.

    Raises:
        InfrastructureError: the engine does not answer.
    """
    dead = [
        container_id
        for container_id, labels in labelled(client, {HOME_LABEL: home})
        if is_dead(labels) and KEEP_LABEL not in labels
    ]
    return remove_all(client, dead)
