"""What must hold between recipes: every name that one uses is defined by another."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from elftools.elf.enums import ENUM_E_MACHINE

from crossmatrix.errors import nearest
from crossmatrix.evidence.capabilities import known_patterns
from crossmatrix.outcomes.faults import SIGNALS
from crossmatrix.recipes.models import (
    RESERVED_TIERS,
    EmulatorModel,
    ImageModel,
    LibraryModel,
    ProfileModel,
    TargetModel,
    ToolchainModel,
)
from crossmatrix.recipes.selections import check_where
from crossmatrix.recipes.shapes import UNKNOWN
from crossmatrix.recipes.things import every, workload_files

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from crossmatrix.errors import Problem
    from crossmatrix.recipes.document import Node
    from crossmatrix.recipes.things import Thing, Things

_MACHINES = frozenset(name for name in ENUM_E_MACHINE if name.startswith("EM_"))
_SOURCE_OF = {"architecture": "target"} | dict.fromkeys(("variant", "tier"), "library")
"""Names that are defined inside of recipes of another kind."""
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+=-]*")
_WHOLE_SUITES = frozenset({"nettle"})
"""Libraries whose harness takes no names of tests."""
_PLACEHOLDER = re.compile(r"\{(?!target\})[^}]*\}?|(?<!\{target)\}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Checker:
    """Collects what is wrong."""

    things: Things
    problems: list[Problem]

    def add(self, node: Node, message: str) -> None:
        """Note that something is wrong at a place."""
        self.problems.append(node.place.problem(message))

    def name(self, node: Node, kind: str, name: str, known: Iterable[str] | None = None) -> bool:
        """Note where a name is not known; gives whether it is."""
        names = self.things.names[kind] if known is None else tuple(known)
        if name in names or name == UNKNOWN or _SOURCE_OF.get(kind, kind) in self.things.unread:
            return True
        self.add(node, f"unknown {kind} {name!r}; {nearest(name, names)}")
        return False

    def names(self, owner: Node, key: str, kind: str, names: Sequence[str], known: Iterable[str] | None = None) -> None:
        """Check a list of names that stands under a key: all known, none twice."""
        self.once(owner, key, names)
        for i, name in enumerate(names):
            self.name(owner.find([key, i]), kind, name, known)

    def once(self, owner: Node, key: str, names: Sequence[str]) -> None:
        """Note names that stand in a list twice."""
        for i, name in enumerate(names):
            if name in names[:i] and name != UNKNOWN:
                self.add(owner.find([key, i]), f"{name!r} stands in {key!r} twice")


def _arches(things: Things) -> set[str]:
    """Give the architectures of all targets; ``UNKNOWN`` is among them where one has none that can be read."""
    targets = every(things, things.targets, TargetModel)
    found = {target.model.arch for target in targets}
    return found if len(targets) == len(things.names["target"]) else found | {UNKNOWN}


def check_things(things: Things, problems: list[Problem]) -> None:
    """Check all recipes but matrices against each other."""
    checker = Checker(things=things, problems=problems)
    for library in every(things, things.libraries, LibraryModel):
        _check_library(checker, library)
    for target in every(things, things.targets, TargetModel):
        _check_target(checker, target)
    for toolchain in every(things, things.toolchains, ToolchainModel):
        _check_toolchain(checker, toolchain)
    for emulator in every(things, things.emulators, EmulatorModel):
        checker.name(emulator.node.find(["image"]), "image", emulator.model.image)
    for profile in every(things, things.profiles, ProfileModel):
        _check_profile(checker, profile)
    for image in every(things, things.images, ImageModel):
        checker.names(image.node, "needs", "image", image.model.needs)
        checker.once(image.node, "sources", [source.file for source in image.model.sources])
    _check_needs(checker)


def _check_library(checker: Checker, library: Thing[LibraryModel]) -> None:
    model, node = library.model, library.node
    for key, names in (("releases", model.releases), ("variants", model.variants), ("tiers", model.tiers)):
        for name in names:
            if not _NAME.fullmatch(name):
                advice = "use letters, digits and . _ + = -"
                checker.add(node.find([key, name]), f"{name!r} cannot be a name under {key!r}; {advice}")
    for tier in RESERVED_TIERS:
        if tier in model.tiers:
            checker.add(node.find(["tiers", tier]), f"the tier name {tier!r} is reserved; choose another")
    checker.name(node.find(["default_tier"]), "tier", model.default_tier, model.tiers)
    _check_environment(checker, node, model.environment)
    _check_workload(checker, library)
    for i, exclusion in enumerate(model.exclusions):
        place = node.find(["exclusions", i])
        check_where(checker.things, place, exclusion.where, checker.problems)
        if exclusion.tests:
            _check_kind(checker, place, library.name, exclusion.kind)


def _check_kind(checker: Checker, exclusion: Node, library: str, kind: str) -> None:
    """Note kinds that mean something else with tests than they say, or nothing."""
    if kind == "unsupported":
        message = "'unsupported' is said of whole cells: leave 'tests' out, or choose leave-out or expected-failure"
        checker.add(exclusion.find(["kind"]), message)
    elif kind == "leave-out" and library in _WHOLE_SUITES:
        message = f"{library}'s suite is always run whole, no test of it can be left out; choose expected-failure"
        checker.add(exclusion.find(["kind"]), message)


def _check_workload(checker: Checker, library: Thing[LibraryModel]) -> None:
    checker.once(library.node, "workload", library.model.workload)
    for i, name in enumerate(library.model.workload):
        node = library.node.find(["workload", i])
        if name == UNKNOWN:
            continue
        folder = checker.things.folders[node.place.file].resolve()
        paths = [path.resolve() for path in workload_files(folder, name)]
        if not all(path.is_relative_to(folder) for path in paths):
            checker.add(node, f"workload file {name!r} lies outside of the recipe folder")
        elif not paths or not all(path.is_file() for path in paths):
            found = [other.relative_to(folder).as_posix() for other in folder.rglob("*.[ch]")]
            checker.add(node, f"workload file {name!r} does not exist; {nearest(name, found)}")


def _check_environment(checker: Checker, node: Node, environment: Iterable[str]) -> None:
    for name in environment:
        if not _VARIABLE.fullmatch(name):
            checker.add(node.find(["environment", name]), f"{name!r} cannot be the name of an environment variable")


def _check_target(checker: Checker, target: Thing[TargetModel]) -> None:
    machine = target.model.machine
    if target.node.find(["machine"]).content == machine and machine not in ENUM_E_MACHINE:
        checker.add(target.node.find(["machine"]), f"unknown ELF machine {machine!r}; {nearest(machine, _MACHINES)}")
    for key, names in (("configure", target.model.configure), ("options", target.model.options)):
        for name in names:
            checker.name(target.node.find([key, name]), "library", name)


def _check_toolchain(checker: Checker, toolchain: Thing[ToolchainModel]) -> None:
    node, model = toolchain.node, toolchain.model
    checker.name(node.find(["image"]), "image", model.image)
    for name in model.targets:
        checker.name(node.find(["targets", name]), "target", name)
    for tools in (node.find(["tools"]), *(node.find(["targets", name]) for name in model.targets)):
        for command in tools.mapping.values():
            found = _PLACEHOLDER.search(command.text)
            if found:
                checker.add(command, f"unknown placeholder {found[0]!r}; only {{target}} is replaced")


def _check_profile(checker: Checker, profile: Thing[ProfileModel]) -> None:
    things, node, model = checker.things, profile.node, profile.model
    checker.name(node.find(["emulator"]), "emulator", model.emulator)
    checker.names(node, "libraries", "library", model.libraries)
    arches = _arches(things)
    if UNKNOWN not in arches:
        checker.names(node, "targets", "architecture", model.targets, arches)
    libraries = model.libraries or things.names["library"]
    if all(name in things.libraries for name in libraries):
        known = {variant for name in libraries for variant in things.libraries[name].model.variants}
        checker.names(node, "variants", "variant", model.variants, known)
    _check_environment(checker, node, model.environment)
    if model.must_fail is not None:
        checker.name(node.find(["must_fail", "signal"]), "signal", model.must_fail.signal, SIGNALS.values())
    _check_capabilities(checker, profile)
    for name in sorted((set(model.asks) & set(model.forbids)) - {UNKNOWN}):
        i = model.forbids.index(name)
        checker.add(node.find(["forbids", i]), f"{name!r} is asked for and forbidden at once")


def _check_capabilities(checker: Checker, profile: Thing[ProfileModel]) -> None:
    """Note words that no library can ever speak: forbidden, they would stay green for ever."""
    things, model = checker.things, profile.model
    arches = model.targets or sorted(_arches(things))
    libraries = model.libraries or things.names["library"]
    known = [known_patterns(library, arch) for library in libraries for arch in arches]
    if None in known or UNKNOWN in arches or things.unread & {"library", "target"}:
        return
    patterns = {pattern for found in known for pattern in found or ()}
    words = sorted(pattern for pattern in patterns if _NAME.fullmatch(pattern))
    for key, names in (("asks", model.asks), ("forbids", model.forbids)):
        for i, name in enumerate(names):
            if name != UNKNOWN and not any(re.fullmatch(pattern, name) for pattern in patterns):
                where = f"{' or '.join(libraries)} on {' or '.join(arches)}"
                advice = nearest(name, words)
                checker.add(profile.node.find([key, i]), f"no capability of {where} is called {name!r}; {advice}")


def _check_needs(checker: Checker) -> None:
    done: set[str] = set()

    def visit(name: str, above: tuple[str, ...]) -> None:
        image = checker.things.images.get(name)
        if image is None or name in done:
            return
        for i, needed in enumerate(image.model.needs):
            if needed in (*above, name):
                circle = (*above, name)[(*above, name).index(needed) :]
                words = " -> ".join([*circle, needed])
                checker.add(image.node.find(["needs", i]), f"images need each other in a circle: {words}")
            else:
                visit(needed, (*above, name))
        done.add(name)

    for name in checker.things.images:
        visit(name, ())
