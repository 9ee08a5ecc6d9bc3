"""Files of kept results, read for judging."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crossmatrix.runner.kept_files import end, out_files

if TYPE_CHECKING:
    from collections.abc import Iterator


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=64), st.integers(min_value=1, max_value=80))
def test_the_end_of_a_log_is_read_alone(tmp_path: Path, data: bytes, size: int) -> None:
    """Law: the last bytes, all of them where there are fewer; what is no UTF-8 is no error."""
    path = tmp_path / "log"
    path.write_bytes(data)
    assert end(path, size) == data[-size:].decode("utf-8", errors="replace")


def test_a_log_that_is_not_there_is_empty(tmp_path: Path) -> None:
    """A stage that was never begun has said nothing."""
    assert end(tmp_path / "none", 10) == ""


@pytest.mark.parametrize("gone", ["a", "sub", "."])
def test_files_that_go_away_while_they_are_read_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gone: str
) -> None:
    """Another run may put its own result in the place between two files: one file, a folder, or all of it."""
    out = tmp_path / "out"
    (out / "sub").mkdir(parents=True)
    for name in ("0", "a", "sub/b"):
        (out / name).write_bytes(b"x")
    read = Path.read_bytes

    def reading(path: Path) -> bytes:
        if path.name != "0":
            shutil.rmtree(out / gone) if (out / gone).is_dir() else (out / gone).unlink(missing_ok=True)
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", reading)
    assert "0" in out_files(tmp_path)
    assert out_files(tmp_path / "none") == {}


def test_a_folder_that_goes_away_while_it_is_listed_ends_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What had been seen of it is read."""
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "a").write_bytes(b"x")

    def listed(folder: Path, _pattern: str) -> Iterator[Path]:
        yield folder / "a"
        raise FileNotFoundError(2, "No such file or directory", str(folder / "sub"))

    monkeypatch.setattr(Path, "rglob", listed)
    assert out_files(tmp_path) == {"a": b"x"}
