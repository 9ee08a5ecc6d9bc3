"""The bootstrap script, with a Python that is played by a shell script: no network, no real packages."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.programs

CHECKOUT = Path(__file__).parents[2]
FAKE_PYTHON = """#!/bin/sh
# Plays Python: version checks, -m venv, -m pip, and python -m crossmatrix.engine.
here=$(dirname "$0")
case "$*" in
"-c import sys; sys.exit(sys.version_info"*) exit "${FAKE_OLD:-0}" ;;
"-c import sys; print("*) echo 3.11 ;;
"-c import ensurepip, venv") exit "${FAKE_NO_VENV:-0}" ;;
"-m venv "*)
    echo "venv" >>"$FAKE_LOG"
    mkdir -p "$3/bin" && cp "$0" "$3/bin/python"
    printf '%s\\n' '#!/bin/sh' 'echo "in $(pwd)"' 'for word in "$@"; do echo "[$word]"; done' \\
        'exit "${FAKE_TASK:-0}"' >"$3/bin/invoke"
    chmod +x "$3/bin/invoke"
    ;;
"-m pip "*)
    echo "pip" >>"$FAKE_LOG"
    [ -z "${FAKE_PIP:-}" ] || { echo "$FAKE_PIP"; exit 1; }
    ;;
"-m crossmatrix.engine") exit 3 ;;
"-m crossmatrix.cli --version") echo "Crossmatrix 7" ;;
"-m crossmatrix.cli "*)
    shift 2
    echo "looked over: $*" >&2
    exit "${FAKE_WRONG:-0}"
    ;;
*) echo "unexpected: $*" >&2; exit 99 ;;
esac
"""


class Checkout:
    """A copy of what bootstrap needs, in a folder of its own, with programs that are played."""

    def __init__(self, root: Path, tmp: Path) -> None:
        self.root = root
        self.log = tmp / "log"
        self.programs = tmp / "bin"
        self.programs.mkdir()
        root.mkdir(parents=True)
        shutil.copy2(CHECKOUT / "bootstrap", root)
        (root / "requirements.lock").write_text("x==1\n")
        (root / "pyproject.toml").write_text("[project]\n")
        self.play("python3.11", FAKE_PYTHON)

    def play(self, name: str, text: str) -> None:
        """Put a program on the PATH."""
        (self.programs / name).write_text(text)
        (self.programs / name).chmod(0o755)

    def call(self, *words: str, cwd: Path | None = None, **environ: str) -> subprocess.CompletedProcess[str]:
        """Call bootstrap."""
        base = {
            "PATH": f"{self.programs}:/usr/bin:/bin",
            "PYTHON": str(self.programs / "python3.11"),
            "FAKE_LOG": str(self.log),
            "CROSSMATRIX_NO_INSTALL": "1",
        }
        return subprocess.run(
            [str(self.root / "bootstrap"), *words],
            env=base | environ,
            cwd=cwd or self.root,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )

    @property
    def steps(self) -> list[str]:
        """What the played Python was asked to make."""
        return self.log.read_text().split() if self.log.exists() else []


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    """Give a checkout whose path has blanks and letters beyond ASCII."""
    return Checkout(tmp_path / "zwölf Grüße" / "x", tmp_path)


def play_a_bare_debian(checkout: Checkout) -> None:
    """Let root of a Debian without engine and browser call; what apt-get is asked for stands in the log."""
    checkout.play("id", "#!/bin/sh\necho 0\n")
    checkout.play("grep", '#!/bin/sh\ncase "$*" in *os-release*) exit 0 ;; esac\nexec /bin/grep "$@"\n')
    checkout.play("apt-get", '#!/bin/sh\necho "apt-get $*" | tr " " _ >>"$FAKE_LOG"\n')
    script = checkout.root / "bootstrap"
    text = script.read_text()
    assert "/usr/sbin:/usr/local/sbin" in text
    script.write_text(text.replace("/usr/sbin:/usr/local/sbin", "/nowhere"))
    tools = checkout.programs
    for name in ("sh", "cat", "cksum", "dirname", "mkdir", "mv", "rm", "sleep", "tail", "cp", "chmod", "flock", "tr"):
        (tools / name).symlink_to(shutil.which(name) or f"/bin/{name}")


@pytest.mark.parametrize("words", [("matrix",), ("bench", "x*"), ("images",), ("test",)])
@pytest.mark.parametrize("wrong", ["0", "2", "3"])
def test_nothing_is_installed_for_a_command_that_cannot_be_begun(
    checkout: Checkout, words: tuple[str, ...], wrong: str
) -> None:
    """The words are looked over first, as they are; what is wrong with them ends the call with its own code."""
    play_a_bare_debian(checkout)
    done = checkout.call(*words, FAKE_WRONG=wrong, CROSSMATRIX_NO_INSTALL="", PATH=str(checkout.programs))
    assert done.returncode == int(wrong)
    assert f"looked over: {checkout.root} {' '.join(words)}\n" in done.stderr
    installed = any("_install_" in step for step in checkout.steps)
    assert installed == (wrong == "0")


def test_version_is_ours(checkout: Checkout) -> None:
    """`./bootstrap --version` prints our version, not that of a library."""
    assert checkout.call("--version").stdout == "Crossmatrix 7\n"
    assert checkout.call("-V").stdout == "Crossmatrix 7\n"


def test_first_call_sets_up_and_second_does_nothing(checkout: Checkout) -> None:
    """The environment is made once; the next call goes straight to invoke."""
    assert checkout.call("list").returncode == 0
    assert checkout.steps == ["venv", "pip", "pip"]
    assert checkout.call("list").returncode == 0
    assert checkout.steps == ["venv", "pip", "pip"]


def test_words_reach_invoke_as_they_are(checkout: Checkout, tmp_path: Path) -> None:
    """Words with blanks and patterns arrive unchanged, and the caller's folder stays the current one."""
    done = checkout.call("matrix", "--only", "a b=*", "", cwd=tmp_path)
    expected = ["[--search-root]", f"[{checkout.root}]", "[matrix]", "[--only]", "[a b=*]", "[]"]
    assert done.stdout.splitlines() == [f"in {tmp_path}", *expected]


def test_without_words_the_tasks_are_listed(checkout: Checkout) -> None:
    """A call without a task lists them."""
    assert checkout.call().stdout.splitlines()[-1] == "[--list]"


def test_exit_code_is_the_tasks(checkout: Checkout) -> None:
    """Whatever the task ends with, bootstrap ends with."""
    assert checkout.call("list", FAKE_TASK="130").returncode == 130


def test_changed_lock_makes_it_again(checkout: Checkout) -> None:
    """New dependencies are installed by the next call."""
    checkout.call("list")
    (checkout.root / "requirements.lock").write_text("x==2\n")
    checkout.call("list")
    assert checkout.steps.count("venv") == 2


def test_moved_checkout_makes_it_again(checkout: Checkout, tmp_path: Path) -> None:
    """An environment knows its own path: in a folder that was renamed it is made again."""
    checkout.call("list")
    checkout.root = checkout.root.rename(tmp_path / "moved")
    assert checkout.call("list").returncode == 0
    assert checkout.steps.count("venv") == 2


def test_half_made_environment_is_made_again(checkout: Checkout) -> None:
    """An interrupted set-up leaves no environment that only looks whole."""
    assert checkout.call("list", FAKE_PIP="interrupted").returncode == 3
    assert (checkout.root / ".venv" / "bin" / "invoke").exists()
    assert checkout.call("list").returncode == 0


@pytest.mark.parametrize("words", ["Failed to establish a new connection", "Temporary failure in name resolution"])
def test_no_network_is_told_as_such(checkout: Checkout, words: str) -> None:
    """When packages cannot be fetched the message says that it is the network, with exit code 3."""
    done = checkout.call("list", FAKE_PIP=words)
    assert done.returncode == 3
    assert "no network" in done.stderr
    assert words in done.stderr


def test_wrong_hash_is_no_network_fault(checkout: Checkout) -> None:
    """Another fault of pip's shows pip's words and does not blame the network."""
    done = checkout.call("list", FAKE_PIP="THESE PACKAGES DO NOT MATCH THE HASHES")
    assert done.returncode == 3
    assert "DO NOT MATCH" in done.stderr
    assert "no network" not in done.stderr


def test_old_python_is_refused(checkout: Checkout) -> None:
    """A PYTHON that is too old is named, with exit code 3."""
    done = checkout.call("list", FAKE_OLD="1")
    assert done.returncode == 3
    assert "is not Python 3.11 or later" in done.stderr


def test_missing_python_says_what_to_install(checkout: Checkout) -> None:
    """Without any Python the message has the command that installs one."""
    for name in ("python3.13", "python3.12", "python3.11", "python3", "python"):
        checkout.play(name, "#!/bin/sh\nexit 1\n")
    done = checkout.call("list", PYTHON="")
    assert done.returncode == 3
    assert "apt-get install python3 python3-venv" in done.stderr


def test_missing_venv_module_says_what_to_install(checkout: Checkout) -> None:
    """Debian's Python without its venv package is told as such where nothing may be installed."""
    done = checkout.call("list", FAKE_NO_VENV="1")
    assert done.returncode == 3
    assert "apt-get install python3.11-venv" in done.stderr


def test_newest_python_is_preferred(checkout: Checkout) -> None:
    """Without PYTHON the newest suitable one on the PATH is taken."""
    checkout.play("python3.13", FAKE_PYTHON.replace("echo 3.11", "echo 3.13"))
    assert "with Python 3.13" in checkout.call("list", PYTHON="").stderr


@pytest.mark.parametrize("without", ["", "flock"])
def test_calls_at_once_make_it_once(checkout: Checkout, tmp_path: Path, without: str) -> None:
    """Of two first calls one makes the environment and the other waits; with flock and without."""
    path = f"{checkout.programs}:/usr/bin:/bin"
    if without:
        tools = tmp_path / "tools"
        tools.mkdir()
        names = ("sh", "cat", "cksum", "dirname", "mkdir", "mv", "rm", "sleep", "tail", "grep", "id", "cp", "chmod")
        for name in names:
            (tools / name).symlink_to(shutil.which(name) or f"/bin/{name}")
        path = f"{checkout.programs}:{tools}"
    environ = {
        "PATH": path,
        "PYTHON": str(checkout.programs / "python3.11"),
        "FAKE_LOG": str(checkout.log),
        "CROSSMATRIX_NO_INSTALL": "1",
    }
    command = [str(checkout.root / "bootstrap"), "list"]
    running = [
        subprocess.Popen(command, env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for _ in range(3)
    ]
    assert [process.wait(60) for process in running] == [0, 0, 0]
    assert checkout.steps == ["venv", "pip", "pip"]
    assert not (checkout.root / ".venv.lock.d").exists()


def test_lock_of_a_dead_process_is_taken_over(checkout: Checkout, tmp_path: Path) -> None:
    """Where there is no flock, a lock whose holder was killed does not block for ever."""
    lock = checkout.root / ".venv.lock.d"
    lock.mkdir()
    (lock / "pid").write_text("4194999\n")
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("sh", "cat", "cksum", "dirname", "mkdir", "mv", "rm", "sleep", "tail", "grep", "id", "cp", "chmod"):
        (tools / name).symlink_to(shutil.which(name) or f"/bin/{name}")
    assert checkout.call("list", PATH=f"{checkout.programs}:{tools}").returncode == 0
    assert not lock.exists()


def test_called_through_a_link(checkout: Checkout, tmp_path: Path) -> None:
    """A symbolic link to bootstrap finds the checkout."""
    link = tmp_path / "link"
    link.symlink_to(checkout.root / "bootstrap")
    done = subprocess.run(
        [str(link), "list"],
        env={
            "PATH": os.environ["PATH"],
            "PYTHON": str(checkout.programs / "python3.11"),
            "FAKE_LOG": str(checkout.log),
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert f"[{checkout.root}]" in done.stdout.splitlines()


def test_lock_names_no_index_and_no_file() -> None:
    """Every line of the lock is a pinned version, a hash or a remark: no index, no path, and setuptools is in it."""
    lines = (CHECKOUT / "requirements.lock").read_text().splitlines()
    assert any(line.startswith("setuptools==") for line in lines)
    wrong = [
        line
        for line in lines
        if not line.strip().startswith(("#", "--hash=sha256:")) and not (line[:1].isalnum() and "==" in line)
    ]
    assert [line for line in wrong if line.strip()] == []
    assert not any("://" in line or " @ " in line for line in lines)
