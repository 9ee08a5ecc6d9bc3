"""The base of all records."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Record(BaseModel):
    """A frozen value that is written as JSON; unknown fields of a newer minor version are ignored when read."""

    model_config = ConfigDict(frozen=True, extra="ignore")
