"""Lies told about real builds on a real engine: each is caught, and the reason names it.

Run by `invoke test --sabotage`. Beside them stand the sound cells, carried out the same way, which are green.
"""

from __future__ import annotations

import os
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest
from tests.integration.lies import LIES, SOUND
from tests.integration.probe_image import CHECKOUT
from tests.integration.theatre import Theatre

from crossmatrix.api.workspace import Workspace
from crossmatrix.evidence.suite_rules import tests_did_not_run as suite_reasons
from crossmatrix.outcomes import parse_suite
from crossmatrix.records import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from crossmatrix.engine import DockerEngine
    from crossmatrix.records import CellRecord

    Told = Mapping[str, Future[CellRecord]]

pytestmark = pytest.mark.sabotage

AT_ONCE = 2
"""Cells side by side: configure and the counted workload leave a CPU idle."""
TIME_LIMIT_S = 900
OPENSSL_LOG = CHECKOUT / "tests" / "data" / "openssl-suite.log"


@pytest.fixture(scope="session")
def theatre(engine: DockerEngine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Theatre]:
    """Give the place where cells are carried out; nothing of it is left."""
    workspace = Workspace.at(CHECKOUT, os.environ)
    fetcher = workspace.fetcher(tell=print)
    with workspace.engine(fetcher) as ours:
        assert ours.info.url == engine.info.url
        place = Theatre(tmp_path_factory.mktemp("sabotage"), workspace, ours, fetcher)
        try:
            yield place
        finally:
            place.clear()


@pytest.fixture(scope="session")
def told(request: pytest.FixtureRequest, theatre: Theatre) -> Iterator[Told]:
    """Begin to tell everything that was asked for, sound cells first, and give what comes of each."""
    asked = {name for item in request.session.items for name in _asked(item)}
    work: dict[str, Callable[[], CellRecord]] = {
        name: lambda make=make: theatre.sound(make())  # type: ignore[misc]
        for name, make in SOUND.items()
        if name in asked
    }
    work |= {
        name: lambda lie=lie: theatre.tell(lie)  # type: ignore[misc]
        for name, lie in LIES.items()
        if name in asked
    }
    pool = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="lie")
    try:
        yield {name: pool.submit(action) for name, action in work.items()}
    finally:
        theatre.stop()
        pool.shutdown(cancel_futures=True)


def _asked(item: pytest.Item) -> list[str]:
    called = getattr(item, "callspec", None)
    return [str(value) for name, value in called.params.items() if name in {"lie", "cell"}] if called else []


@pytest.mark.parametrize("cell", SOUND)
def test_a_sound_cell_is_green(told: Told, cell: str) -> None:
    """Without a lie the same path ends in a passed cell, so that a caught lie is no accident."""
    record = told[cell].result(TIME_LIMIT_S)
    assert record.verdict is Verdict.PASSED, record.reason
    assert record.tests.passed > 10


@pytest.mark.parametrize("lie", LIES)
def test_a_lie_is_caught(told: Told, lie: str) -> None:
    """The cell does not end as expected, and its reason names the lie."""
    record = told[lie].result(TIME_LIMIT_S)
    assert not record.verdict.as_expected
    assert record.verdict is LIES[lie].verdict, record.reason
    assert LIES[lie].words in record.reason


def test_a_plan_longer_than_its_results_is_caught() -> None:
    """A real log of OpenSSL's, in which one test file planned more cases than it shows, is not whole."""
    log = OPENSSL_LOG.read_text(encoding="utf-8")
    place = log.index("1..1", log.index("=== BEGIN 01-test_abort"))
    suite = parse_suite("openssl", log[:place] + "1..3" + log[place + 4 :])
    assert not parse_suite("openssl", log).cut
    assert "the test log is not whole: 01-test_abort planned 3 cases and shows 1" in list(suite_reasons(suite))


def test_there_are_enough_lies() -> None:
    """The list does not shrink unseen."""
    assert len(LIES) >= 40
