"""What is installed in an image: it says so itself, in a file that its Dockerfile writes."""

from __future__ import annotations

import contextlib
import json
import os
import threading
from typing import TYPE_CHECKING

from crossmatrix.engine.archives import first_file
from crossmatrix.engine.creation import remove_at_end
from crossmatrix.engine.faults import CLIENT_ERRORS, GoneError, translated
from crossmatrix.engine.owners import HOME_LABEL, KIND_LABEL, process_labels
from crossmatrix.errors import InfrastructureError

if TYPE_CHECKING:
    from pathlib import Path

    from crossmatrix.engine.client import Client

PACKAGES = "/etc/crossmatrix/packages.json"


def installed(client: Client, home: Path, tag: str, image_id: str) -> dict[str, str]:
    """Give what is installed in an image; read once, then kept in the state directory.

    Args:
        client: of the engine.
        home: state directory.
        tag: of the image, for messages.
        image_id: of the image.

    Returns:
        Name -> exact version.

    Raises:
        InfrastructureError: the engine does not answer, or the image does not say it.
    """
    kept = home / "images" / f"{image_id.removeprefix('sha256:')}.json"
    try:
        return parse_packages(kept.read_bytes(), tag)
    except (OSError, InfrastructureError):
        data = _read(client, home, tag, image_id)
    packages = parse_packages(data, tag)
    # It can be read again: a disk that is full or read-only is no reason to end.
    with contextlib.suppress(OSError):
        kept.parent.mkdir(parents=True, exist_ok=True)
        # Two threads may look at one image, which others copy from.
        fresh = kept.with_suffix(f".{os.getpid()}-{threading.get_ident()}.tmp")
        fresh.write_bytes(data)
        fresh.replace(kept)
    return packages


def _read(client: Client, home: Path, tag: str, image_id: str) -> bytes:
    """Read the list of packages out of an image, by a container that is never started."""
    labels = {KIND_LABEL: "look", HOME_LABEL: str(home), **process_labels()}
    answer = client.ask(
        f"look into image {tag}",
        lambda api: api.create_container(image_id, ["true"], labels=labels, network_disabled=True),
    )
    container_id = str(answer["Id"])
    try:
        chunks, _ = client.ask(f"read {PACKAGES} of {tag}", lambda api: api.get_archive(container_id, PACKAGES))
        data = first_file(iter(chunks))
    except GoneError as error:
        raise InfrastructureError(f"Image {tag} has no {PACKAGES}: nobody can say what is in it.") from error
    except CLIENT_ERRORS as error:
        raise translated(error, f"read {PACKAGES} of {tag}", client.url) from error
    finally:
        remove_at_end(client, container_id)
    if data is None:
        raise InfrastructureError(f"{PACKAGES} of image {tag} is no file.")
    return data


def parse_packages(data: bytes, tag: str) -> dict[str, str]:
    """Read an image's list of packages: name -> exact version.

    Raises:
        InfrastructureError: it is not such a list.
    """
    try:
        value = json.loads(data)
    except ValueError:
        value = None
    if not isinstance(value, dict) or not value or not all(isinstance(version, str) for version in value.values()):
        raise InfrastructureError(f"{PACKAGES} of image {tag} is not a list of names and versions.")
    return value
