"""The counting plugin's files, put together: the workload may fork and exec, each process leaves one."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, ValidationError

from crossmatrix.evidence.symbols import plain_name
from crossmatrix.records import Execution

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

PLUGIN_SCHEMA = 1
OTHER_FUNCTIONS = 40
"""How many of the costliest other functions are kept."""


class _Function(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    name: str
    object: str = ""
    count: int


class _Count(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    schema_: int
    program: str = ""
    instructions: int
    functions: tuple[_Function, ...] = ()
    classes: dict[str, int] = {}


@dataclass(frozen=True, kw_only=True, slots=True)
class Counts:
    """All processes' counts added up: by function (plain names) and by class of instruction."""

    files: int
    instructions: int
    functions: Mapping[str, int]
    classes: Mapping[str, int]
    unreadable: tuple[str, ...]


def read_counts(files: Mapping[str, bytes]) -> Counts:
    """Read the plugin's files, by path; those that cannot be read are named in ``unreadable`` with the reason."""
    functions: dict[str, int] = {}
    classes: dict[str, int] = {}
    unreadable: list[str] = []
    read, instructions = 0, 0
    for path, data in sorted(files.items()):
        count = _read(data)
        if isinstance(count, str):
            unreadable.append(f"{path}: {count}")
            continue
        read += 1
        instructions += count.instructions
        for function in count.functions:
            name = plain_name(function.name)
            functions[name] = functions.get(name, 0) + function.count
        for name, number in count.classes.items():
            classes[name] = classes.get(name, 0) + number
    return Counts(
        files=read, instructions=instructions, functions=functions, classes=classes, unreadable=tuple(unreadable)
    )


def execution_of(counts: Counts, *, emulator: str, assembly: Collection[str]) -> Execution:
    """Sort what ran into assembly functions and others, the costliest first."""
    ordered = sorted(counts.functions.items(), key=lambda pair: (-pair[1], pair[0]))
    known = frozenset(assembly)
    others = [(name, count) for name, count in ordered if name not in known]
    return Execution(
        emulated=counts.files > 0,
        emulator=emulator.strip(),
        instructions=counts.instructions,
        assembly_functions={name: count for name, count in ordered if name in known and count > 0},
        other_functions=dict(others[:OTHER_FUNCTIONS]),
        classes=dict(sorted(counts.classes.items())),
    )


def _read(data: bytes) -> _Count | str:
    try:
        value = json.loads(data)
        if isinstance(value, dict):
            value["schema_"] = value.pop("schema", 0)
        count = _Count.model_validate(value)
    except (ValueError, RecursionError) as error:
        if isinstance(error, ValidationError):
            first = error.errors()[0]
            return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
        return f"no JSON: {error}"
    if count.schema_ != PLUGIN_SCHEMA:
        return f"schema {count.schema_}, this version reads {PLUGIN_SCHEMA}"
    return count
