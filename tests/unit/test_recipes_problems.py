"""What is said of recipes in which something is wrong: every problem, by file and line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.unit.recipe_samples import FILES, added, changed, line_of, problems_of, write

from crossmatrix.errors import ExitCode, RecipeError
from crossmatrix.recipes import load_catalog

if TYPE_CHECKING:
    from pathlib import Path

OPENSSL = "recipes/libraries/openssl.yaml"
TARGETS = "recipes/targets.yaml"
TOOLCHAINS = "recipes/toolchains.yaml"
PROFILES = "recipes/profiles.yaml"
QUICK = "recipes/matrices/quick.yaml"


def test_the_sample_has_no_problem(tmp_path: Path) -> None:
    """The recipes that the other tests change are right as they stand."""
    assert problems_of(write(tmp_path, FILES)) == []


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        (QUICK, "[gcc-12]", "[gcc-21]", "unknown toolchain 'gcc-21'; did you mean 'gcc-12'?"),
        (QUICK, "[little, big]", "[little, bigg]", "unknown target 'bigg'; did you mean 'big'?"),
        (QUICK, "nettle: ", "nettel: ", "unknown library 'nettel'; did you mean 'nettle'?"),
        (QUICK, "no-asm]", "no-ams]", "unknown variant 'no-ams'; did you mean 'no-asm'?"),
        (QUICK, '"3.10"', '"3.9"', "no pinned release of nettle is '3.9'; known: 3.10.2"),
        (
            QUICK,
            '"3.10"',
            "3.10",
            'must be text or a list of texts, but is the number 3.1; put it in quotes: "3.10"',
        ),
        (QUICK, "[asm, no-asm]", "asm", "matrix 'quick': 'variants' must be a list, but is the text 'asm'"),
        (QUICK, "[asm, no-asm]", "[]", "matrix 'quick' names nothing: it has no variants"),
        (QUICK, "[asm, no-asm]", "[asm, asm]", "'asm' stands in 'variants' twice"),
        (QUICK, "[asm, no-asm]", "['*fast*']", "'*fast*' matches no variant; did you mean 'fat'?"),
        (QUICK, "description: A few", "decsription: A few", "unknown key 'decsription'; did you mean 'description'?"),
        (QUICK, "description: A few", "title: A few", "missing key 'description'"),
        (QUICK, "description: A few", "description: 12", 'put it in quotes: "12"'),
        (QUICK, "description: A few", "description: no", 'is a truth value; put it in quotes: "no"'),
        (QUICK, "description: A few", 'description: ""', "'description' is empty"),
        (OPENSSL, "timeout_s: 9000", "timeout_s: long", "'tiers.full.timeout_s' must be a whole number"),
        (OPENSSL, "timeout_s: 9000", "timeout_s: 0", "'tiers.full.timeout_s' is 0"),
        (OPENSSL, "timeout_s: 9000", "timout_s: 9000", "unknown key 'tiers.full.timout_s'; did you mean 'timeout_s'?"),
        (OPENSSL, "assembly: false", "assembly: 1", "'variants.no-asm.assembly' must be true or false"),
        (OPENSSL, "  full: {", "  bench: {", "the tier name 'bench' is reserved"),
        (OPENSSL, "default_tier: smoke", "default_tier: smok", "unknown tier 'smok'; did you mean 'smoke'?"),
        (OPENSSL, "libraries/work.c", "libraries/wrok.c", "does not exist; did you mean 'libraries/work.c'?"),
        (OPENSSL, "libraries/work.c", "../images/qemu/image.yaml", "lies outside of the recipe folder"),
        (OPENSSL, "libraries/work.c", "/etc/passwd", "lies outside of the recipe folder"),
        (OPENSSL, "title: OpenSSL", "title: OpenSSL\nenvironment: {SEED: 1}", "'environment.SEED' must be text"),
        (OPENSSL, "title: OpenSSL", "title: OpenSSL\nenvironment: {A-B: x}", "'A-B' cannot be the name of an env"),
        (OPENSSL, "title: OpenSSL", "title: OpenSSL\ntitle: Again", "duplicate key 'title'; it stands in line 1"),
        (OPENSSL, '"3.0.9": ', '"3.0 9": ', "'3.0 9' cannot be a name under 'releases'"),
        (TARGETS, "openssl: linux", "opensl: linux", "unknown library 'opensl'; did you mean 'openssl'?"),
        (TARGETS, "endian: big", "endian: bog", "'endian' is 'bog', must be 'little' or 'big'"),
        (TARGETS, "EM_AARCH64", "EM_arm", "must be an ELF machine such as EM_AARCH64"),
        (TARGETS, "extends: little", "extends: litle", "extends unknown target 'litle'; did you mean 'little'?"),
        (TARGETS, "extends: little", "extends: big", "target 'big' extends itself"),
        (TARGETS, "extends: little", "extends: [little]", "extends must be the name of a target"),
        (TARGETS, "big:\n", "a/b:\n", "'a/b' cannot be the name of a target"),
        (TOOLCHAINS, "image: clang-16", "image: clang-61", "unknown image 'clang-61'; did you mean 'clang-16'?"),
        (TOOLCHAINS, "{little: {}, big: {}}", "{little: {}, bog: {}}", "unknown target 'bog'; did you mean 'big'?"),
        (TOOLCHAINS, '"{target}-ar"', '"{triple}-ar"', "unknown placeholder '{triple}'; only {target} is replaced"),
        (TOOLCHAINS, "cc: clang", "c++: clang", "unknown key 'targets.little.c++'"),
        (PROFILES, "emulator: qemu", "emulator: qemo", "unknown emulator 'qemo'; did you mean 'qemu'?"),
        (PROFILES, "[openssl]", "[opensl]", "unknown library 'opensl'; did you mean 'openssl'?"),
        (PROFILES, "[openssl]", "[openssl]\n  targets: [arm]", "unknown architecture 'arm'"),
        (PROFILES, "[openssl]", "[openssl]\n  variants: [fat]", "unknown variant 'fat'"),
        (
            PROFILES,
            "[openssl]",
            "[openssl]\n  must_fail: {signal: SIGIL, function: f, reason: r}",
            "unknown signal 'SIGIL'; did you mean 'SIGILL'?",
        ),
        (PROFILES, "[openssl]", "[openssl]\n  asks: [AES]\n  forbids: [AES]", "'AES' is asked for and forbidden"),
        (PROFILES, "[openssl]", "[openssl]\n  asks: [NEOM]", "is called 'NEOM'; did you mean 'NEON'?"),
        (PROFILES, "[openssl]", "[openssl]\n  forbids: [AES, SHAA1]", "is called 'SHAA1'; did you mean 'SHA1'?"),
        (PROFILES, "[openssl]", "[openssl]\n  forbids: [aes]", "is called 'aes'; "),
        (PROFILES, "[openssl]", "[nettle]\n  forbids: [shaa1]", "is called 'shaa1'; did you mean 'sha1'?"),
        (PROFILES, "[openssl]", "[nettle]\n  asks: [AES]", "no capability of nettle on aarch64 or aarch64_be"),
        (TARGETS, "EM_AARCH64", "EM_AARCH46", "unknown ELF machine 'EM_AARCH46'; did you mean 'EM_AARCH64'?"),
        (PROFILES, '{OPENSSL_armcap: "0"}', "{OPENSSL_armcap: 0x1}", 'null for unset: "0x1"'),
        (PROFILES, '{OPENSSL_armcap: "0"}', "{OPENSSL_armcap: }", 'write null for unset, "" for empty'),
        (PROFILES, "extends: default", "<<: default", "'<<' is not used in recipes; write extends: NAME"),
        (PROFILES, "cpu: max", "cpu: !!python/name:os.system max", "unknown YAML tag"),
        ("images/clang-16/image.yaml", "[gcc-12]", "[gcc-21]", "unknown image 'gcc-21'; did you mean 'gcc-12'?"),
        ("images/clang-16/image.yaml", "[gcc-12]", "[clang-16]", "in a circle: clang-16 -> clang-16"),
        ("images/clang-16/image.yaml", "suite: bookworm", "suit: bookworm", "did you mean 'suite'?"),
    ],
)
def test_a_fault_is_reported_at_its_line(tmp_path: Path, name: str, old: str, new: str, message: str) -> None:
    """Each kind of fault is named in words, with the file, the line and the nearest right name."""
    root = changed(tmp_path, name, old, new)
    line = line_of(root, name, new.splitlines()[-1])
    found = [problem for problem in problems_of(root) if message in problem]
    assert found, problems_of(root)
    places = {problem.split(": ")[0] for problem in found}
    missing_key = "missing key" in message
    assert f"{name}:{1 if missing_key else line}" in places


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("[asm, no-asm]", "[fat]", "2: library 'openssl' has none of the variants fat"),
        ("A few", "[x", "2: not YAML: while parsing a flow sequence did not find expected ',' or ']'"),
    ],
)
def test_a_fault_is_reported_where_it_shows(tmp_path: Path, old: str, new: str, problem: str) -> None:
    """Where a fault lies between two lines, the one is named that does not fit the other."""
    assert f"{QUICK}:{problem}" in problems_of(changed(tmp_path, QUICK, old, new))


def test_all_problems_come_at_once(tmp_path: Path) -> None:
    """Two faults in two files are both reported, and the command ends with the code for usage."""
    root = write(
        tmp_path,
        {
            **FILES,
            QUICK: FILES[QUICK].replace("gcc-12", "gcc-21"),
            TARGETS: FILES[TARGETS].replace("bits: 64", "bits: 65"),
        },
    )
    with pytest.raises(RecipeError) as caught:
        load_catalog(root)
    assert caught.value.exit_code is ExitCode.USAGE
    assert {problem.file for problem in caught.value.problems} == {QUICK, TARGETS}
    assert "recipes/matrices/quick.yaml:5: unknown toolchain 'gcc-21'; did you mean 'gcc-12'?" in str(caught.value)


def test_one_broken_recipe_does_not_blame_those_that_use_it(tmp_path: Path) -> None:
    """A toolchain of the wrong shape is one problem, not also an unknown name in every matrix."""
    root = changed(tmp_path, TOOLCHAINS, "family: gcc", "familie: gcc")
    assert [problem.split(": ")[0] for problem in problems_of(root)] == [f"{TOOLCHAINS}:1", f"{TOOLCHAINS}:2"]


def test_an_alias_that_contains_itself_is_reported(tmp_path: Path) -> None:
    """A YAML alias that leads back to its own anchor ends in a message, not in a crash."""
    root = changed(tmp_path, QUICK, "[asm, no-asm]", "&loop [asm, *loop]")
    assert any("an alias leads in a circle" in problem for problem in problems_of(root))


def test_aliases_that_explode_are_refused(tmp_path: Path) -> None:
    """Aliases of aliases that would make billions of values are reported in a moment."""
    lines = ["a0: &a0 [x, x]"] + [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 12)]
    root = added(tmp_path, QUICK, "\n".join(lines))
    assert any("make a file explode" in problem for problem in problems_of(root))


@pytest.mark.parametrize("depth", [60, 5000])
def test_deep_nesting_is_refused(tmp_path: Path, depth: int) -> None:
    """A value nested beyond reason is a problem of the file."""
    root = added(tmp_path, QUICK, f"deep: {'[' * depth}{']' * depth}\n")
    assert any(QUICK in problem for problem in problems_of(root))


def test_a_circle_of_extends_is_reported_once(tmp_path: Path) -> None:
    """Three profiles that extend each other in a circle give one problem that shows the circle."""
    text = "".join(
        f"{name}:\n  extends: {base}\n  description: D\n" for name, base in (("a", "b"), ("b", "c"), ("c", "a"))
    )
    found = [problem for problem in problems_of(added(tmp_path, PROFILES, text)) if "circle" in problem]
    assert len(found) == 1
    assert "extends leads in a circle: a -> b -> c -> a" in found[0]


@pytest.mark.parametrize(
    ("exclusion", "message"),
    [
        ("{where: [taget=big], reason: R}", "unknown key 'taget' in selector 'taget=big'; did you mean 'target'?"),
        ("{where: [target=bgi], reason: R}", "unknown target 'bgi' in 'target=bgi'; did you mean 'big'?"),
        ("{where: ['target=lit*|b?x'], reason: R}", "unknown target 'b?x'"),
        ("{where: [big], reason: R}", "'big' is not of the form key=value"),
        ("{where: [version=4.0], reason: R}", "unknown version '4.0'"),
        ("{where: [target=big]}", "missing key 'exclude[1].reason'"),
        ("{where: [], reason: R}", "'exclude[1].where' is empty"),
    ],
)
def test_bad_words_in_an_exclusion_are_reported(tmp_path: Path, exclusion: str, message: str) -> None:
    """Selector words in recipes are read before anything starts, with keys and values checked."""
    root = added(tmp_path, QUICK, f"exclude:\n  - {exclusion}\n")
    found = [problem for problem in problems_of(root) if message in problem]
    assert found, problems_of(root)
    assert found[0].startswith(f"{QUICK}:{line_of(root, QUICK, '  - {where')}: ")


@pytest.mark.parametrize("library", ["openssl", "nettle"])
@pytest.mark.parametrize("kind", ["leave-out", "unsupported", "expected-failure"])
@pytest.mark.parametrize("tests", ["", "tests: [a-test], "])
def test_an_exclusion_of_tests_that_would_mean_something_else_is_reported(
    tmp_path: Path, library: str, kind: str, tests: str
) -> None:
    """Tests that are `unsupported` would excuse the whole cell; nettle's suite leaves no test out."""
    text = f"exclusions:\n  - {{{tests}kind: {kind}, reason: R}}\n"
    problems = problems_of(added(tmp_path, f"recipes/libraries/{library}.yaml", text))
    expected = {"unsupported": "is said of whole cells", "leave-out": "nettle's suite is always run whole"}
    if tests and (kind == "unsupported" or (kind, library) == ("leave-out", "nettle")):
        assert len(problems) == 1
        assert expected[kind] in problems[0]
    else:
        assert problems == []


@pytest.mark.parametrize("link", ["nolink", "ftp://x", "https://"])
def test_a_link_is_an_address(tmp_path: Path, link: str) -> None:
    """What a report shows as a link can be followed, in a library's exclusions and in a matrix's."""
    library = f"exclusions:\n  - {{kind: leave-out, tests: [a-test], reason: R, link: {link!r}}}\n"
    assert "must be an http or https address" in problems_of(added(tmp_path, OPENSSL, library))[0]
    matrix = f"exclude:\n  - {{where: [endian=big], reason: R, link: {link!r}}}\n"
    assert "must be an http or https address" in problems_of(added(tmp_path, QUICK, matrix))[-1]


def test_good_words_in_an_exclusion_are_accepted(tmp_path: Path) -> None:
    """Series, globs, alternatives and ids are all words that an exclusion may use."""
    words = "['version=3.0', 'target=l*|big', compiler=gcc, endian=big, 'id=*', profile=armcap=0]"
    assert problems_of(added(tmp_path, QUICK, f"exclude:\n  - {{where: {words}, reason: R}}\n")) == []


@pytest.mark.parametrize(
    ("addition", "message"),
    [
        ("tiers: {openssl: ful}\n", "unknown openssl tier 'ful'; did you mean 'full'?"),
        ("tiers: {opensll: full}\n", "unknown library 'opensll'"),
        ("profiles: [armcap=1]\n", "unknown profile 'armcap=1'; did you mean 'armcap=0'?"),
        ("blocks: []\n", "'blocks' is empty"),
        ("blocks:\n  - {libraries: {nettle: '3.10'}, profiles: [armcap=0]}\n", "applies to no library"),
        ("blocks:\n  - {targets: [big], toolchains: [clang-16]}\n", "names nothing: no toolchain of it has one"),
        ("blocks:\n  - {tragets: [big]}\n", "unknown key 'blocks[1].tragets'; did you mean 'targets'?"),
    ],
)
def test_a_matrix_that_cannot_be_is_reported(tmp_path: Path, addition: str, message: str) -> None:
    """Tiers, profiles and blocks of a matrix are held against what they are for."""
    found = problems_of(added(tmp_path, QUICK, addition))
    assert any(message in problem for problem in found), found


def test_a_matrix_without_axes_names_nothing(tmp_path: Path) -> None:
    """A matrix with a description alone is told of every axis that it lacks."""
    found = problems_of(added(tmp_path, "recipes/matrices/none.yaml", "description: Nothing\n"))
    for axis in ("libraries", "variants", "targets", "toolchains"):
        assert f"recipes/matrices/none.yaml:1: matrix 'none' names nothing: it has no {axis}" in found


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("recipes/target.yaml", "x: 1\n", "not a recipe file; did you mean 'targets.yaml'?"),
        ("recipes/matrices/slow.yml", "x: 1\n", "recipe files end in .yaml"),
        ("recipes/matrices/slow.yaml", "", "the file is empty"),
        ("recipes/matrices/slow.yaml", "- x\n", "the file must hold a mapping"),
        ("recipes/matrices/slow.yaml", "a: 1\n---\nb: 2\n", "not YAML"),
        ("recipes/matrices/slow.yaml", "a: 1\n[x]: 2\n", "a key must be plain text"),
        ("recipes/matrices/slow.yaml", "a: b\x07\n", "not YAML"),
        ("recipes/matrices/slow.yaml", "a:\n\tb: 1\n", "not YAML"),
    ],
)
def test_a_file_that_is_no_recipe_is_reported(tmp_path: Path, name: str, text: str, message: str) -> None:
    """Wrong names, wrong endings and texts that are not YAML are problems of that file."""
    found = problems_of(added(tmp_path, name, text))
    assert any(problem.startswith(f"{name}:") and message in problem for problem in found), found


def test_bytes_that_are_no_text_are_reported(tmp_path: Path) -> None:
    """A file that is not UTF-8 is named, and the others are still read."""
    root = changed(tmp_path, QUICK, "gcc-12", "gcc-21")
    (root / TARGETS).write_bytes(b"\xff\xfe\x00")
    found = problems_of(root)
    assert any(problem.startswith(f"{TARGETS}:1: cannot be read") for problem in found)
    assert any("gcc-21" in problem for problem in found)


def test_a_checkout_without_recipes_says_so(tmp_path: Path) -> None:
    """An empty folder is one clear problem."""
    assert problems_of(tmp_path) == ["recipes:1: there is no such recipe folder"]


WRONG_MATRIX = """\
description: Many faults
description: Again
libraries: {nettle: 3.10, opensll: "3.0"}
variants: asm
targets: [little, foo]
toolchains: [gcc-21, 7]
profiles: [armcap=1]
tiers: {openssl: fast}
exclude:
  - {where: [taget=big], raeson: R}
"""


def test_no_fault_hides_another(tmp_path: Path) -> None:
    """Wrong shapes, a duplicate key and unknown names in one file are all reported, each once and nothing else."""
    found = problems_of(added(tmp_path, "recipes/matrices/wrong.yaml", WRONG_MATRIX))
    wanted = [
        "2: duplicate key 'description'",
        "3: matrix 'wrong': 'libraries.nettle' must be text or a list of texts, but is the number 3.1",
        "3: unknown library 'opensll'; did you mean 'openssl'?",
        "4: matrix 'wrong': 'variants' must be a list, but is the text 'asm'",
        "5: unknown target 'foo'",
        "6: matrix 'wrong': 'toolchains[2]' must be text, but is the number 7",
        "6: unknown toolchain 'gcc-21'; did you mean 'gcc-12'?",
        "7: unknown profile 'armcap=1'",
        "8: unknown openssl tier 'fast'",
        "10: matrix 'wrong': missing key 'exclude[1].reason'",
        "10: matrix 'wrong': unknown key 'exclude[1].raeson'; did you mean 'reason'?",
        "10: unknown key 'taget' in selector 'taget=big'",
    ]
    assert len(found) == len(wanted), found
    for words in wanted:
        assert any(problem.startswith(f"recipes/matrices/wrong.yaml:{words}") for problem in found), (words, found)


@pytest.mark.parametrize(
    ("name", "old", "new", "faults"),
    [
        (TARGETS, "  arch: aarch64\n", "  arch: [1]\n  extra: 1\n  options: {opensl: []}\n", 3),
        (TOOLCHAINS, "  image: gcc-12\n", "  image: gcc-21\n  familie: x\n", 2),
        (PROFILES, "emulator: qemu\n", "emulator: qemo\n  cpus: 2\n  libraries: [opensl]\n", 3),
        (OPENSSL, "default_tier: smoke", "default_tier: smok\ntitel: x", 2),
    ],
)
def test_a_broken_recipe_is_looked_through(tmp_path: Path, name: str, old: str, new: str, faults: int) -> None:
    """Of each kind, names are checked beside a wrong shape too; what another has by extends is told once."""
    found = problems_of(changed(tmp_path, name, old, new))
    assert len(found) == faults, found
    assert {problem.split(":")[0] for problem in found} == {name}


@pytest.mark.parametrize("name", sorted(FILES))
@pytest.mark.parametrize("text", ["{", "- a list\n"])
def test_a_file_that_cannot_be_read_is_one_problem(tmp_path: Path, name: str, text: str) -> None:
    """What it would have defined is not called unknown everywhere else."""
    if name.endswith(".yaml"):
        found = problems_of(write(tmp_path, {**FILES, name: text}))
        assert [problem.split(":")[0] for problem in found] == [name], found


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        (PROFILES, "a: {extends: b}\nb: {extends: a}\n", "extends leads in a circle"),
        (PROFILES, "a: {extends: nobody}\n", "extends unknown profile"),
        (PROFILES, "a: {extends: a}\n", "extends itself"),
        (TARGETS, "a: {extends: [x]}\n", "extends must be the name"),
        (TOOLCHAINS, "a: {extends: b}\nb: {extends: nobody}\n", "extends unknown toolchain"),
    ],
)
def test_keys_that_a_lost_base_would_give_are_not_missed(tmp_path: Path, name: str, text: str, words: str) -> None:
    """One problem: nobody knows what the base would have given, neither to it nor to what extends it."""
    found = problems_of(added(tmp_path, name, text))
    assert len(found) == 1, found
    assert words in found[0]


def test_a_broken_target_does_not_blame_the_profiles_that_use_its_architecture(tmp_path: Path) -> None:
    """One fault in a target is one problem, whichever it is."""
    profile = "arm:\n  extends: default\n  description: D\n  targets: [aarch64]\n"
    for old, new in (("libc: musl", "libc: mussel"), ("bits: 64", "bits: 65"), ("  arch: aarch64\n", "  arch: []\n")):
        files = {**FILES, TARGETS: FILES[TARGETS].replace(old, new), PROFILES: FILES[PROFILES] + profile}
        found = problems_of(write(tmp_path, files))
        assert {problem.split(":")[0] for problem in found} == {TARGETS}, found


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        ("", []),
        ("# nothing is pinned\n\n", []),
        (f"bookworm: registry.test/debian:bookworm@sha256:{'0' * 64}\n", []),
        ("bookworm: debian:bookworm\n", ["1: 'bookworm' is 'debian:bookworm', must be NAME:TAG@sha256:"]),
        ("bookworm: debian@sha256:12\n", ["1: 'bookworm' is 'debian@sha256:12', must be"]),
        ("bookworm: [x]\n", ["1: 'bookworm' is 'no text', must be"]),
        (f"bokworm: debian@sha256:{'0' * 64}\n", ["1: no image has the suite 'bokworm'; did you mean 'bookworm'?"]),
        ("- x\n", ["1: the file must hold a mapping"]),
        ("{", ["2: not YAML"]),
    ],
)
def test_base_images_are_checked_with_the_recipes(tmp_path: Path, text: str, messages: list[str]) -> None:
    """A base image without a digest, or of a suite that nothing uses, is seen before anything starts."""
    found = problems_of(added(tmp_path, "images/base.yaml", text))
    assert len(found) == len(messages), found
    for problem, words in zip(found, messages, strict=True):
        assert problem.startswith(f"images/base.yaml:{words}") or words.startswith("2:")


def test_an_image_has_its_dockerfile_and_a_dockerfile_its_image(tmp_path: Path) -> None:
    """Either without the other is a problem of the recipes."""
    root = write(tmp_path, {**FILES, "images/new/Dockerfile": "FROM base\n"})
    (root / "images" / "qemu" / "Dockerfile").unlink()
    assert problems_of(root) == [
        "images/new/Dockerfile:1: there is no image.yaml beside it",
        "images/qemu/image.yaml:1: there is no Dockerfile beside it",
    ]
