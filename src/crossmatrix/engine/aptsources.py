"""The machine's own apt configuration: which mirror it uses, through which proxy, and what an image needs of it.

Formats: sources.list(5), one line an entry and deb822 stanzas; apt.conf(5), as ``apt-config dump`` prints it.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from crossmatrix.errors import InfrastructureError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MIRROR = "CROSSMATRIX_DEBIAN_MIRROR"
"""Environment variable: address of a Debian mirror, for machines whose own apt has none."""

ROLLING = frozenset({"sid", "unstable", "experimental"})
"""Suites that have no ``-updates`` and no ``-security`` beside them."""

_TAKEN = re.compile(r'^(Acquire::(?:https?|Retries|Check-Valid-Until)\b[\w:.-]*)\s+"(.*)";$')


@dataclass(frozen=True, kw_only=True, slots=True)
class AptEntry:
    """One source of packages: ``kind`` is deb or deb-src, ``signed_by`` a keyring's path or empty."""

    kind: str
    uri: str
    suite: str
    components: tuple[str, ...]
    signed_by: str = ""
    trusted: bool = False

    def line(self, signed_by: str | None = None) -> str:
        """Write it as a line of sources.list; ``signed_by`` replaces the keyring's path."""
        keyring = self.signed_by if signed_by is None else signed_by
        options = [f"signed-by={keyring}"] if keyring else []
        options += ["trusted=yes"] if self.trusted else []
        words = [self.kind, *([f"[{' '.join(options)}]"] if options else []), self.uri, self.suite, *self.components]
        return " ".join(words)


def parse_list(text: str) -> tuple[AptEntry, ...]:
    """Read a file of one-line entries; lines that are none are passed over, as comments are."""
    entries = []
    for raw in text.splitlines():
        match = re.match(r"^\s*(deb|deb-src)\s+(?:\[([^]]*)\]\s*)?(\S+)\s+(\S+)((?:\s+[^#\s]+)*)", raw)
        if match:
            kind, bracket, uri, suite, components = match.groups()
            options = dict(part.split("=", 1) for part in (bracket or "").split() if "=" in part)
            entries.append(
                AptEntry(
                    kind=kind,
                    uri=uri.rstrip("/"),
                    suite=suite,
                    components=tuple(components.split()),
                    signed_by=options.get("signed-by", ""),
                    trusted=options.get("trusted", "") == "yes",
                ),
            )
    return tuple(entries)


def parse_deb822(text: str) -> tuple[AptEntry, ...]:
    """Read a file of deb822 stanzas; disabled ones are passed over, keys written into the stanza are not taken."""
    entries: list[AptEntry] = []
    for stanza in re.split(r"\n\s*\n", re.sub(r"(?m)^#.*\n?", "", text)):
        fields = {
            key.lower(): " ".join(value.split())
            for key, value in re.findall(r"(?m)^([\w-]+):((?:.*)(?:\n[ \t].*)*)", stanza)
        }
        if fields.get("enabled", "yes").lower() in {"no", "false", "off", "0"}:
            continue
        key = fields.get("signed-by", "")
        entries += [
            AptEntry(
                kind=kind,
                uri=uri.rstrip("/"),
                suite=suite,
                components=tuple(fields.get("components", "").split()),
                signed_by=key if key.startswith("/") else "",
                trusted=fields.get("trusted", "").lower() == "yes",
            )
            for kind in fields.get("types", "").split()
            for uri in fields.get("uris", "").split()
            for suite in fields.get("suites", "").split()
        ]
    return tuple(entries)


def parse_apt_conf(dump: str) -> tuple[tuple[str, str], ...]:
    """Take what a download needs from ``apt-config dump``: proxies, certificates, retries."""
    found = (_TAKEN.match(line.strip()) for line in dump.splitlines())
    return tuple((match[1], match[2]) for match in found if match and match[2])


def for_suite(
    entries: Sequence[AptEntry],
    suite: str,
    os_release: Mapping[str, str],
    environ: Mapping[str, str],
) -> tuple[AptEntry, ...]:
    """Give the entries for a Debian suite, made from those of the machine, the main archive first.

    Args:
        entries: of the machine.
        suite: such as ``bookworm``.
        os_release: of the machine, ``/etc/os-release``.
        environ: may name a mirror of the user's.

    Returns:
        deb entries: main archive, updates and security where the machine has them; each with its deb-src.

    Raises:
        InfrastructureError: the machine is no Debian and names no mirror.
    """
    mirror = environ.get(MIRROR, "").rstrip("/")
    own = os_release.get("VERSION_CODENAME", "")
    found: list[AptEntry] = []
    if mirror:
        found.append(AptEntry(kind="deb", uri=mirror, suite=suite, components=("main",)))
    elif os_release.get("ID") == "debian":
        found = [*_rewritten(entries, own, suite)]
    if not found:
        raise InfrastructureError(
            f"No Debian mirror is known for {suite}: this machine's apt has none, and no registry gives a base image.",
            hint=f"Name one: {MIRROR}=<address of a Debian mirror>.",
        )
    return tuple(dict.fromkeys(entry for one in found for entry in (one, replace(one, kind="deb-src"))))


def _rewritten(entries: Sequence[AptEntry], own: str, suite: str) -> list[AptEntry]:
    """Take the machine's entries for its own release, and write the wanted suite where its name stands.

    A machine of unstable calls itself by testing's name; others may have unstable beside their own, from elsewhere.
    """
    for names in ({own, "stable", "testing"} - {""}, {"sid", "unstable"}):
        wanted: list[AptEntry] = []
        for entry in entries:
            head = re.split(r"[-/]", entry.suite)[0]
            if entry.kind != "deb" or head not in names or "main" not in entry.components:
                continue
            pocket = entry.suite.removeprefix(head)
            if pocket == "":
                wanted.insert(0, replace(entry, suite=suite, components=("main",)))
            elif pocket in ("-updates", "-security") and suite not in ROLLING:
                wanted.append(replace(entry, suite=suite + pocket, components=("main",)))
        if any(entry.suite == suite for entry in wanted):
            return wanted
    return []


def parse_os_release(text: str) -> dict[str, str]:
    """Read ``/etc/os-release`` (see os-release(5)): shell assignments."""
    pairs = (line.split("=", 1) for line in text.splitlines() if "=" in line and not line.startswith("#"))
    return {key: " ".join(shlex.split(value)) for key, value in pairs}
