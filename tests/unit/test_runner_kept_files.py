"""Files of kept results, read for judging."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crossmatrix.runner.kept_files import end

if TYPE_CHECKING:
    from pathlib import Path


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
