"""FRR of a virtual switch: what `vtysh -c` answers, in text and JSON.

Layouts: FRR 8.4.4, recorded. Messages and memory are not counted: numbers of them are 0 in a table, and no keys in
JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple
from zlib import crc32

from railfab.device import IpInterface, ObservedBgpSession
from railfab.platforms.shared.linux_files import CommandFailed
from railfab.platforms.shared.virtual_frr_peers import OWN_LINK_LOCAL, PEER_LINK_LOCAL, FrrPeer, uptime_text
from railfab.platforms.shared.virtual_frr_routes import FrrRoutes
from railfab.platforms.shared.virtual_readings import SwitchReadings
from railfab.platforms.twin_face import VirtualDevice

FAMILIES = {
    "ipv4-unicast": ("ipv4Unicast", "IPv4 Unicast"),
    "ipv6-unicast": ("ipv6Unicast", "IPv6 Unicast"),
    "l2vpn-evpn": ("l2VpnEvpn", "L2VPN EVPN"),
}
"""Key and title of each address family."""
HEADER = "V         AS   MsgRcvd   MsgSent   TblVer  InQ OutQ  Up/Down State/PfxRcd   PfxSnt Desc"
NAME_WIDTH = 15
"""Least width of the names of peers."""
BFD_TITLES = ("SessionId", "LocalAddress", "PeerAddress", "Status")
_ROUTES = re.compile(r"show ip(?P<six>v6)? route(?P<bgp> bgp)?(?P<json> json)?")
_SUMMARY = re.compile(r"show (?:(?:ip )?bgp|bgp (?P<family>ipv[46]) unicast) summary(?P<json> json)?")


class Speaker(NamedTuple):
    """The BGP speaker of the default VRF."""

    router_id: str
    asn: int


class VirtualFrr:
    """FRR of a virtual switch. addresses: of the switch, with their devices.

    device_name: from the name of an interface in a model to that on the switch.
    """

    def __init__(
        self,
        device: VirtualDevice,
        speaker: Speaker,
        addresses: Sequence[tuple[str, IpInterface]],
        device_name: Callable[[str], str] = str,
    ) -> None:
        self._device = device
        self._speaker = speaker
        self._addresses = addresses
        self._device_name = device_name

    def answer(self, command: str) -> str:
        """The answer to a command, written in full. Raises CommandFailed for any that is not served."""
        if match := _SUMMARY.fullmatch(command):
            family = f"{match['family']}-unicast" if match["family"] else None
            return self._summary_json(family) if match["json"] else self._summary(family)
        if match := _ROUTES.fullmatch(command):
            version = 6 if match["six"] else 4
            routes = self.routes()
            learned = match["bgp"] is not None
            return _text(routes.json(version, learned)) if match["json"] else routes.text(version, learned)
        match command:
            case "show bgp vrf all neighbors json":
                return _text(self._neighbors())
            case "show bfd peers json":
                return _text([*map(self._bfd, self._bfd_peers())])
            case "show bfd peers brief":
                return self._bfd_brief()
        raise CommandFailed(f"% Unknown command: {command}")

    def peers(self, family: str | None = None) -> list[FrrPeer]:
        """The sessions of the default VRF; those of an address family."""
        readings = SwitchReadings(self._device)
        counts = readings.by("fabric_bgp_prefixes", "peer", "afi_safi", "direction")
        transitions = readings.by("fabric_bgp_established_transitions_total", "peer")
        established = readings.by("fabric_bgp_last_established_timestamp_seconds", "peer")
        peers = [
            FrrPeer(
                name=self._name(session),
                device=self._device_name(session.interface) if session.interface else None,
                session=session,
                timing=timing,
                transitions=int(transitions.get((timing.peer,), 0)),
                established_s=established.get((timing.peer,)),
                prefixes={
                    each: (int(counts[timing.peer, each, "accepted"]), int(counts[timing.peer, each, "sent"]))
                    for each in FAMILIES
                    if (timing.peer, each, "accepted") in counts
                },
            )
            for session, timing in zip(self._device.observe().sessions, self._device.sessions(), strict=False)
        ]
        return [peer for peer in peers if family is None or family in peer.prefixes]

    def routes(self) -> FrrRoutes:
        """The active routes."""
        return FrrRoutes(
            self._device.routes(),
            peers=self.peers(),
            addresses=self._addresses,
            asn=self._speaker.asn,
            started_s=self._device.chassis().started_s,
        )

    def _name(self, session: ObservedBgpSession) -> str:
        return self._device_name(session.peer) if isinstance(session.peer, str) else str(session.peer)

    def _summary_json(self, family: str | None) -> str:
        if family is not None:
            return _text(self._family_summary(family))
        shown = {key: self._family_summary(each) for each, (key, _) in FAMILIES.items()}
        return _text({key: summary for key, summary in shown.items() if summary["peerCount"]})

    def _family_summary(self, family: str) -> dict[str, Any]:
        peers = self.peers(family)
        return {
            "routerId": self._speaker.router_id,
            "as": self._speaker.asn,
            "vrfId": 0,
            "vrfName": "default",
            "peerCount": len(peers),
            "peers": {peer.name: _summary(peer, family, self._speaker.asn) for peer in peers},
            "failedPeers": sum(not peer.session.established for peer in peers),
            "displayedPeers": len(peers),
            "totalPeers": len(peers),
            "dynamicPeers": 0,
        }

    def _summary(self, family: str | None) -> str:
        if family is not None:
            return self._family_table(family)
        titles = ((each, title) for each, (_, title) in FAMILIES.items() if self.peers(each))
        tables = (f"\n{title} Summary (VRF default):\n{self._family_table(each)}" for each, title in titles)
        return "".join(tables)

    def _family_table(self, family: str) -> str:
        peers = self.peers(family)
        names = [peer.shown_name for peer in peers]
        width = max([NAME_WIDTH, *map(len, names)])
        header = f"{'Neighbor':<{width}} {HEADER}"
        rows = [f"{name:<{width}} {_row(peer, family)}" for name, peer in zip(names, peers, strict=True)]
        identity = f"BGP router identifier {self._speaker.router_id}, local AS number {self._speaker.asn} vrf-id 0"
        return "\n".join([identity, "", header, *rows, "", f"Total number of neighbors {len(peers)}", ""])

    def _neighbors(self) -> dict[str, Any]:
        shown: dict[str, Any] = {}
        for peer in self.peers():
            vrf = peer.session.network_instance
            shown.setdefault(vrf, {"vrfId": 0, "vrfName": vrf})[peer.name] = _neighbor(peer, self._speaker)
        return shown

    def _bfd_peers(self) -> Iterator[FrrPeer]:
        return (peer for peer in self.peers() if peer.session.bfd_up is not None)

    def _bfd(self, peer: FrrPeer) -> dict[str, Any]:
        """A BFD session, as `show bfd peers json` has it. Timers of the far end are known while it is up."""
        timing, interface = peer.timing, peer.session.interface
        local, far = self._ends(peer)
        status = "up" if peer.session.bfd_up else "down"
        shown = {"multihop": False, "peer": far, "local": local, "vrf": peer.session.network_instance}
        shown |= {"interface": self._device_name(interface)} if interface else {}
        shown |= {"id": _session_id(peer), "status": status, "transmit-interval": timing.bfd_transmit_ms}
        if timing.bfd_remote_receive_ms is not None:
            shown["remote-receive-interval"] = timing.bfd_remote_receive_ms
            shown["remote-detect-multiplier"] = timing.bfd_remote_multiplier
        return shown

    def _bfd_brief(self) -> str:
        peers = [*self._bfd_peers()]
        lines = [f"Session count: {len(peers)}", _brief(BFD_TITLES), _brief(["=" * len(title) for title in BFD_TITLES])]
        for peer in peers:
            status = "up" if peer.session.bfd_up else "down"
            lines.append(_brief((str(_session_id(peer)), *self._ends(peer), status)))
        return "\n".join(lines)

    def _ends(self, peer: FrrPeer) -> tuple[str, str]:
        """The addresses of both ends of a session."""
        if isinstance(peer.session.peer, str):
            return OWN_LINK_LOCAL, PEER_LINK_LOCAL
        near = (address for _, address in self._addresses if peer.session.peer in address.network)
        return str(next(near).ip), peer.name


def _summary(peer: FrrPeer, family: str, asn: int) -> dict[str, Any]:
    """A peer of `show bgp summary json`."""
    session, (received, sent) = peer.session, peer.prefixes[family]
    up_s = peer.uptime_s
    shown: dict[str, Any] = {"hostname": session.neighbor_device} if session.neighbor_device else {}
    shown |= {"remoteAs": session.remote_as, "localAs": asn, "version": 4, "peerUptime": uptime_text(up_s)}
    shown |= {"peerUptimeMsec": (up_s or 0) * 1000, "pfxRcd": received, "pfxSnt": sent, "state": peer.state}
    if session.established and peer.established_s is not None:
        shown["peerUptimeEstablishedEpoch"] = int(peer.established_s)
    shown["peerState"] = "OK" if peer.timing.enabled else "Admin"
    shown["connectionsEstablished"] = peer.transitions
    shown["connectionsDropped"] = peer.transitions - session.established
    shown["idType"] = "interface" if isinstance(session.peer, str) else f"ipv{session.peer.version}"
    return shown


def _row(peer: FrrPeer, family: str) -> str:
    """The columns of a peer in a summary, after its name."""
    received, sent = peer.prefixes[family]
    disabled = "" if peer.timing.enabled else " (Admin)"
    state = str(received) if peer.session.established else f"{peer.state}{disabled}"
    counted = f"{0:>9} {0:>9} {0:>8} {0:>4} {0:>4}"
    return f"4 {peer.session.remote_as!s:>10} {counted} {uptime_text(peer.uptime_s):>8} {state:>12} {sent:>8} N/A"


def _neighbor(peer: FrrPeer, speaker: Speaker) -> dict[str, Any]:
    """A peer of `show bgp vrf all neighbors json`."""
    session = peer.session
    shown: dict[str, Any] = {"remoteAs": session.remote_as, "localAs": speaker.asn, "bgpState": peer.state}
    if session.neighbor_device is not None:
        shown["hostname"] = session.neighbor_device
    if session.established:
        shown |= {"remoteRouterId": peer.timing.peer_router_id, "localRouterId": speaker.router_id}
        shown["addressFamilyInfo"] = {
            FAMILIES[family][0]: {"acceptedPrefixCounter": received, "sentPrefixCounter": sent}
            for family, (received, sent) in peer.prefixes.items()
        }
    if session.bfd_up is not None:
        shown["peerBfdInfo"] = {"type": "single hop", "status": "Up" if session.bfd_up else "Down"}
    return shown


def _session_id(peer: FrrPeer) -> int:
    """The discriminator of a BFD session, which is any number but 0."""
    return crc32(peer.name.encode()) or 1


def _brief(cells: Sequence[str]) -> str:
    identifier, local, far, status = cells
    return f"{identifier:<10} {local:<40} {far:<40}{status:<15}"


def _text(shown: object) -> str:
    return json.dumps(shown, indent=2)
