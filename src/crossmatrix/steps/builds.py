"""The stages of a build job: unpack, configure, build, collect, workload."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from crossmatrix.errors import UsageError, nearest
from crossmatrix.steps.machines import elf_numbers
from crossmatrix.steps.scripts_text import script_text, with_values
from crossmatrix.steps.stage import InputFile, Stage, Steps
from crossmatrix.steps.surroundings import build_environment

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crossmatrix.catalog import Build, Tools

OUTPUTS = "/work/out"
LIBRARIES = ("nettle", "openssl")
"""Libraries that there are scripts for."""

_UNPACK_S = 300
_CONFIGURE_S = 900
_COLLECT_S = 300
_WORKLOAD_S = 300


def build_steps(
    build: Build,
    *,
    recipes: Path,
    processes: int,
    workload: tuple[InputFile, ...] | None = None,
) -> Steps:
    """Give all that a build job does.

    The runner has put the source at ``/work/source.tar`` before.

    Args:
        build: what is compiled.
        recipes: folder that ``Library.workload`` is relative to.
        processes: compilers side by side.
        workload: what ``workload_files`` gives, where it has been read before.

    Raises:
        UsageError: there are no scripts for the library, the toolchain does not serve the target, the library has
            no configure name for it, or a workload file cannot be read.
    """
    library, tools = build.library, _tools(build)
    check_library(library.name)
    inputs = tuple(workload_files(library.workload, recipes)) if workload is None else workload
    if library.name == "openssl":
        inputs += (InputFile(path="/work/programs.pl", data=script_text("openssl-programs.pl").encode()),)
    sources = [file.path.removeprefix("/work/workload/") for file in inputs if file.path.endswith(".c")]
    flags = " ".join(tools.flags)
    jobs = str(max(1, processes))
    environment = build_environment(library)

    def stage(name: str, script: str, timeout_s: int) -> Stage:
        return Stage(name=name, script=script, timeout_s=timeout_s, environment=environment)

    return Steps(
        inputs=inputs,
        stages=(
            stage("unpack", with_values("unpack.sh"), _UNPACK_S),
            stage("configure", _configure(build, tools), _CONFIGURE_S),
            stage(
                "build",
                with_values(f"{library.name}-build.sh", build.suite, jobs=jobs, nm=tools.nm),
                library.build_timeout_s,
            ),
            stage("collect", with_values(f"{library.name}-collect.sh"), _COLLECT_S),
            stage(
                "workload",
                with_values(f"{library.name}-workload.sh", sources, cc=tools.cc, flags=flags),
                _WORKLOAD_S,
            ),
        ),
        outputs=OUTPUTS,
    )


def check_library(name: str) -> None:
    """Raise ``UsageError`` where there are no scripts for a library."""
    if name not in LIBRARIES:
        raise UsageError(f"there are no steps for the library {name!r}; {nearest(name, LIBRARIES)}")


def workload_files(paths: Iterable[str], recipes: Path) -> Iterable[InputFile]:
    """Give the workload's C files, the headers beside them, and those that both libraries share.

    Args:
        paths: C files, relative to ``recipes``, or absolute ones of an additional recipe folder.
        recipes: the folder.

    Yields:
        Each file once, below ``/work/workload``, in a fixed order.

    Raises:
        UsageError: a file cannot be read.
    """
    wanted: dict[str, Path] = {}
    for path in paths:
        file = recipes / path
        inside = Path("extra", file.parent.name) if Path(path).is_absolute() else Path(path).parent
        wanted[str(inside / file.name)] = file
        wanted.update({str(inside / header.name): header for header in sorted(file.parent.glob("*.h"))})
    common = sorted((recipes / "libraries" / "common").glob("*.h"))
    wanted.update({f"libraries/common/{header.name}": header for header in common})
    for name, file in wanted.items():
        try:
            data = file.read_bytes()
        except OSError as error:
            raise UsageError(f"the workload file {file} cannot be read: {error.strerror}") from error
        yield InputFile(path=f"/work/workload/{name}", data=data)


def _tools(build: Build) -> Tools:
    tools = build.toolchain.tools_for(build.target.name)
    if tools is None:
        known = (one.target for one in build.toolchain.tools)
        raise UsageError(
            f"toolchain {build.toolchain.name} does not compile for {build.target.name}; "
            f"{nearest(build.target.name, known)}",
        )
    return tools


def _configure(build: Build, tools: Tools) -> str:
    elf_class, data, machine = elf_numbers(build.target)
    flags = " ".join(tools.flags)
    check = with_values("fresh.sh") + with_values(
        "compiler.sh",
        cc=tools.cc,
        flags=flags,
        target=build.target.name,
        **{"class": str(elf_class), "data": str(data), "machine": str(machine)},
    )
    host = dict(build.target.configure).get(build.library.name)
    if host is None:
        raise UsageError(f"target {build.target.name} has no configure name for {build.library.name}")
    options = (
        *build.library.configure,
        *build.variant.options,
        *dict(build.target.options).get(build.library.name, ()),
    )
    # OpenSSL's target is Configure's first argument; autoconf's is --host.
    arguments = (host, *options) if build.library.name == "openssl" else options
    values = {"cxx": tools.cxx, "ar": tools.ar, "ranlib": tools.ranlib, "nm": tools.nm, "host": host}
    return check + with_values(f"{build.library.name}-configure.sh", arguments, cc=tools.cc, flags=flags, **values)
