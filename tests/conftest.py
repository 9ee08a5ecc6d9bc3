"""What all tests share."""

from __future__ import annotations

import signal

# A shell that starts pytest in the background lets it ignore Ctrl-C, and the programs under test would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
