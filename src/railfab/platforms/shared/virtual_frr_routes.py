"""Routes of a virtual switch with FRR: `show ip route` of vtysh in text and JSON, and iproute2's `ip route show`.

Layouts: FRR 8.4.4 and iproute2 6.1, recorded. A route of BGP is as old as the oldest of its sessions, a connected one
as the switch.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from railfab.device import IpInterface
from railfab.platforms.shared.virtual_frr_peers import PEER_LINK_LOCAL, FrrPeer, uptime_text
from railfab.platforms.twin_face import VirtualRoute

EXTERNAL, INTERNAL = 20, 200
"""Administrative distances of BGP (FRR, doc/user/bgp.rst)."""
MAIN_TABLE = 254
BLACKHOLE = "unreachable (blackhole), weight 1"
DROPPED = {"fib": True, "unreachable": True, "blackhole": True, "active": True}
"""Next hop of an aggregate."""
FLAGS = """\
       > - selected route, * - FIB route, q - queued, r - rejected, b - backup
       t - trapped, o - offload failure
"""
CODES = {
    4: f"""\
Codes: K - kernel route, C - connected, S - static, R - RIP,
       O - OSPF, I - IS-IS, B - BGP, E - EIGRP, N - NHRP,
       T - Table, v - VNC, V - VNC-Direct, A - Babel, F - PBR,
       f - OpenFabric,
{FLAGS}""",
    6: f"""\
Codes: K - kernel route, C - connected, S - static, R - RIPng,
       O - OSPFv3, I - IS-IS, B - BGP, N - NHRP, T - Table,
       v - VNC, V - VNC-Direct, A - Babel, F - PBR,
       f - OpenFabric,
{FLAGS}""",
}


class FrrHop(NamedTuple):
    """Next hop of a route. address: of the next router; None on a connected subnet."""

    interface: str
    address: str | None


class FrrRoute(NamedTuple):
    """A route as zebra shows it. hops: none of an aggregate, which is a blackhole."""

    route: VirtualRoute
    hops: tuple[FrrHop, ...]
    distance: int
    age_s: int

    @property
    def prefix(self) -> str:
        return str(self.route.prefix)

    @property
    def connected(self) -> bool:
        return bool(self.hops) and self.hops[0].address is None


class FrrRoutes:
    """The active routes. addresses: of the switch, with their devices. peers: its BGP sessions. asn: its AS number.

    started_s: Unix time at which it booted.
    """

    def __init__(
        self,
        routes: Sequence[VirtualRoute],
        *,
        peers: Sequence[FrrPeer],
        addresses: Sequence[tuple[str, IpInterface]],
        asn: int,
        started_s: float,
    ) -> None:
        self._peers = {peer.session.interface: peer for peer in peers if peer.session.established}
        self._addresses = addresses
        self._asn = asn
        self._age_s = max(0, int(time.time() - started_s))
        ordered = sorted(routes, key=lambda route: (int(route.prefix.network_address), route.prefix.prefixlen))
        self._routes = [*map(self._shown, ordered)]

    def text(self, version: int, learned: bool = False) -> str:
        """The routes of a family, as `show ip route` prints them. learned: those of BGP alone."""
        lines = [line for route in self._of(version, learned) for line in _lines(route)]
        return "".join([CODES[version], "\n", *(f"{line}\n" for line in lines)])

    def json(self, version: int, learned: bool = False) -> dict[str, Any]:
        return {route.prefix: [_entry(route)] for route in self._of(version, learned)}

    def linux(self) -> str:
        """The routes of IPv4 in the main table of Linux, which has no addresses of the switch itself."""
        return "".join(f"{line}\n" for route in self._of(4) for line in self._linux(route))

    def _of(self, version: int, learned: bool = False) -> Iterator[FrrRoute]:
        routes = (route for route in self._routes if route.route.prefix.version == version)
        return (route for route in routes if not (learned and route.connected))

    def _shown(self, route: VirtualRoute) -> FrrRoute:
        if route.as_path is None:
            devices = [FrrHop(name, None) for name, address in self._addresses if address.network == route.prefix]
            return FrrRoute(route, tuple(devices[:1]), 0 if devices else INTERNAL, self._age_s)
        peers = [self._peers[name] for name in route.interfaces if name in self._peers]
        internal = any(peer.session.remote_as == self._asn for peer in peers)
        ages = [peer.uptime_s or 0 for peer in peers]
        distance = INTERNAL if internal else EXTERNAL
        return FrrRoute(route, tuple(map(_hop, peers)), distance, max(ages, default=self._age_s))

    def _linux(self, route: FrrRoute) -> Iterator[str]:
        prefix = route.prefix.removesuffix("/32")
        if route.connected:
            source = next(str(address.ip) for _, address in self._addresses if address.network == route.route.prefix)
            if prefix == route.prefix:
                yield f"{prefix} dev {route.hops[0].interface} proto kernel scope link src {source} "
        elif len(route.hops) == 1:
            yield f"{prefix} {_via(route.hops[0])} proto bgp metric {route.distance} "
        elif not route.hops:
            yield f"blackhole {prefix} proto bgp metric {route.distance} "
        else:
            yield f"{prefix} proto bgp metric {route.distance} "
            yield from (f"\tnexthop {_via(hop)} weight 1 " for hop in route.hops)


def _hop(peer: FrrPeer) -> FrrHop:
    numbered = not isinstance(peer.session.peer, str)
    return FrrHop(peer.device or "", peer.name if numbered else PEER_LINK_LOCAL)


def _via(hop: FrrHop) -> str:
    family = "inet6 " if hop.address is not None and ":" in hop.address else ""
    return f"via {family}{hop.address} dev {hop.interface}"


def _lines(route: FrrRoute) -> Iterator[str]:
    age = uptime_text(route.age_s)
    if route.connected:
        yield f"C>* {route.prefix} is directly connected, {route.hops[0].interface}, {age}"
        return
    begin = f"B>* {route.prefix} [{route.distance}/{route.route.med}] "
    hops = [f"via {hop.address}, {hop.interface}, weight 1, {age}" for hop in route.hops]
    first, *others = hops or [f"{BLACKHOLE}, {age}"]
    yield begin + first
    yield from (f"{'  *':<{len(begin)}}{hop}" for hop in others)


def _entry(route: FrrRoute) -> Mapping[str, Any]:
    return {
        "prefix": route.prefix,
        "prefixLen": route.route.prefix.prefixlen,
        "protocol": "connected" if route.connected else "bgp",
        "vrfId": 0,
        "vrfName": "default",
        "selected": True,
        "destSelected": True,
        "distance": route.distance,
        "metric": route.route.med,
        "installed": True,
        "table": MAIN_TABLE,
        "uptime": uptime_text(route.age_s),
        "nexthops": [*map(_nexthop, route.hops)]
        or [{"fib": True, "unreachable": True, "blackhole": True, "active": True}],
    }


def _nexthop(hop: FrrHop) -> Mapping[str, Any]:
    if hop.address is None:
        return {"fib": True, "directlyConnected": True, "interfaceName": hop.interface, "active": True}
    family = "ipv6" if ":" in hop.address else "ipv4"
    return {"fib": True, "ip": hop.address, "afi": family, "interfaceName": hop.interface, "active": True, "weight": 1}
