"""What a sink has still to send: an ordered queue that is bounded in bytes, and counters of what became of the rest."""

from __future__ import annotations

import threading
import time
from collections import Counter, deque
from dataclasses import dataclass, field

OVERHEAD_BYTES = 200
"""Memory of a queued parcel besides its body: the objects and their place in the queue."""
LAST_PAUSE_S = 1.0


@dataclass(frozen=True, slots=True, eq=False)
class Parcel:
    """What is sent as one request or message. samples: how many it holds. device: of all of them, or empty."""

    body: bytes
    samples: int
    device: str = ""

    @property
    def size_bytes(self) -> int:
        return len(self.body) + OVERHEAD_BYTES


@dataclass(slots=True)
class Counts:
    """Samples by what became of them. last_success_s: Unix time, 0 before the first. retries: of parcels."""

    sent: int = 0
    dropped: int = 0
    retries: int = 0
    last_success_s: float = 0.0
    failed: Counter[str] = field(default_factory=Counter)


class Outbox:
    """Parcels in order, from the thread that collects to the thread that sends.

    name: of the sink, the label `sink`. limit_bytes: of all parcels that are neither delivered nor given up; beyond it
    the oldest that is not being sent is dropped and counted. Times are of the monotonic clock.
    """

    def __init__(self, name: str, limit_bytes: int) -> None:
        self.name = name
        self.counts = Counts()
        self._limit_bytes = limit_bytes
        self._bytes = 0
        self._queue: deque[Parcel] = deque()
        self._on_the_way: set[Parcel] = set()
        self._changed = threading.Condition()
        self._ended = self._abandoned = False

    @property
    def queue_bytes(self) -> int:
        """Bytes of what is queued or being sent."""
        return self._bytes

    @property
    def abandoned(self) -> bool:
        """Whether the time to send what is left has passed."""
        return self._abandoned

    def put(self, parcel: Parcel) -> None:
        """Append a parcel; drop the oldest ones while there are too many bytes."""
        with self._changed:
            self._queue.append(parcel)
            self._bytes += parcel.size_bytes
            while self._queue and (self._bytes > self._limit_bytes or self._ended):
                self._drop(self._queue.popleft())
            self._changed.notify_all()

    def take(self, wait_s: float | None = None) -> Parcel | None:
        """The oldest parcel, to be settled or given back; None after wait_s without one, and at the end."""
        with self._changed:
            self._changed.wait_for(lambda: self._queue or self._ended, wait_s)
            if not self._queue or self._abandoned:
                return None
            parcel = self._queue.popleft()
            self._on_the_way.add(parcel)
            return parcel

    def done(self) -> bool:
        """Whether nothing is queued and nothing more will be, or its time has passed."""
        return self._abandoned or (self._ended and not self._queue)

    def settle(self, parcel: Parcel, reason: str = "") -> None:
        """Count a parcel that was taken as sent, or with a reason as failed."""
        with self._changed:
            if parcel not in self._on_the_way:  # abandoned
                return
            self._on_the_way.remove(parcel)
            self._bytes -= parcel.size_bytes
            if reason:
                self.counts.failed[reason] += parcel.samples
            else:
                self.counts.sent += parcel.samples
                self.counts.last_success_s = time.time()
            self._changed.notify_all()

    def give_back(self, parcel: Parcel) -> None:
        """Put a parcel that was taken to the front again, to be retried; it is the first to be dropped."""
        with self._changed:
            if parcel not in self._on_the_way:
                return
            self._on_the_way.remove(parcel)
            self.counts.retries += 1
            self._queue.appendleft(parcel)

    def pause(self, wait_s: float) -> None:
        """Wait before a retry. The end cuts it short, and from then on it is a second at most."""
        with self._changed:
            if self._ended:
                self._changed.wait_for(lambda: self._abandoned, min(wait_s, LAST_PAUSE_S))
            else:
                self._changed.wait_for(lambda: self._ended, wait_s)

    def end(self, within_s: float) -> None:
        """Take no more parcels, wait until all are settled, for so long, and drop the rest."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()
            self._changed.wait_for(lambda: not self._queue and not self._on_the_way, within_s)
            self._abandoned = True
            for parcel in (*self._queue, *self._on_the_way):
                self._drop(parcel)
            self._queue.clear()
            self._on_the_way.clear()
            self._changed.notify_all()

    def _drop(self, parcel: Parcel) -> None:
        self._bytes -= parcel.size_bytes
        self.counts.dropped += parcel.samples
