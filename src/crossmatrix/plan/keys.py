"""Keys of jobs: the checksum of all that decides a result. Same key, same result."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from crossmatrix.checksums import sha256_value

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crossmatrix.catalog import Build, Cell
    from crossmatrix.plan.jobs import ImageState

UNKNOWN = "image not built yet"
"""Stands for the packages of an image that is not there, or that cannot be seen."""

UNSEEN = "its image cannot be seen or is not built, and so not whether its packages are the same"
"""The reason of a job of which nothing else is known to differ."""

KEY_SCHEMA = 1
"""Raised when the meaning of a result changes in a way that no input shows."""

Inputs = tuple[tuple[str, str], ...]


def key_of(inputs: Inputs) -> str:
    """Give the key, 64 hex digits, of a job's inputs."""
    return sha256_value(dict(inputs))


def build_inputs(build: Build, image: ImageState, scripts: str) -> Inputs:
    """Give all that decides what a build makes, by name.

    Args:
        build: what is compiled.
        image: of its toolchain.
        scripts: digest of the steps that are run.

    Returns:
        Names and values, values in plain text so that a change can be told to a person.
    """
    library, target = build.library, build.target
    tools = build.toolchain.tools_for(target.name)
    return (
        ("schema", str(KEY_SCHEMA)),
        ("source", build.source.digest),
        ("version", build.source.version),
        ("variant", f"{build.variant.name}: {' '.join(build.variant.options)}"),
        ("configure", " ".join((*library.configure, *dict(target.options).get(library.name, ())))),
        ("environment", _pairs(dict(library.environment))),
        ("suite", " ".join(build.suite) or "all"),
        ("target", f"{target.name}: {dict(target.configure).get(library.name, '')}, {target.machine}"),
        ("toolchain", build.toolchain.name),
        ("tools", sha256_value(asdict(tools)) if tools else ""),
        ("image", image.tag),
        ("packages", image.contents or UNKNOWN),
        ("steps", scripts),
    )


def run_inputs(cell: Cell, build_key: str, image: ImageState, scripts: str) -> Inputs:
    """Give all that decides what testing or measuring a build gives, by name.

    Args:
        cell: the build, its profile and its tier.
        build_key: of the build job.
        image: of the emulator.
        scripts: digest of the steps that are run.

    Returns:
        Names and values.
    """
    profile = cell.profile
    must_fail = f"{profile.must_fail.signal} in {profile.must_fail.function}" if profile.must_fail else ""
    return (
        ("schema", str(KEY_SCHEMA)),
        ("build", build_key),
        ("emulator", f"{cell.emulator.name} {cell.emulator.version}" if not cell.build.target.native else "none"),
        ("image", image.tag),
        ("packages", image.contents or UNKNOWN),
        ("profile", profile.name),
        ("cpu", profile.cpu),
        ("environment", _pairs(dict(profile.environment))),
        ("asks", " ".join((*profile.asks, *(f"-{name}" for name in profile.forbids)))),
        ("must fail", must_fail),
        ("tier", f"{cell.tier.name}: {' '.join(cell.tier.tests)}"),
        ("steps", scripts),
    )


def changed(before: Mapping[str, str], after: Inputs) -> str:
    """Say in words which inputs differ.

    Args:
        before: inputs of the job when it last ran.
        after: its inputs now.

    Returns:
        Such as ``changed: packages, steps``; empty when nothing differs. What is installed in an image that is not
        there cannot be compared, and is not called a change.
    """
    now = dict(after)
    names = [name for name in {**before, **now} if before.get(name) != now.get(name)]
    blind = now.get("packages") == UNKNOWN and "packages" in names
    # A run's key holds that of its build, which then cannot be known either.
    names = [name for name in names if not (blind and name in {"packages", "build"})]
    if blind and not names:
        return UNSEEN
    if _other_tier(before, now):
        # Each tier has steps of its own.
        names = [name for name in names if name != "steps"]
    shown = [_shown(name, before.get(name, ""), now.get(name, "")) for name in names]
    return f"changed: {', '.join(shown)}" if shown else ""


def _other_tier(before: Mapping[str, str], after: Mapping[str, str]) -> bool:
    one, other = (inputs.get("tier", "").partition(":")[0] for inputs in (before, after))
    return bool(one and other) and one != other


def _shown(name: str, before: str, after: str) -> str:
    short = 40
    digest = 64
    if before and after and len(before) <= short and len(after) <= short and digest not in {len(before), len(after)}:
        return f"{name} ({before.removesuffix(': ')} -> {after.removesuffix(': ')})"
    return name


def _pairs(environment: Mapping[str, str | None]) -> str:
    """Write an environment so that unset and empty differ."""
    return " ".join(f"-{name}" if value is None else f"{name}={value!r}" for name, value in sorted(environment.items()))
