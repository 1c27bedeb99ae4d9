"""BGP sessions of a virtual switch with EOS, as its show commands have them."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from railfab.device import Family, ObservedBgpSession
from railfab.platforms.eos.names import native_name
from railfab.platforms.eos.port_state import short_name
from railfab.platforms.shared.virtual_addresses import link_local
from railfab.platforms.shared.virtual_readings import SwitchReadings
from railfab.platforms.twin_face import VirtualDevice, VirtualSession

Json = dict[str, Any]
NO_ID = "0.0.0.0"
FAMILIES = (Family.IPV4, Family.IPV6)
_AS_NUMBER = re.compile(r"^router bgp (\S+)$", re.MULTILINE)
_ROUTER_ID = re.compile(r"^   router-id (\S+)$", re.MULTILINE)


class EosSpeaker(NamedTuple):
    """The BGP speaker of a switch; empty where it has none."""

    asn: str
    router_id: str


@dataclass(frozen=True, slots=True)
class EosPeer:
    """A session. address: of the peer, link-local with the interface of an unnumbered one. router_id: of the peer.

    since_s: Unix time at which it was established last; None while it is not. prefixes: by family and direction.
    """

    address: str
    session: ObservedBgpSession
    router_id: str
    enabled: bool
    since_s: float | None
    prefixes: Mapping[tuple[str, ...], float]

    @property
    def vrf(self) -> str:
        return self.session.network_instance

    @property
    def interface(self) -> str | None:
        return None if self.session.interface is None else native_name(self.session.interface)

    @property
    def bfd_up(self) -> bool | None:
        return self.session.bfd_up

    @property
    def is_ipv6(self) -> bool:
        return ":" in self.address

    @property
    def state(self) -> str:
        return self.session.state.capitalize()

    def received(self, family: Family) -> int:
        return int(self.prefixes.get((family.value, "received"), 0))

    def sent(self, family: Family) -> int:
        return int(self.prefixes.get((family.value, "sent"), 0))

    def carries(self, family: Family) -> bool:
        """Whether the session has this family; that of its addresses, while it is not established."""
        families = {held for held, _ in self.prefixes}
        return family.value in families if families else self.is_ipv6 == (family is Family.IPV6)

    def summary_line(self) -> str:
        """Its row of `show ip bgp summary`. Messages are not counted."""
        age = "00:00:00" if self.since_s is None else _age(time.time() - self.since_s)
        received = sum(map(self.received, FAMILIES))
        state = f"Estab   {received:<6} {received}" if self.session.established else self.state
        asn = str(self.session.remote_as)
        return f"  {self.address:<24} 4 {asn:<12} {0:>7} {0:>9} {0:>4} {0:>4} {age:>8} {state}"


def local_speaker(running: str) -> EosSpeaker:
    """The BGP speaker of a running configuration."""
    matches = [pattern.search(running) for pattern in (_AS_NUMBER, _ROUTER_ID)]
    return EosSpeaker(*(match[1] if match else "" for match in matches))


def peer_states(device: VirtualDevice) -> list[EosPeer]:
    """The sessions of a switch, in the order of its configuration."""
    readings = SwitchReadings(device)
    sessions = zip(device.observe().sessions, device.sessions(), strict=False)
    return [_peer_state(device, readings, session, known) for session, known in sessions]


def _peer_state(
    device: VirtualDevice, readings: SwitchReadings, session: ObservedBgpSession, known: VirtualSession
) -> EosPeer:
    peer = str(session.peer)
    since = readings.by("fabric_bgp_last_established_timestamp_seconds", peer=peer).get(())
    return EosPeer(
        address=_address(device.name, session),
        session=session,
        router_id=known.peer_router_id or NO_ID,
        enabled=known.enabled,
        since_s=since if session.established else None,
        prefixes=readings.by("fabric_bgp_prefixes", "afi_safi", "direction", peer=peer),
    )


def _address(device: str, session: ObservedBgpSession) -> str:
    if not isinstance(session.peer, str):
        return str(session.peer)
    return f"{link_local(device, session.peer)}%{short_name(session.peer)}"


def vrf_json(vrf: str, peers: Sequence[EosPeer], speaker: EosSpeaker) -> Json:
    """The summary of a VRF."""
    shown = {each.address: _summary_json(each) for each in peers}
    return {"vrf": vrf, "routerId": speaker.router_id, "asn": speaker.asn, "peers": shown}


def _summary_json(peer: EosPeer) -> Json:
    asn, received = str(peer.session.remote_as), sum(map(peer.received, FAMILIES))
    return {
        "peerState": peer.state,
        "asn": asn,
        "peerAsn": asn,
        "prefixReceived": received,
        "prefixAccepted": received,
        **({} if peer.since_s is None else {"upDownTime": peer.since_s}),
    }


def neighbor_json(peer: EosPeer, speaker: EosSpeaker) -> Json:
    established = {} if peer.since_s is None else {"establishedTime": time.time() - peer.since_s}
    idle = {} if peer.enabled else {"idleReason": "Administratively shut down"}
    return {
        "peerAddress": peer.address,
        **({} if peer.interface is None else {"ifName": peer.interface}),
        "asn": str(peer.session.remote_as),
        "localAsn": speaker.asn,
        "localRouterId": speaker.router_id,
        "routerId": peer.router_id,
        "state": peer.state,
        "vrf": peer.vrf,
        "prefixesReceived": peer.received(Family.IPV4),
        "prefixesSent": peer.sent(Family.IPV4),
        "v6PrefixesReceived": peer.received(Family.IPV6),
        "v6PrefixesSent": peer.sent(Family.IPV6),
        **established,
        **idle,
    }


def _age(seconds: float) -> str:
    days, rest = divmod(max(0, int(seconds)), 86400)
    if days:
        return f"{days}d{rest // 3600:02}h"
    return f"{rest // 3600:02}:{rest % 3600 // 60:02}:{rest % 60:02}"
