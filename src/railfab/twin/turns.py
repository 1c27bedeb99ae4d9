"""A lock that a loop can hold again and again without keeping others from it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Turns:
    """Mutual exclusion in which whoever waits comes before a thread that releases and acquires again at once."""

    def __init__(self) -> None:
        self._queue, self._lock = threading.Lock(), threading.Lock()

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Wait for a turn, and have it while the context lasts."""
        with self._queue:
            self._lock.acquire()
        try:
            yield
        finally:
            self._lock.release()

    @contextmanager
    def turn_if_free(self) -> Iterator[bool]:
        """Have a turn if nobody has one; whether that is so. Never waits."""
        free = self._lock.acquire(blocking=False)
        try:
            yield free
        finally:
            if free:
                self._lock.release()
