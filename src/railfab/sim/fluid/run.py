"""Runs of the fluid model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from railfab.sim.fluid.kernel import SLACK, Arrays, run_fluid, run_once
from railfab.sim.network import Floats, Ints


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FluidFlows:
    """Flows that begin when others have ended.

    paths: (route, hop) links, -1 behind the last. route: (flow,), -1 for one that crosses no link and ends when it
    begins. alike: (flow,), how many equal flows each stands for. payload_bytes, latency_s: (flow,), of each of these;
    the latency passes before the first byte arrives. earlier, later: (pair,) flow `later` begins when `earlier` has
    ended. shares: (route, hop) of a flow that crosses each link; None: all of it.
    """

    paths: Ints
    route: Ints
    alike: Ints
    payload_bytes: Floats
    latency_s: Floats
    earlier: Ints
    later: Ints
    shares: Floats | None = None


def fluid_ends(flows: FluidFlows, bytes_per_s: Floats, *, quantum_s: float = 0.0, slack: float = SLACK) -> Floats:
    """When each flow ends, at max-min fair rates at every moment [s], (flow,); inf for one that never does.

    bytes_per_s: (link,). quantum_s: what begins or ends within this time of an event does so with it, which saves
    events. slack: relative difference of shares that counts as none, which saves levels.
    """
    arrays = _arrays(flows, bytes_per_s)
    run_fluid(arrays, quantum_s, slack)
    ends: Floats = arrays.ends
    return ends


def fluid_rates(
    paths: Ints,
    bytes_per_s: Floats,
    alike: Ints | None = None,
    *,
    shares: Floats | None = None,
    slack: float = SLACK,
) -> Floats:
    """The max-min fair rates of flows that are all active at once [bytes/s], (flow,).

    paths: (flow, hop) links, -1 behind the last. bytes_per_s: (link,). alike: (flow,), how many equal flows each stands
    for, by default 1. shares: as of FluidFlows. slack: as in `fluid_ends`.
    """
    count, none = len(paths), np.zeros(0, np.int64)
    flows = FluidFlows(
        paths=paths,
        route=np.arange(count),
        alike=np.ones(count, np.int64) if alike is None else alike,
        payload_bytes=np.ones(count),
        latency_s=np.zeros(count),
        earlier=none,
        later=none,
        shares=shares,
    )
    arrays = _arrays(flows, bytes_per_s)
    run_once(arrays, slack)
    rates: Floats = arrays.rates
    return rates


def _arrays(flows: FluidFlows, bytes_per_s: Floats) -> Arrays:
    count, links = len(flows.payload_bytes), len(bytes_per_s)
    order = np.argsort(flows.earlier, kind="stable")
    begin = np.zeros(count + 1, np.int64)
    np.cumsum(np.bincount(flows.earlier, minlength=count), out=begin[1:])
    first_crossed = np.zeros(links + 1, np.int64)
    np.cumsum(np.bincount(flows.paths[flows.paths >= 0], minlength=links), out=first_crossed[1:])
    shares = np.ones(flows.paths.shape) if flows.shares is None else flows.shares
    return Arrays(
        paths=np.ascontiguousarray(flows.paths, np.int64),
        shares=np.ascontiguousarray(shares, float),
        route=np.ascontiguousarray(flows.route, np.int64),
        alike=np.ascontiguousarray(flows.alike, np.int64),
        left=np.array(flows.payload_bytes, float),
        latency=np.ascontiguousarray(flows.latency_s, float),
        waits=np.bincount(flows.later, minlength=count).astype(np.int64),
        begin=begin,
        next=np.ascontiguousarray(flows.later[order], np.int64),
        capacity=np.ascontiguousarray(bytes_per_s, float),
        first_crossed=first_crossed,
        ends=np.full(count, np.inf),
        rates=np.zeros(count),
        active=np.zeros(count, np.int64),
        next_rising=np.zeros(count, np.int64),
        heap=np.zeros(count, np.int64),
        at=np.zeros(count),
        rising=np.full(len(flows.paths), -1),
        crossed_by=np.zeros(int(first_crossed[-1]), np.int64),
        room=first_crossed[:-1].copy(),
        used=np.zeros(links, np.int64),
        free=np.zeros(links),
        crossing=np.zeros(links),
    )
