"""Where every packet of a run is: what was sent is received, dropped, queued or on its way, exactly."""

from __future__ import annotations

import numpy as np

from railfab.sim import QUEUES, Engine
from railfab.sim.fingerprint import under_way
from railfab.sim.kernel.records import DATA, XOFF, XON, State


def _chain(state: State, head: int) -> list[int]:
    found = []
    while head >= 0:
        found.append(head)
        head = int(state.packets.next[head])
    return found


def _queued(state: State) -> dict[int, list[int]]:
    return {at: _chain(state, int(state.queues.head[at])) for at in np.flatnonzero(state.queues.head >= 0).tolist()}


def assert_all_packets_are_accounted_for(engine: Engine) -> None:
    state, counters, network = engine.state, engine.counters(), engine.network
    packets = state.packets
    size, link = packets["size"], packets["link"]
    moving = under_way(state)
    flying = moving[packets["kind"][moving] == DATA]
    queued = _queued(state)
    waiting = np.array([p for chain in queued.values() for p in chain], np.int64)

    # A queue
    depth = np.zeros((network.links, QUEUES), np.int64)
    for at, chain in queued.items():
        depth.flat[at] = size[chain].sum()
    np.testing.assert_array_equal(depth, counters.depth_bytes)
    assert (counters.down_packets <= counters.dropped_packets).all()
    waited = state.queues.waiting_byte_ps.copy()
    for at, chain in queued.items():
        waited[at] += (size[chain] * (state.sim[0].now - packets["time"][chain])).sum()
    np.testing.assert_allclose(counters.waiting_byte_ns.ravel(), waited / 1000, rtol=1e-12)

    # A link, and the node at its far end
    on_wire = np.bincount(link[flying], size[flying], network.links)
    arrived = counters.sent_bytes.sum(axis=1) - counters.lost_bytes - on_wire
    assert (arrived >= 0).all()
    into = np.bincount(network.far, arrived, network.nodes)
    refused = np.bincount(network.far, counters.refused_bytes.sum(axis=1), network.nodes)
    taken = np.bincount(network.near, counters.taken_bytes.sum(axis=1), network.nodes)
    switches = network.is_switch
    np.testing.assert_array_equal(into[switches], (refused + taken + counters.unrouted_bytes)[switches])
    packets_on_wire = np.bincount(link[flying], minlength=network.links)
    packets_arrived = counters.sent_packets.sum(axis=1) - counters.lost_packets - packets_on_wire
    into_hosts = np.bincount(network.far, packets_arrived, network.nodes)
    received = np.bincount(state.flows.target, engine.flows().received_packets, network.nodes)
    np.testing.assert_array_equal(into_hosts[~switches], (received + counters.rx_dropped_packets)[~switches])

    # A flow
    here = np.concatenate([flying, waiting])
    count = np.bincount(packets["flow"][here], minlength=len(state.flows))
    flows = engine.flows()
    np.testing.assert_array_equal(flows.sent_packets, flows.received_packets + flows.dropped_packets + count)
    assert (flows.marked_packets <= flows.received_packets).all()

    # A buffer
    held = np.zeros((network.links, QUEUES), np.int64)
    counted = waiting[packets["group"][waiting] >= 0]
    np.add.at(held, (link[counted], packets["group"][counted]), size[counted])
    np.testing.assert_array_equal(held[switches[network.far]], counters.held_bytes[switches[network.far]])
    headroom = np.bincount(network.far, counters.headroom_bytes.sum(axis=1), network.nodes)
    queued_bytes = np.bincount(network.near, counters.depth_bytes.sum(axis=1), network.nodes)
    np.testing.assert_array_equal(state.nodes.used[switches], (queued_bytes - headroom)[switches])
    assert (state.nodes.used <= network.shared_bytes)[switches].all()
    assert (counters.headroom_peak_bytes <= network.headroom_bytes).all()

    # Pauses
    frames = moving[np.isin(packets["kind"][moving], (XOFF, XON))]
    on_their_way = np.zeros((network.links, QUEUES), np.int64)
    np.add.at(on_their_way, (link[frames], packets["group"][frames]), 1)
    there = counters.xoff_received + counters.xon_received + counters.lost_pauses + on_their_way
    np.testing.assert_array_equal(counters.xoff_sent + counters.xon_sent, there)
    assert (counters.paused_ns <= engine.now_ns).all()
    assert (counters.paused_ns >= 0).all()
    assert (counters.marked_packets <= counters.sent_packets).all()

    # The pool
    free = len(_chain(state, int(state.sim[0].free)))
    asked = sum(len(_chain(state, int(head))) for head in state.flows.resend_head[state.flows.resend_head >= 0])
    assert free == state.sim[0].free_count
    assert free + len(moving) + len(waiting) + asked == len(packets)
