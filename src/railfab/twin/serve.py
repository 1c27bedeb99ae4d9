"""Serve a twin until a signal stops it."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from railfab.twin.service import Twin

SIGNALS = (signal.SIGINT, signal.SIGTERM)

SWITCH_INTERVAL_S = 0.001
"""How long a thread that computes keeps the interpreter while the servers' event loop waits for it [s].

A request needs the interpreter several times. While a thread computes without pause, connect, TLS and Capabilities take
19 ms with Python's default of 5 ms, 8 ms with 1 ms, and 5 ms without that thread (medians of 15, two cores, load 4).
"""


def serve(twin: Twin, *, started: Callable[[], None]) -> None:
    """Start a twin, call `started`, and serve until SIGINT or SIGTERM; from the main thread."""
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    with ending() as ended, twin:
        started()
        ended.wait()


@contextmanager
def ending() -> Iterator[threading.Event]:
    """An event that SIGINT and SIGTERM set; their former handlers are restored afterwards."""
    ended = threading.Event()
    before = {number: signal.signal(number, lambda *_: ended.set()) for number in SIGNALS}
    try:
        yield ended
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
