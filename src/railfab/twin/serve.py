"""Serving a twin until a signal stops it."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from railfab.twin.service import Twin

SIGNALS = (signal.SIGINT, signal.SIGTERM)

SWITCH_INTERVAL_S = 0.001
"""How long a thread that computes keeps Python's interpreter from one that has a message to handle [s].

A request is handled in several turns. While one thread computes without pause, connect, TLS and Capabilities took 19 ms
with Python's 5 ms, and 8 ms with 1 ms (5 ms while nothing happens; medians of 15, two cores at load 4).
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
