"""Rounds of transfers as fluid flows, each of which waits for what its rank has sent and received before."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from railfab.sim.fluid import FluidFlows
from railfab.workload import TransferRounds

Numbers = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Carriers:
    """What carries transfers: (carrier,) by transfer, a share of its payload each, on a route.

    alike: how many equal carriers each stands for. paths: (route, hop) links, -1 behind the last; shares: (route, hop)
    of the packets that take each.
    """

    transfer: Numbers
    route: Numbers
    share: Floats
    latency_s: Floats
    alike: Numbers
    paths: Numbers
    shares: Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class Waits:
    """What a transfer waits for.

    It waits for what its source has received and sent in the rounds before, on its channel. buffered_bytes: but not for
    transfers sent that have less. targets: also for the same of its target, which posts a receive only then (MPI).
    """

    buffered_bytes: float = 0.0
    targets: bool = False


def ordered_flows(
    rounds: TransferRounds, carriers: Carriers, waits: Waits | None = None, *, times: Callable[[int], int] = int
) -> tuple[FluidFlows, Numbers]:
    """The flows of rounds, and the carrier of each, (flow,); -1 for the flows that only join others.

    times: how many of a number of equal rounds in a row are wanted.
    """
    rows = _FlowRows(rounds, carriers, waits or Waits())
    for repeated, transfers in rounds.intervals():
        for _ in range(times(repeated)):
            rows.add_round(transfers)
    return rows.flows(), np.concatenate(rows.carrier_of)


@dataclass(slots=True)
class _FlowRows:
    """Flows, round by round. last: (rank and channel,) the flow that joins what a rank has done, -1 for nothing."""

    given: TransferRounds
    carriers: Carriers
    waits: Waits
    count: int = 0
    last: Numbers = field(init=False)
    first: Numbers = field(init=False)
    channels: int = field(init=False)
    parts: list[tuple[Numbers, Numbers, Floats, Floats]] = field(default_factory=list)
    carrier_of: list[Numbers] = field(default_factory=list)
    pairs: list[tuple[Numbers, Numbers]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.channels = int(self.given.table["channel"].max(initial=0)) + 1
        self.last = np.full(self.given.ranks * self.channels, -1, np.int64)
        self.first = np.searchsorted(self.carriers.transfer, np.arange(len(self.given.table) + 1))

    def _keys(self, transfers: Numbers, end: str) -> Numbers:
        table = self.given.table[transfers]
        keys: Numbers = table[end].astype(np.int64) * self.channels + table["channel"]
        return keys

    def add_round(self, transfers: NDArray[np.intp]) -> None:
        """Add the flows of these transfers behind those of their ranks so far."""
        starts, ends = self.first[transfers], self.first[transfers + 1]
        sizes = ends - starts
        place = np.repeat(np.arange(len(transfers)), sizes)
        carrier = np.arange(len(place)) - np.repeat(np.cumsum(sizes) - sizes, sizes) + np.repeat(starts, sizes)
        flow = self.count + np.arange(len(place))
        payload = self.given.payload_bytes[transfers][place] * self.carriers.share[carrier]
        route, latency_s = self.carriers.route[carrier], self.carriers.latency_s[carrier]
        self._append((route, self.carriers.alike[carrier], payload, latency_s), carrier)
        source, target = self._keys(transfers, "source"), self._keys(transfers, "target")
        for keys in (source, target)[: 1 + self.waits.targets]:
            before = self.last[keys][place]
            self.pairs.append((before[before >= 0], flow[before >= 0]))
        keys = np.unique(np.concatenate((source, target)))
        joins = self.count + np.arange(len(keys))
        none, ones, zeros = np.full(len(keys), -1), np.ones(len(keys), np.int64), np.zeros(len(keys))
        self._append((none, ones, zeros, zeros), none)
        before = self.last[keys]
        self.pairs.append((before[before >= 0], joins[before >= 0]))
        self.pairs.append((flow, joins[np.searchsorted(keys, target)][place]))
        kept = self.given.payload_bytes[transfers][place] >= self.waits.buffered_bytes
        self.pairs.append((flow[kept], joins[np.searchsorted(keys, source)][place][kept]))
        self.last[keys] = joins

    def _append(self, columns: tuple[Numbers, Numbers, Floats, Floats], carriers: Numbers) -> None:
        self.parts.append(columns)
        self.carrier_of.append(carriers)
        self.count += len(carriers)

    def flows(self) -> FluidFlows:
        route, alike, payload, latency_s = (np.concatenate(column) for column in zip(*self.parts, strict=True))
        earlier, later = (np.concatenate(column) for column in zip(*self.pairs, strict=True))
        return FluidFlows(
            paths=self.carriers.paths,
            route=route,
            alike=alike,
            payload_bytes=payload,
            latency_s=latency_s,
            earlier=earlier,
            later=later,
            shares=self.carriers.shares,
        )
