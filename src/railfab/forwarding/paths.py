"""The path of a flow: from its 5-tuple, hop by hop, over the next-hop groups."""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b

from railfab.device import HashField, LoadBalancing
from railfab.forwarding.qos import HOST_QUEUE
from railfab.forwarding.state import ForwardingState
from railfab.sim import QUEUES, Path
from railfab.topology import PortKey

ROCE_PORT = 4791
UDP = 17
MAX_HOPS = 16
_MASK = (1 << 64) - 1
_GOLDEN = 0x9E3779B97F4A7C15
"""2 to the 64 divided by the golden ratio: spreads small numbers over 64 bits."""


@lru_cache(maxsize=65536)
def source_port(source: PortKey, target: PortKey, stream: int) -> int:
    """The UDP source port of a queue pair: drawn from its ends, 49152 to 65535 (RoCEv2, annex A17.9.2)."""
    text = f"{source} {target} {stream}"
    return 49152 + int.from_bytes(blake2b(text.encode(), digest_size=2).digest(), "big") % 16384


@lru_cache(maxsize=4096)
def _switch_seed(seed: int, name: str) -> int:
    return int.from_bytes(blake2b(f"{seed} {name}".encode(), digest_size=8).digest(), "big")


def choice(seed: int, switch: str, key: int, members: int) -> int:
    """Which member of a next-hop group a 5-tuple takes at a switch.

    By default each switch has its own seed, so that tiers do not polarise. A configured seed belongs to no name.

    The mixer is splitmix64's (Steele, Lea and Flood, OOPSLA 2014).
    """
    value = (key ^ _switch_seed(seed, switch)) & _MASK
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & _MASK
    return (value ^ (value >> 31)) % members


def tuple_key(source: int, target: int, source_port: int) -> int:
    """A 5-tuple as one number."""
    packed = _folded(source) << 96 | _folded(target) << 64 | source_port << 32 | ROCE_PORT << 16 | UDP
    return (packed ^ packed >> 64 ^ (packed >> 32) * _GOLDEN) & _MASK


def hashed(balancing: LoadBalancing | None, packet: tuple[int, int, int], ingress: int, *, ipv6: bool) -> int:
    """The header fields that a switch hashes, as one number. packet: source, target and source port.

    Queue pairs differ in their source ports, and so do the flow labels of IPv6 packets.
    """
    fields = balancing.fields if balancing else ()
    if not fields:
        return tuple_key(*packet)
    source, target, port = packet
    entropy = {HashField.SOURCE_PORT, HashField.QUEUE_PAIR} | ({HashField.FLOW_LABEL} if ipv6 else set())
    key = tuple_key(
        source if HashField.SOURCE_ADDRESS in fields else 0,
        target if HashField.DESTINATION_ADDRESS in fields else 0,
        port if entropy.intersection(fields) else 0,
    )
    return key ^ (ingress * _GOLDEN & _MASK if HashField.INGRESS_PORT in fields else 0)


def _folded(address: int) -> int:
    """The 32-bit words of an address combined; an IPv4 address is one."""
    return (address ^ address >> 32 ^ address >> 64 ^ address >> 96) & 0xFFFF_FFFF


def walk(state: ForwardingState, source: PortKey, target: PortKey, entropy: int) -> tuple[int, ...] | str:
    """The links from a host port to another, or why there is no path."""
    table = state.links
    link = table.egress[source]
    start, end = table.near[link].address, table.near[table.egress[target]].address
    if start is None or end is None or start.version != end.version:
        return f"{source[0]} {source[1]} or {target[0]} {target[1]} has no address of the same family"
    if not state.port(source).oper_up:
        return state.port(source).reason
    packet = (int(start.ip), int(end.ip), entropy)
    links = [link]
    while len(links) <= MAX_HOPS:
        node, interface = table.far_key(links[-1])
        if table.is_host(node):
            return tuple(links) if (node, interface) == target else f"{end.ip} leads to {node} {interface}"
        narrow = state.narrow.get(node, {})
        if links[-1] ^ 1 in narrow:
            return narrow[links[-1] ^ 1]
        hops = state.routes.egress(node, end.ip)
        if not hops:
            return f"{node} has no route to {end.ip}"
        balancing = state.load_balancing(node)
        key = hashed(balancing, packet, links[-1], ipv6=end.version == 6)
        seed = (state.marking.seed, node) if balancing is None or balancing.seed is None else (balancing.seed, "")
        links.append(hops[choice(*seed, key, len(hops))])
        if links[-1] in narrow:
            return narrow[links[-1]]
    return f"{end.ip} is in a routing loop"


def queues_along(state: ForwardingState, links: tuple[int, ...], dscp: int) -> tuple[tuple[int, ...], tuple[bool, ...]]:
    """The queue before each link, and whether the switch there treats the packet as lossless."""
    queues, lossless = [HOST_QUEUE], []
    for into in links[:-1]:
        node, interface = state.links.far_key(into)
        cls = state.effects[node].class_of(interface, dscp)
        queues.append(cls.queue)
        lossless.append(cls.lossless)
    return tuple(queues), tuple(lossless)


def flow_path(state: ForwardingState, source: PortKey, target: PortKey, stream: int = 0) -> Path | str:
    """The path of a flow and of the notifications back, or why there is none.

    stream: distinguishes flows between the same two ports.
    """
    entropy = source_port(source, target, stream)
    there = walk(state, source, target, entropy)
    if isinstance(there, str):
        return there
    back = walk(state, target, source, entropy)
    if isinstance(back, str):
        return back
    queues, lossless = queues_along(state, there, state.marking.dscp)
    back_queues, _ = queues_along(state, back, state.marking.cnp_dscp)
    return Path(
        links=there,
        queues=queues,
        lossless=lossless,
        back_ns=float(state.links.delay_ns[list(back)].sum()),
        back=tuple(link * QUEUES + queue for link, queue in zip(back, back_queues, strict=True)),
    )
