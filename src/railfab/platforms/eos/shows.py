"""Show commands of a virtual switch with EOS about the system and its neighbours, as text and as JSON.

Keys of JSON: those that ANTA and NAPALM read from switches. Texts: as ntc-templates has them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from railfab.device import DEFAULT_INSTANCE, Family
from railfab.platforms.eos.answers import answer, json_text, require_json, unknown
from railfab.platforms.eos.bgp_shows import EosPeer, local_speaker, neighbor_json, peer_states, vrf_json
from railfab.platforms.eos.interface_shows import EosInterfaceShows
from railfab.platforms.eos.names import native_name
from railfab.platforms.eos.port_state import full_name, mac_address, place, short_name
from railfab.platforms.eos.queue_shows import EosQueueShows
from railfab.platforms.eos.route_shows import active_routes, next_hops, routes_json, routes_text
from railfab.platforms.shared.virtual_addresses import mac_address as system_mac
from railfab.platforms.twin_face import VirtualArpEntry, VirtualDevice, VirtualNeighbor, VirtualRoute

Json = dict[str, Any]

LLDP_TTL_S, LLDP_INTERVAL_S = 120, 30
SUMMARY_HEAD = "  Neighbor                 V AS           MsgRcvd   MsgSent  InQ OutQ  Up/Down State   PfxRcd PfxAcc"


class EosShows(EosInterfaceShows, EosQueueShows):
    """Commands that show state; EosCli derives from it."""

    device: VirtualDevice

    # System

    def uptime_s(self) -> float:
        """Time since the switch booted [s]."""
        return time.time() - self.device.chassis().started_s

    def show_version(self, form: str = "text") -> str:
        chassis = self.device.chassis()
        mac, version = _dotted(system_mac(chassis.name)), self.device.images.release
        facts = {
            "mfgName": "Arista",
            "modelName": chassis.model,
            "hardwareRevision": "",
            "serialNumber": "",
            "systemMacAddress": mac,
            "version": version,
            "architecture": "x86_64",
            "internalVersion": version,
            "bootupTimestamp": chassis.started_s,
            "uptime": self.uptime_s(),
            "memTotal": 0,
            "memFree": 0,
        }
        hours, minutes = divmod(int(self.uptime_s()) // 60, 60)
        return answer(
            form,
            lambda: facts,
            lambda: [
                f"Arista {chassis.model}",
                "Hardware version:    ",
                "Serial number:       ",
                f"System MAC address:  {mac}",
                "",
                f"Software image version: {version}",
                "Architecture:           x86_64",
                "",
                f"Uptime:                 {hours} hours and {minutes} minutes",
            ],
        )

    def show_hostname(self, form: str = "text") -> str:
        name = self.device.chassis().system_name
        lines = [f"Hostname: {name}", f"FQDN:     {name}"]
        return answer(form, lambda: {"hostname": name, "fqdn": name}, lambda: lines)

    def show_route_summary(self, form: str = "text") -> str:
        require_json(form)
        counts = {each.family: each for each in self.device.chassis().routes}
        return json_text({"vrfs": {"default": {"totalRoutes": counts[Family.IPV4.value].active}}})

    def show_routes(self, form: str = "text") -> str:
        return self._routes(form, active_routes(self.device))

    def show_bgp_routes(self, form: str = "text") -> str:
        return self._routes(form, self._learned())

    def show_ipv6_bgp_routes(self, form: str = "text") -> str:
        require_json(form)
        return json_text(routes_json(self._learned(6), next_hops(self.device)))

    def _learned(self, version: int = 4) -> list[VirtualRoute]:
        return [route for route in active_routes(self.device, version) if route.as_path is not None]

    def _routes(self, form: str, routes: Sequence[VirtualRoute]) -> str:
        hops = next_hops(self.device)
        return answer(
            form,
            lambda: {"vrfs": {DEFAULT_INSTANCE: routes_json(routes, hops)}},
            lambda: routes_text(routes, hops),
        )

    # Neighbours

    def _heard(self, interface: str = "") -> dict[str, tuple[VirtualNeighbor, ...]]:
        """Neighbours by port."""
        ports = {native_name(port.name): port.neighbors for port in self.device.ports()}
        heard = {name: ports[name] for name in sorted(ports, key=place)}
        if not interface:
            return heard
        name = full_name(interface)
        if name not in heard:
            raise unknown()
        return {name: heard[name]}

    def show_lldp(self, interface: str = "", form: str = "text") -> str:
        heard = [(port, each) for port, neighbors in self._heard(interface).items() for each in neighbors]
        changed_s = max((each.since_s for _, each in heard), default=self.device.chassis().started_s)
        rows = (f"{short_name(port):<10} {each.name:<30} {each.port:<26} {LLDP_TTL_S}" for port, each in heard)
        return answer(
            form,
            lambda: {
                "tablesLastChangeTime": changed_s,
                "tablesInserts": len(heard),
                "lldpNeighbors": [
                    {"port": port, "neighborDevice": each.name, "neighborPort": each.port, "ttl": LLDP_TTL_S}
                    for port, each in heard
                ],
            },
            lambda: [
                f"Last table change time   : {_clock(time.time() - changed_s)} ago",
                f"Number of table inserts  : {len(heard)}",
                "Number of table deletes  : 0",
                "Number of table drops    : 0",
                "Number of table age-outs : 0",
                "",
                "Port       Neighbor Device ID             Neighbor Port ID           TTL",
                *rows,
            ],
        )

    def show_lldp_detail(self, interface: str = "", form: str = "text") -> str:
        heard = self._heard(interface)
        return answer(
            form,
            lambda: {"lldpNeighbors": {port: {"lldpNeighborInfo": [*map(_lldp_json, heard[port])]} for port in heard}},
            lambda: (line for port in heard for line in _lldp_text(port, heard[port])),
        )

    def show_arp(self, form: str = "text") -> str:
        require_json(form)
        return json_text({"vrfs": {"default": {"ipV4Neighbors": self._resolved(4)}}})

    def show_nd(self, form: str = "text") -> str:
        require_json(form)
        return json_text({"vrfs": {"default": {"ipV6Neighbors": self._resolved(6)}}})

    def _resolved(self, version: int) -> list[Json]:
        entries = [(port.name, entry) for port in self.device.ports() for entry in port.resolved]
        return [_arp(name, entry) for name, entry in entries if entry.address.version == version]

    # Sessions

    def show_bgp_neighbors(self, form: str = "text") -> str:
        return self._neighbors(form, lambda _: True)

    def show_ip_bgp_neighbors(self, form: str = "text") -> str:
        return self._neighbors(form, lambda peer: not peer.is_ipv6)

    def show_ipv6_bgp_peers(self, form: str = "text") -> str:
        return self._neighbors(form, lambda peer: peer.is_ipv6)

    def _neighbors(self, form: str, is_shown: Callable[[EosPeer], bool]) -> str:
        require_json(form)
        speaker = local_speaker(self.device.running())
        by_vrf = self._by_vrf(is_shown).items()
        return json_text(
            {"vrfs": {vrf: {"peerList": [neighbor_json(each, speaker) for each in peers]} for vrf, peers in by_vrf}}
        )

    def show_bgp_summary(self, form: str = "text") -> str:
        return self._summary(form, lambda peer: peer.carries(Family.IPV4))

    def show_ipv6_bgp_summary(self, form: str = "text") -> str:
        return self._summary(form, lambda peer: peer.carries(Family.IPV6))

    def _summary(self, form: str, is_shown: Callable[[EosPeer], bool]) -> str:
        speaker, by_vrf = local_speaker(self.device.running()), self._by_vrf(is_shown)
        return answer(
            form,
            lambda: {"vrfs": {vrf: vrf_json(vrf, peers, speaker) for vrf, peers in by_vrf.items()}},
            lambda: [
                "BGP summary information for VRF default",
                f"Router identifier {speaker.router_id}, local AS number {speaker.asn}",
                "Neighbor Status Codes: m - Under maintenance",
                SUMMARY_HEAD,
                *(peer.summary_line() for peer in by_vrf[DEFAULT_INSTANCE]),
            ],
        )

    def show_bfd(self, form: str = "text") -> str:
        require_json(form)
        return json_text({"vrfs": {vrf: _bfd(peers) for vrf, peers in self._by_vrf(lambda _: True).items()}})

    def _by_vrf(self, is_shown: Callable[[EosPeer], bool]) -> dict[str, list[EosPeer]]:
        """The sessions that are shown, by VRF."""
        vrfs: dict[str, list[EosPeer]] = {DEFAULT_INSTANCE: []}
        for peer in peer_states(self.device):
            of_vrf = vrfs.setdefault(peer.vrf, [])
            if is_shown(peer):
                of_vrf.append(peer)
        return vrfs


def _dotted(mac: str) -> str:
    """A MAC address as EOS writes it."""
    digits = mac.replace(":", "").lower()
    return ".".join(digits[start : start + 4] for start in (0, 4, 8))


def _age_s(neighbor: VirtualNeighbor) -> int:
    """Time since its last frame, of which it sends one in LLDP_INTERVAL_S [s]."""
    return int(time.time() - neighbor.since_s) % LLDP_INTERVAL_S


def _lldp_json(neighbor: VirtualNeighbor) -> Json:
    interface = {
        "interfaceIdType": "interfaceName",
        "interfaceId": f'"{neighbor.port}"',
        "interfaceId_v2": neighbor.port,
        "interfaceDescription": neighbor.description,
    }
    return {
        "systemName": neighbor.name,
        "chassisIdType": "macAddress",
        "chassisId": _dotted(system_mac(neighbor.name)),
        "neighborDiscoveryTime": neighbor.since_s,
        "lastContactTime": time.time() - _age_s(neighbor),
        "lastChangeTime": neighbor.since_s,
        "ttl": LLDP_TTL_S,
        "neighborInterfaceInfo": interface,
    }


def _lldp_text(port: str, neighbors: tuple[VirtualNeighbor, ...]) -> Iterator[str]:
    yield f"Interface {port} detected {len(neighbors)} LLDP neighbors:"
    yield ""
    for each in neighbors:
        chassis, ago = _dotted(system_mac(each.name)), _clock(time.time() - each.since_s)
        yield f'  Neighbor {chassis}/"{each.port}", age {_age_s(each)} seconds'
        yield f"  Discovered {ago} ago; Last changed {ago} ago"
        yield "  - Chassis ID type: MAC address (4)"
        yield f"    Chassis ID     : {chassis}"
        yield "  - Port ID type: Interface name (5)"
        yield f'    Port ID     : "{each.port}"'
        yield f"  - Time To Live: {LLDP_TTL_S} seconds"
        yield f'  - System Name: "{each.name}"'
        yield ""


def _clock(seconds: float) -> str:
    minutes, rest = divmod(max(0, int(seconds)), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"


def _bfd(peers: list[EosPeer]) -> Json:
    shown: Json = {"ipv4Neighbors": {}, "ipv6Neighbors": {}}
    for peer in peers:
        if peer.bfd_up is not None:
            stats = {peer.interface or "": {"status": "up" if peer.bfd_up else "down"}}
            family = "ipv6Neighbors" if peer.is_ipv6 else "ipv4Neighbors"
            address = peer.address.partition("%")[0]
            shown[family].setdefault(address, {"peerStats": {}})["peerStats"].update(stats)
    return shown


def _arp(port: str, entry: VirtualArpEntry) -> Json:
    mac = mac_address(entry.device, entry.port)
    return {"hwAddress": mac, "address": str(entry.address), "interface": native_name(port), "age": 0}
