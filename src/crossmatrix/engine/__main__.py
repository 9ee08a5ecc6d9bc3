"""``python -m crossmatrix.engine``: whether an engine answers already. Bootstrap asks before it installs one."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from crossmatrix.engine.connect import connect
from crossmatrix.errors import CrossmatrixError, ExitCode


def main() -> ExitCode:
    """Look for an engine; start nothing, print nothing; exit code 0 where one answers, else 3."""
    try:
        connect(os.environ, Path.cwd(), root=Path.cwd(), start=False).close()
    except CrossmatrixError as error:
        return error.exit_code
    return ExitCode.OK


if __name__ == "__main__":
    sys.exit(main())
