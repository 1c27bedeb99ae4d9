"""Neighbours and sessions, as a virtual switch with NX-OS shows them.

Texts: recorded by ntc-templates and NAPALM. Messages are not counted on a virtual switch, and tables have no versions:
their numbers are 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from railfab.device import DEFAULT_INSTANCE, BgpNeighbor, DeviceModel, Family, ObservedBgpSession
from railfab.platforms.nxos.names import device_name, vrf_name
from railfab.platforms.nxos.show_rows import Json, address, bfd_row, lldp_row, session_row, short_name, table
from railfab.platforms.nxos.show_text import as_json, as_lines, duration, is_json, require_json, require_text, since
from railfab.platforms.shared.virtual_cli import CliRefusal
from railfab.platforms.shared.virtual_readings import SwitchReadings
from railfab.platforms.twin_face import VirtualDevice, VirtualNeighbor, VirtualSession

HOLD_TIME_S = 120
MOST_BEFORE_COUNTERS = 23
"""Columns of the neighbour and its AS number; counters of a longer row stand in the next one."""
BYTES_OF_A_PATH = 56
FAMILIES = {"ipv4": (Family.IPV4, "IPv4 Unicast"), "ipv6": (Family.IPV6, "IPv6 Unicast")}
_CAPABILITIES = """Capability codes:
  (R) Router, (B) Bridge, (T) Telephone, (C) DOCSIS Cable Device
  (W) WLAN Access Point, (P) Repeater, (S) Station, (O) Other
Device ID            Local Intf      Hold-time  Capability  Port ID  """
_NEIGHBOR = """\
Chassis id: {chassis_id}
Port id: {port_id}
Local Port id: {l_port_id}
Port Description: {port_desc}
System Name: {sys_name}
System Description: Cisco Nexus Operating System (NX-OS) Software
Time remaining: {ttl} seconds
System Capabilities: B, R
Enabled Capabilities: B, R
Management Address: not advertised
Management Address IPV6: not advertised
Vlan ID: not advertised

"""
_BFD = (
    "OurAddr         NeighAddr       LD/RD                 RH/RS           Holdown(mult)     State       "
    "Int                   Vrf                              Type"
)
_BGP = "Neighbor        V    AS MsgRcvd MsgSent   TblVer  InQ OutQ Up/Down  State/PfxRcd"


@dataclass(frozen=True, slots=True)
class NxosPeer:
    """A BGP session. configured, timing: None where the speaker has none of its name."""

    session: ObservedBgpSession
    configured: BgpNeighbor | None
    timing: VirtualSession | None
    established_s: float | None
    transitions: int
    prefixes: dict[tuple[str, str], int]

    @property
    def up_s(self) -> float | None:
        """Unix time since which it is up; None while it is not."""
        return self.established_s if self.session.established else None

    def received(self, family: Family) -> int:
        return self.prefixes.get((family.value, "received"), 0)


class RoutingShows:
    """Commands that show neighbours and sessions; NxosShows derives from it."""

    device: VirtualDevice
    model: Callable[[], DeviceModel]

    # LLDP

    def show_lldp(self, form: str = "text") -> str:
        heard = self._heard()
        if is_json(form):
            return as_json(table("nbor", [lldp_row(port, each) for port, each in heard]))
        lines = [_CAPABILITIES]
        for port, each in heard:
            name = f"{each.name:<20} " if len(each.name) <= 20 else f"{each.name}\n{'':<21}"
            lines.append(f"{name}{short_name(port):<15} {HOLD_TIME_S:<10} {'BR':<11} {each.port}")
        return as_lines([*lines, f"Total entries displayed: {len(heard)}"])

    def show_lldp_detail(self, form: str = "text") -> str:
        rows = [lldp_row(port, each) for port, each in self._heard()]
        if is_json(form):
            return as_json({**table("nbor_detail", rows), "neigh_count": len(rows)})
        shown = "\n".join(_NEIGHBOR.format_map(row) for row in rows)
        return f"{_CAPABILITIES}\n\n{shown}Total entries displayed: {len(rows)}\n"

    def _heard(self) -> list[tuple[str, VirtualNeighbor]]:
        return [(port.name, neighbor) for port in self.device.ports() for neighbor in port.neighbors]

    # BGP

    def show_bgp_sessions(self, form: str = "text") -> str:
        require_json(form)
        asn, router_id = self._speaker()
        rows = [
            {
                "vrf-name-out": vrf,
                "local-as": asn,
                "router-id": router_id,
                **table("neighbor", [session_row(peer.session) for peer in peers]),
            }
            for vrf, peers in self._by_vrf(self.peers())
        ]
        return as_json({"localas": asn, **table("vrf", rows)})

    def show_bgp_summary(self, family: str = "ipv4", vrf: str = "default", form: str = "text") -> str:
        return self._summaries([_family(family)], vrf, form)

    def show_bgp_summaries(self) -> str:
        return self._summaries(list(FAMILIES), "all", "text")

    def _summaries(self, families: Sequence[str], vrf: str, form: str) -> str:
        vrfs = [(name, peers) for name, peers in self._by_vrf(self.peers()) if vrf in ("all", name)]
        if is_json(form):
            return as_json(table("vrf", [self._summary_row(vrf, families[0], peers) for vrf, peers in vrfs]))
        shown = [self._summary(vrf, family, peers) for vrf, peers in vrfs for family in families]
        return "\n".join(map(as_lines, shown))

    def _summary(self, vrf: str, family: str, peers: Sequence[NxosPeer]) -> list[str]:
        asn, router_id = self._speaker()
        kind, title = FAMILIES[family]
        active = [peer for peer in peers if _has(peer, kind)]
        up = sum(peer.session.established for peer in active)
        head = [f"BGP summary information for VRF {vrf}, address family {title}"]
        if not active:
            return head
        return [
            *head,
            f"BGP router identifier {router_id}, local AS number {asn}",
            f"BGP table version is 0, {title} config peers {len(active)}, capable peers {up}",
            "",
            _BGP,
            *(_summary_line(peer, kind) for peer in active),
        ]

    def _summary_row(self, vrf: str, family: str, peers: Sequence[NxosPeer]) -> Json:
        asn, router_id = self._speaker()
        kind, title = FAMILIES[family]
        active = [peer for peer in peers if _has(peer, kind)]
        subfamily = {
            "safi": "1",
            "af-name": title,
            "configuredpeers": str(len(active)),
            "capablepeers": str(sum(peer.session.established for peer in active)),
            **table("neighbor", [_neighbor_row(peer, kind) for peer in active]),
        }
        rows = table("af", [{"af-id": "1" if family == "ipv4" else "2", **table("saf", [subfamily])}])
        return {"vrf-name-out": vrf, "vrf-router-id": router_id, "vrf-local-as": asn, **rows}

    def show_bgp_neighbors(self, family: str = "ipv4", peer: str = "", vrf: str = "default", form: str = "text") -> str:
        require_text(form)
        kind, title = FAMILIES[_family(family)]
        peers = [
            (number, each)
            for number, each in enumerate(self.peers(), 1)
            if _has(each, kind) and vrf in ("all", vrf_name(each.session.network_instance))
        ]
        if peer:
            peers = [(number, each) for number, each in peers if address(each.session).partition("%")[0] == peer]
        asn, _ = self._speaker()
        return "\n".join(as_lines(_neighbor_lines(each, number, asn, kind, title)) for number, each in peers)

    def peers(self) -> list[NxosPeer]:
        """The BGP sessions."""
        readings = SwitchReadings(self.device)
        established = readings.by("fabric_bgp_last_established_timestamp_seconds", "peer")
        transitions = readings.by("fabric_bgp_established_transitions_total", "peer")
        prefixes = readings.by("fabric_bgp_prefixes", "peer", "afi_safi", "direction")
        bgp = self.model().bgp
        configured = {(each.network_instance, str(each.peer)): each for each in (bgp.neighbors if bgp else ())}
        timings = {session.peer: session for session in self.device.sessions()}
        return [
            NxosPeer(
                session=session,
                configured=configured.get((session.network_instance, str(session.peer))),
                timing=timings.get(str(session.peer)),
                established_s=established.get((str(session.peer),)),
                transitions=int(transitions.get((str(session.peer),), 0)),
                prefixes={(afi, way): int(n) for (of, afi, way), n in prefixes.items() if of == str(session.peer)},
            )
            for session in self.device.observe().sessions
        ]

    def _speaker(self) -> tuple[str, str]:
        """The AS number and the router ID; empty without BGP."""
        bgp = self.model().bgp
        return (str(bgp.asn), str(bgp.router_id)) if bgp else ("", "")

    @staticmethod
    def _by_vrf(peers: Sequence[NxosPeer]) -> Iterator[tuple[str, list[NxosPeer]]]:
        instances = dict.fromkeys([DEFAULT_INSTANCE, *(peer.session.network_instance for peer in peers)])
        for instance in instances:
            yield vrf_name(instance), [peer for peer in peers if peer.session.network_instance == instance]

    # BFD

    def show_bfd(self, form: str = "text") -> str:
        peers = [peer for peer in self.peers() if peer.session.bfd_up is not None]
        rows = [bfd_row(peer.session, peer.timing, number) for number, peer in enumerate(peers, 1)]
        if is_json(form):
            return as_json(table("bfdNeighbor", rows))
        lines = [
            f"{'0.0.0.0':<15} {address(peer.session).partition('%')[0]:<15} "
            f"{row['local_disc'] + '/' + row['remote_disc']:<21} {row['remote_state']:<15} "
            f"{row['holddown'] + '(' + row['cur_detect_mult'] + ')':<17} {row['local_state']:<11} "
            f"{row['intf']:<21} {row['vrf_name']:<32} SH"
            for peer, row in zip(peers, rows, strict=True)
        ]
        return as_lines([_BFD, *lines])


def _family(word: str) -> str:
    """The family that an operator means. Raises CliRefusal."""
    families = [family for family in FAMILIES if family.startswith(word)]
    if len(families) != 1:
        raise CliRefusal("^\n% Invalid command at '^' marker.")
    return families[0]


def _has(peer: NxosPeer, family: Family) -> bool:
    return family in peer.configured.families if peer.configured else family is Family.IPV4


def _summary_line(peer: NxosPeer, family: Family) -> str:
    session = peer.session
    state = str(peer.received(family)) if session.established else session.state.capitalize()
    line = f"{address(session):<15} 4 {session.remote_as!s:>5}"
    if len(line) > MOST_BEFORE_COUNTERS:
        line += "\n" + " " * MOST_BEFORE_COUNTERS
    return f"{line} {0:>7} {0:>7} {0:>8} {0:>4} {0:>4} {since(peer.up_s):>8} {state}"


def _neighbor_row(peer: NxosPeer, family: Family) -> Json:
    return {
        "neighborid": address(peer.session),
        "neighborversion": "4",
        "neighboras": str(peer.session.remote_as),
        "time": duration(peer.up_s),
        "state": peer.session.state.capitalize(),
        "prefixreceived": str(peer.received(family)),
    }


def _neighbor_lines(peer: NxosPeer, number: int, asn: str, kind: Family, title: str) -> Iterator[str]:
    session, configured, timing = peer.session, peer.configured, peer.timing
    link = "ibgp" if str(session.remote_as) == asn else "ebgp"
    yield f"BGP neighbor is {address(session)},  remote AS {session.remote_as}, {link} link,  NxosPeer index {number}"
    if configured and configured.description:
        yield f"  Description: {configured.description}"
    yield f"  BGP version 4, remote router ID {(timing and timing.peer_router_id) or '0.0.0.0'}"
    up = f"up for {since(peer.up_s)}" if session.established else "down"
    yield f"  BGP state = {session.state.capitalize()}, {up}"
    yield f"  Neighbor vrf: {vrf_name(session.network_instance)}"
    if session.interface:
        yield f"  NxosPeer is directly attached, interface {device_name(session.interface)}"
    if session.bfd_up is not None:
        state = "Up" if session.bfd_up else "Down"
        yield f"  BFD live-detection is configured and enabled, state is {state}"
    dropped = peer.transitions - session.established
    yield f"  Connections established {peer.transitions}, dropped {dropped}"
    yield from ("", "  Message statistics:", f"{'':<30}Sent               Rcvd")
    yield f"  {'Bytes in queue:':<15} {0:>16} {0:>18}"
    yield ""
    yield f"  For address family: {title}"
    accepted = peer.prefixes.get((kind.value, "accepted"), 0)
    yield f"  {accepted} accepted paths consume {accepted * BYTES_OF_A_PATH} bytes of memory"
    yield f"  {peer.prefixes.get((kind.value, 'sent'), 0)} sent paths"
    for way, policies in (("Inbound", "import_policies"), ("Outbound", "export_policies")):
        for policy in getattr(configured, policies, ()):
            yield f"  {way} route-map configured is {policy}, handle obtained"
