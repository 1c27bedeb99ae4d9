"""The way of a flow: from its 5-tuple, hop by hop, over the ECMP groups."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from ipaddress import IPv4Interface

from railfab.forwarding.ports import Models, PortState
from railfab.forwarding.qos import HOST_QUEUE, SwitchEffect
from railfab.forwarding.routes import Routes
from railfab.forwarding.wiring import Wiring
from railfab.sim import QUEUES, Path
from railfab.topology import PortKey

ROCE_PORT = 4791
UDP = 17
MAX_HOPS = 16
_MASK = (1 << 64) - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What a walk needs to know of the fabric's state. narrow: why a full packet does not pass a port, by egress."""

    wiring: Wiring
    models: Models
    ports: dict[PortKey, PortState]
    routes: Routes
    effects: dict[str, SwitchEffect]
    narrow: dict[int, str]
    seed: int


@lru_cache(maxsize=65536)
def source_port(source: PortKey, target: PortKey, stream: int) -> int:
    """The UDP source port of a queue pair: drawn from its ends, 49152 to 65535 (RoCEv2, annex A17.9.2)."""
    text = f"{source} {target} {stream}"
    return 49152 + int.from_bytes(blake2b(text.encode(), digest_size=2).digest(), "big") % 16384


@lru_cache(maxsize=4096)
def _switch_seed(seed: int, name: str) -> int:
    return int.from_bytes(blake2b(f"{seed} {name}".encode(), digest_size=8).digest(), "big")


def choice(seed: int, switch: str, key: int, ways: int) -> int:
    """Which of a group's members a 5-tuple takes at a switch: a hash of its own at each, so that tiers do not polarise.

    The mixer is splitmix64's (Steele, Lea and Flood, OOPSLA 2014).
    """
    value = (key ^ _switch_seed(seed, switch)) & _MASK
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & _MASK
    return (value ^ (value >> 31)) % ways


def tuple_key(source: int, target: int, source_port: int) -> int:
    """A 5-tuple as one number."""
    packed = source << 96 | target << 64 | source_port << 32 | ROCE_PORT << 16 | UDP
    return (packed ^ packed >> 64 ^ (packed >> 32) * 0x9E3779B97F4A7C15) & _MASK


def walk(ground: Ground, source: PortKey, target: PortKey, entropy: int) -> tuple[int, ...] | str:
    """The links from a host port to another, or why there is no way."""
    wiring = ground.wiring
    link = wiring.egress[source]
    start, end = wiring.near[link].address, wiring.near[wiring.egress[target]].address
    if not (isinstance(start, IPv4Interface) and isinstance(end, IPv4Interface)):
        return f"{source[0]} {source[1]} or {target[0]} {target[1]} has no address"
    if not ground.ports[source].oper_up:
        return ground.ports[source].reason
    key = tuple_key(int(start.ip), int(end.ip), entropy)
    links = [link]
    while len(links) <= MAX_HOPS:
        far = wiring.far(links[-1])
        if wiring.is_host(far.node):
            return tuple(links) if (far.node, far.name) == target else f"{end.ip} leads to {far.node} {far.name}"
        if links[-1] ^ 1 in ground.narrow:
            return ground.narrow[links[-1] ^ 1]
        ways = ground.routes.egress(far.node, end.ip)
        if not ways:
            return f"{far.node} has no route to {end.ip}"
        links.append(ways[choice(ground.seed, far.node, key, len(ways))])
        if links[-1] in ground.narrow:
            return ground.narrow[links[-1]]
    return f"{end.ip} is in a routing loop"


def narrow_ports(wiring: Wiring, models: Models, packet_bytes: int) -> dict[int, str]:
    """The egress links of ports whose MTU is below this packet, with what is wrong in words."""
    return {
        wiring.egress[name, interface.name]: (
            f"{name} {interface.name} has MTU {interface.mtu_bytes}, packets have {packet_bytes} bytes"
        )
        for name, model in models.items()
        for interface in model.interfaces
        if interface.mtu_bytes is not None
        and interface.mtu_bytes < packet_bytes
        and (name, interface.name) in wiring.egress
    }


def queues_along(ground: Ground, links: tuple[int, ...], dscp: int) -> tuple[tuple[int, ...], tuple[bool, ...]]:
    """The queue before each link, and whether the switch there counts the packet as lossless."""
    queues, lossless = [HOST_QUEUE], []
    for into in links[:-1]:
        port = ground.wiring.far(into)
        cls = ground.effects[port.node].class_of(port.name, dscp)
        queues.append(cls.queue)
        lossless.append(cls.lossless_priority is not None)
    return tuple(queues), tuple(lossless)


def sim_path(ground: Ground, source: PortKey, target: PortKey, stream: int, *, dscp: int, cnp_dscp: int) -> Path | str:
    """The path of a flow and of the notifications back, or why there is none."""
    entropy = source_port(source, target, stream)
    there = walk(ground, source, target, entropy)
    if isinstance(there, str):
        return there
    back = walk(ground, target, source, entropy)
    queues, lossless = queues_along(ground, there, dscp)
    if isinstance(back, str):
        return back
    back_queues, _ = queues_along(ground, back, cnp_dscp)
    return Path(
        links=there,
        queues=queues,
        lossless=lossless,
        back_ns=float(ground.wiring.delay_ns[list(back)].sum()),
        back=tuple(link * QUEUES + queue for link, queue in zip(back, back_queues, strict=True)),
    )
