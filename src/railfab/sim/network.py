"""A network, its routes and its flows as the engine takes them: arrays of numbers, no names, no vendor, no protocol."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from railfab.sim.kernel.records import (
    ADAPTIVE,
    FLOW_HASH,
    FLOWLET,
    HASH_ENTROPY,
    HASH_INGRESS,
    HASH_SOURCE,
    HASH_TARGET,
    QUEUES,
    SPRAY,
)

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


class Balancing(IntEnum):
    """How a switch chooses among the links of a next-hop group.

    FLOW: by a hash of header fields, which differ between packets of NICs that spray (`Transport.entropies`). FLOWLET:
    at random for each burst of a flow, bursts being apart by a gap (LetFlow: Vanini et al., NSDI 2017). ADAPTIVE: for
    each packet one of the links in the best of eight bands of load. SPRAY: at random for each packet.
    """

    FLOW = FLOW_HASH
    FLOWLET = FLOWLET
    ADAPTIVE = ADAPTIVE
    SPRAY = SPRAY


class HashFields(IntEnum):
    """Bits of `Network.hash_fields`. ENTROPY: the UDP source port, drawn by queue pair (RoCEv2)."""

    SOURCE = HASH_SOURCE
    TARGET = HASH_TARGET
    ENTROPY = HASH_ENTROPY
    INGRESS = HASH_INGRESS


@dataclass(frozen=True, slots=True, kw_only=True)
class Framing:
    """How payload becomes octets. gap_bytes: on the wire beside the frame and in no counter (preamble, gap).

    Defaults: RoCEv2 with a 4096-byte path MTU. 14 Ethernet + 20 IPv4 + 8 UDP + 12 BTH + 4 ICRC + 4 FCS
    (InfiniBand Architecture Specification vol. 1, annex A17); a CNP has no payload but 16 reserved bytes, an
    acknowledgement has an AETH of 4 bytes. ack_every: packets that one acknowledgement stands for.
    """

    payload_bytes: int = 4096
    header_bytes: int = 62
    gap_bytes: int = 20
    cnp_bytes: int = 78
    ack_bytes: int = 66
    ack_every: int = 16

    @property
    def frame_bytes(self) -> int:
        return self.payload_bytes + self.header_bytes

    @property
    def octets_per_payload(self) -> float:
        return self.frame_bytes / self.payload_bytes

    @property
    def octets_per_wire(self) -> float:
        """Share of a link's rate that octet counters can see."""
        return self.frame_bytes / (self.frame_bytes + self.gap_bytes)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Network:
    """Nodes and directed links, with the queues before the links and the buffers behind them.

    Links 2i and 2i + 1 are the two directions of a cable. A node is a switch or a NIC port, which has one cable.
    PFC of link l stands for both ends of it: the far end (a switch's ingress, or a slow NIC) sends XOFF, the near end
    stops a queue.

    Axis (link,): near, far (nodes), up, rate_gbps, delay_ns (from the last bit sent to the queue of the far end: cable
        and processing), pause_delay_ns (of a pause frame that the far end sends, until the near end is silent),
        loss_per_byte (probability of losing a byte's frame after FEC).
    Axes (link, class): queue_of, priority_of. The queue and the PFC priority (-1: lossy) of a traffic class that comes
        in by this link.
    Axes (link, queue), of the queue before the link: kmin_bytes, kmax_bytes, pmax (kmin infinite: no marks),
        limit_bytes (tail drop; infinite: none), limit_alpha (above 0: also a share of the free shared buffer), wred
        (packets are dropped before the queue with the chance of the ramp, instead of marked), strict,
        weight, watchdog_detect_ns (0: no watchdog), watchdog_restore_ns, watchdog_drops (what the queue has and gets,
        until the time to restore has passed without a pause; else it ignores pauses for this time).
    Axes (link, priority): pfc_sent, xoff_bytes, xoff_alpha (above 0: XOFF at this share of the free shared buffer
        instead), xon_gap_bytes, headroom_bytes, pause_refresh_ns (0: a pause lasts until XON), all at the far end;
        pause_queue at the near end (-1: pause frames are ignored).
    Axis (node,): is_switch, shared_bytes (without headroom), balancing, hash_fields, hash_seed, flowlet_gap_ns,
        rx_gbps (rate at which a host takes packets from its NIC; infinite: at once), rx_buffer_bytes.
    Axis (class,): nic_queue, the queue of a traffic class at the NIC that sends it.
    """

    near: Ints
    far: Ints
    up: Bools
    rate_gbps: Floats
    delay_ns: Floats
    pause_delay_ns: Floats
    loss_per_byte: Floats
    queue_of: Ints
    priority_of: Ints
    kmin_bytes: Floats
    kmax_bytes: Floats
    pmax: Floats
    limit_bytes: Floats
    limit_alpha: Floats
    wred: Bools
    strict: Bools
    weight: Floats
    watchdog_detect_ns: Floats
    watchdog_restore_ns: Floats
    watchdog_drops: Bools
    pfc_sent: Bools
    xoff_bytes: Floats
    xoff_alpha: Floats
    xon_gap_bytes: Floats
    headroom_bytes: Floats
    pause_refresh_ns: Floats
    pause_queue: Ints
    is_switch: Bools
    shared_bytes: Floats
    balancing: Ints
    hash_fields: Ints
    hash_seed: Ints
    flowlet_gap_ns: Floats
    rx_gbps: Floats
    rx_buffer_bytes: Floats
    nic_queue: Ints

    @property
    def links(self) -> int:
        return len(self.near)

    @property
    def nodes(self) -> int:
        return len(self.is_switch)

    @property
    def classes(self) -> int:
        return len(self.nic_queue)


LINK_AXES = (
    *("up", "rate_gbps", "delay_ns", "pause_delay_ns", "loss_per_byte", "queue_of", "priority_of", "kmin_bytes"),
    *("kmax_bytes", "pmax", "limit_bytes", "limit_alpha", "wred", "strict", "weight", "watchdog_detect_ns"),
    *("watchdog_restore_ns", "watchdog_drops", "pfc_sent", "xoff_bytes", "xoff_alpha", "xon_gap_bytes"),
    *("headroom_bytes", "pause_refresh_ns", "pause_queue"),
)
"""Arrays of a network whose first axis is the link, but for its ends."""
NODE_AXES = (
    *("is_switch", "shared_bytes", "rx_gbps", "rx_buffer_bytes"),
    *("balancing", "hash_fields", "hash_seed", "flowlet_gap_ns"),
)
"""Arrays of a network whose axis is the node."""


def part_of(network: Network, links: Ints, nodes: Ints) -> Network:
    """The network of some cables, whose links and nodes are numbered in the order given.

    links: in pairs, the two directions of a cable. nodes: all ends of these.
    """
    number = np.full(network.nodes, -1)
    number[nodes] = np.arange(len(nodes))
    return assembled(network, links, nodes, number[network.near[links]], number[network.far[links]])


def assembled(network: Network, links: Ints, nodes: Ints, near: Ints, far: Ints) -> Network:
    """A network of links and nodes that are like these of another, which may be there several times.

    near, far: (link,) its ends among these nodes.
    """
    by_link = {name: getattr(network, name)[links] for name in LINK_AXES}
    by_node = {name: getattr(network, name)[nodes] for name in NODE_AXES}
    return replace(network, near=near, far=far, **by_link, **by_node)


def beside(network: Network, other: Network) -> Network:
    """Two networks that have no cable in common as one, the links and nodes of the second behind those of the first."""
    ends = {
        name: np.concatenate((getattr(network, name), getattr(other, name) + network.nodes)) for name in ("near", "far")
    }
    axes = {name: np.concatenate((getattr(network, name), getattr(other, name))) for name in (*LINK_AXES, *NODE_AXES)}
    return replace(network, **ends, **axes)


def plain_network(
    near: Ints, far: Ints, is_switch: Bools, rate_gbps: Floats, *, delay_ns: float = 1000.0, classes: int = 1
) -> Network:
    """A network with no ECN, no PFC and endless buffers: the start from which others are made with `replace`.

    Class c is in queue c everywhere, and lossy.
    """
    links, nodes = len(near), len(is_switch)
    endless, none = np.full((links, QUEUES), np.inf), np.zeros((links, QUEUES))
    return Network(
        near=np.asarray(near, np.int64),
        far=np.asarray(far, np.int64),
        up=np.ones(links, bool),
        rate_gbps=np.asarray(rate_gbps, float),
        delay_ns=np.full(links, delay_ns),
        pause_delay_ns=np.full(links, delay_ns),
        loss_per_byte=np.zeros(links),
        queue_of=np.tile(np.arange(classes), (links, 1)),
        priority_of=np.full((links, classes), -1),
        kmin_bytes=endless.copy(),
        kmax_bytes=endless.copy(),
        pmax=none.copy(),
        limit_bytes=endless.copy(),
        limit_alpha=none.copy(),
        wred=np.zeros((links, QUEUES), bool),
        strict=np.zeros((links, QUEUES), bool),
        weight=np.ones((links, QUEUES)),
        watchdog_detect_ns=none.copy(),
        watchdog_restore_ns=none.copy(),
        watchdog_drops=np.ones((links, QUEUES), bool),
        pfc_sent=np.zeros((links, QUEUES), bool),
        xoff_bytes=endless.copy(),
        xoff_alpha=none.copy(),
        xon_gap_bytes=none.copy(),
        headroom_bytes=none.copy(),
        pause_refresh_ns=none.copy(),
        pause_queue=np.full((links, QUEUES), -1),
        is_switch=np.asarray(is_switch, bool),
        shared_bytes=np.full(nodes, np.inf),
        balancing=np.full(nodes, int(Balancing.FLOW)),
        hash_fields=np.full(nodes, HashFields.SOURCE | HashFields.TARGET | HashFields.ENTROPY),
        hash_seed=np.arange(nodes),
        flowlet_gap_ns=np.full(nodes, 50_000.0),
        rx_gbps=np.full(nodes, np.inf),
        rx_buffer_bytes=np.full(nodes, np.inf),
        nic_queue=np.arange(classes),
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Routing:
    """Next-hop groups of every switch.

    destination: (node,) the column of a NIC port, which several may share; -1 of a switch. row: (node,) the row of a
    switch; -1 of a NIC port. group: (row, destination) the number of a group, -1 without a route. begin: (group + 1,)
    where the links of a group begin in `members`; a link that is there twice is chosen twice as often, and -1 is a
    member that nothing passes.
    """

    destination: Ints
    row: Ints
    group: NDArray[np.integer[Any]]
    begin: Ints
    members: Ints


@dataclass(frozen=True, slots=True, kw_only=True)
class Flow:
    """Payload from one NIC port to another, on one queue pair.

    source, target: nodes. Without payload a flow ends when it starts, and crosses nothing. source_word,
    target_word, entropy, back_entropy: 32-bit words that switches hash, of the packets and of their
    acknowledgements. transport: place in the engine's transports. after: numbers of the flows that it waits for; it
    starts gap_ns after the last of them is acknowledged, and not before start_ns. endless: it sends until
    `Engine.stop` and has neither payload nor acknowledgements; its transport has no recovery. links: those that its
    packets take, acknowledgements the other directions of these cables; empty: those that the routes give.
    balanced: switches choose links for its packets, as their routes say, and only acknowledgements keep to `links`.
    """

    id: int
    source: int
    target: int
    payload_bytes: int
    traffic_class: int = 0
    transport: int = 0
    source_word: int = 0
    target_word: int = 0
    entropy: int = 0
    back_entropy: int = 0
    start_ns: int = 0
    after: tuple[int, ...] = field(default=())
    gap_ns: int = 0
    endless: bool = False
    links: tuple[int, ...] = ()
    balanced: bool = False


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FlowEnds:
    """Flows by their ends. Axis (flow,): the nodes, and the words that switches hash of packets, as in `Flow`."""

    source: Ints
    target: Ints
    source_word: Ints
    target_word: Ints
    entropy: Ints
