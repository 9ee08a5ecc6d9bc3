"""A headless Chromium, driven by its DevTools protocol over a pair of pipes: no port, no driver program."""

from __future__ import annotations

import base64
import json
import os
import select
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path
    from typing import BinaryIO

CHROMIUM = "/usr/bin/chromium"
_PATIENCE_S = 60
_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--remote-debugging-pipe",
)
# Chromium reads commands from descriptor 3 and answers on 4; copies far above make sure that neither is overwritten.
_START = """
import fcntl, os, sys
commands, answers = (fcntl.fcntl(int(number), fcntl.F_DUPFD_CLOEXEC, 100) for number in sys.argv[1:3])
os.dup2(commands, 3)
os.dup2(answers, 4)
os.execv(sys.argv[3], sys.argv[3:])
"""
_KEYS = {"Enter": (13, "\r"), "Escape": (27, ""), "/": (191, "/")} | {
    f"Arrow{name}": (code, "") for name, code in (("Left", 37), ("Up", 38), ("Right", 39), ("Down", 40))
}


class Browser:
    """One page in a browser."""

    def __init__(self, commands: BinaryIO, answers: int) -> None:
        self._commands = commands
        self._answers = answers
        self._number = 0
        self._session = ""
        self._rest = b""
        self.events: list[Mapping[str, Any]] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **params: object) -> dict[str, Any]:
        """Call a method of the protocol and give its result; events that come meanwhile are kept."""
        self._number += 1
        message: dict[str, object] = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        self._commands.write(json.dumps(message).encode() + b"\0")
        self._commands.flush()
        while True:
            answer = self._read()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                return dict(answer["result"])
            self.events.append(answer)

    def wait_for(self, method: str) -> None:
        """Read on until an event has come since the last load was asked for."""
        while not any(event.get("method") == method for event in self.events):
            self.events.append(self._read())

    def open(self, page: Path, fragment: str = "") -> None:
        """Load a file and wait until it is loaded."""
        # Another fragment of the page that is shown would be no load; so something else is shown in between.
        for address in ("about:blank", page.as_uri() + fragment):
            self.events.clear()
            self.call("Page.navigate", url=address)
            self.wait_for("Page.loadEventFired")

    def view(self, width: int, height: int, *, dark: bool = False) -> None:
        """Set the window's size and colour scheme."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])

    def ask(self, expression: str) -> Any:  # noqa: ANN401 - whatever the expression is
        """Evaluate a JavaScript expression in the page."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def press(self, key: str) -> None:
        """Press and release a key."""
        code, text = _KEYS[key]
        common = {"key": key, "windowsVirtualKeyCode": code}
        self.call("Input.dispatchKeyEvent", type="keyDown", text=text, **common)
        self.call("Input.dispatchKeyEvent", type="keyUp", **common)

    def type(self, text: str) -> None:
        """Type text into what has the focus."""
        self.call("Input.insertText", text=text)

    def shoot(self, path: Path, *, whole: bool = False) -> None:
        """Write a screenshot."""
        answer = self.call("Page.captureScreenshot", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(answer["data"]))

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._answers], [], [], _PATIENCE_S)
            assert ready, f"the browser has not answered for {_PATIENCE_S} s"
            chunk = os.read(self._answers, 1 << 20)
            assert chunk, "the browser is gone"
            self._rest += chunk
        line, _, self._rest = self._rest.partition(b"\0")
        return dict(json.loads(line))


@contextmanager
def browsing(profile: Path) -> Iterator[Browser]:
    """Start a browser with a fresh profile folder; it and its pipes are gone afterwards."""
    their_in, our_out = os.pipe()
    our_in, their_out = os.pipe()
    arguments = (sys.executable, "-c", _START, str(their_in), str(their_out), CHROMIUM, *_FLAGS)
    process = subprocess.Popen(
        (*arguments, f"--user-data-dir={profile}"),
        pass_fds=(their_in, their_out),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    os.close(their_in)
    os.close(their_out)
    with os.fdopen(our_out, "wb") as commands, os.fdopen(our_in, "rb") as answers:
        try:
            browser = Browser(commands, answers.fileno())
            yield browser
            browser._session = ""  # the whole browser is closed, not the page
            browser.call("Browser.close")
        finally:
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
