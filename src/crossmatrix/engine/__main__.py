"""``python -m crossmatrix.engine``: whether an engine has to be installed. Bootstrap asks before it does."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from crossmatrix.engine.connect import connect
from crossmatrix.errors import CrossmatrixError, ExitCode, NamedEngineError, NoEngineError


def main() -> ExitCode:
    """Look for an engine; start nothing, print nothing.

    Returns:
        3 where none answers. 0 where one does, and also where the user named one that is dead, too old or no engine:
        it would be used whatever is installed, and the task says what is wrong with it.
    """
    try:
        connect(os.environ, Path.cwd(), root=Path.cwd(), start=False).close()
    except NamedEngineError:
        return ExitCode.OK
    except NoEngineError as error:
        return error.exit_code
    except CrossmatrixError:
        return ExitCode.OK
    return ExitCode.OK


if __name__ == "__main__":
    sys.exit(main())
