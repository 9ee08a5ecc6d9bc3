"""What a library says of itself: configure summaries and versions.

Outside facts: nettle's configure ends with ``summary of build options:`` (``Assembly files:    arm64/fat arm64`` or
``none``); OpenSSL's ``perl configdata.pm --dump`` lists its command line, enabled and disabled features;
``openssl version -a`` has ``platform: linux-aarch64``.
"""

from __future__ import annotations

import re

from crossmatrix.records import LibraryWord

MAX_LINES = 80
"""How much of a configure summary is kept."""

_NETTLE = re.compile(
    r"^\s*(?P<key>Version|Host type|ABI|Assembly files|Compiler|Static libraries|Shared libraries|"
    r"Public key crypto|Using mini-gmp):\s*(?P<value>.*?)\s*$",
)
_HEADING = re.compile(r"^(?P<heading>Command line|Enabled features|Disabled features|Config target attributes)\b.*:?")
_FEATURE = re.compile(r"^\s+(?:no-)?(?P<name>[\w.-]+)")
_CONFIGURE = re.compile(r"(?:^|[\s/])Configure\s+(?P<words>.+?)\s*$")
_PLATFORM = re.compile(r"^\s*(?:platform|target):\s*(?P<name>\S+)", re.MULTILINE)


def read_library_word(*, summary: str, version: str, cpu: str) -> LibraryWord:
    """Put the library's words together; ``assembly`` is None where its summary does not mention assembly."""
    return LibraryWord(
        configure_summary=_kept(summary), version=version.strip(), cpu=cpu.strip(), assembly=says_assembly(summary)
    )


def nettle_value(summary: str, key: str) -> str:
    """Give a value of nettle's summary (``Host type``), or an empty text."""
    for line in summary.splitlines():
        match = _NETTLE.match(line)
        if match is not None and match["key"] == key:
            return match["value"]
    return ""


def configure_words(summary: str) -> tuple[str, ...]:
    """Give the arguments of OpenSSL's ``Configure`` as the summary repeats them; none where it does not."""
    for line in summary.splitlines():
        match = _CONFIGURE.search(line)
        if match is not None:
            return tuple(word.strip("'\"") for word in match["words"].split())
    return ()


def platform_of(version: str) -> str:
    """Give the configure target that ``openssl version -a`` names, or an empty text."""
    match = _PLATFORM.search(version)
    return match["name"] if match is not None else ""


def says_assembly(summary: str) -> bool | None:
    """Say what a configure summary says of assembly: it is in, it is not, or nothing."""
    files = nettle_value(summary, "Assembly files")
    if files:
        return files != "none"
    section = ""
    for line in summary.splitlines():
        heading, feature = _HEADING.match(line), _FEATURE.match(line)
        if heading is not None:
            section = heading["heading"]
        elif feature is not None and feature["name"] == "asm" and section.endswith("features"):
            return section == "Enabled features"
    words = configure_words(summary)
    return False if "no-asm" in words else None


def _kept(summary: str) -> str:
    lines = [line.rstrip() for line in summary.splitlines() if line.strip()]
    return "\n".join(lines[:MAX_LINES])
