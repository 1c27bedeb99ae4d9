"""The contract of a sink that samples are pushed to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from railfab.metrics import Metric

Labels = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class SampleBatch:
    """The newest sample of every living series at one moment, and the series that have vanished since the last batch.

    ids: int64, one for each series, never used again for another. values: float64. at_ms: int64, Unix time of each
    sample, of the device or of its arrival [ms]. gone: int64, ids of series that ended since the last batch.
    now_ms: Unix time of the batch [ms]. describe: the metric of the catalogue and the labels (device included, sorted
    by name, without __name__) of an id, also of one that is gone since this batch.
    """

    ids: NDArray[np.int64]
    values: NDArray[np.float64]
    at_ms: NDArray[np.int64]
    gone: NDArray[np.int64]
    now_ms: int
    describe: Callable[[int], tuple[Metric, Labels]]


class Sink(Protocol):
    """Takes batches in order. `emit` returns at once: what it keeps to send later is bounded in bytes."""

    def emit(self, batch: SampleBatch) -> None:
        """Take in one batch."""
        ...
