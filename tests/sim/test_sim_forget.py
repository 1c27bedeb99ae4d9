"""A run that forgets its finished flows equals one that keeps them, and does not grow."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np

from railfab.sim import QUEUES, Counters, Engine, Flow, Network, Recovery, Routing, Transport, plain_network
from railfab.sim.replay.routes import shortest_paths

SENDERS, ROUND_NS = 5, 200_000


def run(*, forget: bool) -> tuple[dict[int, tuple[float, int]], Counters, int]:
    """Rounds of an incast that begin before the round before has ended: ends and notifications, by flow."""
    hosts = SENDERS + 1
    ends = np.array([(host, hosts) for host in range(hosts)])
    near, far = ends.ravel(), ends[:, ::-1].ravel()
    plain = plain_network(near, far, np.arange(hosts + 1) == hosts, np.full(2 * hosts, 100.0))
    kmin = np.full((2 * hosts, QUEUES), 50e3)
    network = replace(plain, kmin_bytes=kmin, kmax_bytes=3 * kmin, pmax=0.1 + 0 * kmin)
    transports = (Transport(recovery=Recovery.SELECTIVE), Transport())
    engine = Engine(network, shortest_paths(near, far, network.is_switch), transports=transports)
    results: dict[int, tuple[float, int]] = {}
    most = 0
    for number in range(8):
        engine.add([flow(number, host) for host in range(SENDERS)])
        engine.run((number + 1) * ROUND_NS, stop_when_done=False)
        results |= ended(engine)
        if forget:
            engine.forget_finished()
        most = max(most, len(engine.flows().id))
    engine.run(10**10)
    return results | ended(engine), engine.counters(), most


def flow(number: int, host: int) -> Flow:
    """Of two transports, and of another length for each host."""
    size = 200_000 * (1 + host)
    return Flow(id=10 * number + host, source=host, target=SENDERS, payload_bytes=size, transport=host % 2)


def ended(engine: Engine) -> dict[int, tuple[float, int]]:
    found = engine.flows()
    columns = (found.id.tolist(), found.finish_ns.tolist(), found.cnps.tolist())
    return {number: (finish, cnps) for number, finish, cnps in zip(*columns, strict=True) if finish}


def test_forgetting_what_is_finished_changes_no_flow_and_no_counter() -> None:
    kept, kept_counters, kept_most = run(forget=False)
    seen, counters, most = run(forget=True)
    assert len(kept) == 8 * SENDERS
    assert seen == kept
    assert sum(cnps for _, cnps in kept.values()) > 0
    for field in fields(counters):
        np.testing.assert_array_equal(getattr(counters, field.name), getattr(kept_counters, field.name), field.name)
    assert most < kept_most == 8 * SENDERS


def test_a_peak_is_that_since_the_last_reset() -> None:
    engine = Engine(*_pair())
    engine.add([Flow(id=1, source=0, target=1, payload_bytes=1_000_000)])
    engine.run(10**9)
    assert engine.counters().peak_bytes.max() > 0
    engine.reset_peaks()
    assert engine.counters().peak_bytes.max() == 0


def test_a_path_has_its_links_as_far_as_it_leads() -> None:
    network, routing = _pair()
    engine = Engine(network, routing)
    engine.add([Flow(id=7, source=0, target=1, payload_bytes=1_000_000)])
    assert engine.flow_paths().links[0].max() == -1
    engine.run(1)
    paths = engine.flow_paths()
    assert (paths.id.tolist(), paths.stalled.tolist()) == ([7], [False])
    assert (paths.links[0, :3].tolist(), paths.back[0, :3].tolist()) == ([0, 3, -1], [2, 1, -1])
    engine.reroute(network, replace(routing, group=np.full_like(routing.group, -1)))
    stalled = engine.flow_paths()
    assert (stalled.stalled.tolist(), stalled.links[0, :2].tolist()) == ([True], [0, -1])


def _pair() -> tuple[Network, Routing]:
    """Two hosts at a switch: links 0 and 1 of the first, 2 and 3 of the second."""
    near, far = np.array([0, 2, 1, 2]), np.array([2, 0, 2, 1])
    network = plain_network(near, far, np.array([False, False, True]), np.full(4, 100.0))
    return network, shortest_paths(near, far, network.is_switch)
