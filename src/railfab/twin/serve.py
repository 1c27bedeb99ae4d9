"""Serve a twin until a signal stops it."""

from __future__ import annotations

import gc
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


COLLECTION_THRESHOLDS = (10_000, 100, 100)
"""Python's cyclic garbage collector, made to look at old objects a hundred times more rarely.

A twin of 256 switches with a stream each has 5 million objects that stay, and all threads wait for a second while the
collector looks at them. In opening those streams it did so 23 times and found 10 objects to free.
"""

POLL_S = 0.5
"""How often the main thread looks for a signal [s]: one that arrives just before a wait does not end that wait."""


def serve(twin: Twin, *, started: Callable[[], None]) -> None:
    """Start a twin, call `started`, and serve until SIGINT or SIGTERM; from the main thread of its own process."""
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    gc.set_threshold(*COLLECTION_THRESHOLDS)
    with ending() as ended, twin:
        gc.freeze()
        started()
        while not ended.wait(POLL_S):
            pass


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
