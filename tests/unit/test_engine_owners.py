"""Whose a container is, what is mounted, where our daemon's files lie."""

from __future__ import annotations

from pathlib import Path

from crossmatrix.engine.creation import Limits
from crossmatrix.engine.mounts import parse_mountinfo
from crossmatrix.engine.owners import BORN_LABEL, HOST_LABEL, PID_LABEL, is_dead, is_live, process_labels
from crossmatrix.engine.private import Places, engine_status

GONE = "4194999"
"""Past the largest process number that Linux gives."""


def test_own_process_lives() -> None:
    """What this process made is alive, and not dead."""
    assert is_live(process_labels())
    assert not is_dead(process_labels())


def test_process_that_is_gone_is_dead() -> None:
    """A number that no process has any more is dead."""
    labels = {**process_labels(), PID_LABEL: GONE}
    assert is_dead(labels)
    assert not is_live(labels)


def test_number_that_was_given_again_is_dead() -> None:
    """The same number with another birth is another process."""
    assert is_dead({**process_labels(), BORN_LABEL: "1.00"})


def test_other_hosts_are_never_dead() -> None:
    """On another host, or in another pid namespace, a number tells nothing: it may live."""
    labels = {**process_labels(), PID_LABEL: GONE, HOST_LABEL: "elsewhere"}
    assert not is_dead(labels)
    assert is_live(labels)


def test_what_has_no_owner_is_neither() -> None:
    """Labels that name no process are neither dead nor alive."""
    assert not is_dead({})
    assert not is_live({})


def test_mountinfo_is_read_with_its_escapes() -> None:
    """Blanks in a mount point are written as octal numbers."""
    text = "36 35 98:0 /mnt1 /a\\040b rw - ext4 /dev/x rw\n37 35 0:1 / /sys rw shared:1 - sysfs x rw\nshort\n"
    assert parse_mountinfo(text) == [Path("/a b"), Path("/sys")]


def test_sockets_are_short_whatever_the_state_directory(tmp_path: Path) -> None:
    """A socket's path stays under 107 bytes, and differs between state directories."""
    deep = tmp_path / "/".join(["a long folder name with blanks"] * 8)
    places = Places.of(deep)
    assert len(str(places.run / "exec" / "containerd" / "containerd-debug.sock")) < 107
    assert places.run != Places.of(tmp_path).run
    assert places.data.is_relative_to(deep)


def test_status_without_a_daemon(tmp_path: Path) -> None:
    """A state directory without a daemon has none running, and asking creates nothing."""
    status = engine_status(tmp_path / "none")
    assert (status.running, status.pid) == (False, None)
    assert not (tmp_path / "none").exists()


def test_limits_that_an_engine_lacks() -> None:
    """A rootless engine on cgroup v1 says that it has no limits; what is not mentioned is there."""
    assert Limits.of({}) == Limits(cpu=True, memory=True, swap=True, processes=True, core=True)
    info = {"CpuCfsQuota": False, "MemoryLimit": False, "SwapLimit": False, "PidsLimit": False}
    expected = Limits(cpu=False, memory=False, swap=False, processes=False, core=False)
    assert Limits.of(info, core=False) == expected
