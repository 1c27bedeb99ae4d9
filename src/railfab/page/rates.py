"""Rates of every port between two samples of its switch, and the switches whose last sample is too old."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from railfab.page.columns import Numbers
from railfab.page.plan import PagePlan
from railfab.page.sources.contract import FabricReading
from railfab.units import BITS_PER_BYTE

WINDOW_INTERVALS = 2.0
"""Sample intervals that rates are averaged over; a switch whose last sample is older is stale."""
LEAST_WINDOW_S = 2.0
LATE_S = 1.0
"""Further time until a switch counts as stale: samples do not arrive at equal intervals [s]."""
COUNTERS = (
    "transmit_bytes",
    "receive_bytes",
    "marked_packets",
    "sent_packets",
    "pauses_sent",
    "pauses_received",
    "lossless_drops",
    "ingress_drops",
    "drops",
    "receive_discards",
    "transmit_discards",
    "uncorrected_codewords",
)


@dataclass(frozen=True, slots=True)
class PortRates:
    """The fabric at one moment. All but at_s, rail_gbps and stale are by port; NaN where it is not known.

    at_s: Unix time. simulated_s: of the newest sample; NaN without a twin. utilisation: of the busier direction, 0..1.
    ecn_share: of the packets of RoCE, 0..1. pause_frames_per_s: sent and received. lossless_drops_per_s: of queues
    with PFC; drops_per_s: of the port, whose discards include what its queues drop. stale: by switch. rail_gbps: to the
    hosts of each rail.
    """

    at_s: float
    simulated_s: float
    transmit_gbps: Numbers
    receive_gbps: Numbers
    utilisation: Numbers
    queue_bytes: Numbers
    ecn_share: Numbers
    marks_per_s: Numbers
    pause_frames_per_s: Numbers
    drops_per_s: Numbers
    lossless_drops_per_s: Numbers
    uncorrected_per_s: Numbers
    is_up: Numbers
    bit_error_ratio: Numbers
    sessions_up: Numbers
    switches: Mapping[str, Numbers]
    stale: NDArray[np.bool_]
    rail_gbps: Numbers
    overloaded: bool


DEPTH = 3
"""Samples of a switch that are kept."""


class RateMeter:
    """Computes rates from readings, each over the time between two samples of a switch.

    Time is simulated time where a switch states it, else that of its samples.
    """

    def __init__(self, plan: PagePlan, interval_s: float) -> None:
        self._plan = plan
        self._window_s = max(LEAST_WINDOW_S, WINDOW_INTERVALS * interval_s)
        ports, switches = len(plan.ports), len(plan.switches)
        self._counters = np.full((DEPTH, len(COUNTERS), ports), np.nan)
        self._sampled_s = np.full((DEPTH, switches), np.nan)
        self._counted_s = np.full((DEPTH, switches), np.nan)

    @property
    def stale_after_s(self) -> float:
        """Age of the last sample from which on a switch is stale [s]."""
        return self._window_s + LATE_S

    def add(self, reading: FabricReading) -> PortRates:
        """The rates that a reading ends with."""
        sampled_s, simulated_s = reading.sampled_s, reading.switches["simulated_s"]
        self._keep(reading, sampled_s, np.where(np.isnan(simulated_s), sampled_s, simulated_s))
        stale = ~(reading.at_s - sampled_s <= self.stale_after_s)
        is_fresh = ~stale[self._plan.switch_of_port]
        known = {
            name: np.where(is_fresh, held, np.nan)
            for name, held in {**reading.ports, **dict(zip(COUNTERS, self._rates(), strict=True))}.items()
        }
        return self._found(reading, known, stale)

    def _keep(self, reading: FabricReading, sampled_s: Numbers, counted_s: Numbers) -> None:
        """Keep the counters of the switches that have sent a sample since; a clock that went back begins anew."""
        went_back = counted_s < self._counted_s[0]
        self._counted_s[:, went_back] = np.nan
        is_new = (counted_s > self._counted_s[0]) | (np.isnan(self._counted_s[0]) & ~np.isnan(counted_s))
        of_new = is_new[self._plan.switch_of_port]
        newest = np.array([reading.ports[name] for name in COUNTERS])
        for kept, value, chosen in (
            (self._sampled_s, sampled_s, is_new),
            (self._counted_s, counted_s, is_new),
            (self._counters, newest, of_new),
        ):
            kept[1:, ..., chosen] = kept[:-1, ..., chosen]
            kept[0][..., chosen] = value[..., chosen]

    def _rates(self) -> Numbers:
        """The increase of each counter a second, shape (counter, port); after a reset, from 0."""
        ages_s = self._sampled_s[0] - self._sampled_s
        is_within = (ages_s <= self._window_s) & ~np.isnan(self._counted_s)
        is_within[1] |= ~np.isnan(self._counted_s[1])
        place = DEPTH - 1 - is_within[::-1].argmax(axis=0)
        switches, ports = np.arange(len(place)), np.arange(len(self._plan.ports))
        elapsed_s = self._counted_s[0] - self._counted_s[place, switches]
        elapsed_s = np.where(elapsed_s > 0, elapsed_s, np.nan)[self._plan.switch_of_port]
        first = self._counters[place[self._plan.switch_of_port], :, ports].T
        risen = self._counters[0] - first
        rates: Numbers = np.where(risen < 0, self._counters[0], risen) / elapsed_s
        return rates

    def _found(self, reading: FabricReading, known: Mapping[str, Numbers], stale: NDArray[np.bool_]) -> PortRates:
        """The rates of ports in their units. known: counters' rates and gauges, of fresh switches alone."""
        transmit = known["transmit_bytes"] * BITS_PER_BYTE / 1e9
        receive = known["receive_bytes"] * BITS_PER_BYTE / 1e9
        with np.errstate(invalid="ignore", divide="ignore"):
            share = np.where(known["sent_packets"] > 0, known["marked_packets"] / known["sent_packets"], 0.0)
        sessions_switch = np.array([session.switch for session in self._plan.sessions], np.int64)
        simulated_s = reading.switches["simulated_s"]
        return PortRates(
            at_s=reading.at_s,
            simulated_s=float(np.nanmax(simulated_s)) if (~np.isnan(simulated_s)).any() else float("nan"),
            transmit_gbps=transmit,
            receive_gbps=receive,
            utilisation=np.fmax(transmit, receive) / self._plan.rate_gbps,
            queue_bytes=known["queue_bytes"],
            ecn_share=np.where(np.isnan(known["marked_packets"]), np.nan, np.minimum(share, 1.0)),
            marks_per_s=known["marked_packets"],
            pause_frames_per_s=_sum(known["pauses_sent"], known["pauses_received"]),
            drops_per_s=_sum(
                np.fmax(known["drops"], known["transmit_discards"]),
                np.fmax(known["ingress_drops"], known["receive_discards"]),
            ),
            lossless_drops_per_s=_sum(known["lossless_drops"], known["ingress_drops"]),
            uncorrected_per_s=known["uncorrected_codewords"],
            is_up=known["is_up"],
            bit_error_ratio=known["bit_error_ratio"],
            sessions_up=np.where(stale[sessions_switch], np.nan, reading.sessions),
            switches=reading.switches,
            stale=stale,
            rail_gbps=self._rail_gbps(transmit),
            overloaded=reading.overloaded,
        )

    def _rail_gbps(self, transmit_gbps: Numbers) -> Numbers:
        """Sent to the hosts of each rail; NaN of a rail of which no port is known."""
        rail = np.where(np.isnan(transmit_gbps), -1, self._plan.rail_of_port)
        of_rails = rail >= 0
        sums = np.bincount(rail[of_rails], transmit_gbps[of_rails], minlength=len(self._plan.rails)).astype(np.float64)
        sums[np.bincount(rail[of_rails], minlength=len(self._plan.rails)) == 0] = np.nan
        return sums


def _sum(*columns: Numbers) -> Numbers:
    """The sum of what is known; NaN where nothing is."""
    every = np.array(columns)
    return np.where(np.isnan(every).all(axis=0), np.nan, np.nansum(every, axis=0))
