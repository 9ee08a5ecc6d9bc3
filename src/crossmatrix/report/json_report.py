"""Prints the JSON schema of ``report.json``: ``python -m crossmatrix.report.json_report``."""

from __future__ import annotations

import sys

from crossmatrix.report.schema import schemas

if __name__ == "__main__":
    sys.stdout.write(schemas()["report.schema.json"])
