"""What is ours in an engine: containers, volumes and images that carry our labels, with sizes and ages."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from crossmatrix.engine.creation import remove
from crossmatrix.engine.faults import GoneError
from crossmatrix.engine.owners import HOME_LABEL, IMAGE_LABEL, KIND_LABEL, PID_LABEL

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crossmatrix.engine.client import Client

CONTAINER, VOLUME, IMAGE = "container", "volume", "image"


@dataclass(frozen=True, kw_only=True, slots=True)
class Belonging:
    """One thing of ours in an engine.

    Attributes:
        kind: ``container``, ``volume`` or ``image``.
        id: by which the engine knows it.
        name: for a person.
        labels: all that it carries.
        created: seconds since the epoch, 0 where unknown.
        size_bytes: None where the engine does not say.
    """

    kind: str
    id: str
    name: str
    labels: Mapping[str, str]
    created: float
    size_bytes: int | None

    @property
    def unfinished(self) -> bool:
        """Whether it is an image without a name: what a build that failed, or that still works, has made so far."""
        return self.kind == IMAGE and self.name.startswith("<")

    @property
    def home(self) -> str:
        """The state directory that it belongs to."""
        return self.labels.get(HOME_LABEL, "")


def belongings(client: Client) -> tuple[Belonging, ...]:
    """List everything of ours in an engine, of all state directories.

    Raises:
        InfrastructureError: the engine does not answer.
    """
    return (*_containers(client), *_volumes(client), *_images(client))


def remove_belonging(client: Client, item: Belonging) -> None:
    """Remove one thing; that it is gone is not an error.

    Raises:
        InfrastructureError: it is in use, or the engine does not answer.
    """
    if item.kind == CONTAINER:
        remove(client, item.id)
        return
    try:
        if item.kind == VOLUME:
            client.ask(f"remove volume {item.name}", lambda api: api.remove_volume(item.id))
        else:
            # By name where it has one: by id the engine refuses an image that has two.
            name = item.id if item.unfinished else item.name
            client.ask(f"remove image {item.name}", lambda api: api.remove_image(name))
    except GoneError:
        return


def _containers(client: Client) -> list[Belonging]:
    """List containers that we started; what others run from an image of ours has only that image's labels."""
    rows = client.ask(
        "list containers",
        lambda api: api.containers(all=True, filters={"label": [HOME_LABEL, PID_LABEL]}),
    )
    return [
        Belonging(
            kind=CONTAINER,
            id=str(row["Id"]),
            name=str((row.get("Names") or [row["Id"][:12]])[0]).lstrip("/"),
            labels=row.get("Labels") or {},
            created=float(row.get("Created") or 0),
            size_bytes=None,
        )
        for row in rows
    ]


def _volumes(client: Client) -> list[Belonging]:
    """List volumes; the engine measures them only together with all else that it has."""
    answer = client.ask("list volumes", lambda api: api.volumes(filters={"label": [HOME_LABEL]}))
    rows = answer.get("Volumes") or []
    sizes = _volume_sizes(client) if rows else {}
    return [
        Belonging(
            kind=VOLUME,
            id=str(row["Name"]),
            name=str(row["Name"]),
            labels=row.get("Labels") or {},
            created=_time(str(row.get("CreatedAt") or "")),
            size_bytes=sizes.get(str(row["Name"])),
        )
        for row in rows
    ]


def _volume_sizes(client: Client) -> dict[str, int]:
    """Give the sizes of all volumes."""
    rows = client.ask("measure volumes", lambda api: api.df()).get("Volumes") or []
    sizes = {str(row["Name"]): int((row.get("UsageData") or {}).get("Size", -1)) for row in rows}
    return {name: size for name, size in sizes.items() if size >= 0}


def _images(client: Client) -> list[Belonging]:
    """List images, newest first, so that what is built on another is removed before it.

    Of one second, those without a name first: removing the name of an image with others on it would leave it without.
    """
    rows = client.ask(
        "list images",
        lambda api: api.images(filters={"label": [f"{KIND_LABEL}=image", IMAGE_LABEL, HOME_LABEL]}),
    )
    found = [
        Belonging(
            kind=IMAGE,
            id=str(row["Id"]),
            name=name if name != "<none>:<none>" else f"<unfinished {str(row['Id'])[7:19]}>",
            labels=row.get("Labels") or {},
            created=float(row.get("Created") or 0),
            size_bytes=int(row.get("Size") or 0),
        )
        for row in rows
        for name in row.get("RepoTags") or ["<none>:<none>"]
    ]
    return sorted(found, key=lambda item: (-item.created, not item.unfinished))


def _time(text: str) -> float:
    """Read a time as the engine writes it, 0 where it cannot be read."""
    try:
        return datetime.fromisoformat(text).timestamp()
    except ValueError:
        return 0.0
