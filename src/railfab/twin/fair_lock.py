"""A lock that a loop can acquire again and again without starving other threads."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class FairLock:
    """Mutual exclusion in which a waiting thread comes before one that releases the lock and takes it again at once."""

    def __init__(self) -> None:
        self._queue, self._lock = threading.Lock(), threading.Lock()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Wait for the lock, and hold it while the context lasts."""
        with self._queue:
            self._lock.acquire()
        try:
            yield
        finally:
            self._lock.release()

    @contextmanager
    def held_if_free(self) -> Iterator[bool]:
        """Hold the lock if no thread does; yields whether that is so. Never waits."""
        free = self._lock.acquire(blocking=False)
        try:
            yield free
        finally:
            if free:
                self._lock.release()
