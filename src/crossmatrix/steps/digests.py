"""The digest of steps, part of a job's key."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from crossmatrix.checksums import sha256_bytes, sha256_value

if TYPE_CHECKING:
    from crossmatrix.steps.stage import Steps

_JOBS = re.compile(r"^JOBS=\S+$", re.MULTILINE)


def steps_digest(steps: Steps) -> str:
    """Give the sha256 of all in steps that can change a result.

    How many processes work side by side and how long a stage may take do not: a stage that ran out of time is not
    taken for a result anyway.
    """
    return sha256_value(
        {
            "inputs": [[file.path, _of_content(file.data), file.executable] for file in steps.inputs],
            "stages": [
                {
                    "name": stage.name,
                    "script": _JOBS.sub("JOBS=", stage.script),
                    "environment": sorted([name, value] for name, value in stage.environment),
                    "directory": stage.directory,
                    "may_fail": stage.may_fail,
                }
                for stage in steps.stages
            ],
            "outputs": steps.outputs,
        },
    )


@lru_cache(maxsize=256)
def _of_content(data: bytes) -> str:
    """Give the checksum of a file that many builds share; bytes remember their hash, so that finding it is cheap."""
    return sha256_bytes(data)
