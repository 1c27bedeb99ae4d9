"""Samples of a batch that are due to be sent, and the time they are sent with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from railfab.metrics import Metric
from railfab.telemetry.sinks.contract import Labels, SampleBatch

STALE_BITS = 0x7FF0_0000_0000_0002
"""The float64 by which Prometheus knows that a series has ended. Source: Remote-Write 1.0, "Staleness markers"."""
REPEAT_MS = 60_000
"""A sample that nothing has replaced is sent again after so long: a query looks back 5 minutes for one."""
SKEW_MS = 300_000
"""Up to this difference from our clock a sample keeps the time of its device; receivers refuse older ones."""
NEVER_MS = -(2**62)

Encoded = TypeVar("Encoded")


@dataclass(frozen=True, slots=True)
class Due(Generic[Encoded]):
    """Samples in the order to send. series: the encoded series of each. An ended one has the bits STALE_BITS."""

    series: list[Encoded]
    values: NDArray[np.float64]
    at_ms: NDArray[np.int64]


class DueSamples(Generic[Encoded]):
    """Chooses what to send from each batch, so that the times of a series only ever rise.

    encode: what a sink keeps of a series; called once for each. A sample is sent once, with its own time. Where that
    is more than SKEW_MS away from ours, as that of a leaf that changed yesterday, or not after what was sent before,
    it is sent with the time of the batch. An unchanged one is repeated with the time of the batch every REPEAT_MS.
    """

    def __init__(self, encode: Callable[[Metric, Labels], Encoded]) -> None:
        self._encode = encode
        self._ids = np.empty(0, np.int64)
        self._series = np.empty(0, object)
        self._seen_ms = np.empty(0, np.int64)
        self._sent_ms = np.empty(0, np.int64)

    def __len__(self) -> int:
        """Series that are alive."""
        return len(self._ids)

    def take(self, batch: SampleBatch) -> Due[Encoded]:
        """What of the batch is due. Series are learnt and forgotten here."""
        self._learn(batch)
        rows = np.searchsorted(self._ids, batch.ids)
        times, due = self._times(rows, batch.at_ms, batch.now_ms)
        rows = rows[due]
        self._seen_ms[rows] = batch.at_ms[due]
        self._sent_ms[rows] = times[due]
        ended = np.searchsorted(self._ids, batch.gone[self._is_known(batch.gone)])
        found: Due[Encoded] = Due(
            series=self._series[np.concatenate((rows, ended))].tolist(),
            values=np.concatenate((batch.values[due], np.full(len(ended), STALE_BITS, np.uint64).view(np.float64))),
            at_ms=np.concatenate((times[due], np.maximum(batch.now_ms, self._sent_ms[ended] + 1))),
        )
        if len(ended):
            self._keep(np.delete(np.arange(len(self._ids)), ended))
        return found

    def _times(
        self, rows: NDArray[np.int64], at_ms: NDArray[np.int64], now_ms: int
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """The time of each sample, and whether it is due."""
        sent_ms = self._sent_ms[rows]
        fresh = at_ms != self._seen_ms[rows]
        own = fresh & (np.abs(at_ms - now_ms) <= SKEW_MS) & (at_ms > sent_ms)
        times = np.where(own, at_ms, now_ms)
        return times, (times > sent_ms) & (fresh | (now_ms - sent_ms >= REPEAT_MS))

    def _learn(self, batch: SampleBatch) -> None:
        new = batch.ids[~self._is_known(batch.ids)]
        if not len(new):
            return
        ids = np.concatenate((self._ids, new))
        encoded = np.empty(len(new), object)
        encoded[:] = [self._encode(*batch.describe(number)) for number in new.tolist()]
        never = np.full(len(new), NEVER_MS)
        self._series = np.concatenate((self._series, encoded))
        self._seen_ms = np.concatenate((self._seen_ms, never))
        self._sent_ms = np.concatenate((self._sent_ms, never))
        self._ids = ids
        self._keep(np.argsort(ids))

    def _is_known(self, ids: NDArray[np.int64]) -> NDArray[np.bool_]:
        if not len(self._ids):
            return np.zeros(len(ids), np.bool_)
        found: NDArray[np.bool_] = self._ids.take(np.searchsorted(self._ids, ids), mode="clip") == ids
        return found

    def _keep(self, rows: NDArray[np.int64]) -> None:
        self._ids, self._series = self._ids[rows], self._series[rows]
        self._seen_ms, self._sent_ms = self._seen_ms[rows], self._sent_ms[rows]
