"""The simulator's network of a state: what its ports and switches do, as arrays."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from railfab.device import BalancingMode, HashField, LoadBalancing
from railfab.forwarding.links import LinkTable
from railfab.forwarding.port_rows import NIC_QUEUES, PortRows
from railfab.forwarding.qos import SwitchEffect
from railfab.sim import Balancing, HashFields, Network

PAUSE_RESPONSE_NS = 300.0
"""From a pause frame's arrival to silence; typical, where IEEE 802.3 annex 31B allows microseconds."""

PAUSE_QUANTA, QUANTUM_BITS = 65_535, 512
"""Longest pause that a frame can ask for, and the bit times of a quantum (IEEE 802.3 annex 31B)."""

REFRESH_SHARE = 1 / 2
"""A pause is asked for again after this share of its length."""

NIC_BUFFER_BYTES, NIC_XOFF_BYTES = 1 << 20, 1 << 18
"""Receive buffer of a NIC port, and what it holds when it sends XOFF; estimates, no vendor publishes them."""

_STUCK_GBPS = 1e-6
"""Rate of a host that takes nothing: a packet in half a minute."""

ALL_LOST = 1.0
"""`loss_per_byte` of a link on which everything is lost, as no frame is shorter than a byte; bit errors lose less."""

FLOWLET_GAP_NS = 50_000.0
"""Pause after which a flow may take another link, where none is configured; of the order of a round trip."""

_MODES = {
    BalancingMode.FLOW: Balancing.FLOW,
    BalancingMode.FLOWLET: Balancing.FLOWLET,
    BalancingMode.ADAPTIVE: Balancing.ADAPTIVE,
    BalancingMode.PACKET: Balancing.SPRAY,
    BalancingMode.COLLECTIVE: Balancing.FLOW,  # an upper bound: by hash, flows of one host can meet on an uplink
}
_FIELDS = {
    HashField.SOURCE_ADDRESS: HashFields.SOURCE,
    HashField.DESTINATION_ADDRESS: HashFields.TARGET,
    HashField.SOURCE_PORT: HashFields.ENTROPY,
    HashField.QUEUE_PAIR: HashFields.ENTROPY,
    HashField.INGRESS_PORT: HashFields.INGRESS,
}
"""What differs between RoCE packets: queue pairs differ in their source ports, the others of `HashField` are equal."""

ALL_FIELDS = HashFields.SOURCE | HashFields.TARGET | HashFields.ENTROPY


PortUse = tuple[NDArray[np.float64], NDArray[np.float64]]
"""What leaves host ports, and what comes in by them, each (link,) of the link that leaves the port."""


@dataclass(frozen=True, kw_only=True, eq=False)
class NetworkParts:
    """What a network is made from: see `ForwardingState`. closed: links that no full packet passes.
    loss_per_byte: (link,). losing: links on which everything is lost, pause frames too.

    Those of host ports are down; those of switches are not, since what is small passes (see `routing`).
    slow: rate at which hosts take packets from a NIC [Gb/s], by the link that leaves its port, where that is limited.
    reduced: greatest rate of links [Gb/s], where that is below the one of their ports.
    priority: of the pause frames of NICs. use: for which the PCIe of a NIC is divided; without it equally among its
    ports that are up.
    """

    links: LinkTable
    rows: PortRows
    effects: Mapping[str, SwitchEffect]
    balancing: Mapping[str, LoadBalancing]
    closed: Iterable[int]
    slow: Mapping[int, float]
    reduced: Mapping[int, float]
    priority: int
    loss_per_byte: NDArray[np.float64]
    losing: Sequence[int]
    seed: int
    use: PortUse | None


def network(parts: NetworkParts) -> Network:
    """The arrays of a state, on the axes of `sim.Network`."""
    links, rows = parts.links, parts.rows
    up, classes = rows.up.copy(), len(NIC_QUEUES)
    up[np.intersect1d(links.nics, np.array(list(parts.closed), np.int64))] = False
    nodes = len(links.switches) + len(links.nics)
    balancing = _Balancing(parts, nodes)
    sends_pauses = rows.ingress_field("pfc_sent") > 0
    sent, received = parts.use or (up.astype(float), up.astype(float))
    losing, rate_gbps = np.array(parts.losing, np.int64), _rate_gbps(parts, links.pcie_gbps(sent))
    loss, pause_queue = parts.loss_per_byte.copy(), rows.egress_field("pause_queue").astype(np.int64)
    loss[losing], pause_queue[losing ^ 1] = ALL_LOST, -1
    found = Network(
        near=links.near_node,
        far=links.near_node.reshape(-1, 2)[:, ::-1].ravel(),
        up=up,
        rate_gbps=rate_gbps,
        delay_ns=links.delay_ns,
        pause_delay_ns=links.cable_ns + PAUSE_RESPONSE_NS,
        loss_per_byte=loss,
        queue_of=rows.ingress_field("queue_of")[:, :classes].astype(np.int64),
        priority_of=rows.ingress_field("priority_of")[:, :classes].astype(np.int64),
        kmin_bytes=rows.egress_field("kmin_bytes"),
        kmax_bytes=rows.egress_field("kmax_bytes"),
        pmax=rows.egress_field("pmax"),
        limit_bytes=rows.egress_field("limit_bytes"),
        limit_alpha=rows.egress_field("limit_alpha"),
        wred=rows.egress_field("wred") > 0,
        strict=rows.egress_field("strict") > 0,
        weight=rows.egress_field("weight"),
        watchdog_detect_ns=rows.egress_field("watchdog_detect_ns"),
        watchdog_restore_ns=rows.egress_field("watchdog_restore_ns"),
        watchdog_drops=np.zeros(sends_pauses.shape, bool),
        pfc_sent=sends_pauses,
        xoff_bytes=rows.ingress_field("xoff_bytes"),
        xoff_alpha=rows.ingress_field("xoff_alpha"),
        xon_gap_bytes=rows.ingress_field("xon_gap_bytes"),
        headroom_bytes=np.where(sends_pauses, rows.ingress_field("headroom_bytes"), 0.0),
        pause_refresh_ns=np.where(sends_pauses, _refresh_ns(rate_gbps)[:, None], 0.0),
        pause_queue=pause_queue,
        is_switch=np.arange(nodes) < len(links.switches),
        shared_bytes=_shared_bytes(parts, nodes),
        balancing=balancing.mode,
        hash_fields=balancing.fields,
        hash_seed=balancing.seed,
        flowlet_gap_ns=balancing.gap_ns,
        rx_gbps=np.full(nodes, np.inf),
        rx_buffer_bytes=np.full(nodes, np.inf),
        nic_queue=np.array(NIC_QUEUES, np.int64),
    )
    return _with_slow_hosts(found, parts, links.pcie_gbps(received))


def _rate_gbps(parts: NetworkParts, pcie: Mapping[int, float]) -> NDArray[np.float64]:
    """(link,) the rate of each, that of its port where nothing reduces it; a NIC sends no more than PCIe carries."""
    rate_gbps = parts.rows.rate_gbps
    for limits in (parts.reduced, pcie):
        if limits:
            rate_gbps, links = rate_gbps.copy(), list(limits)
            rate_gbps[links] = np.minimum(rate_gbps[links], list(limits.values()))
    return rate_gbps


def _with_slow_hosts(network: Network, parts: NetworkParts, pcie: dict[int, float]) -> Network:
    """The network with hosts that take packets at a limited rate, whose NICs then send pause frames."""
    slow = pcie | {link: min(gbps, pcie.get(link, gbps)) for link, gbps in parts.slow.items()}
    if not slow:
        return network
    out = np.array(list(slow), np.int64)
    into, node, priority = out ^ 1, network.near[out], parts.priority
    network.rx_gbps[node] = np.maximum(list(slow.values()), _STUCK_GBPS)
    network.rx_buffer_bytes[node] = NIC_BUFFER_BYTES
    network.pfc_sent[into, priority] = True
    network.xoff_bytes[into, priority] = NIC_XOFF_BYTES
    network.headroom_bytes[into, priority] = NIC_BUFFER_BYTES - NIC_XOFF_BYTES
    network.pause_refresh_ns[into, priority] = _refresh_ns(network.rate_gbps[into])
    return network


def _refresh_ns(rate_gbps: NDArray[np.float64]) -> NDArray[np.float64]:
    """Interval in which a pause is asked for again; 0 of a port without a rate."""
    longest = PAUSE_QUANTA * QUANTUM_BITS / np.maximum(rate_gbps, 1e-9)
    return np.where(rate_gbps > 0, REFRESH_SHARE * longest, 0.0)


def _shared_bytes(parts: NetworkParts, nodes: int) -> NDArray[np.float64]:
    found = np.full(nodes, np.inf)
    for name, number in parts.links.switches.items():
        found[number] = parts.effects[name].shared_bytes
    return found


class _Balancing:
    """Load balancing, axis (node,). Switches without a configured seed have one of their own, so that tiers do not
    polarise; a configured seed belongs to no name."""

    def __init__(self, parts: NetworkParts, nodes: int) -> None:
        self.mode = np.full(nodes, int(Balancing.FLOW))
        self.fields = np.full(nodes, int(ALL_FIELDS))
        self.seed = np.zeros(nodes, np.int64)
        self.gap_ns = np.full(nodes, FLOWLET_GAP_NS)
        ipv6 = any((address := parts.links.near[link].address) and address.version == 6 for link in parts.links.nics)
        for name, number in parts.links.switches.items():
            self.seed[number] = own_seed(parts.seed, name)
            found = parts.balancing.get(name)
            if found is None:
                continue
            self.mode[number], self.fields[number] = _MODES[found.mode], hashed_fields(found, ipv6=ipv6)
            if found.seed is not None:
                self.seed[number] = found.seed
            if found.flowlet_gap_us is not None:
                self.gap_ns[number] = found.flowlet_gap_us * 1000.0


@lru_cache(maxsize=8192)
def own_seed(seed: int, switch: str) -> int:
    return int.from_bytes(blake2b(f"{seed} {switch}".encode(), digest_size=4).digest(), "big")


def hashed_fields(balancing: LoadBalancing, *, ipv6: bool) -> int:
    """Bits of the fields that a switch hashes. The flow labels of IPv6 packets differ with their queue pairs."""
    if not balancing.fields:
        return int(ALL_FIELDS)
    found = 0
    for field in balancing.fields:
        found |= _FIELDS.get(field, 0)
        if field is HashField.FLOW_LABEL and ipv6:
            found |= HashFields.ENTROPY
    return int(found)
