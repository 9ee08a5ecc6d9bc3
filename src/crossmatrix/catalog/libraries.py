"""Libraries: their releases, variants, tiers and exclusions."""

from __future__ import annotations

from dataclasses import dataclass


def in_series(version: str, series: str) -> bool:
    """Say whether a version is that one or of that series: ``3.0.20`` of ``3.0``, ``1.1.1w`` of ``1.1.1``.

    With patches on top (``3.0.20+p1a2b3c4d``) it is still of ``3.0.20``.
    """
    rest = version.removeprefix(series)
    return version.startswith(series) and (not rest or rest[0] in ".+" or (rest[0].isalpha() and series[-1:].isdigit()))


@dataclass(frozen=True, kw_only=True, slots=True)
class DebianSource:
    """Where a release lies in Debian: the source package, its suite, and the file's name there."""

    package: str
    suite: str
    file: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Release:
    """One pinned release of a library (or of another source, such as musl).

    ``urls`` are upstream's own addresses; every origin gives the same file, checked by ``sha256``.
    """

    version: str
    file: str
    sha256: str
    urls: tuple[str, ...] = ()
    debian: DebianSource | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Variant:
    """A named way to configure a library. ``assembly`` says whether its own assembly must run in it."""

    name: str
    description: str
    options: tuple[str, ...]
    assembly: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Tier:
    """How much of the test suite runs. ``tests`` are words of the library's own harness, empty for all.

    ``estimate_s`` is what a run took on two idle cores; it decides order alone.
    """

    name: str
    tests: tuple[str, ...]
    timeout_s: int
    estimate_s: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Exclusion:
    """What is not run, or must fail, and why. Expires: when what it excuses passes, that is a finding.

    Attributes:
        where: selector words (``target=...``, ``variant=...``) that a cell must all match.
        tests: test files or cases it covers, globs; empty means the whole cell.
        kind: ``leave-out`` (never run), ``unsupported`` (cell is not run) or ``expected-failure``.
        reason: why, for a person.
        link: where upstream says so.
    """

    where: tuple[str, ...]
    tests: tuple[str, ...]
    kind: str
    reason: str
    link: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Library:
    """How a library is configured, built, tested and measured.

    Attributes:
        name: ``openssl`` or ``nettle``; also decides which steps are used.
        title: how a person writes it.
        releases: the pinned ones, newest first.
        variants: by which it can be configured.
        configure: options that every variant gets.
        environment: set while configuring, building and testing, name and value.
        tiers: by which its suite can be run.
        default_tier: the one that is run where nothing else was asked.
        workload: C files that make the workload program, paths relative to ``recipes/``, or absolute where an
            additional recipe folder brings them.
        algorithms: names that the workload program can measure, in any build; empty where nobody wrote them down.
        build_estimate_s: what a build took on two idle cores; decides order alone.
        build_timeout_s: after which a build is ended.
        exclusions: what is left out where, with reasons.
    """

    name: str
    title: str
    releases: tuple[Release, ...]
    variants: tuple[Variant, ...]
    configure: tuple[str, ...]
    environment: tuple[tuple[str, str], ...]
    tiers: tuple[Tier, ...]
    default_tier: str
    workload: tuple[str, ...]
    build_estimate_s: int
    build_timeout_s: int
    exclusions: tuple[Exclusion, ...] = ()
    algorithms: tuple[str, ...] = ()

    def releases_of(self, series: str) -> tuple[Release, ...]:
        """Give the pinned releases that a version or series (``3.0``) means, newest first."""
        return tuple(release for release in self.releases if in_series(release.version, series))
