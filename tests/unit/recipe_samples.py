"""A small, whole set of recipes that tests change to see what is said about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crossmatrix.errors import RecipeError
from crossmatrix.recipes import load_catalog

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

SHA = "0" * 64

FILES = {
    "recipes/libraries/openssl.yaml": f"""\
title: OpenSSL
releases:
  "3.0.20": {{file: openssl-3.0.20.tar.gz, sha256: "{SHA}"}}
  "3.0.9": {{file: openssl-3.0.9.tar.gz, sha256: "{SHA}"}}
  "3.5.7": {{file: openssl-3.5.7.tar.gz, sha256: "{SHA}"}}
variants:
  asm: {{description: With assembly, assembly: true}}
  no-asm: {{description: In C, options: [no-asm], assembly: false}}
tiers:
  smoke: {{tests: [test_sha], timeout_s: 900, estimate_s: 50}}
  full: {{tests: [alltests], timeout_s: 9000, estimate_s: 500}}
default_tier: smoke
workload: [libraries/work.c]
algorithms: [sha256, aes-256-ctr, hmac-sha256]
build_estimate_s: 100
build_timeout_s: 1000
""",
    "recipes/libraries/nettle.yaml": f"""\
title: nettle
releases:
  "3.10.2": {{file: nettle-3.10.2.tar.gz, sha256: "{SHA}"}}
variants:
  asm: {{description: With assembly, assembly: true}}
  fat: {{description: Chosen at run time, assembly: true}}
tiers:
  full: {{timeout_s: 900, estimate_s: 60}}
default_tier: full
workload: [libraries/work.c]
algorithms: [sha256, x25519]
build_estimate_s: 30
build_timeout_s: 1000
""",
    "recipes/libraries/work.c": "int main(void) { return 0; }\n",
    "recipes/targets.yaml": """\
little:
  arch: aarch64
  machine: EM_AARCH64
  endian: little
  bits: 64
  libc: musl
  configure: {openssl: linux-aarch64, nettle: "{target}"}
big:
  extends: little
  arch: aarch64_be
  endian: big
""",
    "recipes/toolchains.yaml": """\
gcc-12:
  family: gcc
  version: "12"
  image: gcc-12
  tools: &tools
    cc: "{target}-gcc"
    cxx: "{target}-g++"
    ar: "{target}-ar"
    ranlib: "{target}-ranlib"
    nm: "{target}-nm"
    strip: "{target}-strip"
  targets: {little: {}, big: {}}
clang-16:
  family: clang
  version: "16"
  image: clang-16
  tools: *tools
  targets: {little: {cc: clang, flags: ["--target={target}"]}}
""",
    "recipes/emulators.yaml": """\
qemu: {version: "7.2", image: qemu, plugin: /opt/count.so}
""",
    "recipes/profiles.yaml": """\
default:
  description: Everything
  emulator: qemu
  cpu: max
armcap=0:
  extends: default
  description: Nothing
  libraries: [openssl]
  environment: {OPENSSL_armcap: "0"}
""",
    "recipes/matrices/quick.yaml": """\
description: A few
libraries: {openssl: "3.0", nettle: "3.10"}
variants: [asm, no-asm]
targets: [little, big]
toolchains: [gcc-12]
""",
    **{f"images/{name}/Dockerfile": "FROM base\n" for name in ("gcc-12", "clang-16", "qemu")},
    "images/gcc-12/image.yaml": "suite: bookworm\n",
    "images/clang-16/image.yaml": "suite: bookworm\nneeds: [gcc-12]\n",
    "images/qemu/image.yaml": "suite: bookworm\n",
}


def write(root: Path, files: dict[str, str]) -> Path:
    """Write files below a folder and give the folder."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


def changed(root: Path, name: str, old: str, new: str) -> Path:
    """Write the whole set with one text in one file replaced; the text must be there."""
    assert old in FILES[name], f"{old!r} is not in {name}"
    return write(root, {**FILES, name: FILES[name].replace(old, new)})


def added(root: Path, name: str, text: str) -> Path:
    """Write the whole set with a text at the end of one file, which may be a new one."""
    return write(root, {**FILES, name: FILES.get(name, "") + text})


def problems_of(root: Path, extra: Sequence[Path] = ()) -> list[str]:
    """Give all problems that loading reports, in its order; none where it loads."""
    try:
        load_catalog(root, extra)
    except RecipeError as error:
        return [str(problem) for problem in error.problems]
    return []


def line_of(root: Path, name: str, text: str) -> int:
    """Give the number of the first line that holds a text."""
    lines = (root / name).read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, start=1) if text in line)
