"""``report.json``; run as a module, it prints its JSON schema: ``python -m crossmatrix.report.json_report``."""

from __future__ import annotations

import sys

from crossmatrix.report.schema import schemas
from crossmatrix.report.summary import Report, render_json, summarise

__all__ = ["Report", "render_json", "summarise"]

if __name__ == "__main__":
    sys.stdout.write(schemas()["report.schema.json"])
