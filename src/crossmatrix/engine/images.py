"""Toolchain and emulator images: found by tag, else built, each with the list of what was installed in it."""

from __future__ import annotations

import io
import json
import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from crossmatrix.checksums import sha256_value
from crossmatrix.engine.archives import pack
from crossmatrix.engine.base import base_tag, bootstrapped, machine_apt, registry_reference
from crossmatrix.engine.faults import GoneError, local
from crossmatrix.engine.imagelocks import image_lock
from crossmatrix.engine.owners import HOME_LABEL, IMAGE_LABEL, KIND_LABEL
from crossmatrix.engine.packages import installed
from crossmatrix.engine.specs import folder_files
from crossmatrix.engine.suites import check_suite
from crossmatrix.engine.transfers import BUILD_S, BUILD_SILENCE_S, PLATFORM, follow, import_image, pull
from crossmatrix.engine.types import ImageRef
from crossmatrix.engine.worksites import work_folder
from crossmatrix.errors import InfrastructureError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from crossmatrix.catalog import Release
    from crossmatrix.engine.client import Client
    from crossmatrix.engine.types import ImageSpec

_PROXIES = ("http_proxy", "https_proxy", "ftp_proxy", "no_proxy", "all_proxy")
_LOOPBACK = re.compile(r"^(localhost|127\.[\d.]+|::1)$")


class Images:
    """The images of one engine."""

    def __init__(  # noqa: PLR0913 - each is one thing that only the caller knows
        self,
        client: Client,
        *,
        home: Path,
        root: Path,
        environ: Mapping[str, str],
        private: bool,
        source_file: Callable[[Release], Path] | None,
    ) -> None:
        self._client = client
        self._home = home
        self._root = root
        self._environ = environ
        self._private = private
        self._source_file = source_file

    def find(self, spec: ImageSpec) -> ImageRef | None:
        """Find a built image, or None; one call to the engine where its list of packages is known already.

        Raises:
            InfrastructureError: the engine does not answer, or the image says nothing of what is in it.
        """
        found = self._inspect(spec.tag)
        if found is None or found[1].get(IMAGE_LABEL) != spec.name:
            return None
        return self._ref(spec, found[0])

    def build(self, spec: ImageSpec, on_line: Callable[[str], None]) -> ImageRef:
        """Build an image, its base and those it needs first; what exists is taken as it is.

        Args:
            spec: of the image.
            on_line: gets a line for each step.

        Raises:
            InfrastructureError: it cannot be built; the last lines of the build are in the message.
        """
        try:
            return self._ready(spec, on_line)
        except OSError as error:
            raise local(error, f"make image {spec.tag}") from error

    def _ready(self, spec: ImageSpec, on_line: Callable[[str], None]) -> ImageRef:
        """Build an image, or take the one that is there."""
        ref = self.find(spec)
        if ref is not None:
            return ref
        needs = {need.name: self.build(need, on_line) for need in spec.needs}
        tag = self._base(spec.suite, on_line)
        found = self._inspect(tag)
        if found is None:
            raise InfrastructureError(f"The base image {tag} is gone from the engine; give the same command again.")
        base = _plain(found[0])
        with image_lock(self._home, spec.tag, on_line):
            ref = self.find(spec)
            if ref is None:
                on_line(f"Building image {spec.tag}")
                self._build(spec, base, needs, on_line)
                ref = self.find(spec)
        if ref is None:
            raise InfrastructureError(f"The engine says that it built {spec.tag}, but does not have it.")
        return ref

    def check(self, specs: Iterable[ImageSpec]) -> None:
        """See, before anything is built, that each image that is missing has a suite that exists.

        Raises:
            UsageError: with all suites that their mirror does not have.
            InfrastructureError: the engine does not answer.
        """
        wrong: list[UsageError] = []
        for suite, names in self._missing(specs).items():
            try:
                self._check_suite(suite, names)
            except UsageError as error:
                wrong.append(error)
        if wrong:
            raise UsageError("\n".join(error.message for error in wrong), hint=wrong[0].hint)

    def _check_suite(self, suite: str, images: Sequence[str]) -> None:
        """See that the suite of some images exists, where its base image still has to be bootstrapped."""
        if registry_reference(self._root, suite):
            return
        try:
            apt = machine_apt(suite, self._environ)
        except InfrastructureError:
            # The build will say what it lacks.
            return
        if self._inspect(base_tag(suite, apt.digest)) is None:
            check_suite(suite, apt, images)

    def _missing(self, specs: Iterable[ImageSpec]) -> dict[str, list[str]]:
        """Give the names of the images that would be built, those they need among them, by suite."""
        found: dict[str, list[str]] = {}
        waiting = list(specs)
        while waiting:
            spec = waiting.pop()
            names = found.setdefault(spec.suite, [])
            if spec.name not in names and self._inspect(spec.tag) is None:
                names.append(spec.name)
                waiting += spec.needs
        return {suite: sorted(names) for suite, names in found.items() if names}

    def _build(
        self,
        spec: ImageSpec,
        base: str,
        needs: Mapping[str, ImageRef],
        on_line: Callable[[str], None],
    ) -> None:
        """Build by the engine's classic builder, from an archive made in memory."""
        context = self._context(spec)
        # By id: Podman would look for a name without a registry on one, and not here.
        arguments = {"BASE": base, **{_argument(name): _plain(ref.id) for name, ref in needs.items()}}
        proxies = proxy_arguments(self._environ)
        follow(
            self._client,
            f"build {spec.tag}",
            lambda api: api.build(
                fileobj=io.BytesIO(context),
                custom_context=True,
                tag=spec.tag,
                buildargs={**proxies, **arguments},
                labels=self._labels(spec.name),
                network_mode=build_network(proxies, private=self._private),
                platform=PLATFORM,
                rm=True,
                forcerm=True,
                decode=True,
                timeout=BUILD_SILENCE_S,
            ),
            on_line,
            limit_s=BUILD_S,
        )

    def _context(self, spec: ImageSpec) -> bytes:
        """Make the build context: the folder's files, and the sources' as ``sources/<file>``."""
        files = list(folder_files(self._root / "images" / spec.name))
        for release in spec.sources:
            if self._source_file is None:
                raise InfrastructureError(f"Image {spec.name} needs {release.file}, and nothing here fetches it.")
            files.append((f"sources/{release.file}", self._source_file(release).read_bytes(), False))
        return pack(files)

    def _base(self, suite: str, on_line: Callable[[str], None]) -> str:
        """Give the tag of a suite's base image; it is made where there is none."""
        reference = registry_reference(self._root, suite)
        pinned = base_tag(suite, reference)
        if reference and self._inspect(pinned):
            return pinned
        with image_lock(self._home, f"base-{suite}", on_line):
            if reference and (self._inspect(pinned) or self._pulled(reference, pinned, on_line)):
                return pinned
            apt = machine_apt(suite, self._environ)
            tag = base_tag(suite, apt.digest)
            if self._inspect(tag) is None:
                on_line(f"Bootstrapping the base image {tag} from this machine's own mirror")
                work = work_folder(self._home, suite)
                changes = tuple(
                    f"LABEL {key}={json.dumps(value)}" for key, value in self._labels(f"base-{suite}").items()
                )
                with bootstrapped(suite, apt, work, self._environ, on_line) as chunks:
                    import_image(self._client, chunks, tag, (*changes, 'CMD ["sh"]'), on_line)
            return tag

    def _pulled(self, reference: str, tag: str, on_line: Callable[[str], None]) -> bool:
        """Pull a pinned base image and tag it as ours; that no registry answers is no error."""
        try:
            on_line(f"Pulling the base image {reference}")
            pull(self._client, reference, on_line)
            name, _, version = tag.partition(":")
            self._client.ask(f"tag {reference}", lambda api: api.tag(reference, name, version))
        except InfrastructureError as error:
            on_line(f"No registry gives it, so it is bootstrapped here: {error.message.splitlines()[0]}")
            return False
        return True

    def _labels(self, name: str) -> dict[str, str]:
        """Give the labels of an image of ours."""
        return {KIND_LABEL: "image", IMAGE_LABEL: name, HOME_LABEL: str(self._home)}

    def _inspect(self, tag: str) -> tuple[str, dict[str, str]] | None:
        """Give an image's id and labels, or None."""
        try:
            answer = self._client.ask(f"look at image {tag}", lambda api: api.inspect_image(tag))  # type: ignore[no-untyped-call]
        except GoneError:
            return None
        return str(answer["Id"]), dict((answer.get("Config") or {}).get("Labels") or {})

    def _ref(self, spec: ImageSpec, image_id: str) -> ImageRef:
        """Make the reference of an image that exists."""
        packages = installed(self._client, self._home, spec.tag, image_id)
        return ImageRef(
            name=spec.name,
            tag=spec.tag,
            id=image_id,
            contents=sha256_value({"tag": spec.tag, "packages": packages}),
            packages=tuple(sorted(packages.items())),
        )


def proxy_arguments(environ: Mapping[str, str]) -> dict[str, str]:
    """Give the proxies of an environment in both cases: programs differ in which one they read."""
    found: dict[str, str] = {}
    for name in _PROXIES:
        value = environ.get(name) or environ.get(name.upper())
        if value:
            found |= {name: value, name.upper(): value}
    return found


def build_network(proxies: Mapping[str, str], *, private: bool) -> str:
    """Choose a build's network: our own daemon has no bridge, and a proxy on this host is not seen from one."""
    hosts = (urlsplit(value).hostname or "" for name, value in proxies.items() if not name.lower().startswith("no"))
    return "host" if private or any(_LOOPBACK.match(host) for host in hosts) else "default"


def _plain(image_id: str) -> str:
    """Give an id as a Dockerfile takes it."""
    return image_id.removeprefix("sha256:")


def _argument(name: str) -> str:
    """Give the build argument that names an image: ``musl-sysroot`` -> ``MUSL_SYSROOT_IMAGE``."""
    return re.sub(r"[^A-Z0-9]", "_", name.upper()) + "_IMAGE"
