"""Debian's source packages, through apt with a configuration of our own: no root needed, the machine's is left alone.

apt checks the whole chain: the archive's signature on the suite's index, the index's checksum of the file.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from crossmatrix.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from crossmatrix.catalog import DebianSource

MIRROR = "CROSSMATRIX_DEBIAN_MIRROR"
"""Environment variable: address of a Debian mirror, for machines whose own apt has none."""

KEYRINGS = (
    "/usr/share/keyrings/debian-archive-keyring.gpg",
    "/usr/share/keyrings/debian-archive-keyring.pgp",
)
_HELPER = "/usr/lib/apt/apt-helper"
_APT_S = 180
_TARGETS = "$(REPO_URI)|$(RELEASE)|$(COMPONENT)"

Command = "Callable[[Sequence[str], Path], str]"


@dataclass(frozen=True, kw_only=True, slots=True)
class Package:
    """A version of a source package that has the file: ``directory`` in the archive, ``sha256`` by the index."""

    version: str
    directory: str
    sha256: str


def fetch_from_debian(  # noqa: PLR0913 - two of them are for tests
    source: DebianSource,
    sha256: str,
    into: Path,
    *,
    folder: Path,
    environ: Mapping[str, str] | None = None,
    run: Callable[[Sequence[str], Path], str] | None = None,
) -> str:
    """Get a release's file out of a Debian source package.

    Args:
        source: package, suite and file name there.
        sha256: pinned checksum; a file with another one is not even asked for.
        into: where it is written.
        folder: for apt's configuration and lists, kept between calls.
        environ: may name a mirror.
        run: runs a command in a folder and gives what it prints; a fake in unit tests.

    Returns:
        The words that say where it came from.

    Raises:
        SourceError: apt is missing, no mirror is known, or the archive does not have the file.
    """
    run = run or run_command
    roots = mirror_roots(run, folder, os.environ if environ is None else environ)
    options = prepare(folder, source.suite, roots)
    updated = run(["apt-get", *options, "-q", "update"], folder)
    try:
        printed = run(["apt-cache", *options, "showsrc", "--only-source", source.package], folder)
    except SourceError as error:
        missing = _without_index(source.suite, updated)
        if missing is None:
            raise
        raise missing from error
    found = parse_showsrc(printed, source.file)
    package = next((one for one in found if one.sha256 == sha256), None)
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        target = Path(scratch)
        if package is not None:
            wanted = f"{source.package}={package.version}"
            command = ["apt-get", *options, "-q", "source", "--download-only", "--tar-only", "--only-source", wanted]
            try:
                run(command, target)
                (target / source.file).replace(into)
            except (OSError, SourceError):
                # The pool can be ahead of the index; the file may still lie there by its address.
                _by_address(roots, package.directory, source.file, sha256, into, options=options, run=run)
            return f"Debian {source.suite}, source package {source.package} {package.version}"
        directories = [one.directory for one in found] or [pool_folder(source.package)]
        _by_address(roots, directories[0], source.file, sha256, into, options=options, run=run)
    return f"Debian's pool, source package {source.package} (no longer in the index of {source.suite})"


def mirror_roots(
    run: Callable[[Sequence[str], Path], str],
    folder: Path,
    environ: Mapping[str, str],
) -> tuple[tuple[str, str], ...]:
    """Give the archives that this machine's apt uses: address, and what follows the suite's name (``-security``).

    Raises:
        SourceError: there is none.
    """
    if mirror := environ.get(MIRROR, "").rstrip("/"):
        return ((f"{mirror}/", ""),)
    printed = run(
        ["apt-get", "indextargets", "--no-release-info", "--format", _TARGETS, "Created-By: Packages"],
        folder,
    )
    codename = re.search(r"^VERSION_CODENAME=\"?(\w+)", _os_release(), re.MULTILINE)
    is_debian = re.search(r"^ID=\"?debian\b", _os_release(), re.MULTILINE)
    roots = roots_from(printed, codename.group(1) if codename else "sid") if is_debian else ()
    if not roots:
        raise SourceError(
            "this machine's apt has no Debian mirror",
            hint=f"name one: {MIRROR}=<address of a Debian mirror>",
        )
    return roots


def roots_from(printed: str, codename: str) -> tuple[tuple[str, str], ...]:
    """Read what ``apt-get indextargets`` printed: the archives of the machine's own suite and its pockets.

    Args:
        printed: lines ``address|suite|component``.
        codename: of the machine's own suite.
    """
    names = (codename, "stable", "testing", "unstable", "sid")
    roots: dict[tuple[str, str], None] = {}
    for line in printed.splitlines():
        address, _, rest = line.partition("|")
        suite, _, component = rest.partition("|")
        name = next((name for name in names if re.split(r"[-/]", suite)[0] == name), None)
        if component == "main" and name is not None and suite.removeprefix(name) in {"", "-updates", "-security"}:
            roots[(address, suite.removeprefix(name))] = None
    return tuple(sorted(roots, key=lambda root: root[1]))


def prepare(folder: Path, suite: str, roots: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Write apt's configuration for one suite and give the options that make apt use it and nothing else.

    Raises:
        SourceError: the folder cannot be written.
    """
    own = folder / suite
    keyring = next((path for path in KEYRINGS if Path(path).exists()), "")
    signed = f" [signed-by={keyring}]" if keyring else ""
    pockets = [root for root in roots if not (suite in {"sid", "unstable"} and root[1])]
    lines = [f"deb-src{signed} {address} {suite}{pocket} main\n" for address, pocket in pockets]
    try:
        for part in ("state/lists/partial", "cache/archives/partial"):
            (own / part).mkdir(parents=True, exist_ok=True)
        (own / "sources.list").write_text("".join(lines), encoding="utf-8")
    except OSError as error:
        raise SourceError(f"apt's folder {own} cannot be written: {error.strerror}") from error
    values = {
        "Dir::State": f"{own}/state",
        "Dir::State::status": "/dev/null",
        "Dir::Cache": f"{own}/cache",
        "Dir::Etc::sourcelist": f"{own}/sources.list",
        "Dir::Etc::sourceparts": "/dev/null",
        "APT::Sandbox::User": "",
        "Acquire::Languages": "none",
        "Acquire::Retries": "1",
        "Acquire::http::Timeout": "15",
        "Acquire::https::Timeout": "15",
        # Suites that are not updated any more, and pockets that a suite does not have, are no error.
        "Acquire::Check-Valid-Until": "false",
    }
    return tuple(word for name, value in values.items() for word in ("-o", f"{name}={value}"))


def parse_showsrc(text: str, file: str) -> tuple[Package, ...]:
    """Read what ``apt-cache showsrc`` prints; versions with the file come first, then all others.

    Args:
        text: stanzas in the format of deb-src-control(5).
        file: name of the file that is looked for.

    Returns:
        ``sha256`` is empty where a version does not have the file.
    """
    found: list[Package] = []
    for stanza in re.split(r"\n\s*\n", text):
        fields: dict[str, str] = dict(re.findall(r"(?m)^([\w-]+):[ \t]*((?:.*)(?:\n[ \t].*)*)", stanza))
        if "Version" not in fields or "Directory" not in fields:
            continue
        sums = {name: digest for digest, _, name in _rows(fields.get("Checksums-Sha256", ""))}
        found.append(
            Package(
                version=fields["Version"].strip(),
                directory=fields["Directory"].strip(),
                sha256=sums.get(file, ""),
            ),
        )
    return tuple(sorted(found, key=lambda package: package.sha256 == ""))


def pool_folder(package: str) -> str:
    """Give where a source package of Debian's ``main`` lies."""
    initial = package[:4] if package.startswith("lib") else package[:1]
    return f"pool/main/{initial}/{package}"


def run_command(command: Sequence[str], folder: Path) -> str:
    """Run a command of apt's.

    Raises:
        SourceError: it is missing, fails or takes too long.
    """
    environment = {**os.environ, "LC_ALL": "C", "DEBIAN_FRONTEND": "noninteractive"}
    folder.mkdir(parents=True, exist_ok=True)
    try:
        done = subprocess.run(
            list(command),
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            errors="replace",
            stdin=subprocess.DEVNULL,
            timeout=_APT_S,
            check=False,
        )
    except FileNotFoundError as error:
        raise SourceError(f"there is no {command[0]} on this machine") from error
    except subprocess.TimeoutExpired as error:
        raise SourceError(f"{command[0]} takes longer than {_APT_S} s") from error
    if done.returncode != 0:
        lines = [line for line in (done.stderr + done.stdout).splitlines() if line.startswith(("E:", "Err:"))]
        raise SourceError(f"{Path(command[0]).name} failed: {'; '.join(lines[:2]) or f'exit code {done.returncode}'}")
    return done.stdout


def _without_index(suite: str, updated: str) -> SourceError | None:
    """Say why there is no index; apt goes on without one, and then asks for `deb-src` lines that are there.

    Outside fact: ``apt-get update`` prints ``Err:1 ADDRESS ...`` and the reason, indented, in the line below.
    """
    lines = updated.splitlines()
    place = next((number for number, line in enumerate(lines) if line.startswith("Err:")), None)
    if place is None:
        return None
    reason = next((line.strip() for line in lines[place + 1 : place + 2] if line.startswith(" ")), lines[place])
    return SourceError(f"the index of Debian {suite} cannot be fetched: {reason}")


def _by_address(  # noqa: PLR0913 - a file's address has its parts
    roots: Sequence[tuple[str, str]],
    directory: str,
    file: str,
    sha256: str,
    into: Path,
    *,
    options: Sequence[str],
    run: Callable[[Sequence[str], Path], str],
) -> None:
    """Get a file of the pool by its address; apt's own transport checks it by the pinned checksum."""
    reasons: list[str] = []
    for address in dict.fromkeys(address for address, _ in roots):
        url = f"{address.rstrip('/')}/{directory}/{file}"
        into.unlink(missing_ok=True)
        try:
            run([_HELPER, *options, "download-file", url, str(into), f"SHA256:{sha256}"], into.parent)
        except SourceError as error:
            reasons.append(error.message)
        else:
            return
    raise SourceError(f"the archive does not have {file}: {'; '.join(reasons)}")


def _rows(text: str) -> Iterable[tuple[str, str, str]]:
    for line in text.splitlines():
        words = line.split()
        if len(words) == 3:  # noqa: PLR2004 - checksum, size, name
            yield words[0], words[1], words[2]


def _os_release() -> str:
    try:
        return Path("/etc/os-release").read_text(encoding="utf-8")
    except OSError:
        return ""
