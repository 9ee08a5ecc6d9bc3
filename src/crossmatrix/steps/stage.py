"""The value that every step is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Stage:
    """One command in a job's container.

    Attributes:
        name: ``unpack``, ``configure``, ``build``, ``test``, ``evidence``, ``vectors``, ``bench``, ....
        script: for ``sh -eu -c``; it may not use the network.
        environment: the whole environment of the process; what is not in it is unset.
        timeout_s: after which the container is ended.
        directory: working directory.
        may_fail: a non-zero exit is a result to be judged (a test suite), not the end of the job.
    """

    name: str
    script: str
    timeout_s: int
    environment: tuple[tuple[str, str], ...] = ()
    directory: str = "/work"
    may_fail: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class InputFile:
    """A file that is put in before the first stage; ``path`` is absolute and below /work or /scratch."""

    path: str
    data: bytes
    executable: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Steps:
    """All that a job does in its container.

    Attributes:
        inputs: files put in first.
        stages: in order; the first that fails and may not fail ends the job.
        outputs: folder in the container whose content is taken out in the end.
    """

    inputs: tuple[InputFile, ...]
    stages: tuple[Stage, ...]
    outputs: str
