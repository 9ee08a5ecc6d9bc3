"""A network bridge of our own for our own daemon. Nothing is ever connected to it.

``dockerd --bridge=none`` deletes the interface docker0 when it starts, and with it the network of another daemon on
the same machine (removeDefaultBridgeInterface in moby's daemon/daemon_unix.go). A daemon that has a bridge of its own
does not. Made by ioctl, as ``brctl`` does (linux/sockios.h), since neither brctl nor ip need be installed.
"""

from __future__ import annotations

import fcntl
import socket
import struct
from pathlib import Path

from crossmatrix.errors import InfrastructureError

NONE = "none"
_ADD, _DELETE = 0x89A0, 0x89A1
_SET_ADDRESS, _SET_MASK, _GET_FLAGS, _SET_FLAGS = 0x8916, 0x891C, 0x8913, 0x8914
_UP = 1
_INTERFACES = Path("/sys/class/net")
_BLOCKS = 64


def bridge_name(digest: str) -> str:
    """Name the bridge of a state directory; an interface's name has 15 letters at most."""
    return f"cm{digest[:10]}"


def ensure_bridge(digest: str) -> str:
    """Create the bridge of a state directory where it is missing.

    Args:
        digest: of the state directory's path, hex.

    Returns:
        Its name, or ``none`` on a machine that can have no bridge, and so has no docker0 to lose.

    Raises:
        InfrastructureError: it cannot be created, and another daemon's docker0 is there.
    """
    name = bridge_name(digest)
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
            if not (_INTERFACES / name).exists():
                fcntl.ioctl(control, _ADD, _text(name))
            fcntl.ioctl(control, _SET_ADDRESS, _address(name, f"169.254.77.{1 + 4 * (int(digest[:8], 16) % _BLOCKS)}"))
            fcntl.ioctl(control, _SET_MASK, _address(name, "255.255.255.252"))
            _switch(control, name, up=True)
    except OSError as error:
        if (_INTERFACES / "docker0").exists():
            raise InfrastructureError(
                f"The network bridge {name} of our own daemon cannot be created: {error.strerror}. Without one, "
                "the daemon would take away the bridge docker0 of another daemon, so it is not started.",
                hint="Start that other daemon, or remove docker0 if there is none: ip link delete docker0",
            ) from error
        return NONE
    return name


def remove_bridge(digest: str) -> None:
    """Remove the bridge of a state directory; that there is none is not an error."""
    name = bridge_name(digest)
    if not (_INTERFACES / name).exists():
        return
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
            _switch(control, name, up=False)
            fcntl.ioctl(control, _DELETE, _text(name))
    except OSError as error:
        raise InfrastructureError(f"The network bridge {name} cannot be removed: {error.strerror}") from error


def _switch(control: socket.socket, name: str, *, up: bool) -> None:
    """Switch an interface on or off."""
    answer = fcntl.ioctl(control, _GET_FLAGS, struct.pack("16sh14x", name.encode(), 0))
    flags = struct.unpack("16sh14x", answer)[1]
    fcntl.ioctl(control, _SET_FLAGS, struct.pack("16sh14x", name.encode(), flags | _UP if up else flags & ~_UP))


def _text(name: str) -> bytes:
    """Write a name as C does."""
    return name.encode() + b"\0"


def _address(name: str, address: str) -> bytes:
    """Write a ``struct ifreq`` with an IPv4 address."""
    return struct.pack("16sHH4s16x", name.encode(), socket.AF_INET, 0, socket.inet_aton(address))
