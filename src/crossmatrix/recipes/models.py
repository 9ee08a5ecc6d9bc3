"""The shape of every recipe file. Each field is a key; ``docs/reference/recipes.md`` explains them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictBool, StrictInt, StringConstraints
from pydantic_core import PydanticCustomError

from crossmatrix.catalog import Endian
from crossmatrix.records import MEASURED_TIER

RESERVED_TIERS = (MEASURED_TIER,)
"""Tiers that are made by the tool itself: ``invoke bench`` measures, it does not test."""


def _environment_value(value: object) -> object:
    if value is None or isinstance(value, str):
        return value
    raise PydanticCustomError("environment_value", "must be text in quotes, or null for unset")


def _environment_text(value: object) -> object:
    if isinstance(value, str):
        return value
    raise PydanticCustomError("environment_value", "must be text in quotes; to have it unset, leave it out")


def _one_or_more(value: object) -> object:
    if isinstance(value, str):
        return (value,)
    if isinstance(value, list | tuple):
        return value
    raise PydanticCustomError("one_or_more", "must be text or a list of texts")


Text = Annotated[str, StringConstraints(min_length=1)]
Words = tuple[Text, ...]
Count = Annotated[StrictInt, Field(gt=0)]
Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Url = Annotated[str, StringConstraints(pattern=r"^https?://\S+$")]
Link = Annotated[str, StringConstraints(pattern=r"^(https?://\S+)?$")]
FileName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._+~-]*$")]
OneOrMore = Annotated[Words, BeforeValidator(_one_or_more)]
EnvironmentText = Annotated[str, BeforeValidator(_environment_text)]
EnvironmentValue = Annotated[str | None, BeforeValidator(_environment_value)]


class Model(BaseModel):
    """A mapping that holds these keys and no others."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class DebianModel(Model):
    """Where a release lies in Debian."""

    package: Text
    suite: Text
    file: FileName


class ReleaseModel(Model):
    """A pinned release of a library."""

    file: FileName
    sha256: Sha256
    urls: tuple[Url, ...] = ()
    debian: DebianModel | None = None


class ImageSourceModel(ReleaseModel):
    """A pinned source that goes into an image."""

    version: Text


class VariantModel(Model):
    """A named way to configure a library."""

    description: Text
    options: Words = ()
    assembly: StrictBool


class TierModel(Model):
    """How much of a library's test suite runs."""

    tests: Words = ()
    timeout_s: Count
    estimate_s: Count


class ExclusionModel(Model):
    """What a library leaves out where, and why."""

    where: Words = ()
    tests: Words = ()
    kind: Literal["leave-out", "unsupported", "expected-failure"]
    reason: Text
    link: Link = ""


class MatrixExclusionModel(Model):
    """Cells that a matrix leaves out, and why."""

    where: Annotated[Words, Field(min_length=1)]
    reason: Text
    link: Link = ""


class LibraryModel(Model):
    """``libraries/<name>.yaml``."""

    title: Text
    releases: Annotated[dict[str, ReleaseModel], Field(min_length=1)]
    variants: Annotated[dict[str, VariantModel], Field(min_length=1)]
    configure: Words = ()
    environment: dict[str, EnvironmentText] = {}
    tiers: Annotated[dict[str, TierModel], Field(min_length=1)]
    default_tier: Text
    workload: Words
    algorithms: Words = ()
    build_estimate_s: Count
    build_timeout_s: Count
    exclusions: tuple[ExclusionModel, ...] = ()


class TargetModel(Model):
    """One entry of ``targets.yaml``."""

    arch: Text
    machine: Annotated[str, StringConstraints(pattern=r"^EM_[A-Z0-9_]+$")]
    endian: Endian
    bits: Literal[32, 64]
    libc: Literal["musl", "glibc"]
    configure: dict[str, Text]
    options: dict[str, Words] = {}
    native: StrictBool = False


class ToolsModel(Model):
    """The commands of a toolchain; ``{target}`` in them stands for the target's name."""

    cc: Text
    cxx: Text
    ar: Text
    ranlib: Text
    nm: Text
    strip: Text
    flags: Words = ()


class ToolsOverrideModel(Model):
    """What is different in a toolchain for one target."""

    cc: Text | None = None
    cxx: Text | None = None
    ar: Text | None = None
    ranlib: Text | None = None
    nm: Text | None = None
    strip: Text | None = None
    flags: Words | None = None


class ToolchainModel(Model):
    """One entry of ``toolchains.yaml``."""

    family: Text
    version: Text
    image: Text
    tools: ToolsModel
    targets: Annotated[dict[str, ToolsOverrideModel], Field(min_length=1)]


class EmulatorModel(Model):
    """One entry of ``emulators.yaml``."""

    version: Text
    image: Text
    plugin: Annotated[str, StringConstraints(pattern=r"^/")]


class MustFailModel(Model):
    """How a negative control fails."""

    signal: Text
    function: Text
    reason: Text


class ProfileModel(Model):
    """One entry of ``profiles.yaml``."""

    description: Text
    emulator: Text
    cpu: str = ""
    environment: dict[str, EnvironmentValue] = {}
    libraries: Words = ()
    targets: Words = ()
    variants: Words = ()
    asks: Words = ()
    forbids: Words = ()
    must_fail: MustFailModel | None = None


class ImageModel(Model):
    """``images/<name>/image.yaml``."""

    suite: Text
    needs: Words = ()
    sources: tuple[ImageSourceModel, ...] = ()


class BlockModel(Model):
    """One product of a matrix; an axis that is not given is the matrix's own."""

    libraries: dict[str, OneOrMore] | None = None
    variants: Words | None = None
    targets: Words | None = None
    toolchains: Words | None = None
    profiles: Words | None = None


class MatrixModel(BlockModel):
    """``matrices/<name>.yaml``."""

    description: Text
    blocks: Annotated[tuple[BlockModel, ...], Field(min_length=1)] | None = None
    tiers: dict[str, Text] = {}
    exclude: tuple[MatrixExclusionModel, ...] = ()


MODELS: dict[str, type[Model]] = {
    "library": LibraryModel,
    "target": TargetModel,
    "toolchain": ToolchainModel,
    "emulator": EmulatorModel,
    "profile": ProfileModel,
    "image": ImageModel,
    "matrix": MatrixModel,
}
"""The kinds of thing that recipes define."""
