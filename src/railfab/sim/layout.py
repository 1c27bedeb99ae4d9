"""The state of a run: arrays of records made from a network, its routes and its flows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from railfab.sim.kernel.records import (
    DCQCN,
    FIXED_RATE,
    FLOW,
    FREE,
    INGRESS,
    LINK,
    NEVER,
    NIC,
    NODE,
    NONE,
    PACKET,
    PAUSE,
    QUEUE,
    QUEUES,
    SIM,
    SWITCH,
    TIMER,
    TRANSPORT,
    State,
)
from railfab.sim.network import Floats, Framing, Ints, Network, Routing
from railfab.sim.transport import Transport

PS_PER_NS = 1000
_LONGEST_WINDOW = (1 << 23) - 1
_CACHE_LINE = 64
BITMAP_WORDS = 64
"""Words of 32 packets that a receiver with selective recovery keeps beyond a gap."""

Records = np.recarray


def records(count: int, dtype: np.dtype[np.void]) -> Records:
    """Zeroed records, the first at the beginning of a cache line."""
    octets = np.zeros(count * dtype.itemsize + _CACHE_LINE, np.uint8)
    first = -octets.ctypes.data % _CACHE_LINE
    return octets[first : first + count * dtype.itemsize].view(dtype).view(np.recarray)


def lookahead_ps(network: Network) -> int:
    """The shortest time in which one node can reach another [ps]."""
    used = np.minimum(network.delay_ns, network.pause_delay_ns)
    return min(int(used.min() * PS_PER_NS), _LONGEST_WINDOW)


def _powers_of_two(least: int) -> int:
    return 1 << max(2, (least - 1).bit_length())


def new_state(network: Network, routing: Routing, framing: Framing, *, seed: int, quantum_ps: int) -> State:
    """The state at time 0, without flows. quantum_ps: times of packets are rounded down to multiples of it."""
    window = lookahead_ps(network)
    st = State(
        sim=records(1, SIM),
        packets=records(0, PACKET),
        links=records(network.links, LINK),
        queues=records(network.links * QUEUES, QUEUE),
        ingress=records(network.links * QUEUES, INGRESS),
        nodes=records(network.nodes, NODE),
        flows=records(0, FLOW),
        transports=records(0, TRANSPORT),
        timers=records(0, TIMER),
        table=np.zeros(0, np.int32),
        path=np.zeros(0, np.int32),
        back=np.zeros(0, np.int32),
        path_time=np.zeros(0, np.int64),
        nic_flows=np.zeros(0, np.int32),
        dependents=np.zeros(0, np.int32),
        masks=np.zeros(0, np.int64),
        pauses=records(0, PAUSE),
    )
    sim = st.sim[0]
    sim.window, sim.quantum, sim.gap = window, quantum_ps, framing.gap_bytes
    sim.slots = _powers_of_two(int(network.delay_ns.max() * PS_PER_NS) // window + 4)
    sim.free = NONE
    sim.bitmap_words = BITMAP_WORDS
    _seed(st, seed)
    st.queues.head, st.queues.tail = NONE, NONE
    st.links.ack_window_even = st.links.ack_window_odd = -2
    st.nodes.ready = 0
    st.ingress.margin = np.inf
    set_network(st, network, routing, framing)
    return st


def _seed(st: State, seed: int) -> None:
    """A generator for each queue, link and node; none may be 0."""
    parts = (st.queues, st.links, st.nodes)
    words = np.random.SeedSequence(seed).generate_state(sum(map(len, parts)), np.uint32).astype(np.int64)
    begin = 0
    for part in parts:
        part.random = words[begin : begin + len(part)] | 1
        begin += len(part)


def set_network(st: State, network: Network, routing: Routing, framing: Framing) -> None:
    """Write the settings of a network into the state; counters, queues and packets stay as they are."""
    sim, links, nodes = st.sim[0], st.links, st.nodes
    quantum = int(sim.quantum)
    with np.errstate(divide="ignore"):
        links.ps_per_byte = np.where(network.rate_gbps > 0, 8000.0 / network.rate_gbps, 0.0)
    links.tx_size = 0
    links.delay = np.rint(network.delay_ns * PS_PER_NS).astype(np.int64)
    links.pause_delay = np.rint(network.pause_delay_ns * PS_PER_NS).astype(np.int64)
    links.delay_windows = links.delay // sim.window
    ack = ((framing.ack_bytes + framing.gap_bytes) * links.ps_per_byte / framing.ack_every).astype(np.int64)
    links.ack_time = ack - ack % quantum if quantum > 1 else ack
    links.near, links.far, links.up = network.near, network.far, network.up & (network.rate_gbps > 0)
    links.loss = network.loss_per_byte
    _set_queues(st.queues, network)
    _set_ingress(st.ingress, network)
    nodes.kind = np.where(network.is_switch, SWITCH, NIC)
    nodes.shared = network.shared_bytes
    nodes.balancing, nodes.hash_fields = network.balancing, network.hash_fields
    nodes.hash_seed = network.hash_seed
    nodes.flowlet_gap = np.rint(network.flowlet_gap_ns * PS_PER_NS).astype(np.int64)
    nodes.rx_ps_per_byte = 8000.0 / network.rx_gbps
    nodes.rx_buffer = network.rx_buffer_bytes
    nodes.destination, nodes.row = routing.destination, routing.row
    order = np.argsort(network.near, kind="stable")
    counts = np.bincount(network.near, minlength=network.nodes)
    nodes.out_count, nodes.outs = counts, np.cumsum(counts) - counts
    nodes.link = np.where(counts > 0, order[np.minimum(nodes.outs, max(0, network.links - 1))], NONE)
    sim.classes = network.classes
    sim.destinations = routing.group.shape[1]


def _set_queues(queues: Records, network: Network) -> None:
    queues.kmin, queues.kmax, queues.pmax = network.kmin_bytes.ravel(), network.kmax_bytes.ravel(), network.pmax.ravel()
    queues.limit, queues.alpha = network.limit_bytes.ravel(), network.limit_alpha.ravel()
    queues.strict = network.strict.ravel()
    weight = network.weight.ravel()
    queues.quantum = np.maximum(1, np.rint(weight / max(weight.min(), 1e-9) * 1500)).astype(np.int64)
    queues.detect = np.rint(network.watchdog_detect_ns.ravel() * PS_PER_NS).astype(np.int64)
    queues.restore = np.rint(network.watchdog_restore_ns.ravel() * PS_PER_NS).astype(np.int64)


def _set_ingress(ingress: Records, network: Network) -> None:
    ingress.sends, ingress.queue = network.pfc_sent.ravel(), network.pause_queue.ravel()
    ingress.xoff, ingress.alpha = network.xoff_bytes.ravel(), network.xoff_alpha.ravel()
    ingress.xon_gap, ingress.headroom = network.xon_gap_bytes.ravel(), network.headroom_bytes.ravel()
    ingress.refresh = np.rint(network.pause_refresh_ns.ravel() * PS_PER_NS).astype(np.int64)


def transport_records(transports: Sequence[Transport]) -> Records:
    """The constants of transports, times in ps."""
    found = records(len(transports), TRANSPORT)
    for place, transport in enumerate(transports):
        t, dcqcn = found[place], transport.dcqcn
        t.control = DCQCN if dcqcn else FIXED_RATE
        t.recovery, t.timeout = transport.recovery, int(transport.timeout_ns * PS_PER_NS)
        t.start_rate = transport.rate_gbps or 0.0
        t.reorder = transport.reorder_packets
        t.nak_interval = int(transport.nak_interval_ns * PS_PER_NS)
        t.loss_factor, t.timeout_factor = transport.loss_factor, transport.timeout_factor
        t.alpha_interval = t.cut_interval = t.increase_interval = NEVER
        if dcqcn:
            t.alpha_interval = int(dcqcn.alpha_interval_ns * PS_PER_NS)
            t.cut_interval = int(dcqcn.cut_interval_ns * PS_PER_NS)
            t.increase_interval = int(dcqcn.increase_interval_ns * PS_PER_NS)
            t.cnp_interval = int(dcqcn.cnp_interval_ns * PS_PER_NS)
            t.byte_counter, t.gain, t.rounds = dcqcn.increase_bytes, dcqcn.gain, dcqcn.fast_recovery_rounds
            t.additive, t.hyper, t.minimum = dcqcn.additive_gbps, dcqcn.hyper_gbps, dcqcn.minimum_gbps
            t.clamp = dcqcn.clamp_target
    return found


def with_tables(st: State, network: Network, routing: Routing) -> State:
    """The state with the tables of this network and its routes; what is under way stays."""
    sim, table = st.sim[0], st.table
    sizes = {"at_slots": len(st.nodes) * int(sim.slots), "at_active": len(st.nodes), "at_busy": len(st.links)}
    parts: dict[str, Ints] = {
        name: table[sim[name] : sim[name] + size] if len(table) else np.full(size, NONE) for name, size in sizes.items()
    }
    parts |= {
        "at_groups": routing.group,
        "at_group_begin": routing.begin,
        "at_members": routing.members,
        "at_queue_of": network.queue_of,
        "at_group_of": network.priority_of,
    }
    begin = 0
    for name, part in parts.items():
        sim[name] = begin
        begin += part.size
    return st._replace(table=np.concatenate([part.ravel() for part in parts.values()]).astype(np.int32))


def pool_of(count: int, st: State) -> Records:
    """A pool with at least this many packets; those that exist stay where they are."""
    old = st.packets
    packets = records(count, PACKET)
    packets.kind = FREE
    packets[: len(old)] = old
    new = np.arange(len(old), count)
    packets.next[new] = np.append(new[1:], st.sim[0].free)
    st.sim[0].free = len(old) if len(new) else st.sim[0].free
    st.sim[0].free_count += len(new)
    return packets


def reserve_of(st: State, framing: Framing) -> int:
    """Packets that may be created in one window: by NICs at line rate, ends of flows, pause frames and timers."""
    sim = st.sim[0]
    nics = st.nodes.kind == NIC
    rates: Floats = st.links.ps_per_byte[st.nodes.link[nics]]
    time = (framing.frame_bytes + framing.gap_bytes) * rates
    time -= time % max(1, int(sim.quantum))
    with np.errstate(divide="ignore"):
        packets = np.where(time > 0, float(sim.window) / time, 0.0)
    pauses = 4 * int(np.count_nonzero(st.ingress.sends))
    return int(packets.sum()) + 3 * int(nics.sum()) + 4 * len(st.flows) + pauses + 64
