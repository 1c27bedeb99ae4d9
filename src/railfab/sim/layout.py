"""The state of a run: arrays of records made from a network, its routes and its flows."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from railfab.errors import RailfabError
from railfab.sim.kernel.receiver import RUNS_AT_ONCE
from railfab.sim.kernel.records import (
    CACHE_LINE,
    CHUNK_BITS,
    DCQCN,
    DOWN,
    DROPPING,
    FIXED_RATE,
    FLOW,
    FREE,
    INGRESS,
    KEYS,
    LINK,
    MOST_PACKETS,
    NEVER,
    NIC,
    NODE,
    NONE,
    PACKET,
    PAUSE,
    QUEUE,
    QUEUES,
    RX_READY,
    SELECTIVE,
    SIM,
    STAMPS,
    SWITCH,
    TIMER,
    TRANSPORT,
    UP,
    UP_AGAIN,
    State,
)
from railfab.sim.network import Bools, Floats, Framing, Ints, Network, Routing
from railfab.sim.transport import Transport

PS_PER_NS = 1000
_LONGEST_WINDOW = (1 << 23) - 1
_MOST_SLOTS = 1 << 12
_LEAST_QUANTUM_BYTES = 1500
BITMAP_WORDS = 64
"""Words of 32 packets that a receiver with selective recovery keeps beyond a gap."""


class Records(np.ndarray[Any, Any]):
    """Records whose fields are attributes, as in np.recarray, which takes seven times as long to find one."""

    if TYPE_CHECKING:

        def __getattr__(self, field: str) -> Any: ...
        def __setattr__(self, field: str, values: Any) -> None: ...


def _with_fields(base: type, dtype: np.dtype[Any]) -> type:
    """A type of records, or of a record, whose fields are attributes."""

    def field(name: str) -> property:
        def assign(self: Any, values: Any) -> None:
            self[name] = values

        if issubclass(base, np.ndarray):
            return property(lambda self: self[name].view(np.ndarray), assign)
        return property(lambda self: self[name], assign)

    return type(base.__name__, (base,), {name: field(name) for name in dtype.names or ()})


@cache
def _types_of(dtype: np.dtype[Any]) -> tuple[np.dtype[Any], type[Records]]:
    """The type of a record, and of records, of a structure."""
    return np.dtype((_with_fields(np.void, dtype), dtype)) if dtype.names else dtype, _with_fields(Records, dtype)


def records(count: int, dtype: np.dtype[Any]) -> Records:
    """Zeroed records, the first at the beginning of a cache line."""
    octets = np.zeros(count * dtype.itemsize + CACHE_LINE, np.uint8)
    first = -octets.ctypes.data % CACHE_LINE
    record, type_of_records = _types_of(dtype)
    return octets[first : first + count * dtype.itemsize].view(record).view(type_of_records)


def lookahead_ps(network: Network) -> int:
    """The shortest time in which one node can reach another [ps]."""
    used = np.minimum(network.delay_ns, network.pause_delay_ns)
    return min(int(used.min() * PS_PER_NS), _LONGEST_WINDOW)


class NetworkError(RailfabError):
    """A network that the engine cannot run."""


def _powers_of_two(least: int) -> int:
    return 1 << max(2, (least - 1).bit_length())


def new_state(network: Network, routing: Routing, framing: Framing, *, seed: int, quantum_ps: int) -> State:
    """The state at time 0, without flows. quantum_ps: times of packets are rounded down to multiples of it."""
    window = lookahead_ps(network)
    if window < 1:
        link = int(np.argmin(np.minimum(network.delay_ns, network.pause_delay_ns)))
        raise NetworkError(f"link {link}", "its delay is less than 1 ps", "Give every link a delay above 0")
    st = _zeroed(network, queues=network.links * QUEUES)
    sim = st.sim[0]
    sim.window, sim.quantum, sim.gap, sim.frame = window, quantum_ps, framing.gap_bytes, framing.frame_bytes
    sim.slots = min(_MOST_SLOTS, _powers_of_two(int(network.delay_ns.max() * PS_PER_NS) // window + 4))
    sim.free = sim.free_chunk = NONE
    sim.bitmap_words = BITMAP_WORDS
    _seed(st, seed)
    st.queues.head, st.queues.tail = NONE, NONE
    st.links.ack_window = -1
    st.links.lost_until = st.links.pause_lost_until = -1
    st.links.near, st.links.far, st.links.up = network.near, network.far, UP
    st.queues.watch_at = NEVER
    st.nodes.ready = 0
    st.ingress.margin = np.inf
    set_network(st, network, routing, framing)
    return st


def _zeroed(network: Network, *, queues: int) -> State:
    """A state with all of the links and nodes of a network, and as many queues."""
    return State(
        sim=records(1, SIM),
        packets=records(0, PACKET),
        arrivals=np.zeros(0, np.int64),
        links=records(network.links, LINK),
        queues=records(queues, QUEUE),
        ingress=records(queues, INGRESS),
        nodes=records(network.nodes, NODE),
        flows=records(0, FLOW),
        transports=records(0, TRANSPORT),
        timers=records(0, TIMER),
        table=np.zeros(0, np.int32),
        path=np.zeros(0, np.int32),
        back=np.zeros(0, np.int32),
        steps=np.zeros(0, np.int32),
        path_time=np.zeros(0, np.int64),
        nic_flows=np.zeros(0, np.int32),
        dependents=np.zeros(0, np.int32),
        masks=np.zeros(0, np.int64),
        entropy_values=np.zeros(0, np.int32),
        pauses=records(0, PAUSE),
    )


def routes_state(network: Network, routing: Routing) -> State:
    """A state that has what the links of flows follow from, and no queues."""
    st = _zeroed(network, queues=0)
    st.links.near, st.links.far = network.near, network.far
    st.links.up = np.where(network.up & (network.rate_gbps > 0), UP, DOWN)
    _set_routes(st, network, routing)
    return with_tables(st, network, routing)


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
    sim, links = st.sim[0], st.links
    quantum = int(sim.quantum)
    _check_cables(st, network)
    _set_up(st, network.up & (network.rate_gbps > 0))
    with np.errstate(divide="ignore"):
        links.ps_per_byte = np.where(network.rate_gbps > 0, 8000.0 / network.rate_gbps, 0.0)
    links.tx_size = 0
    links.delay = np.rint(network.delay_ns * PS_PER_NS).astype(np.int64)
    links.pause_delay = np.rint(network.pause_delay_ns * PS_PER_NS).astype(np.int64)
    links.delay_windows = links.delay // sim.window
    ack = (framing.ack_bytes + framing.gap_bytes) * links.ps_per_byte
    links.ack_time = np.minimum((ack / framing.ack_every).astype(np.int64) // quantum * quantum, STAMPS)
    links.ack_delay = ack.astype(np.int64) // quantum * quantum
    links.loss, links.lossy = network.loss_per_byte, network.loss_per_byte > 0
    _set_queues(st.queues, network, int(sim.window))
    fixed = np.repeat(links.up != DOWN, QUEUES) & (st.queues.storm != DROPPING) & (st.queues.alpha <= 0)
    st.queues.takes = np.where(fixed, np.minimum(np.minimum(st.queues.limit, st.queues.drop_from), NEVER), -1)
    _set_ingress(st.ingress, network, int(sim.now))
    st.nodes.shared = network.shared_bytes
    st.nodes.flowlet_gap = np.rint(network.flowlet_gap_ns * PS_PER_NS).astype(np.int64)
    _set_hosts(st, network)
    _set_routes(st, network, routing)


def _set_routes(st: State, network: Network, routing: Routing) -> None:
    """Write what nodes choose links by."""
    sim, nodes = st.sim[0], st.nodes
    nodes.kind = np.where(network.is_switch, SWITCH, NIC)
    nodes.balancing, nodes.hash_fields = network.balancing, network.hash_fields
    nodes.hash_seed = network.hash_seed
    nodes.destination, nodes.row = routing.destination, routing.row
    order = np.argsort(network.near, kind="stable")
    counts = np.bincount(network.near, minlength=network.nodes)
    nodes.out_count, nodes.outs = counts, np.cumsum(counts) - counts
    nodes.link = np.where(counts > 0, order[np.minimum(nodes.outs, max(0, network.links - 1))], NONE)
    sim.classes = network.classes
    sim.destinations = routing.group.shape[1]


def _check_cables(st: State, network: Network) -> None:
    """The cables of a network stay what they are; only their settings change."""
    if not (np.array_equal(st.links.near, network.near) and np.array_equal(st.links.far, network.far)):
        raise NetworkError("network", "its cables are others than at the start", "Begin another run")
    if lookahead_ps(network) < st.sim[0].window:
        raise NetworkError("network", "it has a shorter delay than at the start", "Begin another run")


def _set_up(st: State, up: Bools) -> None:
    """Which links are up. What is on its way on a link that goes down is lost, even if it is up again by then."""
    links, now = st.links, st.sim[0].now
    down = (links.up != DOWN) & ~up
    cable = down | down.reshape(-1, 2)[:, ::-1].ravel()
    free_at = np.maximum(links.free_at, now)
    links.lost_until = np.where(down, free_at + links.delay, links.lost_until)
    back_free_at = free_at.reshape(-1, 2)[:, ::-1].ravel()
    links.pause_lost_until = np.where(cable, back_free_at + links.pause_delay, links.pause_lost_until)
    links.up = np.where(up, np.where(links.lost_until >= now, UP_AGAIN, UP), DOWN)


def _quanta(network: Network) -> Ints:
    """Bytes that each weighted queue of a link may send in its turn: its share of those of the least weight."""
    counts = (network.weight > 0) & ~network.strict
    least = np.where(counts, network.weight, np.inf).min(axis=1, keepdims=True)
    with np.errstate(invalid="ignore"):
        quanta = np.where(counts, network.weight / least * _LEAST_QUANTUM_BYTES, 1.0)
    return np.maximum(1, np.rint(quanta)).astype(np.int64).ravel()


def _set_queues(queues: Records, network: Network, window: int) -> None:
    kmin, wred = network.kmin_bytes.ravel(), network.wred.ravel()
    queues.kmin, queues.drop_from = np.where(wred, np.inf, kmin), np.where(wred, kmin, np.inf)
    queues.kmax, queues.pmax = network.kmax_bytes.ravel(), network.pmax.ravel()
    queues.limit, queues.alpha = network.limit_bytes.ravel(), network.limit_alpha.ravel()
    queues.strict, queues.ignores = network.strict.ravel(), ~network.watchdog_drops.ravel()
    queues.quantum = _quanta(network)
    for name, times in (("detect", network.watchdog_detect_ns), ("restore", network.watchdog_restore_ns)):
        ps = np.rint(times.ravel() * PS_PER_NS).astype(np.int64)
        queues[name] = np.where(ps > 0, np.maximum(ps, window), 0)


def _set_hosts(st: State, network: Network) -> None:
    """What a NIC holds by now is taken at the new rate, and whether its pause can end is looked at anew."""
    nodes, now = st.nodes, int(st.sim[0].now)
    before, after = nodes.rx_ps_per_byte.copy(), 8000.0 / network.rx_gbps
    other = before != after
    held = np.where(before > 0, np.maximum(nodes.rx_free_at - now, 0) / np.where(before > 0, before, 1.0), 0.0)
    nodes.rx_free_at = np.where(other, now + (held * after).astype(np.int64), nodes.rx_free_at)
    nodes.rx_ps_per_byte, nodes.slow, nodes.rx_buffer = after, after > 0, network.rx_buffer_bytes
    timers = st.timers[: st.sim[0].timer_count]
    looks = timers.kind == RX_READY
    looks[looks] = other[st.links.far[timers.index[looks] // QUEUES]]
    if looks.any():
        timers.time[looks] = now
        timers[:] = np.sort(timers, order=("time", "order"))  # sorted timers are a heap


def _set_ingress(ingress: Records, network: Network, now: int) -> None:
    """The settings of PFC. Frames that have refreshed a pause until now stay counted when the interval changes."""
    refresh = np.rint(network.pause_refresh_ns.ravel() * PS_PER_NS).astype(np.int64)
    changes = (ingress.paused > 0) & (ingress.refresh > 0) & (ingress.refresh != refresh)
    passed = np.where(changes, (now - ingress.xoff_at) // np.maximum(ingress.refresh, 1), 0)
    ingress.refreshed += passed
    ingress.xoff_at += passed * ingress.refresh
    ingress.sends, ingress.queue = network.pfc_sent.ravel(), network.pause_queue.ravel()
    ingress.xoff, ingress.alpha = network.xoff_bytes.ravel(), network.xoff_alpha.ravel()
    ingress.xon_gap, ingress.headroom = network.xon_gap_bytes.ravel(), network.headroom_bytes.ravel()
    ingress.refresh = refresh


def transport_records(transports: Sequence[Transport]) -> Records:
    """The constants of transports, times in ps."""
    found = records(len(transports), TRANSPORT)
    for place, transport in enumerate(transports):
        t, dcqcn = found[place], transport.dcqcn
        t.control = DCQCN if dcqcn else FIXED_RATE
        t.recovery, t.timeout = transport.recovery, int(transport.timeout_ns * PS_PER_NS)
        t.start_rate = transport.rate_gbps or 0.0
        t.reorder = transport.reorder_packets
        t.entropies = transport.entropies if transport.entropies > 1 else 0
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
    parts: dict[str, NDArray[np.integer[Any]]] = {
        name: table[sim[name] : sim[name] + size] if len(table) else np.full(size, NONE) for name, size in sizes.items()
    }
    parts |= {
        "at_groups": routing.group,
        "at_group_begin": routing.begin,
        "at_members": routing.members,
        "at_classes": np.stack([network.queue_of, network.priority_of], axis=-1),
    }
    begin = 0
    for name, part in parts.items():
        sim[name] = begin
        begin += part.size
    whole = np.concatenate([part.ravel() for part in parts.values()], dtype=np.int32, casting="unsafe")
    return st._replace(table=whole)


def pool_of(count: int, st: State) -> Records:
    """A pool with at least this many packets; those that exist stay where they are."""
    if count > MOST_PACKETS:
        raise NetworkError("network", f"more than {MOST_PACKETS} packets wait or are on their way", "Limit its queues")
    old = st.packets
    packets = records(count, PACKET)
    packets.kind = FREE
    packets[: len(old)] = old
    new = np.arange(len(old), count)
    packets.next[new] = np.append(new[1:], st.sim[0].free)
    st.sim[0].free = len(old) if len(new) else st.sim[0].free
    st.sim[0].free_count += len(new)
    return packets


def entropies_of(st: State) -> NDArray[np.int32]:
    """An entropy value for each packet; those that exist stay."""
    values = np.zeros(len(st.packets), np.int32)
    values[: len(st.entropy_values)] = st.entropy_values
    return values


def chunks_of(st: State) -> NDArray[np.int64]:
    """Chunks of keys for all packets: full ones, and one that is not for each node and slot, as far as packets go."""
    slots = len(st.nodes) * int(st.sim[0].slots)
    count = min(len(st.packets), len(st.packets) // KEYS + slots) + 2
    if count << CHUNK_BITS <= len(st.arrivals):
        return np.asarray(st.arrivals)
    words = records(count << CHUNK_BITS, np.dtype("i8")).view(np.ndarray)
    words[: len(st.arrivals)] = st.arrivals
    new = np.arange(len(st.arrivals), len(words), KEYS + 1)
    words[new] = np.append(new[1:], st.sim[0].free_chunk)
    st.sim[0].free_chunk = new[0]
    return words


def reserve_of(st: State, framing: Framing) -> int:
    """Packets that may be created in one window: by NICs at line rate, ends of flows, pause frames and timers."""
    nics = st.nodes.kind == NIC
    frames = _frames_in_window(st, framing)
    sent = int(frames[st.nodes.link[nics]].sum()) + 3 * int(nics.sum())
    asks = RUNS_AT_ONCE if (st.transports.recovery == SELECTIVE).any() else 0
    pauses = int((2 * frames.astype(np.int64) + 4) @ np.count_nonzero(st.ingress.sends.reshape(-1, QUEUES), axis=1))
    watchdogs = int(np.count_nonzero(st.queues.detect))
    return (1 + asks) * sent + 8 * len(st.flows) + pauses + watchdogs + 64


def _frames_in_window(st: State, framing: Framing) -> Floats:
    """(link,) full frames that a link can begin to send in a window."""
    time = (framing.frame_bytes + framing.gap_bytes) * st.links.ps_per_byte
    time -= time % max(1, int(st.sim[0].quantum))
    with np.errstate(divide="ignore"):
        return np.where(time > 0, float(st.sim[0].window) / time, 0.0)
