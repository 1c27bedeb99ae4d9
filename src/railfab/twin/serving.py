"""Serve a twin until a signal stops it."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from contextlib import ExitStack

from railfab.process.signals import stop_on_signal
from railfab.twin.service import Twin

SWITCH_INTERVAL_S = 0.001
"""Time that a thread that computes keeps the interpreter while the servers' event loop waits for it [s].

A request needs the interpreter several times. While a thread computes without pause, connect, TLS and Capabilities take
19 ms with Python's default of 5 ms, 8 ms with 1 ms, and 5 ms without that thread (medians of 15, two cores, load 4).
"""


COLLECTION_THRESHOLDS = (10_000, 100, 100)
"""Python's cyclic garbage collector, made to look at old objects a hundred times more rarely.

A twin of 256 switches with a stream each has 5 million objects that stay, and all threads wait for a second while the
collector looks at them. In opening those streams it did so 23 times and found 10 objects to free.
"""


def serve(twin: Twin, *, started: Callable[[], None]) -> None:
    """Start a twin, call `started`, and serve until SIGINT or SIGTERM; from the main thread of its own process.

    The handlers of the caller serve until the twin has started: a large one takes longer than a signal may.
    """
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    gc.set_threshold(*COLLECTION_THRESHOLDS)
    with ExitStack() as stack:
        stack.enter_context(twin)
        with stop_on_signal() as ended:
            gc.freeze()
            started()
            ended.wait()
            stack.close()  # here, so that a second signal does not interrupt it
