"""Flows that are added to a state, and those that it forgets."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from railfab.sim.kernel.records import (
    CNP,
    DATA,
    DCQCN,
    DONE,
    EXPIRED,
    FLOW,
    GIVEN,
    GIVEN_BACK,
    LOST,
    MAX_HOPS,
    NAK,
    NEVER,
    NONE,
    SELECTIVE,
    START,
    TIMEOUT,
    TIMER,
    State,
)
from railfab.sim.layout import BITMAP_WORDS, PS_PER_NS, Records, records
from railfab.sim.network import Bools, Flow, Framing, Ints, Network

ENDLESS = (1 << 31) - 1
"""Packets of an endless flow."""

_OF_FLOWS = (DATA, CNP, NAK, START, TIMEOUT, LOST, EXPIRED)
"""Kinds of packets and events whose `flow` is the number of a flow."""


def flow_records(flows: Sequence[Flow], st: State, network: Network, framing: Framing) -> Records:
    """New flows, not yet in the tables of a state."""
    found = records(len(flows), FLOW)
    size = np.array([flow.payload_bytes for flow in flows], np.int64)
    found.id = [flow.id for flow in flows]
    found.source, found.target = [flow.source for flow in flows], [flow.target for flow in flows]
    found.packets = -(-size // framing.payload_bytes)
    found.frame = framing.frame_bytes
    found.last_frame = size - (found.packets - 1) * framing.payload_bytes + framing.header_bytes
    without_end = np.array([flow.endless for flow in flows], bool)
    found.packets = np.where(without_end, ENDLESS, found.packets)
    found.last_frame = np.where(without_end, framing.frame_bytes, found.last_frame)
    found.train = found.last_train = found.train_before = 1
    found.traffic_class, found.transport = (
        [flow.traffic_class for flow in flows],
        [flow.transport for flow in flows],
    )
    found.queue = network.nic_queue[found.traffic_class]
    found.destination = st.nodes.destination[found.target]
    found.source_word, found.target_word = [flow.source_word for flow in flows], [flow.target_word for flow in flows]
    found.entropy_word, found.back_word = [flow.entropy for flow in flows], [flow.back_entropy for flow in flows]
    found.start = [flow.start_ns * PS_PER_NS for flow in flows]
    found.gap = [flow.gap_ns * PS_PER_NS for flow in flows]
    found.last_cnp = -NEVER // 2
    found.timer = found.increase_at = found.cut_at = NEVER
    found.resend_head = NONE
    found.given = [(GIVEN_BACK if flow.balanced else GIVEN) if flow.links else 0 for flow in flows]
    _set_transport(found, st.transports[found.transport])
    return found


def _set_transport(flows: Records, transports: Records) -> None:
    flows.recovery = transports.recovery
    flows.reacts = transports.control == DCQCN
    flows.counts_bytes = flows.reacts * (transports.byte_counter > 0)
    flows.bytes_left = transports.byte_counter
    flows.cnp_interval = transports.cnp_interval
    flows.entropies = transports.entropies


def with_flows(st: State, fresh: Records, pairs: Ints) -> State:
    """The state with further flows. pairs: (pair, 2) numbers of a flow and of one that waits for it."""
    before = len(st.flows)
    flows = records(before + len(fresh), FLOW)
    flows[:before], flows[before:] = st.flows, fresh
    known = np.column_stack([np.repeat(np.arange(before), st.flows.dependents), st.dependents])
    st = st._replace(
        flows=flows,
        path=_extended(st.path, len(flows) * MAX_HOPS, NONE),
        back=_extended(st.back, len(flows) * MAX_HOPS, NONE),
        steps=_extended(st.steps, len(flows) * MAX_HOPS, NONE),
        path_time=_extended(st.path_time, len(flows) * MAX_HOPS, 0),
        masks=_bitmaps(st, flows),
        nic_flows=_nic_flows(st, flows),
        dependents=_dependents(flows, np.concatenate([known, pairs.reshape(-1, 2)])),
        timers=_extended_timers(st, 2 * len(flows)),
    )
    st.sim[0].open_flows += int((fresh.packets != ENDLESS).sum())
    return st


def set_given_links(st: State, first: int, flows: Sequence[Flow]) -> None:
    """Write the links of flows that have them; `first` is the number of the first flow."""
    for number, flow in enumerate(flows, first):
        at = number * MAX_HOPS
        st.path[at : at + len(flow.links)] = flow.links
        st.back[at : at + len(flow.links)] = [link ^ 1 for link in reversed(flow.links)]


def endless(st: State) -> Bools:
    """(flow,) which flows are endless."""
    return np.asarray(st.flows.packets == ENDLESS)


def renumber_endless(st: State) -> None:
    """Count the packets of endless flows from 0 again, long before their numbers end. Without recovery the receiver
    counts whatever comes."""
    flows = st.flows
    late = endless(st) & (flows.sent > ENDLESS // 2)
    if not late.any():
        return
    passed = np.where(late, np.minimum(flows.sent, flows.expected), 0)
    for field in ("sent", "highest_sent", "expected"):
        flows[field] = flows[field] - passed


def _extended(values: Ints, size: int, fill: int) -> Ints:
    return np.concatenate([values, np.full(size - len(values), fill, values.dtype)])


def _bitmaps(st: State, flows: Records) -> Ints:
    """Give each flow with selective recovery its words."""
    selective = st.transports.recovery[flows.transport] == SELECTIVE
    flows.bitmap = (np.cumsum(selective) - selective) * BITMAP_WORDS
    return _extended(st.masks, int(selective.sum()) * BITMAP_WORDS, 0)


def _nic_flows(st: State, flows: Records) -> NDArray[np.int32]:
    """Give each NIC room for all its flows; those that it serves stay in their order."""
    sizes = np.bincount(flows.source, minlength=len(st.nodes))
    begins = np.cumsum(sizes) - sizes
    found = np.full(len(flows), NONE, np.int32)
    for n in np.flatnonzero(st.nodes.flow_count):
        count, begin = st.nodes.flow_count[n], st.nodes.flows_at[n]
        found[begins[n] : begins[n] + count] = st.nic_flows[begin : begin + count]
    st.nodes.flows_at = begins
    return found


def _dependents(flows: Records, pairs: Ints) -> Ints:
    pairs = pairs[np.argsort(pairs[:, 0], kind="stable")]
    flows.dependents = np.bincount(pairs[:, 0], minlength=len(flows)) if len(flows) else 0
    flows.first_dependent = np.cumsum(flows.dependents) - flows.dependents
    return np.asarray(pairs[:, 1], np.int32)


def with_room_for_timers(st: State) -> State:
    """The state with room for all timers, after a change of flows or of settings: two of each flow, and those of queues
    and of slow hosts."""
    return st._replace(timers=_extended_timers(st, 2 * len(st.flows)))


def _extended_timers(st: State, flows: int) -> Records:
    of_queues = 3 * int(np.count_nonzero(st.queues.detect)) + 2 * int(np.count_nonzero(st.ingress.sends))
    size = flows + of_queues + int(st.sim[0].timer_count) + 64
    timers = records(max(size, len(st.timers)), TIMER)
    timers[: len(st.timers)] = st.timers
    return timers


def forget(st: State, kept: Bools) -> State:
    """The state without the flows that are not kept, to which no packet may belong."""
    number = np.cumsum(kept) - 1
    owned = np.isin(st.packets.kind, _OF_FLOWS)
    st.packets.flow[owned] = number[st.packets.flow[owned]]
    _forget_timers(st, kept, number)
    hops = np.repeat(kept, MAX_HOPS)
    pairs = np.column_stack([np.repeat(np.arange(len(kept)), st.flows.dependents), st.dependents])
    pairs = number[pairs[kept[pairs].all(axis=1)]]
    selective = st.transports.recovery[st.flows.transport] == SELECTIVE
    served = st.nic_flows >= 0
    st.nic_flows[served] = number[st.nic_flows[served]]
    flows = records(int(kept.sum()), FLOW)
    flows[:] = st.flows[kept]
    st = st._replace(path=st.path[hops], back=st.back[hops], steps=st.steps[hops], path_time=st.path_time[hops])
    st = st._replace(masks=st.masks[np.repeat(kept[selective], BITMAP_WORDS)])
    return st._replace(
        flows=flows,
        masks=_bitmaps(st, flows),
        nic_flows=_nic_flows(st, flows),
        dependents=_dependents(flows, pairs),
    )


def _forget_timers(st: State, kept: Bools, number: Ints) -> None:
    """Drop the timers of removed flows; sorted timers are a heap."""
    timers = st.timers[: st.sim[0].timer_count]
    of_flow = np.isin(timers.kind, (START, TIMEOUT))
    keeps = np.ones(len(timers), bool)
    keeps[of_flow] = kept[timers.index[of_flow]]
    timers.index[of_flow] = number[timers.index[of_flow]]
    left = np.sort(timers[keeps], order=("time", "order"))
    st.timers[: len(left)] = left
    st.sim[0].timer_count = len(left)


def forgettable(st: State) -> Bools:
    """(flow,) which flows are done and have no packet or notification on its way."""
    owned = st.packets.flow[np.isin(st.packets.kind, _OF_FLOWS)]
    free: Bools = (st.flows.state == DONE) & (st.flows.listed == 0)
    free[owned] = False
    return free
