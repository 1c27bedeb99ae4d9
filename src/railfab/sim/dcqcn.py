"""DCQCN: how switches mark, and how senders answer.

Zhu et al., Congestion Control for Large-Scale RDMA Deployments, SIGCOMM 2015.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from railfab.sim.network import Bools, Floats, Ints


@dataclass(frozen=True, slots=True, kw_only=True)
class Dcqcn:
    """The sender's constants. Defaults are the paper's; `fast_recovery_rounds` counts timer rounds, no byte counter.

    cnp_interval_ns: a receiver sends at most one notification a flow in this time.
    cut_interval_ns: a sender cuts at most once in this time.
    enabled: false sends at line rate whatever happens, so that only PFC holds it back.
    """

    enabled: bool = True
    alpha_interval_ns: float = 55_000
    cut_interval_ns: float = 50_000
    increase_interval_ns: float = 55_000
    cnp_interval_ns: float = 50_000
    gain: float = 1 / 256
    fast_recovery_rounds: int = 5
    additive_gbps: float = 0.04
    hyper_gbps: float = 0.4
    minimum_gbps: float = 0.1


def marking_probability(queue_bytes: Floats, *, kmin_bytes: Floats, kmax_bytes: Floats, pmax: Floats) -> Floats:
    """Chance that a switch marks a packet; any shape in, same shape out, 0 to 1. The paper's CP algorithm."""
    ramp = pmax * (queue_bytes - kmin_bytes) / (kmax_bytes - kmin_bytes)
    return np.asarray(np.where(queue_bytes > kmax_bytes, 1.0, np.minimum(np.maximum(ramp, 0.0), pmax)))


_FULL = 0.999
"""A rate this close to the line rate is the line rate: halving the distance would never arrive."""


class RateControl:
    """The rates of the senders; every array has the axis (flow,), rates in bytes per nanosecond."""

    def __init__(self, constants: Dcqcn, line: Floats) -> None:
        flows = len(line)
        self.constants = constants
        self.line = line
        self.rate = line.copy()
        self.target = line.copy()
        self.alpha = np.ones(flows)
        self.alpha_clock_ns = np.zeros(flows)
        self.notified = np.zeros(flows, bool)
        self.seen = np.zeros(flows, bool)
        self.pending = np.zeros(flows, bool)
        self.risen = np.ones(flows, bool)
        self.stage = np.zeros(flows, np.int64)
        self.next_cut_ns = np.zeros(flows)
        self.next_rise_ns = np.full(flows, np.inf)

    _STATE = (
        "rate", "target", "alpha", "alpha_clock_ns", "notified", "seen", "pending", "risen", "stage",
        "next_cut_ns", "next_rise_ns",
    )  # fmt: skip

    def adopt(self, other: RateControl, mine: Ints, theirs: Ints) -> None:
        """Take over the state of flows that another control has been steering; a slower line caps their rates."""
        for name in self._STATE:
            getattr(self, name)[mine] = getattr(other, name)[theirs]
        np.minimum(self.rate, self.line, out=self.rate)
        np.minimum(self.target, self.line, out=self.target)

    @property
    def idle_until_ns(self) -> float:
        """No rate changes before this time if nothing is marked."""
        cuts = self.next_cut_ns[self.pending].min(initial=np.inf)
        return float(min(cuts, self.next_rise_ns.min(initial=np.inf)))

    def postpone(self, span_ns: int) -> None:
        """Time has passed that is not to count."""
        self.next_cut_ns += span_ns
        self.next_rise_ns += span_ns

    def tick(self, now_ns: float, elapsed_ns: float, notified: Bools) -> None:
        """Bring the rates to `now_ns`, `elapsed_ns` after the last tick; `notified` flows have a notification."""
        if notified.any():
            self.alpha[notified & ~self.notified] = 1.0
            self.notified |= notified
            self.seen |= notified
            self.pending |= notified
        self._age_alpha(elapsed_ns)
        cut = self.pending & (self.next_cut_ns <= now_ns)
        if cut.any():
            self._cut(cut, now_ns)
        rise = self.next_rise_ns <= now_ns
        if rise.any():
            self._rise(rise)

    def _age_alpha(self, elapsed_ns: float) -> None:
        interval, gain = self.constants.alpha_interval_ns, self.constants.gain
        self.alpha_clock_ns += elapsed_ns
        due = self.alpha_clock_ns >= interval
        if due.any():
            ticks = np.floor(self.alpha_clock_ns / interval)
            self.alpha_clock_ns -= ticks * interval
            self.alpha *= (1 - gain) ** ticks
            self.alpha[due & self.seen] += gain
            self.seen &= ~due

    def _cut(self, cut: Bools, now_ns: float) -> None:
        constants = self.constants
        self.target = np.where(cut & self.risen, self.rate, self.target)
        floor = constants.minimum_gbps / 8
        self.rate = np.where(cut, np.maximum(floor, self.rate * (1 - self.alpha / 2)), self.rate)
        self.risen &= ~cut
        self.pending &= ~cut
        self.stage[cut] = 0
        self.next_cut_ns[cut] = now_ns + constants.cut_interval_ns
        self.next_rise_ns[cut] = now_ns + constants.increase_interval_ns

    def _rise(self, rise: Bools) -> None:
        """One round: halve the distance to the target, which after fast recovery moves up, slowly and then fast."""
        constants, rounds = self.constants, self.constants.fast_recovery_rounds
        step = np.where(self.stage == rounds, constants.additive_gbps / 8, 0.0)
        step = np.where(self.stage > rounds, constants.hyper_gbps / 8, step)
        self.target = np.where(rise, np.minimum(self.line, self.target + step), self.target)
        self.rate = np.where(rise, (self.rate + self.target) / 2, self.rate)
        self.risen |= rise
        self.stage[rise] += 1
        self.next_rise_ns[rise] += constants.increase_interval_ns
        full = rise & (self.rate >= _FULL * self.line)
        self.rate[full] = self.line[full]
        self.target[full] = self.line[full]
        self.next_rise_ns[full] = np.inf
