"""Whether a Debian suite exists: its mirror is asked before anything is bootstrapped, so that a wrong name is told."""

from __future__ import annotations

from typing import TYPE_CHECKING

import requests

from crossmatrix.engine.aptsources import MIRROR
from crossmatrix.errors import UsageError, nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from crossmatrix.engine.base import AptSetup

SUITES = ("bullseye", "bookworm", "trixie", "forky", "sid")
"""For the nearest right name alone: a mirror may have others, and newer ones."""
ASK_S = 10.0
_NOT_FOUND = 404


def head(url: str, proxies: Mapping[str, str]) -> int | None:
    """Ask for the head of an address.

    Args:
        url: http or https.
        proxies: by scheme, besides those of the environment.

    Returns:
        The status of the answer, or None where there is none.
    """
    try:
        with requests.head(url, timeout=ASK_S, allow_redirects=True, proxies=dict(proxies)) as answer:
            return answer.status_code
    except requests.RequestException:
        return None


def check_suite(
    suite: str,
    apt: AptSetup,
    images: Sequence[str],
    *,
    ask: Callable[[str, Mapping[str, str]], int | None] = head,
) -> None:
    """See that a mirror has a suite; one that cannot be asked is left to debootstrap, which says more.

    Args:
        suite: as image recipes name it.
        apt: where its packages come from.
        images: names of those that want it.
        ask: gives the status of an address, or None.

    Raises:
        UsageError: the mirror answers, and has no such suite.
    """
    mirror = apt.main.uri
    if not mirror.startswith(("http://", "https://")):
        return
    settings = dict(apt.settings)
    named = {kind: settings.get(f"Acquire::{kind}::Proxy", "") for kind in ("http", "https")}
    proxies = {kind: proxy for kind, proxy in named.items() if proxy and proxy != "DIRECT"}
    for file in ("InRelease", "Release"):
        if ask(f"{mirror}/dists/{suite}/{file}", proxies) != _NOT_FOUND:
            return
    where = ", ".join(f"images/{name}/image.yaml" for name in images)
    raise UsageError(
        f"{where}: there is no Debian suite {suite!r} at {mirror}; {nearest(suite, SUITES)}",
        hint=f"Mend `suite` there, or name a mirror that has it: {MIRROR}=<address of a Debian mirror>.",
    )
