"""Show commands for BGP, addresses and what lldpd hears on a virtual Cumulus Linux switch."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from ipaddress import ip_interface

from railfab.device import ObservedInterface
from railfab.platforms.cumulus.names import device_name
from railfab.platforms.cumulus.nodes import at
from railfab.platforms.cumulus.nvue_tables import in_form, table, tree
from railfab.platforms.cumulus.shell_login import CumulusLogin
from railfab.platforms.cumulus.shell_ports import DEFAULT_MTU
from railfab.platforms.shared import virtual_lldpd
from railfab.platforms.shared.json_tree import Json
from railfab.platforms.shared.virtual_frr import Speaker, VirtualFrr
from railfab.platforms.shared.virtual_frr_peers import FrrPeer

LOOPBACK = {"ifname": "lo", "flags": ["LOOPBACK", "UP", "LOWER_UP"], "operstate": "UNKNOWN", "mtu": 65536}
PEERS = (
    *("Neighbor", "AS", "State", "PeerEstablishedTime", "UpTime", "MsgRcvd", "MsgSent"),
    *("Afi-Safi", "PfxSent", "PfxRcvd"),
)
PEER_LEGEND = """
AS - Remote Autonomous System, PeerEstablishedTime - Peer established time in
UTC format, UpTime - Last connection reset time in days,hours:min:sec, Afi-Safi
- Address family, PfxSent - Transmitted prefix counter, PfxRcvd - Recieved
prefix counter

"""
SPEAKER = ("autonomous-system", "router-id", "graceful-shutdown")
DEFAULTS = {"graceful-shutdown": "off"}


class CumulusRoutingShows(CumulusLogin):
    """The commands for neighbours and addresses."""

    def show_bgp(self, form: str = "text") -> str:
        stated = at(self.running_tree(), "router", "bgp")
        held = {name: stated.get(name, DEFAULTS.get(name, "")) for name in SPEAKER}
        return in_form(form, held, tree(held, stated))

    def show_neighbors(self) -> str:
        rows = [row for peer in self.frr().peers() for row in _peer_rows(peer)]
        return f"{PEER_LEGEND}{table(PEERS, rows)}"

    def vtysh(self, command: str) -> str:
        return self.frr().answer(command)

    def linux_routes(self) -> str:
        return self.frr().routes().linux()

    def frr(self) -> VirtualFrr:
        stated = self.running_tree()
        speaker = at(stated, "router", "bgp")
        addresses = [
            (name, ip_interface(f"{each['local']}/{each['prefixlen']}"))
            for name, settings in at(stated, "interface").items()
            for each in _addresses(settings)
        ]
        identity = Speaker(str(speaker.get("router-id", "")), int(speaker.get("autonomous-system", 0)))
        return VirtualFrr(self.device, identity, addresses, device_name)

    def links(self) -> list[Json]:
        configured = at(self.running_tree(), "interface")
        links = [_link(interface, configured) for interface in self.device.observe().interfaces]
        return [
            {**LOOPBACK, "addr_info": [*_addresses(at(configured, "lo"))]},
            *(link for link in links if link["ifname"] != "lo"),
        ]

    def heard(self) -> str:
        """Neighbours of LLDP, in the JSON of lldpcli."""
        return virtual_lldpd.as_json(self.device.ports())

    def heard_details(self) -> str:
        return virtual_lldpd.details(self.device.ports(), "ifname")


def _peer_rows(peer: FrrPeer) -> Iterator[tuple[str, ...]]:
    """The rows of a neighbour: one for each of its families. Messages are not counted."""
    state = peer.state.lower()
    since, uptime = "", ""
    if peer.session.established and peer.established_s is not None:
        since = f"{datetime.fromtimestamp(peer.established_s, UTC):%Y-%m-%dT%H:%M:%SZ}"
        uptime = _uptime(peer.uptime_s or 0)
    first = (peer.name, str(peer.session.remote_as), state, since, uptime, "0", "0")
    for family, (received, sent) in peer.prefixes.items():
        yield (*first, family, str(sent), str(received))
        first = ("",) * len(first)  # type: ignore[assignment]


def _uptime(seconds: int) -> str:
    days, rest = divmod(seconds, 86_400)
    clock = f"{rest // 3600}:{rest // 60 % 60:02d}:{rest % 60:02d}"
    return f"{days} days, {clock}" if days else clock


def _link(interface: ObservedInterface, configured: Json) -> Json:
    name = device_name(interface.name)
    flags = ["BROADCAST", "MULTICAST", *(["UP"] if interface.enabled is not False else [])]
    return {
        "ifname": name,
        "flags": [*flags, *(["LOWER_UP"] if interface.oper_up else [])],
        "mtu": interface.mtu_bytes or DEFAULT_MTU,
        "operstate": "UP" if interface.oper_up else "DOWN",
        "addr_info": list(_addresses(at(configured, name))),
    }


def _addresses(settings: Json) -> Iterator[Json]:
    for family, kind in (("ipv4", "inet"), ("ipv6", "inet6")):
        for prefix in at(settings, family, "address"):
            address, _, length = prefix.partition("/")
            yield {"family": kind, "local": address, "prefixlen": int(length or 32), "scope": "global"}
