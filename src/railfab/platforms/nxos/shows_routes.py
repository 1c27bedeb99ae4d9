"""Active routes of the default VRF, as a virtual switch with NX-OS shows them.

Text: recorded by ntc-templates, that of IPv6 by genieparser; keys of the JSON of the summary: recorded by a reader of
NX-API.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from ipaddress import IPv4Network

from railfab.device import DeviceModel, IpNetwork
from railfab.platforms.nxos.names import device_name
from railfab.platforms.nxos.show_rows import address, short_name, table
from railfab.platforms.nxos.show_text import as_json, as_lines, require_json, require_text, since
from railfab.platforms.nxos.shows_routing import NxosPeer
from railfab.platforms.twin_face import VirtualDevice, VirtualRoute

EXTERNAL, INTERNAL = 20, 200
"""Administrative distance of a route of eBGP and of iBGP (Nexus 9000 Unicast Routing guide, Configuring Basic BGP)."""
_HEADS = {4: 'IP Route Table for VRF "default"', 6: 'IPv6 Routing Table for VRF "default"'}
_LEGEND = """\
'*' denotes best ucast next-hop
'**' denotes best mcast next-hop
'[x/y]' denotes [preference/metric]
'%<string>' in via output denotes VRF <string>
"""


@dataclass(frozen=True, slots=True)
class NxosRoute:
    """A prefix. paths: protocol and line of each; attached: whether it is of an interface of the switch."""

    prefix: IpNetwork
    paths: tuple[tuple[str, str], ...]
    attached: bool


class RouteShows:
    """Commands that show routes; NxosShows derives from it."""

    device: VirtualDevice
    model: Callable[[], DeviceModel]
    peers: Callable[[], list[NxosPeer]]

    def show_routes(self, form: str = "text") -> str:
        return _shown(form, self._routes())

    def show_bgp_routes(self, form: str = "text") -> str:
        return _shown(form, [*self._learned()])

    def show_ipv6_bgp_routes(self, form: str = "text") -> str:
        return _shown(form, [*self._learned(6)], 6)

    def show_route_summary(self, form: str = "text") -> str:
        require_json(form)
        routes = self._routes()
        paths = Counter(protocol for route in routes for protocol, _ in route.paths)
        lengths = Counter(route.prefix.prefixlen for route in routes)
        summary = {
            "routes": str(len(routes)),
            "paths": str(paths.total()),
            **table("unicast", [{"clientnameuni": name, "best-paths": str(count)} for name, count in paths.items()]),
            **table(
                "route_count", [{"mask_len": str(length), "count": str(n)} for length, n in sorted(lengths.items())]
            ),
        }
        family = {"addrf": "ipv4", **table("summary", [summary])}
        return as_json(table("vrf", [{"vrf-name-out": "default", **table("addrf", [family])}]))

    def _routes(self) -> list[NxosRoute]:
        """Routes of interfaces, each with one of the address of the switch, and routes of BGP."""
        routes = [*self._attached(), *self._learned()]
        return sorted(routes, key=lambda route: (route.prefix.network_address, route.prefix.prefixlen))

    def _attached(self) -> Iterator[NxosRoute]:
        active = {route.prefix for route in self.device.routes() if route.as_path is None}
        started = since(self.device.chassis().started_s)
        for interface in self.model().interfaces:
            name = short_name(device_name(interface.name)).replace("loopback", "Lo")
            for each in interface.addresses:
                if each.version != 4 or each.network not in active:
                    continue
                local, direct = ((kind, f"{each.ip}, {name}, [0/0], {started}, {kind}") for kind in ("local", "direct"))
                host = IPv4Network(str(each.ip))
                if host == each.network:
                    yield NxosRoute(host, (local, direct), attached=True)
                else:
                    yield NxosRoute(IPv4Network(str(each.network)), (direct,), attached=True)
                    yield NxosRoute(host, (local,), attached=True)

    def _learned(self, version: int = 4) -> Iterator[NxosRoute]:
        bgp = self.model().bgp
        peers = {peer.session.interface: peer for peer in self.peers() if peer.session.established}
        for route in self.device.routes():
            if route.as_path is None or route.prefix.version != version or bgp is None:
                continue
            hops = [peers[interface] for interface in route.interfaces if interface in peers]
            paths = tuple((f"bgp-{bgp.asn}", _path(route, peer, str(bgp.asn))) for peer in hops)
            yield NxosRoute(route.prefix, paths, attached=False)


def _shown(form: str, routes: Iterable[NxosRoute], version: int = 4) -> str:
    """`show ip route` of these routes. version: of IP."""
    require_text(form)
    lines = [_HEADS[version], _LEGEND]
    for route in routes:
        attached = ", attached" if route.attached else ""
        lines.append(f"{route.prefix}, ubest/mbest: {len(route.paths)}/0{attached}")
        lines += [f"    *via {path}" for _, path in route.paths]
    return as_lines(lines)


def _path(route: VirtualRoute, peer: NxosPeer, asn: str) -> str:
    """A next hop of a route of BGP."""
    neighbor_asn = peer.session.remote_as
    distance, kind = (INTERNAL, "internal") if str(neighbor_asn) == asn else (EXTERNAL, "external")
    hop, port = address(peer.session).partition("%")[0], short_name(device_name(peer.session.interface or ""))
    return f"{hop}, {port}, [{distance}/{route.med}], {since(peer.up_s)}, bgp-{asn}, {kind}, tag {neighbor_asn}"
