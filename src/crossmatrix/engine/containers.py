"""Containers: no network, no capabilities, limits, an ordinary user; commands with a time limit; files in and out."""

from __future__ import annotations

import shlex
import time
from contextlib import contextmanager
from itertools import chain
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, TypeVar

from crossmatrix.engine.archives import pack, unpack
from crossmatrix.engine.faults import CLIENT_ERRORS, GoneError, no_space, translated
from crossmatrix.engine.streams import CHUNK, STDERR, PastLimitError, exec_stream
from crossmatrix.engine.types import Exit
from crossmatrix.errors import InfrastructureError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from docker import APIClient

    from crossmatrix.engine.client import Client
    from crossmatrix.engine.streams import ExecStream

T = TypeVar("T")

USER = "1000:1000"
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
COPY_S = 900.0
KILLED = 137
_SETTLE_S = 15.0
_DRAIN_S = 5


class LiveContainer:
    """A running container. Not to be shared between threads, except for ``kill``."""

    def __init__(self, client: Client, container_id: str, name: str) -> None:
        self._client = client
        self._id = container_id
        self._name = name
        self._killed = False

    @property
    def id(self) -> str:
        """The engine's id."""
        return self._id

    def put(self, files: Iterable[tuple[str, bytes, bool]]) -> None:
        """Put files in: (absolute path, content, executable), owned by the ordinary user.

        By a command that reads them, not by the engine's copy: that cannot write to a tmpfs before Docker 23.

        Raises:
            InfrastructureError: they cannot be written; ``NoSpaceError`` where the disk is full.
        """
        data = pack(files)
        self._send(f"head -c {len(data)} | tar -xmf - -C / --no-same-permissions", len(data), iter((data,)), "put in")

    def put_file(self, source: Path, path: str) -> None:
        """Put one large host file in at an absolute path, streamed.

        Raises:
            InfrastructureError: it cannot be read or written whole.
        """
        size = source.stat().st_size
        target, folder = shlex.quote(path), shlex.quote(str(PurePosixPath(path).parent))
        script = f'mkdir -p {folder} && head -c {size} >{target} && test "$(stat -c %s {target})" = {size}'
        with source.open("rb") as file:
            self._send(script, size, iter(lambda: file.read(CHUNK * 16), b""), f"put in {path}")

    def run(
        self,
        script: str,
        *,
        environment: Mapping[str, str],
        directory: str,
        timeout_s: float,
        on_output: Callable[[bytes], None],
    ) -> Exit:
        """Run ``sh -eu -c script``, its output as it comes; past the limit the whole container is killed.

        Args:
            script: for the shell.
            environment: all that the script sees, besides PATH and HOME where they are not in it.
            directory: in which it starts.
            timeout_s: limit from start to end.
            on_output: gets standard output and errors, in order, in the calling thread.

        Returns:
            The exit code and time; code None where the limit ended the container.

        Raises:
            InfrastructureError: the engine stops answering, or the container is ended by something else.
        """
        variables = {"PATH": PATH, "HOME": "/scratch"} | dict(environment)
        words = ["env", "-i", *(f"{key}={value}" for key, value in variables.items()), "sh", "-eu", "-c", script]
        # One pipe for both: the engine would copy two side by side, and mix up what was printed first.
        command = ["sh", "-c", 'exec 2>&1; exec "$@"', "sh", *words]
        started = time.monotonic()
        try:
            exec_id = self._create(command, directory)
            with self._stream(exec_id) as stream:
                for _, data in stream.frames(started + timeout_s):
                    on_output(data)
        except PastLimitError:
            self.kill()
            return Exit(code=None, duration_s=time.monotonic() - started)
        except CLIENT_ERRORS as error:
            raise translated(error, f"follow a command in {self._name}", self._client.url) from error
        duration_s = time.monotonic() - started
        return Exit(code=self._exit_code(exec_id), duration_s=duration_s)

    def take(self, folder: str, into: Path) -> tuple[Path, ...]:
        """Copy a folder's regular files out, owned by the caller; also from a killed container.

        A killed container has lost its /scratch; what lies in volumes can still be had.

        Args:
            folder: absolute, in the container.
            into: on this side; made where there is none.

        Returns:
            The files written, none where there is no such folder.

        Raises:
            InfrastructureError: the engine stops answering, or what comes out is damaged or far too large.
        """
        if not self._killed and self._running():
            return self._take_running(folder, into)
        try:
            chunks, _ = self._ask(f"read {folder}", lambda api: api.get_archive(self._id, folder))
        except GoneError:
            return ()
        try:
            return unpack(iter(chunks), into, strip=1)
        except CLIENT_ERRORS as error:
            raise translated(error, f"read {folder} of {self._name}", self._client.url) from error

    def kill(self) -> None:
        """End every process in it at once; that it ended already is not an error."""
        self._killed = True
        try:
            self._ask("kill", lambda api: api.kill(self._id))
        except InfrastructureError:
            if self._running():
                raise

    def _take_running(self, folder: str, into: Path) -> tuple[Path, ...]:
        """Take files out by a command: the engine's copy does not see a tmpfs."""
        place = shlex.quote(folder)
        script = f"test -d {place} || exit 0; tar -cf - --hard-dereference -C {place} . || test $? = 1"
        errors = bytearray()
        try:
            exec_id = self._create(["sh", "-c", script], "/")
            with self._stream(exec_id) as stream:
                frames = stream.frames(time.monotonic() + COPY_S)
                first = next(frames, None)
                if first is None:
                    self._settle(exec_id, f"read {folder}", errors)
                    return ()
                files = unpack(_output(first, frames, errors), into)
                errors += b"".join(data for number, data in frames if number == STDERR)
        except PastLimitError as error:
            raise InfrastructureError(f"Reading {folder} of {self._name} took over {COPY_S:.0f} s.") from error
        except CLIENT_ERRORS as error:
            raise translated(error, f"read {folder} of {self._name}", self._client.url) from error
        self._settle(exec_id, f"read {folder}", errors)
        return files

    def _send(self, script: str, size: int, chunks: Iterator[bytes], doing: str) -> None:
        """Run a short script that reads ``size`` bytes from its standard input."""
        said = bytearray()
        # A script that failed reads on, so that its words are not lost with a connection that breaks off.
        patient = f"{{ {script}; }} || {{ code=$?; timeout {_DRAIN_S} cat >/dev/null; exit $code; }}"
        try:
            exec_id = self._create(["sh", "-c", patient], "/", stdin=True)
            with self._stream(exec_id) as stream:
                for chunk in chunks:
                    stream.write(chunk)
                for _, data in stream.frames(time.monotonic() + COPY_S):
                    said += data
        except PastLimitError as error:
            raise InfrastructureError(f"Putting {size} bytes into {self._name} took over {COPY_S:.0f} s.") from error
        except CLIENT_ERRORS as error:
            raise translated(error, f"{doing} of {self._name}", self._client.url) from error
        self._settle(exec_id, doing, said)

    def _settle(self, exec_id: str, doing: str, said: bytes | bytearray) -> None:
        """Raise where one of our own short commands failed."""
        code = self._exit_code(exec_id)
        if code == 0:
            return
        words = " ".join(said.decode(errors="replace").split())
        if "no space left" in words.lower():
            raise no_space(f"{doing}, container {self._name}", self._client.url)
        raise InfrastructureError(f"Could not {doing} in container {self._name} (exit code {code}): {words}")

    def _create(self, command: list[str], directory: str, *, stdin: bool = False) -> str:
        """Create a command; it does not start yet."""
        answer = self._ask(
            "prepare a command",
            lambda api: api.exec_create(self._id, command, stdin=stdin, workdir=directory, user=USER),
        )
        return str(answer["Id"])

    @contextmanager
    def _stream(self, exec_id: str) -> Iterator[ExecStream]:
        """Start a command and follow it."""
        api = self._client.ask("say its version", lambda api: api.api_version)
        with exec_stream(self._client.endpoint, api, exec_id) as stream:
            yield stream

    def _exit_code(self, exec_id: str) -> int:
        """Wait for the engine to have noted a command's end: its stream ends a little earlier."""
        deadline = time.monotonic() + _SETTLE_S
        while True:
            state = self._ask("read an exit code", lambda api: api.exec_inspect(exec_id))
            code = state.get("ExitCode")
            if not state.get("Running") and code is not None:
                break
            if time.monotonic() > deadline:
                raise InfrastructureError(f"The engine lost track of a command in container {self._name}.")
            time.sleep(0.02)
        if code == KILLED and not self._running():
            raise InfrastructureError(f"Container {self._name} was ended from outside while a command ran in it.")
        return int(code)

    def _running(self) -> bool:
        """Whether the container runs."""
        try:
            state = self._ask("look at it", lambda api: api.inspect_container(self._id))
        except GoneError:
            return False
        return bool(state["State"]["Running"])

    def _ask(self, doing: str, call: Callable[[APIClient], T]) -> T:
        """Call the engine about this container."""
        return self._client.ask(f"{doing} (container {self._name})", call)


def _output(
    first: tuple[int, bytes],
    frames: Iterator[tuple[int, bytes]],
    errors: bytearray,
) -> Iterator[bytes]:
    """Give standard output alone, and collect what is said on the other stream."""
    for number, data in chain((first,), frames):
        if number == STDERR:
            errors += data
        else:
            yield data
