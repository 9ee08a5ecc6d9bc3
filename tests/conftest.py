"""What all tests share."""

from __future__ import annotations

import signal

from hypothesis import settings

# A shell that starts pytest in the background lets it ignore Ctrl-C, and the programs under test would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)

# How long one example takes tells how busy the machine is, and nothing of the code.
settings.register_profile("any machine", deadline=None)
settings.load_profile("any machine")
