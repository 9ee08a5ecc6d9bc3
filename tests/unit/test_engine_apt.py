"""What an image takes from the machine's own apt configuration. The mirrors here do not exist."""

from __future__ import annotations

import pytest

from crossmatrix.engine.aptsources import for_suite, parse_apt_conf, parse_deb822, parse_list, parse_os_release
from crossmatrix.errors import InfrastructureError

DEBIAN = {"ID": "debian", "VERSION_CODENAME": "bookworm"}
STANZAS = """
# a comment
Types: deb deb-src
URIs: http://mirror.test/debian/
Suites: bookworm bookworm-updates bookworm-backports
Components: main contrib
Signed-By: /usr/share/keyrings/x.gpg

Types: deb
URIs: http://security.test/debian-security
Suites: bookworm-security
Components: main
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 -----END PGP PUBLIC KEY BLOCK-----

Enabled: no
Types: deb
URIs: http://off.test
Suites: bookworm
Components: main
"""


def test_deb822_is_read() -> None:
    """Every type, address and suite of a stanza is an entry; a disabled stanza is none."""
    entries = parse_deb822(STANZAS)
    assert len(entries) == 7
    assert {entry.uri for entry in entries} == {"http://mirror.test/debian", "http://security.test/debian-security"}
    assert entries[0].signed_by == "/usr/share/keyrings/x.gpg"
    assert entries[-1].signed_by == ""


def test_one_line_entries_are_read() -> None:
    """Options, comments and several components are understood."""
    text = "# deb http://no.test x main\ndeb [arch=any signed-by=/k.gpg trusted=yes] http://m.test/d/ sid main x\n"
    (entry,) = parse_list(text)
    assert (entry.uri, entry.suite, entry.components) == ("http://m.test/d", "sid", ("main", "x"))
    assert (entry.signed_by, entry.trusted) == ("/k.gpg", True)
    assert parse_list(entry.line()) == (entry,)


def test_another_suite_comes_from_the_same_mirror() -> None:
    """The wanted suite takes the place of the machine's own, with updates and security, and with sources."""
    found = for_suite(parse_deb822(STANZAS), "trixie", DEBIAN, {})
    assert found[0].suite == "trixie"
    assert [(entry.kind, entry.suite) for entry in found] == [
        ("deb", "trixie"),
        ("deb-src", "trixie"),
        ("deb", "trixie-updates"),
        ("deb-src", "trixie-updates"),
        ("deb", "trixie-security"),
        ("deb-src", "trixie-security"),
    ]
    assert {entry.components for entry in found} == {("main",)}


def test_sid_has_no_pockets() -> None:
    """The rolling suite has neither updates nor security."""
    assert {entry.suite for entry in for_suite(parse_deb822(STANZAS), "sid", DEBIAN, {})} == {"sid"}


@pytest.mark.parametrize("name", ["sid", "unstable"])
def test_a_machine_of_unstable_has_a_mirror(name: str) -> None:
    """It calls itself by testing's name, and its apt knows that of unstable alone."""
    testing = {"ID": "debian", "VERSION_CODENAME": "forky"}
    entries = parse_list(f"deb http://m.test/d {name} main\n")
    assert [entry.suite for entry in for_suite(entries, "bookworm", testing, {})] == ["bookworm", "bookworm"]


def test_unstable_beside_the_machines_own_release_is_from_elsewhere() -> None:
    """Such as an archive of other architectures: the machine's own mirror is taken, and that alone."""
    entries = parse_list("deb http://m.test/d bookworm main\ndeb http://other.test/ports sid main\n")
    assert {entry.uri for entry in for_suite(entries, "trixie", DEBIAN, {})} == {"http://m.test/d"}


def test_other_peoples_archives_are_not_taken() -> None:
    """An archive for another name than the machine's release is none of Debian's."""
    entries = parse_list("deb http://other.test/apt tools-bookworm main\ndeb http://m.test/d bookworm main\n")
    assert {entry.uri for entry in for_suite(entries, "bookworm", DEBIAN, {})} == {"http://m.test/d"}


@pytest.mark.parametrize("release", [{"ID": "ubuntu", "VERSION_CODENAME": "noble"}, {}, DEBIAN])
def test_machine_without_a_debian_mirror_says_how_to_name_one(release: dict[str, str]) -> None:
    """Where no mirror is known the error names the variable; with it that mirror is used."""
    with pytest.raises(InfrastructureError, match="CROSSMATRIX_DEBIAN_MIRROR"):
        for_suite((), "bookworm", release, {})
    found = for_suite((), "bookworm", release, {"CROSSMATRIX_DEBIAN_MIRROR": "http://m.test/d/"})
    assert found[0].line() == "deb http://m.test/d bookworm main"


def test_settings_for_downloads_are_taken_and_no_others() -> None:
    """Proxies, certificates and retries go into an image; scripts that apt runs do not."""
    dump = (
        'Acquire::http::Proxy "http://p.test:3128";\nAcquire::https::CaInfo "/etc/x.pem";\nAcquire::Retries "3";\n'
        'Acquire::http "";\nDPkg::Post-Invoke:: "rm -rf /";\nAcquire::IndexTargets::deb::Packages::x "y";\n'
    )
    assert [name for name, _ in parse_apt_conf(dump)] == [
        "Acquire::http::Proxy",
        "Acquire::https::CaInfo",
        "Acquire::Retries",
    ]


def test_os_release_is_read() -> None:
    """Quoted values lose their quotes."""
    assert parse_os_release('ID=debian\n#x=y\nNAME="Debian X"\n') == {
        "ID": "debian",
        "NAME": "Debian X",
    }
