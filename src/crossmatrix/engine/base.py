"""The base image of a Debian suite: by digest from a registry where one answers, else bootstrapped on this machine."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from crossmatrix.checksums import sha256_value
from crossmatrix.engine.aptsources import (
    AptEntry,
    for_suite,
    parse_apt_conf,
    parse_deb822,
    parse_list,
    parse_os_release,
)
from crossmatrix.engine.mounts import unmount_below
from crossmatrix.engine.processes import program, run_told, search_path
from crossmatrix.errors import InfrastructureError, NoSpaceError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

REVISION = "2"
"""Raised when what is done to a bootstrapped tree changes."""
NO_INSTALL = "CROSSMATRIX_NO_INSTALL"
BOOTSTRAP_S = 1800.0
_APT_LOCK_S = 300
_INSTALLING = threading.Lock()
NEEDED_BYTES = 1 << 30
_PER_PACKAGE = re.compile(r"I: (Retrieving|Validating|Extracting|Unpacking|Configuring) [a-z0-9]")
"""What debootstrap says of each of its hundred packages."""
_SCRIPTS = Path("/usr/share/debootstrap/scripts")
_DEBIAN_KEYS = tuple(Path(f"/usr/share/keyrings/debian-archive-keyring.{end}") for end in ("gpg", "pgp"))
"""The older name and the newer one."""
_BUNDLE = Path("/etc/ssl/certs/ca-certificates.crt")


@dataclass(frozen=True, kw_only=True, slots=True)
class AptSetup:
    """What an image takes from the machine's apt: entries of sources.list, and settings (name, value)."""

    entries: tuple[AptEntry, ...]
    settings: tuple[tuple[str, str], ...]

    @property
    def main(self) -> AptEntry:
        """The main archive."""
        return self.entries[0]

    @property
    def digest(self) -> str:
        """Changes with anything in it."""
        return sha256_value({"entries": [entry.line() for entry in self.entries], "settings": list(self.settings)})


def registry_reference(root: Path, suite: str) -> str:
    """Give the pinned reference of a suite's base image, or nothing where ``images/base.yaml`` has none.

    Raises:
        UsageError: the file is not a mapping of suite to reference, or a reference has no digest.
    """
    path = root / "images" / "base.yaml"
    try:
        values = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
    except FileNotFoundError:
        return ""
    except (OSError, yaml.YAMLError) as error:
        raise UsageError(f"{path} cannot be read: {' '.join(str(error).split())}") from error
    if not isinstance(values, dict) or not all(isinstance(value, str) for value in values.values()):
        raise UsageError(f"{path} must map suites to image references.", hint="See the example in the file.")
    reference = str(values.get(suite, ""))
    if reference and "@sha256:" not in reference:
        raise UsageError(f"{path}: {reference!r} names no digest.", hint="Write NAME:TAG@sha256:DIGEST.")
    return reference


def machine_apt(suite: str, environ: Mapping[str, str], etc: Path = Path("/etc")) -> AptSetup:
    """Read the machine's apt configuration for a suite.

    Raises:
        InfrastructureError: it names no Debian mirror, nor does the user.
    """
    entries: list[AptEntry] = list(parse_list(_text(etc / "apt" / "sources.list")))
    for path in sorted((etc / "apt" / "sources.list.d").glob("*")):
        if path.suffix == ".list":
            entries += parse_list(_text(path))
        elif path.suffix == ".sources":
            entries += parse_deb822(_text(path))
    found = for_suite(entries, suite, parse_os_release(_text(etc / "os-release")), environ)
    return AptSetup(entries=found, settings=parse_apt_conf(_apt_config()))


def base_tag(suite: str, digest: str) -> str:
    """Give the tag of a base image; ``digest`` stands for where it comes from."""
    return f"crossmatrix/base-{suite}:{sha256_value([REVISION, suite, digest])[:16]}"


@contextmanager
def bootstrapped(
    suite: str,
    apt: AptSetup,
    work: Path,
    environ: Mapping[str, str],
    on_line: Callable[[str], None],
) -> Iterator[Iterator[bytes]]:
    """Bootstrap a suite's minimal system with debootstrap and give it as a tar archive.

    Args:
        suite: such as ``bookworm``.
        apt: where its packages come from.
        work: folder for the tree; removed on leaving.
        environ: for proxies.
        on_line: gets what debootstrap says.

    Yields:
        The archive's chunks.

    Raises:
        InfrastructureError: debootstrap cannot be used here, or fails; its last lines are in the message.
    """
    _check_possible(environ, on_line)
    work.parent.mkdir(parents=True, exist_ok=True)
    if shutil.disk_usage(work.parent).free < NEEDED_BYTES:
        raise NoSpaceError(
            f"Less than {NEEDED_BYTES >> 20} MiB are free at {work.parent}; a base image needs them.",
            hint="`invoke clean` removes what earlier runs left; CROSSMATRIX_HOME puts the state directory elsewhere.",
        )
    try:
        _run(_command(suite, apt, work), _variables(apt, environ), on_line)
        _finish(work, apt)
        with _archive(work) as chunks:
            yield chunks
    finally:
        # debootstrap mounts /proc in the tree; nothing may be removed before that is gone.
        unmount_below(work)
        shutil.rmtree(work, ignore_errors=True)


def _check_possible(environ: Mapping[str, str], on_line: Callable[[str], None]) -> None:
    """See that debootstrap can be used; as root on Debian it is installed where it is missing."""
    if platform.machine() not in {"x86_64", "AMD64"} or not os.path.isdir("/proc/self"):  # noqa: PTH112 - no Path needed
        raise InfrastructureError(
            "A base image cannot be bootstrapped on this machine, which is no x86_64 Linux.",
            hint="Pin one in images/base.yaml, so that it comes from a registry.",
        )
    if os.geteuid() != 0:
        raise InfrastructureError(
            "A base image can be bootstrapped by root alone, and no registry gives one.",
            hint="Pin one in images/base.yaml, or build the images once as root: sudo ./bootstrap images",
        )
    # Images of several suites are built side by side, and apt takes one caller at a time.
    with _INSTALLING:
        _ensure_debootstrap(environ, on_line)


def _ensure_debootstrap(environ: Mapping[str, str], on_line: Callable[[str], None]) -> None:
    """Install debootstrap and Debian's keys where they are missing."""
    if program("debootstrap", environ) and any(path.exists() for path in _DEBIAN_KEYS):
        return
    if environ.get(NO_INSTALL) == "1" or not program("apt-get", environ):
        raise InfrastructureError(
            "debootstrap is not installed, and no registry gives a base image.",
            hint="apt-get install debootstrap debian-archive-keyring",
        )
    on_line("Installing debootstrap: apt-get install debootstrap debian-archive-keyring")
    variables = {**environ, "DEBIAN_FRONTEND": "noninteractive", "PATH": search_path(environ)}
    apt = ["apt-get", "-o", f"DPkg::Lock::Timeout={_APT_LOCK_S}", "-qq"]
    _run([*apt, "update"], variables, on_line)
    packages = ["debootstrap", "debian-archive-keyring"]
    _run([*apt, "-y", "install", "--no-install-recommends", *packages], variables, on_line)


def _command(suite: str, apt: AptSetup, work: Path) -> list[str]:
    """Give debootstrap's command."""
    keys = apt.main.signed_by or next((path for path in _DEBIAN_KEYS if path.exists()), _DEBIAN_KEYS[0])
    options = [
        "--variant=minbase",
        "--arch=amd64",
        *(["--no-check-gpg"] if apt.main.trusted else [f"--keyring={keys}"]),
    ]
    if any(entry.uri.startswith("https:") for entry in apt.entries):
        options.append("--include=ca-certificates")
    # A suite newer than the machine's debootstrap has no script there; all newer suites use the one of sid.
    script = [] if (_SCRIPTS / suite).exists() else [str(_SCRIPTS / "sid")]
    return ["debootstrap", *options, suite, str(work), apt.main.uri, *script]


def _variables(apt: AptSetup, environ: Mapping[str, str]) -> dict[str, str]:
    """Give debootstrap's environment: it downloads with wget, which does not read apt's proxy."""
    variables = dict(environ)
    settings = dict(apt.settings)
    for kind in ("http", "https"):
        proxy = settings.get(f"Acquire::{kind}::Proxy", "")
        if proxy and proxy != "DIRECT" and not environ.get(f"{kind}_proxy"):
            variables[f"{kind}_proxy"] = proxy
    variables["PATH"] = search_path(environ)
    return variables


def _finish(tree: Path, apt: AptSetup) -> None:
    """Write apt's files into the tree, and take out what differs from machine to machine."""
    lines = []
    for entry in apt.entries:
        if entry.signed_by:
            target = tree / entry.signed_by.lstrip("/")
            if not target.exists():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(entry.signed_by, target)
        lines.append(entry.line())
    (tree / "etc/apt/sources.list").write_text("\n".join(lines) + "\n", encoding="utf-8")
    settings = [f'{name} "{value}";' for name, value in apt.settings]
    settings += ['APT::Install-Recommends "false";', 'Acquire::Languages "none";']
    (tree / "etc/apt/apt.conf.d/80machine").write_text("\n".join(settings) + "\n", encoding="utf-8")
    # Nothing in an image outlives a power cut, and nobody reads manuals there: installing is faster without both.
    (tree / "etc/dpkg/dpkg.cfg.d/80fast").write_text(
        "force-unsafe-io\npath-exclude /usr/share/man/*\npath-exclude /usr/share/locale/*\n",
        encoding="utf-8",
    )
    for name, value in apt.settings:
        if name.endswith(("CaInfo", "SslCert", "SslKey")) and Path(value).is_file():
            target = tree / value.lstrip("/")
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(value, target)
    if (tree / "usr/sbin/update-ca-certificates").exists() and _BUNDLE.is_file():
        shutil.copyfile(_BUNDLE, tree / "etc/ssl/certs/ca-certificates.crt")
    for name in ("etc/hostname", "etc/machine-id", "etc/resolv.conf"):
        (tree / name).unlink(missing_ok=True)
        (tree / name).touch()
    for pattern in ("var/cache/apt/archives/*.deb", "var/lib/apt/lists/*_*", "var/log/*.log", "var/log/apt/*"):
        for path in tree.glob(pattern):
            path.unlink()


@contextmanager
def _archive(tree: Path) -> Iterator[Iterator[bytes]]:
    """Give a tree as a tar archive, read while it is made."""
    command = ["tar", "-cf", "-", "--numeric-owner", "--sort=name", "--one-file-system", "-C", str(tree), "."]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        if process.stdout is None:  # pragma: no cover - it is a pipe
            raise InfrastructureError("tar has no output.")
        try:
            yield iter(lambda: process.stdout.read(1 << 20), b"")  # type: ignore[union-attr]
        except BaseException:
            process.kill()
            raise
    if process.returncode != 0:
        raise InfrastructureError(f"tar could not read the bootstrapped tree (exit code {process.returncode}).")


def _run(command: list[str], variables: Mapping[str, str], on_line: Callable[[str], None]) -> None:
    """Run a command of the machine's; of a hundred packages it is told what is done to them, and not their names."""

    def tell(line: str) -> None:
        # Every line is passed on: whoever hears it may end a run that was interrupted.
        package = _PER_PACKAGE.match(line)
        on_line(f"I: {package[1]} packages" if package else line)

    run_told(command, variables, tell, limit_s=BOOTSTRAP_S)


def _apt_config() -> str:
    """Let apt print its own configuration; nothing where there is no apt."""
    if not shutil.which("apt-config"):
        return ""
    return subprocess.run(["apt-config", "dump"], check=False, capture_output=True, text=True, timeout=30).stdout


def _text(path: Path) -> str:
    """Read a text file, or nothing where there is none."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
