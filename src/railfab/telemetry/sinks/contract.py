"""The contract of a sink that samples are pushed to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from railfab.metrics import Metric
from railfab.telemetry.sinks.outbox import Outbox

Labels = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class SampleBatch:
    """The newest sample of every living series at one moment, and the series that have vanished since the last batch.

    ids: int64, one for each series, never used again for another. values: float64. at_ms: int64, Unix time of each
    sample, of the device or of its arrival [ms]. gone: int64, ids of series that ended since the last batch.
    now_ms: Unix time of the batch [ms]. describe: the metric of the catalogue and the labels (device included, sorted
    by name, without __name__) of an id. It is called within `emit`, once for each series that is new to the sink.
    """

    ids: NDArray[np.int64]
    values: NDArray[np.float64]
    at_ms: NDArray[np.int64]
    gone: NDArray[np.int64]
    now_ms: int
    describe: Callable[[int], tuple[Metric, Labels]]


class Sink(Protocol):
    """Takes batches in order, from one thread at a time; what it keeps to send later is bounded in bytes.

    outbox: its name, its queue and what became of the samples.
    """

    @property
    def outbox(self) -> Outbox: ...

    def emit(self, batch: SampleBatch) -> None:
        """Take in one batch. Returns as soon as it is encoded, whatever the receiver does; keeps none of its arrays."""
        ...

    def close(self, within_s: float = 5.0) -> None:
        """Send what is queued, for so long; what is left then counts as dropped."""
        ...
