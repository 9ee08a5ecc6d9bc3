"""The script that measures inside the container, run natively with a fake workload and a fake emulator."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from crossmatrix.analysis import figures_from_bench
from crossmatrix.evidence.suite_rules import figures_not_whole

pytestmark = pytest.mark.programs

SCRIPT = Path(__file__).parents[2] / "src" / "crossmatrix" / "steps" / "bench.pl"

LISTED = """[
{"algorithm": "sha256", "kind": "bulk", "random": false},
{"algorithm": "rsa-2048-sign", "kind": "operation", "random": false},
{"algorithm": "safe-prime-256", "kind": "operation", "random": true}
]"""

WORKLOAD = f"""#!/bin/sh
case $1 in
list) echo '{LISTED}' ;;
bench) : ;;
*) echo "usage" >&2; exit 2 ;;
esac
"""

# A start-up of 1000, then 7 instructions a byte or 500 a call; a random operation costs 100 more with each repeat.
EMULATOR = """#!/usr/bin/perl
use strict; use warnings;
if (($ARGV[0] // '') ne '-plugin') { exec @ARGV }
my (undef, $plugin, $program, $mode, $algorithm, $size, $count, $repeat) = @ARGV;
my ($file) = $plugin =~ /,out=(.*)$/;
my $work = $count * ($size > 0 ? 7 * $size : 500 + 100 * ($repeat // 0));
open my $out, '>', $file or die;
my $rare = join ',', map { qq({"name": "rare$_", "object": "workload", "count": 1000000}) } 1 .. 60;
print {$out} qq({"schema": 1, "instructions": ), 1000 + $work, qq(, "functions": [),
    qq({"name": "hot", "object": "workload", "count": $work}, $rare]});
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Bench:
    """One folder with a fake workload and emulator, and the script run on them."""

    folder: Path

    def run(self, *arguments: str, **values: str) -> subprocess.CompletedProcess[str]:
        """Run bench.pl with the fake workload, unless ``values`` name others."""
        options = {"workload": str(self.folder / "workload"), "output": str(self.folder / "bench.json")} | values
        named = [word for name, value in options.items() for word in (f"--{name.replace('_', '-')}", value)]
        return subprocess.run(
            ["perl", str(SCRIPT), *named, *arguments], capture_output=True, text=True, timeout=60, check=False
        )

    def counted(self, *arguments: str, **values: str) -> subprocess.CompletedProcess[str]:
        """Run it with the fake emulator."""
        return self.run(*arguments, **({"emulator": str(self.folder / "emulator"), "plugin": "count.so"} | values))

    def program(self, name: str, text: str) -> None:
        """Write an executable file."""
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)

    def text(self) -> str:
        """Give the bench.json that was written."""
        return (self.folder / "bench.json").read_text(encoding="utf-8")

    def result(self) -> dict[str, Any]:
        """Give the bench.json that was written, decoded."""
        value: dict[str, Any] = json.loads(self.text())
        return value


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """Make a folder whose name has a space, with the two fakes in it."""
    folder = tmp_path / "a folder"
    folder.mkdir()
    made = Bench(folder=folder)
    made.program("workload", WORKLOAD)
    emulator = tmp_path / "emulator"
    made.program("emulator", EMULATOR)
    emulator.symlink_to(folder / "emulator")
    return made


def emulator_of(bench: Bench) -> str:
    """Give a command for the emulator: its path has no space, because a command is split at spaces."""
    return str(bench.folder.parent / "emulator")


def test_each_algorithm_and_size_is_counted_at_two_numbers_of_calls(bench: Bench) -> None:
    """Bulk algorithms are measured at each size, operations once, both at two numbers of calls."""
    done = bench.counted("--size", "16", "--size", "1024", emulator=emulator_of(bench))
    assert done.returncode == 0, done.stderr
    result = bench.result()
    assert result["emulated"] is True
    assert result["missing"] == []
    measured = [(run["algorithm"], run["size"], len({count for count, _ in run["counts"]})) for run in result["runs"]]
    assert measured == [("sha256", 16, 2), ("sha256", 1024, 2), ("rsa-2048-sign", 0, 2), ("safe-prime-256", 0, 2)]


def test_figures_have_no_start_up_in_them(bench: Bench) -> None:
    """What the analysis makes of the file is the cost of a byte and of a call alone."""
    bench.counted("--size", "16", "--size", "1024", emulator=emulator_of(bench))
    figures = figures_from_bench(bench.text())
    assert figures.missing == ()
    values = {(figure.algorithm, figure.size_bytes): figure.value for figure in figures.figures}
    assert values[("sha256", 16)] == values[("sha256", 1024)] == values[("sha256", 0)] == 7
    assert values[("rsa-2048-sign", None)] == 500


def test_a_count_that_does_not_repeat_is_doubted(bench: Bench) -> None:
    """One number of calls is run twice; where the two differ, the figure is told not to repeat."""
    calls = bench.folder / "calls"
    drifts = f"my $calls = -s '{calls}' // 0; open my $log, '>>', '{calls}'; print {{$log}} 'x'; close $log;\n"
    bench.program("emulator", EMULATOR.replace("open my $out", f"{drifts}$work += 3 * $calls;\nopen my $out"))
    bench.counted("--size", "16", "sha256", emulator=emulator_of(bench))
    (run,) = bench.result()["runs"]
    assert [count for count, _ in run["counts"]] == [4, 4, 12]
    words = "sha256, 16 bytes: runs of 4 calls do not agree, they differ by up to 3 instructions"
    figures = figures_from_bench(bench.text())
    assert words in figures.missing
    assert any(words in reason for reason in figures_not_whole(figures))


def test_the_environment_has_the_same_order_in_every_run(bench: Bench) -> None:
    """A program that looks a variable up passes those before it: in another order it executes other instructions."""
    seen = bench.folder / "seen"
    look = (
        "open my $own, '<', '/proc/self/environ'; "
        "my @names = map { (split /=/)[0] } split /\\0/, do { local $/; <$own> }; "
        f"open my $log, '>>', '{seen}'; print {{$log}} qq(@names\\n); close $log;\n"
    )
    bench.program("emulator", EMULATOR.replace("open my $out", f"{look}open my $out"))
    names = [f"NAME_{letter}" for letter in "ABCDEFGH"]
    given = "\n".join(f"{name}=1" for name in reversed(names))
    bench.counted("--size", "16", "--size", "64", "sha256", emulator=emulator_of(bench), variables=given)
    runs = seen.read_text(encoding="utf-8").splitlines()
    assert len(runs) == 6
    assert set(runs) == {" ".join(names)}


def test_what_was_asked_for_is_kept_beside_what_was_measured(bench: Bench) -> None:
    """A figure that is not there was not wanted, or is gone: the names tell, and none mean all."""
    bench.counted("--size", "16", "sha256", "rot13", emulator=emulator_of(bench))
    assert figures_from_bench(bench.text()).asked == ("rot13", "sha256")
    bench.counted("--size", "16", emulator=emulator_of(bench))
    assert figures_from_bench(bench.text()).asked == ()


def test_random_operations_are_repeated_and_the_first_is_warm_up(bench: Bench) -> None:
    """Ten repeats are left, each with other random numbers, and have a mean and a deviation."""
    bench.counted("safe-prime-256", emulator=emulator_of(bench))
    (run,) = bench.result()["runs"]
    assert [count for count, _ in run["counts"]] == [0, *[1] * 11]
    (figure,) = figures_from_bench(bench.text()).figures
    assert (figure.repeats, figure.value) == (10, 500 + 100 * 5.5)
    assert figure.deviation is not None
    assert figure.deviation > 0


def test_functions_beyond_the_costliest_are_one_sum(bench: Bench) -> None:
    """The forty that grow most keep their names, though start-up costs more; nothing is lost."""
    bench.counted("--size", "64", "sha256", emulator=emulator_of(bench))
    (run,) = bench.result()["runs"]
    first, again, last = (entry["functions"] for _, entry in run["counts"])
    assert first.keys() == last.keys()
    assert first == again
    assert len(last) == 41
    assert last["hot"] == run["counts"][2][0] * 7 * 64
    assert last["other"] == 21 * 10**6
    assert sum(last.values()) == run["counts"][2][0] * 7 * 64 + 60 * 10**6


def test_two_measurements_are_the_same_text_whatever_the_jobs(bench: Bench) -> None:
    """The output has no times, paths or process ids in it, and its order is the workload's."""
    bench.counted(emulator=emulator_of(bench))
    first = bench.text()
    bench.counted(emulator=emulator_of(bench), jobs="3")
    assert bench.text() == first


def test_the_environment_is_what_was_given_and_nothing_else(bench: Bench) -> None:
    """Set-and-empty variables are passed on, those of the caller are not, and numbers have one width."""
    seen = bench.folder / "seen"
    bench.program(
        "workload",
        f"#!/bin/sh\n[ \"$1\" = list ] && {{ echo '{LISTED}'; exit; }}\n"
        f"echo \"$@\" >> '{seen}'\n/usr/bin/env >> '{seen}'\n",
    )
    done = bench.run("--size", "16", "sha256", variables="OPENSSL_armcap=\nNETTLE_FAT_OVERRIDE=aes,pmull")
    assert done.returncode == 0, done.stderr
    lines = seen.read_text(encoding="utf-8").splitlines()
    assert lines[0] == "bench sha256 00000016 00000000"
    names = {line.partition("=")[0] for line in lines if "=" in line}
    assert names - {"PWD", "SHLVL", "_", "OLDPWD"} == {"OPENSSL_armcap", "NETTLE_FAT_OVERRIDE"}
    assert "OPENSSL_armcap=" in lines
    assert "NETTLE_FAT_OVERRIDE=aes,pmull" in lines


def test_a_run_that_fails_goes_to_missing_with_the_reason(bench: Bench) -> None:
    """One algorithm that dies leaves the others measured, and its own message stands beside its name."""
    dies = EMULATOR.replace(
        "my ($file)", "if ($algorithm eq 'sha256') { warn qq(sha256: no provider\\n); exit 1 }\nmy ($file)"
    )
    bench.program("emulator", dies)
    done = bench.counted("--size", "16", emulator=emulator_of(bench))
    assert done.returncode == 0
    result = bench.result()
    assert result["missing"] == ["sha256, 16 bytes: exit code 1: sha256: no provider"]
    assert [run["algorithm"] for run in result["runs"]] == ["rsa-2048-sign", "safe-prime-256"]


def test_a_signal_is_named(bench: Bench) -> None:
    """A program that dies of SIGILL is told from one that ends with an exit code."""
    bench.program("emulator", EMULATOR.replace("my ($file)", "kill 'ILL', $$;\nmy ($file)"))
    bench.counted("rsa-2048-sign", emulator=emulator_of(bench))
    assert bench.result()["missing"] == ["rsa-2048-sign: signal 4"]


def test_a_plugin_that_writes_nothing_is_no_measurement(bench: Bench) -> None:
    """A green exit without a count is missing, not zero."""
    bench.program("emulator", EMULATOR.replace("my ($file)", "exit 0;\nmy ($file)"))
    bench.counted("rsa-2048-sign", emulator=emulator_of(bench))
    assert bench.result()["missing"] == ["rsa-2048-sign: the counting plugin wrote nothing that can be read"]


def test_a_run_past_its_time_limit_is_ended(bench: Bench) -> None:
    """A hung program is killed and said to have taken too long."""
    bench.program("emulator", EMULATOR.replace("my ($file)", "sleep 50;\nmy ($file)"))
    bench.counted("rsa-2048-sign", emulator=emulator_of(bench), time_limit="0.5")
    assert bench.result()["missing"] == ["rsa-2048-sign: took longer than 0.5 s"]


def test_an_algorithm_that_is_not_listed_is_missing(bench: Bench) -> None:
    """The others that were asked for are measured, and nothing that was not."""
    bench.counted("rsa-2048-sign", "rot13", emulator=emulator_of(bench))
    result = bench.result()
    assert result["missing"] == ["rot13: the workload does not list it"]
    assert [run["algorithm"] for run in result["runs"]] == ["rsa-2048-sign"]


def test_only_what_was_asked_for_is_measured(bench: Bench) -> None:
    """Once all that was asked for has been found, the rest of the list is left alone."""
    bench.counted("--size", "16", "sha256", emulator=emulator_of(bench))
    assert [run["algorithm"] for run in bench.result()["runs"]] == ["sha256"]


def test_native_cells_get_times_and_no_counts(bench: Bench) -> None:
    """Without an emulator there are repeated rates in bytes and operations a second."""
    bench.program(
        "workload",
        WORKLOAD.replace("bench) :", "bench) exec perl -e 'select undef, undef, undef, $ARGV[0] > 0 ? 0.3 : 0' \"$4\""),
    )
    done = bench.run("--size", "64", "--jobs", "2", "sha256", "rsa-2048-sign")
    assert done.returncode == 0, done.stderr
    result = bench.result()
    assert (result["emulated"], result["runs"]) == (False, [])
    bulk, operation = result["times"]
    assert (bulk["unit"], bulk["size"], len(bulk["values"])) == ("bytes/s", 64, 5)
    assert (operation["unit"], operation["size"], len(operation["values"])) == ("ops/s", None, 5)
    assert all(value > 0 for value in bulk["values"] + operation["values"])
    units = {figure.unit for figure in figures_from_bench(bench.text()).figures}
    assert units == {"time: bytes/s", "time: ops/s"}


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("#!/bin/sh\necho broken >&2; exit 3\n", "exit code 3: broken"),
        ("#!/bin/sh\necho '[]'\n", "its output is no list of algorithms in JSON"),
        ("#!/bin/sh\necho hello\n", "its output is no list of algorithms in JSON"),
    ],
)
def test_a_workload_without_a_list_ends_with_exit_code_1(bench: Bench, program: str, reason: str) -> None:
    """Nothing is written where there is nothing to measure, and the message says why."""
    bench.program("workload", program)
    done = bench.run()
    assert done.returncode == 1
    assert reason in done.stderr
    assert not (bench.folder / "bench.json").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--jobs", "0"), "--jobs is at least 1"),
        (("--size", "0"), "--size 0 is no number of bytes above 0"),
        (("--size", "many"), "size"),
        (("--emulator", "qemu"), "an emulator needs --plugin"),
        (("--emulator", "no-such-emulator", "--plugin", "p"), "no program no-such-emulator in PATH"),
        (("--variables", "nonsense"), "no NAME=VALUE: nonsense"),
        (("--colour",), "Unknown option: colour"),
    ],
)
def test_wrong_arguments_end_with_exit_code_2(bench: Bench, arguments: tuple[str, ...], message: str) -> None:
    """Usage errors name the argument."""
    done = bench.run(*arguments)
    assert done.returncode == 2
    assert message in done.stderr
