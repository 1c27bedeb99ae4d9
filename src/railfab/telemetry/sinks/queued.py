"""A sink with one ordered queue, and a thread that empties it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Protocol

from railfab.telemetry.sinks.contract import SampleBatch
from railfab.telemetry.sinks.outbox import Outbox, Parcel

QUEUE_BYTES = 64 * 1024 * 1024
"""Most bytes that a sink keeps for a receiver that is away."""


class ParcelTransport(Protocol):
    """Sends parcels to one receiver, in their order."""

    def run(self, outbox: Outbox) -> None:
        """Send until the outbox is done. Called in a thread of the sink."""
        ...

    def abort(self) -> None:
        """Give up what is being sent. Called from another thread once the outbox is abandoned."""
        ...


class QueuedSink:
    """Encodes batches where they are emitted and sends them from a thread.

    encode: a batch as parcels, in order.
    """

    def __init__(
        self,
        name: str,
        encode: Callable[[SampleBatch], Iterable[Parcel]],
        transport: ParcelTransport,
        *,
        queue_bytes: int = QUEUE_BYTES,
    ) -> None:
        self.outbox = Outbox(name, queue_bytes)
        self._encode = encode
        self._transport = transport
        self._thread = threading.Thread(
            target=transport.run, args=(self.outbox,), name=f"railfab-sink-{name}", daemon=True
        )
        self._thread.start()

    def emit(self, batch: SampleBatch) -> None:
        """Encode a batch and queue it."""
        for parcel in self._encode(batch):
            self.outbox.put(parcel)

    def close(self, within_s: float = 5.0) -> None:
        """Send what is queued, for so long; what is left then counts as dropped."""
        self.outbox.end(within_s)
        self._transport.abort()
        self._thread.join(1.0)
