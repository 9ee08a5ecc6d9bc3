"""A Docker daemon of our own, for a machine that has Docker Engine installed and none running.

Its data lie in the state directory; its socket and what lives only while it runs in ``/run/crossmatrix-<hash>``, since
a socket's path may have 107 bytes and containerd's sockets lie deeper still. Nothing is connected to its bridge, and
it touches no firewall: containers have no network, and image builds use the host's.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
from filelock import FileLock, Timeout

from crossmatrix.engine.bridge import ensure_bridge, remove_bridge
from crossmatrix.engine.client import Client
from crossmatrix.engine.endpoints import Endpoint
from crossmatrix.engine.mounts import mount_cgroups, unmount_below
from crossmatrix.engine.processes import end, kill_family, program, runs, search_path
from crossmatrix.errors import InfrastructureError, NoEngineError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

START_S = 90.0
STOP_S = 45.0
_PING_S = 10
_SETTLE_S = 10
_DAEMONS = ("dockerd", "containerd")
_TAKEN_OVER = ("registry-mirrors", "insecure-registries", "proxies", "storage-driver")
"""What an administrator may have set in /etc/docker/daemon.json that our daemon needs as well."""


@dataclass(frozen=True, kw_only=True, slots=True)
class EngineStatus:
    """Our own daemon: ``pid`` is None where it does not run; ``url`` is its address; ``log`` its log file."""

    running: bool
    pid: int | None
    url: str
    root: Path
    log: Path


@dataclass(frozen=True, kw_only=True, slots=True)
class Places:
    """Where the parts of our daemon lie."""

    data: Path
    log: Path
    config: Path
    lock: Path
    run: Path
    digest: str

    @classmethod
    def of(cls, home: Path) -> Places:
        """Derive them from the state directory."""
        home = home.resolve()
        digest = hashlib.sha256(os.fsencode(home)).hexdigest()[:10]
        engine = home / "engine"
        return cls(
            data=engine / "data",
            log=engine / "dockerd.log",
            config=engine / "daemon.json",
            lock=home / "locks" / "engine.lock",
            run=Path("/run") / f"crossmatrix-{digest}",
            digest=digest,
        )

    @property
    def endpoint(self) -> Endpoint:
        """The address at which it answers."""
        return Endpoint(url=f"unix://{self.run / 'docker.sock'}", origin="our own daemon", chosen=True, private=True)

    @property
    def pidfile(self) -> Path:
        """The file with its process number."""
        return self.run / "dockerd.pid"


def dockerd() -> str | None:
    """Find the daemon's program, also where sbin is not on the PATH."""
    return program("dockerd", os.environ)


def engine_status(home: Path) -> EngineStatus:
    """Say whether our own daemon runs.

    Args:
        home: state directory.
    """
    places = Places.of(home)
    pid = _pid(places)
    return EngineStatus(
        running=pid is not None and answers(places.endpoint),
        pid=pid,
        url=places.endpoint.url,
        root=places.data,
        log=places.log,
    )


def ensure_private(home: Path, environ: Mapping[str, str], note: Callable[[str], None]) -> Endpoint:
    """Give the address of our own daemon; it is started where it does not run.

    Args:
        home: state directory.
        environ: for proxies and PATH.
        note: gets a line for the user.

    Raises:
        NoEngineError: there is no dockerd, or we are not root.
        InfrastructureError: it does not start; the end of its log is in the message.
    """
    places = Places.of(home)
    if answers(places.endpoint):
        return places.endpoint
    daemon = dockerd()
    if daemon is None or os.geteuid() != 0:
        raise NoEngineError(
            "A daemon of our own needs dockerd and root.",
            hint="`apt-get install docker.io` as root, then give the same command again.",
        )
    with _locked(places):
        if not answers(places.endpoint):
            note(f"No engine runs: starting a Docker daemon of our own (log: {places.log}).")
            _clear(places)
            _start(places, daemon, environ)
    return places.endpoint


def stop_private(home: Path) -> bool:
    """Stop our own daemon, with all its containers, and unmount what it left.

    Args:
        home: state directory.

    Returns:
        Whether it ran.

    Raises:
        InfrastructureError: it cannot be stopped.
    """
    places = Places.of(home)
    if not any(path.exists() for path in (places.data.parent, places.lock, places.run)):
        # Never started here: a folder that is not ours, or not there, gets nothing from us, a lock neither.
        return False
    with _locked(places):
        pid = _pid(places)
        _clear(places)
        remove_bridge(places.digest)
        if places.run.exists():
            shutil.rmtree(places.run, ignore_errors=True)
    return pid is not None


def answers(endpoint: Endpoint) -> bool:
    """Whether an engine answers at an address."""
    if endpoint.socket is not None and not endpoint.socket.exists():
        return False
    client = Client(endpoint, timeout_s=_PING_S)
    try:
        return bool(client.ask("answer", lambda api: api.ping(), again=False))
    except InfrastructureError:
        return False
    finally:
        client.close()


@contextmanager
def _locked(places: Places) -> Iterator[None]:
    """Let one process at a time start or stop the daemon."""
    places.lock.parent.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(places.lock, timeout=START_S + STOP_S):
            yield
    except Timeout as error:
        raise InfrastructureError(
            f"Another process has been starting or stopping our daemon for {START_S + STOP_S:.0f} s ({places.lock}).",
            hint="See what it does, or end it, and try again.",
        ) from error


def _start(places: Places, daemon: str, environ: Mapping[str, str]) -> None:
    """Start the daemon in a session of its own, so that Ctrl-C does not reach it, and wait until it answers."""
    for folder in (places.data, places.run):
        folder.mkdir(parents=True, exist_ok=True, mode=0o711)
    _write_config(places.config)
    mount_cgroups()
    command = [daemon, *_options(places, ensure_bridge(places.digest))]
    # The shell ends at once and prints the daemon's number: nobody here has a child that must be waited for.
    launcher = ["sh", "-c", 'log=$1; shift; "$@" </dev/null >>"$log" 2>&1 & echo $!', "sh", str(places.log), *command]
    variables = {key: value for key, value in environ.items() if not key.startswith(("DOCKER_", "NOTIFY_", "LISTEN_"))}
    variables["PATH"] = search_path(variables)
    told = subprocess.run(
        launcher,
        check=True,
        capture_output=True,
        text=True,
        start_new_session=True,
        cwd="/",
        env=variables,
        timeout=START_S,
    )
    pid = int(told.stdout)
    deadline = time.monotonic() + START_S
    while not answers(places.endpoint):
        if not runs(pid) or time.monotonic() > deadline:
            words = _log_tail(places.log)
            _clear(places)
            raise InfrastructureError(
                f"Our own Docker daemon did not start; the end of {places.log}:\n{words}",
                hint="`invoke doctor` shows what is missing.",
            )
        time.sleep(0.1)


def _options(places: Places, bridge: str) -> list[str]:
    """Give the daemon's options."""
    return [
        f"--config-file={places.config}",
        f"--data-root={places.data}",
        f"--exec-root={places.run / 'exec'}",
        f"--pidfile={places.pidfile}",
        f"--host={places.endpoint.url}",
        f"--bridge={bridge}",
        "--iptables=false",
        "--ip6tables=false",
        "--ip-forward=false",
        "--ip-masq=false",
        "--userland-proxy=false",
        "--shutdown-timeout=5",
    ]


def _write_config(path: Path) -> None:
    """Write the daemon's configuration: an administrator's own must not contradict our options."""
    try:
        given = json.loads(Path("/etc/docker/daemon.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        given = {}
    taken = {key: given[key] for key in _TAKEN_OVER if isinstance(given, dict) and key in given}
    path.write_text(json.dumps(taken) + "\n", encoding="utf-8")


def _log_tail(log: Path) -> str:
    """Give the last lines of a log."""
    try:
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return "  (no log)"
    return "\n".join(f"  {line}" for line in lines[-15:])


def _pid(places: Places) -> int | None:
    """Give the number of the daemon's process, or None; a number that is someone else's by now does not count."""
    try:
        pid = int(places.pidfile.read_text(encoding="ascii"))
        words = psutil.Process(pid).cmdline()
    except (OSError, ValueError, psutil.Error):
        return None
    return pid if f"--pidfile={places.pidfile}" in words else None


def _clear(places: Places) -> None:
    """End what is left of the daemon: itself, containerd, the shims of its containers, mounts, stale files."""
    pid = _pid(places)
    if pid is not None:
        end(pid, STOP_S)
    # After a kill -9 of the daemon its containerd and the containers' shims live on, and hold the data.
    mark = f"{places.run}{os.sep}"
    for process in psutil.process_iter(["name", "cmdline"]):
        words = process.info["cmdline"] or ()
        if (process.info["name"] or "").startswith(_DAEMONS) and any(mark in word for word in words):
            # A shim's children are the processes of its container.
            psutil.wait_procs(kill_family(process.pid), timeout=_SETTLE_S)
    for folder in (places.run, places.data):
        unmount_below(folder)
    for name in ("dockerd.pid", "docker.sock"):
        (places.run / name).unlink(missing_ok=True)
    shutil.rmtree(places.run / "exec", ignore_errors=True)
