"""Routes of a virtual switch with EOS, as its show commands have them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from ipaddress import ip_interface
from typing import Any

from railfab.platforms.eos.bgp_shows import peer_states
from railfab.platforms.eos.names import native_name
from railfab.platforms.eos.port_state import shown_interfaces
from railfab.platforms.twin_face import VirtualDevice, VirtualRoute

Json = dict[str, Any]
EXTERNAL_DISTANCE = 200
"""Distance of routes of BGP that EOS has unless it is configured, of external peers too."""
CODES = """\
Codes: C - connected, S - static, K - kernel,
       O - OSPF, IA - OSPF inter area, E1 - OSPF external type 1,
       E2 - OSPF external type 2, N1 - OSPF NSSA external type 1,
       N2 - OSPF NSSA external type2, B - Other BGP Routes,
       B I - iBGP, B E - eBGP, R - RIP, I L1 - IS-IS level 1,
       I L2 - IS-IS level 2, O3 - OSPFv3, A B - BGP Aggregate,
       A O - OSPF Summary, NG - Nexthop Group Static Route,
       V - VXLAN Control Service, M - Martian,
       DH - DHCP client installed default route,
       DP - Dynamic Policy Route, L - VRF Leaked,
       G  - gRIBI, RC - Route Cache Route
""".splitlines()


def active_routes(device: VirtualDevice, version: int = 4) -> list[VirtualRoute]:
    """The active routes over interfaces, loopbacks among them, in the order of their prefixes. version: of IP."""
    loopbacks = {
        ip_interface(address).network: (each.name,)
        for each in shown_interfaces(device)
        if each.port is None
        for address in each.addresses(version)
    }
    routes = [
        route._replace(interfaces=route.interfaces or loopbacks.get(route.prefix, ()))
        for route in device.routes()
        if route.prefix.version == version
    ]
    held = (route for route in routes if route.interfaces)
    return sorted(held, key=lambda route: (route.prefix.network_address, route.prefix.prefixlen))


def next_hops(device: VirtualDevice) -> Mapping[str, str]:
    """The address of the peer by interface."""
    return {peer.interface: peer.address.partition("%")[0] for peer in peer_states(device) if peer.interface}


def routes_json(routes: Sequence[VirtualRoute], hops: Mapping[str, str]) -> Json:
    return {"routes": {str(route.prefix): _json(route, hops) for route in routes}}


def routes_text(routes: Sequence[VirtualRoute], hops: Mapping[str, str]) -> Iterator[str]:
    yield "VRF: default"
    yield from CODES
    yield ""
    yield "Gateway of last resort is not set"
    yield ""
    for route in routes:
        names = [native_name(name) for name in route.interfaces]
        if route.as_path is None:
            yield f" C        {route.prefix} is directly connected, {names[0]}"
            continue
        head = f" B E      {route.prefix} [{EXTERNAL_DISTANCE}/{route.med}]"
        for place, name in enumerate(names):
            yield f"{head if place == 0 else ' ' * len(head)} via {hops.get(name, name)}, {name}"
    yield ""


def _json(route: VirtualRoute, hops: Mapping[str, str]) -> Json:
    names = [native_name(name) for name in route.interfaces]
    if route.as_path is None:
        return {"routeType": "connected", "vias": [{"nexthopAddr": "", "interface": name} for name in names]}
    vias = [{"nexthopAddr": hops.get(name, ""), "interface": name} for name in names]
    return {"routeType": "eBGP", "preference": EXTERNAL_DISTANCE, "metric": route.med, "vias": vias}
