"""Writes the published JSON schemas: ``python -m crossmatrix.report.schema docs/schema``."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from crossmatrix.records import CellRecord, RunRecord
from crossmatrix.report.summary import Report

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import BaseModel

_MODELS: Mapping[str, type[BaseModel]] = {
    "run.schema.json": RunRecord,
    "cell.schema.json": CellRecord,
    "report.schema.json": Report,
}


def schemas() -> dict[str, str]:
    """Give the text of each schema file by its name."""
    return {
        name: json.dumps(
            {"$schema": "https://json-schema.org/draft/2020-12/schema"} | model.model_json_schema(mode="serialization"),
            indent=2,
            sort_keys=True,
        )
        + "\n"
        for name, model in _MODELS.items()
    }


def write_schemas(folder: Path) -> tuple[Path, ...]:
    """Write all schemas into a folder, which is made where it is missing."""
    folder.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    for name, text in schemas().items():
        path = folder / name
        path.write_text(text, encoding="utf-8")
        written.append(path)
    return tuple(written)


if __name__ == "__main__":
    words = argparse.ArgumentParser(description="Write the published JSON schemas.")
    words.add_argument("folder", type=Path, help="where to, such as docs/schema")
    for path in write_schemas(words.parse_args().folder):
        sys.stdout.write(f"{path}\n")
