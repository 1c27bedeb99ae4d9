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
    """Calls of an operation of the groups on the same hosts. seconds: of each call, in the order in which they ended.

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
    """The calls of a stage that have ended, by operation and hosts.

    start_ns, finish_ns: (transfer,), infinite of one that has not ended.
    """
    bounds = [bound for call in calls for bound in (call.places.start, call.places.stop)]
    if not bounds:
        return
    begin_ns = np.minimum.reduceat(np.append(start_ns, np.inf), bounds)[::2]
    end_ns = np.maximum.reduceat(np.append(finish_ns, -np.inf), bounds)[::2]
    kinds: defaultdict[tuple[str, tuple[str, ...]], list[int]] = defaultdict(list)
    for number in np.argsort(end_ns, kind="stable").tolist():
        if end_ns[number] < np.inf:
            kinds[calls[number].op, calls[number].hosts].append(number)
    for (op, hosts), alike in kinds.items():
        seconds, last = (end_ns[alike] - begin_ns[alike]) / NS_PER_S, calls[alike[-1]]
        bus_bytes_per_s = OPERATIONS[op].bus_factor(last.ranks) * last.size_bytes / float(seconds[-1])
        yield CallTimes(op=op, hosts=hosts, seconds=seconds, bus_bytes_per_s=bus_bytes_per_s)
