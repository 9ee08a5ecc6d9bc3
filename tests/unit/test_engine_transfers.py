"""Long calls of the engine: what they print, how they fail, and that what was given up is listened to no more."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from docker.errors import StreamParseError
from docker.utils.json_stream import json_stream

from crossmatrix.engine import transfers
from crossmatrix.engine.transfers import follow
from crossmatrix.errors import InfrastructureError, NoSpaceError, TransientError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator


class PlayedClient:
    """Gives one answer, and notes whether it was closed."""

    url = "unix:///x"

    def __init__(self, *events: dict[str, object], then: Exception | None = None) -> None:
        self.closed = False
        self._events = events
        self._then = then

    def ask(self, _doing: str, _call: object, *, again: bool) -> Generator[dict[str, object], None, None]:
        """Answer; a build is not begun twice."""
        assert not again
        return self._answer()

    def _answer(self) -> Generator[dict[str, object], None, None]:
        try:
            yield from self._events
            if self._then is not None:
                raise self._then
        finally:
            self.closed = True


def _never(_api: object) -> Generator[dict[str, object], None, None]:
    raise AssertionError("the played client calls nothing")


def _follow(client: PlayedClient, on_line: Callable[[str], None] = lambda _: None, limit_s: float = 60) -> None:
    follow(client, "build x", _never, on_line, limit_s=limit_s)  # type: ignore[arg-type]


def _json_cut_off() -> Exception:
    """Give what docker-py raises for an answer that ends in the middle of a value."""
    with pytest.raises(StreamParseError) as caught:
        list(json_stream(iter(('{"stream": "a"}\n{"stre',))))
    return caught.value


@pytest.mark.parametrize("error", [_json_cut_off(), ConnectionResetError(104, "Connection reset by peer")])
def test_an_engine_that_ends_in_the_middle_is_an_infrastructure_fault(error: Exception) -> None:
    """However its answer breaks off, also within a value, that is no defect of ours."""
    with pytest.raises(TransientError, match=r"build x"):
        _follow(PlayedClient({"stream": "a"}, then=error))


def test_a_failed_build_shows_its_last_lines() -> None:
    """The engine's word and what was printed before."""
    with pytest.raises(InfrastructureError, match=r"returned 1\n  make: \*\*\*"):
        _follow(PlayedClient({"stream": "make: ***\n"}, {"error": "returned 1"}))


def test_a_disk_that_filled_up_in_a_build_is_told_as_one() -> None:
    """Where only the build's own lines say it."""
    client = PlayedClient({"stream": "cc: No space left on device"}, {"error": "returned 1"})
    with pytest.raises(NoSpaceError):
        _follow(client)


def _interrupt(_line: str) -> None:
    raise InfrastructureError("interrupted")


@pytest.mark.parametrize(
    ("events", "on_line", "limit_s"),
    [
        (({"stream": "a"}, {"stream": "b"}), _interrupt, 60),
        (({"stream": "a"}, {"stream": "b"}), lambda _: None, -1),
        (({"error": "no"}, {"stream": "b"}), lambda _: None, 60),
    ],
    ids=["interrupted", "past its limit", "failed"],
)
def test_what_is_given_up_is_listened_to_no_more(
    events: tuple[dict[str, object], ...], on_line: Callable[[str], None], limit_s: float
) -> None:
    """An engine works on for as long as somebody listens, so the answer is closed though the error is kept."""
    client = PlayedClient(*events)
    with pytest.raises(InfrastructureError):
        _follow(client, on_line, limit_s)
    assert client.closed


def test_progress_bars_are_no_lines() -> None:
    """What only moves a bar is passed over."""
    lines: list[str] = []
    _follow(PlayedClient({"status": "Downloading", "progressDetail": {"current": 1}}, {"status": "Done"}), lines.append)
    assert lines == ["Done"]


def test_pull_asks_for_our_platform(monkeypatch: pytest.MonkeyPatch) -> None:
    """On another processor the engine would choose its own."""
    asked: list[object] = []
    monkeypatch.setattr(transfers, "_post", lambda _api, params, *_: asked.append(params))
    monkeypatch.setattr(transfers, "follow", lambda _client, _doing, call, *_words, **_named: call(None))
    transfers.pull(PlayedClient(), "x@sha256:1", lambda _: None)  # type: ignore[arg-type]
    assert asked == [{"fromImage": "x@sha256:1", "platform": "linux/amd64"}]
