"""Serving a twin until somebody says stop."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from railfab.twin.service import Twin

SIGNALS = (signal.SIGINT, signal.SIGTERM)


def serve(twin: Twin, *, started: Callable[[], None]) -> None:
    """Start a twin, call `started`, and serve until SIGINT or SIGTERM; from the main thread."""
    with ending() as ended, twin:
        started()
        twin.wait(ended)


@contextmanager
def ending() -> Iterator[threading.Event]:
    """An event that SIGINT and SIGTERM set; their former handlers are back afterwards."""
    ended = threading.Event()
    before = {number: signal.signal(number, lambda *_: ended.set()) for number in SIGNALS}
    try:
        yield ended
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
