"""Whose a container is: labels that name the process which made it, and whether that process still lives."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from crossmatrix.engine.types import LABEL

if TYPE_CHECKING:
    from collections.abc import Mapping

HOME_LABEL = f"{LABEL}.home"
KIND_LABEL = f"{LABEL}.kind"
IMAGE_LABEL = f"{LABEL}.image"
PID_LABEL = f"{LABEL}.pid"
HOST_LABEL = f"{LABEL}.host"
BORN_LABEL = f"{LABEL}.born"
KEEP_LABEL = f"{LABEL}.keep"

_SAME_S = 2.0


def host_id() -> str:
    """Name this boot of this machine and this process's view of process numbers.

    A number means the same process only in one boot and one pid namespace: two containers that share an engine's
    socket must not sweep each other's work.
    """
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        boot = f"{socket.gethostname()}-{int(psutil.boot_time())}"
    try:
        return f"{boot}/{Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        return boot


def process_labels() -> dict[str, str]:
    """Give the labels that name this process: its number, when it was born, and where that number counts."""
    return {PID_LABEL: str(os.getpid()), BORN_LABEL: _born(os.getpid()), HOST_LABEL: host_id()}


def is_dead(labels: Mapping[str, str]) -> bool:
    """Whether the process that made something is gone for certain: same host, and no such process any more."""
    if labels.get(HOST_LABEL) != host_id() or not labels.get(PID_LABEL, "").isdigit():
        return False
    born = _born(int(labels[PID_LABEL]))
    if not born:
        return True
    try:
        return abs(float(labels.get(BORN_LABEL, born)) - float(born)) > _SAME_S
    except ValueError:
        return False


def is_live(labels: Mapping[str, str]) -> bool:
    """Whether something belongs to a process that may still live; on another host we cannot know, so it may."""
    return PID_LABEL in labels and not is_dead(labels)


def _born(pid: int) -> str:
    """Say when a process began, in seconds since the epoch; empty where there is none."""
    try:
        process = psutil.Process(pid)
        return "" if process.status() == psutil.STATUS_ZOMBIE else f"{process.create_time():.2f}"
    except psutil.Error:
        return ""
