"""What switches see of a flow, and why a flow has no path."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from hashlib import blake2b
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from railfab.device import DEFAULT_INSTANCE
from railfab.forwarding.links import LinkTable
from railfab.forwarding.state import ForwardingState
from railfab.sim import Flow, FlowEnds
from railfab.topology import PortKey

ROCE_PORT = 4791
Connection = tuple[PortKey, PortKey, int]
"""Source, target, and what tells connections between the same two ports apart."""
Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Connections:
    """Connections between ports. Axis (connection,): source, target, numbers of ports; stream, what tells those between
    the same two ports apart."""

    ports: Sequence[PortKey]
    source: Numbers
    target: Numbers
    stream: Numbers

    @classmethod
    def of(cls, connections: Sequence[Connection]) -> Connections:
        """These connections, in their order."""
        numbers: dict[PortKey, int] = {}
        ends = [[numbers.setdefault(port, len(numbers)) for port in each[:2]] for each in connections]
        source, target = np.array(ends, np.int64).reshape(-1, 2).T
        stream = np.array([stream for _, _, stream in connections], np.int64)
        return cls(ports=tuple(numbers), source=source, target=target, stream=stream)

    def __len__(self) -> int:
        return len(self.source)

    def __getitem__(self, number: int) -> Connection:
        source, target = self.ports[self.source[number]], self.ports[self.target[number]]
        return source, target, int(self.stream[number])


@lru_cache(maxsize=65536)
def source_port(source: PortKey, target: PortKey, stream: int) -> int:
    """The UDP source port of a queue pair: drawn from its ends, 49152 to 65535 (RoCEv2, annex A17.9.2)."""
    return _drawn_port(str(source), str(target), stream)


def _drawn_port(source: str, target: str, stream: int) -> int:
    text = f"{source} {target} {stream}"
    return 49152 + int.from_bytes(blake2b(text.encode(), digest_size=2).digest(), "big") % 16384


def connection_ends(links: LinkTable, connections: Connections) -> FlowEnds:
    """What switches see of a flow of each connection."""
    out = np.array([links.egress[port] for port in connections.ports], np.int64)
    word = np.array([_word(links, link) for link in out.tolist()], np.int64)
    names = list(map(str, connections.ports))
    columns = zip(
        *(part.tolist() for part in (connections.source, connections.target, connections.stream)), strict=True
    )
    ports = np.array(
        [_drawn_port(names[source], names[target], stream) for source, target, stream in columns], np.int64
    )
    node, source, target = links.near_node[out], connections.source, connections.target
    return FlowEnds(
        source=node[source],
        target=node[target],
        source_word=word[source],
        target_word=word[target],
        entropy=ports | ROCE_PORT << 16,
    )


def flow(
    links: LinkTable, number: int, source: PortKey, target: PortKey, payload_bytes: int, *, stream: int = 0
) -> Flow:
    """A flow of RoCE data. stream: distinguishes flows between the same two ports.

    Switches hash the addresses and the UDP ports of its packets, and of its acknowledgements and notifications, which
    have the same source port.
    """
    out, into = links.egress[source], links.egress[target]
    entropy = source_port(source, target, stream) | ROCE_PORT << 16
    return Flow(
        id=number,
        source=int(links.near_node[out]),
        target=int(links.near_node[into]),
        payload_bytes=payload_bytes,
        source_word=_word(links, out),
        target_word=_word(links, into),
        entropy=entropy,
        back_entropy=entropy,
    )


def _word(links: LinkTable, link: int) -> int:
    """The 32-bit words of an address combined; an IPv4 address is one. 0 without an address."""
    found = links.near[link].address
    address = int(found.ip) if found else 0
    return (address ^ address >> 32 ^ address >> 64 ^ address >> 96) & 0xFFFF_FFFF


def obstacle(state: ForwardingState, source: PortKey, target: PortKey, path: Sequence[int]) -> str:
    """Why packets get no further than these links, the first from the source; empty when they arrive.

    Where a next hop lets no full packet pass, it is taken to be the one that the hash has chosen.
    """
    table = state.links
    start, end = table.near[table.egress[source]].address, table.near[table.egress[target]].address
    if start is None or end is None or start.version != end.version:
        return f"{source[0]} {source[1]} or {target[0]} {target[1]} has no address of the same family"
    if not state.port(source).oper_up:
        return state.port(source).reason
    links = path or (table.egress[source],)
    for link in links:
        if reason := _closed(state, link):
            return reason
    node, interface = table.far_key(links[-1])
    if (node, interface) == target:
        return ""
    if table.is_host(node):
        return f"{end.ip} leads to {node} {interface}"
    hops = state.egress(node, end.ip)
    if not hops:
        return f"{node} has no route to {end.ip}"
    return next(filter(None, (_closed(state, link) for link in hops)), f"{end.ip} is in a routing loop")


def _closed(state: ForwardingState, link: int) -> str:
    """Why a full packet does not pass a link; empty when it does."""
    key = state.links.keys[link]
    narrow = state.narrow.get(key[0], {}).get(link) or state.refused(link ^ 1)
    lag = state.lag_of_link.get(link)
    return narrow or state.port(key).reason or (lag.reason if lag else "")


class DropPlace(StrEnum):
    """Where a switch drops a packet, and what it counts it as: before the egress a discard (the port does not route) or
    an error (the packet is too long), behind the ingress a discard (the port does not route, or the switch has no
    route) or an error (the frame is too long)."""

    EGRESS = "egress"
    EGRESS_ERROR = "egress-error"
    INGRESS = "ingress"
    NO_ROUTE = "no-route"
    INGRESS_ERROR = "ingress-error"

    @property
    def is_before_link(self) -> bool:
        """Whether the packet never gets on the link."""
        return self in (DropPlace.EGRESS, DropPlace.EGRESS_ERROR)


class Blocked(NamedTuple):
    """A switch drops the packets of a flow at an end of this link."""

    place: DropPlace
    link: int


def blocked(
    state: ForwardingState, source: PortKey, target: PortKey, path: Sequence[int]
) -> tuple[Blocked, Sequence[int]] | None:
    """Where the packets of a flow without a path are dropped, and the links that they pass before.

    None where none are: the link of the sender is down, or its packets arrive.
    """
    table, end = state.links, state.links.near[state.links.egress[target]].address
    way = tuple(path) or (table.egress[source],)
    if end is None or not state.port(source).oper_up:
        return None
    for hops, link in enumerate(way):
        if found := _drop_at(state, link):
            return found, way[: hops + (not found.place.is_before_link)]
    node = table.far_key(way[-1])[0]
    if table.is_host(node):
        return None
    links = state.egress(node, end.ip)
    if not links:
        return Blocked(DropPlace.NO_ROUTE, way[-1]), way
    found = next(filter(None, (_drop_at(state, link) for link in links)), None)
    if found is None:
        return None
    return found, way if found.place.is_before_link else (*way, found.link)


def _drop_at(state: ForwardingState, link: int) -> Blocked | None:
    """Where full packets are dropped that a link is to carry: a port does not route, or its MTU is too small."""
    near, far = state.links.keys[link], state.links.far_key(link)
    if link in state.narrow.get(near[0], {}):
        return Blocked(DropPlace.EGRESS_ERROR if _routes(state, near) else DropPlace.EGRESS, link)
    if not state.refused(link ^ 1):
        return None
    return Blocked(DropPlace.INGRESS_ERROR if _routes(state, far) else DropPlace.INGRESS, link)


def _routes(state: ForwardingState, port: PortKey) -> bool:
    """Whether a configured port of a switch routes, so that only its MTU is in the way of a packet."""
    return state.configs[port[0]].routing_interface(port[1]).network_instance == DEFAULT_INSTANCE
