"""Samples of a batch that are due to be sent, and the time they are sent with."""

from __future__ import annotations

from collections.abc import Callable, Hashable
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
"""A sample that is older than this does not keep the time of its device; receivers refuse those of an hour ago."""
NEVER_MS = -(2**62)

Encoded = TypeVar("Encoded", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Due(Generic[Encoded]):
    """Samples in the order to send. series: the encoded series of each. An ended one has the bits STALE_BITS."""

    series: list[Encoded]
    values: NDArray[np.float64]
    at_ms: NDArray[np.int64]


class DueSamples(Generic[Encoded]):
    """Chooses what to send from each batch, so that the times of a series only ever rise, and never pass ours.

    encode: what a sink keeps of a series; called once for each, and equal only for the same labels. A sample is sent
    once, with its own time where that is within the last SKEW_MS and after what was sent before. Otherwise it is sent
    with the time of the batch, as is the first of each series, since what was sent before this process is not known.
    An unchanged one is repeated with the time of the batch every REPEAT_MS. A receiver would refuse, with one sample
    that is too old, all others of its request.
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
        ended, ended_ms = self._forget(batch.gone)
        renewed = self._learn(batch, dict(zip(ended, ended_ms, strict=True)))
        rows = np.searchsorted(self._ids, batch.ids)
        times, due = self._times(rows, batch.at_ms, batch.now_ms)
        rows = rows[due]
        self._seen_ms[rows] = batch.at_ms[due]
        self._sent_ms[rows] = times[due]
        stale = [
            max(batch.now_ms, at_ms + 1) for series, at_ms in zip(ended, ended_ms, strict=True) if series not in renewed
        ]
        return Due(
            series=self._series[rows].tolist() + [series for series in ended if series not in renewed],
            values=np.concatenate((batch.values[due], np.full(len(stale), STALE_BITS, np.uint64).view(np.float64))),
            at_ms=np.concatenate((times[due], np.array(stale, np.int64))),
        )

    def _times(
        self, rows: NDArray[np.int64], at_ms: NDArray[np.int64], now_ms: int
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """The time of each sample, and whether it is due."""
        sent_ms = self._sent_ms[rows]
        fresh = at_ms != self._seen_ms[rows]
        own = fresh & (sent_ms != NEVER_MS) & (at_ms > sent_ms) & (at_ms <= now_ms) & (at_ms >= now_ms - SKEW_MS)
        times = np.where(own, at_ms, now_ms)
        return times, (times > sent_ms) & (fresh | (now_ms - sent_ms >= REPEAT_MS))

    def _learn(self, batch: SampleBatch, ended: dict[Encoded, int]) -> set[Encoded]:
        """Add the series that are new. Those of them that ended in the same batch under another id, and so go on."""
        new = batch.ids[~self._is_known(batch.ids)]
        if not len(new):
            return set()
        encoded = np.empty(len(new), object)
        encoded[:] = found = [self._encode(*batch.describe(number)) for number in new.tolist()]
        sent_ms = np.array([ended.get(series, NEVER_MS) for series in found], np.int64)
        self._series = np.concatenate((self._series, encoded))
        self._seen_ms = np.concatenate((self._seen_ms, np.full(len(new), NEVER_MS)))
        self._sent_ms = np.concatenate((self._sent_ms, sent_ms))
        self._ids = np.concatenate((self._ids, new))
        self._keep(np.argsort(self._ids))
        return ended.keys() & set(found) if ended else set()

    def _forget(self, gone: NDArray[np.int64]) -> tuple[list[Encoded], list[int]]:
        """Remove the series that have ended; those that were sent, and when."""
        rows = np.searchsorted(self._ids, gone[self._is_known(gone)])
        sent = rows[self._sent_ms[rows] != NEVER_MS]
        found = self._series[sent].tolist(), self._sent_ms[sent].tolist()
        if len(rows):
            self._keep(np.delete(np.arange(len(self._ids)), rows))
        return found

    def _is_known(self, ids: NDArray[np.int64]) -> NDArray[np.bool_]:
        if not len(self._ids):
            return np.zeros(len(ids), np.bool_)
        found: NDArray[np.bool_] = self._ids.take(np.searchsorted(self._ids, ids), mode="clip") == ids
        return found

    def _keep(self, rows: NDArray[np.int64]) -> None:
        self._ids, self._series = self._ids[rows], self._series[rows]
        self._seen_ms, self._sent_ms = self._seen_ms[rows], self._sent_ms[rows]
