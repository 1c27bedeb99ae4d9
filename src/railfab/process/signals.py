"""SIGINT and SIGTERM of a process, which end a command at whatever moment they arrive.

Python runs a handler in the main thread, between two instructions: a signal that arrives just before the main thread
waits for a lock, or in another thread, is not handled before that wait ends. The interpreter's C handler however writes
the number of each signal to a file descriptor at once (`signal.set_wakeup_fd`); here a thread reads it.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

SIGNALS = (signal.SIGINT, signal.SIGTERM)
INTERRUPTED = 130
"""Exit code: ended by Ctrl-C or SIGTERM, as shells count signals."""
STOP_WITHIN_S = 3.5
"""Time for cleaning up after a signal [s]."""
WAKE_AFTER_S = 0.1
"""Time until the main thread, if it has not handled a signal by itself, is woken from what it waits for [s]."""


@contextmanager
def stop_on_signal(report: Callable[[], None] | None = None) -> Iterator[threading.Event]:
    """An event that SIGINT and SIGTERM set, instead of ending the process; for the main thread.

    report: called once, in another thread, after the event is set.
    """
    stop_requested = threading.Event()

    def stop() -> None:
        if not stop_requested.is_set():
            stop_requested.set()
            if report is not None:
                report()

    with _watched(SIGNALS, _nothing, stop):
        yield stop_requested


@contextmanager
def ended_by_signal(left: str, signals: Iterable[signal.Signals] = SIGNALS) -> Iterator[None]:
    """Raise KeyboardInterrupt at a signal, and end the process with 130 when its cleaning up takes STOP_WITHIN_S.

    left: line about what is left then. Further signals are ignored: they do not interrupt the cleaning up.
    For the main thread.
    """
    main, numbers = threading.get_ident(), tuple(signals)
    handled, finished = threading.Event(), threading.Event()

    def interrupt(*_: object) -> None:
        for number in numbers:
            signal.signal(number, signal.SIG_IGN)
        handled.set()
        raise KeyboardInterrupt

    def end() -> None:
        until_s = time.monotonic() + STOP_WITHIN_S
        while not (finished.is_set() or handled.wait(WAKE_AFTER_S)) and time.monotonic() < until_s:
            signal.pthread_kill(main, signal.SIGURG)
        if not finished.wait(max(0.0, until_s - time.monotonic())):
            os.write(2, f"railfab: {left}\n".encode())
            os._exit(INTERRUPTED)

    before = signal.signal(signal.SIGURG, _nothing)  # it interrupts a wait of the main thread, and does nothing else
    try:
        with _watched(numbers, interrupt, end):
            try:
                yield
            finally:
                finished.set()
    finally:
        signal.signal(signal.SIGURG, before)


def _nothing(*_: object) -> None:
    """Handle a signal that `_watched` reports, or that only wakes the main thread."""


@contextmanager
def _watched(
    signals: Sequence[signal.Signals], handler: Callable[..., None], received: Callable[[], None]
) -> Iterator[None]:
    """Call `received` in a thread at each of these signals. handler: of them, until the former ones are restored."""
    readable, writable = os.pipe()
    os.set_blocking(writable, False)

    def watch() -> None:
        while arrived := os.read(readable, 64):
            if any(number in arrived for number in signals):
                received()

    watcher = threading.Thread(target=watch, name="railfab-signals", daemon=True)
    watcher.start()
    former = signal.set_wakeup_fd(writable, warn_on_full_buffer=False)
    before = {number: signal.signal(number, handler) for number in signals}
    try:
        yield
    finally:
        for number, handler_before in before.items():
            signal.signal(number, handler_before)
        signal.set_wakeup_fd(former, warn_on_full_buffer=False)
        os.close(writable)
        watcher.join()
        os.close(readable)
