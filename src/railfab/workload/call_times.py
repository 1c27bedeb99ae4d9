"""Times of the transfers of a stage, and durations of its operations."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from railfab.units import NS_PER_S
from railfab.workload.operations import OPERATIONS
from railfab.workload.transfer import StageCall, Transfer

Times = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CallTimes:
    """Calls of an operation of the groups on the same hosts. seconds: of each call, in the order of the stage.

    bus_bytes_per_s: bus bandwidth of the last of them.
    """

    op: str
    hosts: tuple[str, ...]
    seconds: Times
    bus_bytes_per_s: float


def transferring_ns(transfers: Sequence[Transfer], start_ns: Times, finish_ns: Times) -> int:
    """Time in which any of these transfers of payload was under way [ns]."""
    crossing = np.array([transfer.payload_bytes > 0 for transfer in transfers])
    order = np.argsort(start_ns[crossing])
    start, finish = start_ns[crossing][order], finish_ns[crossing][order]
    before = np.maximum.accumulate(np.append(-np.inf, finish[:-1]))
    return round(float(np.maximum(0.0, finish - np.maximum(start, before)).sum()))


def call_times(calls: Sequence[StageCall], start_ns: Times, finish_ns: Times) -> Iterator[CallTimes]:
    """The calls of a stage by operation and hosts. start_ns, finish_ns: (transfer,)."""
    kinds: defaultdict[tuple[str, tuple[str, ...]], list[StageCall]] = defaultdict(list)
    for call in calls:
        kinds[call.op, call.hosts].append(call)
    for (op, hosts), alike in kinds.items():
        parts = [slice(call.places.start, call.places.stop) for call in alike]
        seconds = np.array([finish_ns[part].max() - start_ns[part].min() for part in parts]) / NS_PER_S
        last = alike[-1]
        bus_bytes_per_s = OPERATIONS[op].bus_factor(last.ranks) * last.size_bytes / float(seconds[-1])
        yield CallTimes(op=op, hosts=hosts, seconds=seconds, bus_bytes_per_s=bus_bytes_per_s)
