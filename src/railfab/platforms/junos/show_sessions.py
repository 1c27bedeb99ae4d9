"""BGP and BFD of a virtual Junos switch: `show bgp summary`, `show bgp neighbor`, `show bfd session`.

Forms: ntc-templates', genieparser's and NAPALM's recorded outputs. What the twin does not know is left out: ports of
TCP, hold times; messages are counted as none.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import ip_address

from railfab.device import DEFAULT_INSTANCE, ObservedBgpSession
from railfab.platforms.junos.answers import NamedText, Tree, elapsed, lasting, shown_as
from railfab.platforms.junos.bgp_groups import BgpStatements, StatedSession
from railfab.platforms.junos.names import TABLES
from railfab.platforms.shared.virtual_addresses import link_local
from railfab.platforms.twin_face import VirtualDevice, VirtualSession

UNIT = ".0"
MASTER = "master"
STATES = {"opensent": "OpenSent", "openconfirm": "OpenConfirm"}
BGP_HEADER = (
    "Peer                     AS      InPkt     OutPkt    OutQ   Flaps Last Up/Dwn "
    "State|#Active/Received/Accepted/Damped..."
)
BFD_HEADER = (
    "                                                  Detect   Transmit",
    "Address                  State     Interface      Time     Interval  Multiplier",
)
_PREFIXES = "fabric_bgp_prefixes"


@dataclass(slots=True, kw_only=True)
class PeerState:
    """A BGP session. prefixes: by address family and direction. changed_s: age of its present state [s]."""

    session: ObservedBgpSession
    virtual: VirtualSession
    address: str
    stated: StatedSession
    prefixes: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    flaps: int = 0
    changed_s: float = 0.0

    @property
    def instance(self) -> str:
        name = self.session.network_instance
        return MASTER if name == DEFAULT_INSTANCE else name

    def table(self, family: str) -> str:
        return TABLES[family] if self.instance == MASTER else f"{self.instance}.{TABLES[family]}"


def peer_states(device: VirtualDevice) -> list[PeerState]:
    """The BGP sessions of a switch."""
    stated, now_s = BgpStatements(device.running()), time.time()
    prefixes, values = _readings(device)
    started_s = device.chassis().started_s
    peers = []
    for session, virtual in zip(device.observe().sessions, device.sessions(), strict=True):
        peer = str(session.peer)
        established = int(values.get(("fabric_bgp_established_transitions_total", peer), 0))
        since_s = values.get(("fabric_bgp_last_established_timestamp_seconds", peer), 0.0)
        peers.append(
            PeerState(
                session=session,
                virtual=virtual,
                address=peer_address(device.name, session),
                stated=stated.of(peer, session.interface),
                prefixes=prefixes.get(peer, {}),
                flaps=max(0, established - session.established),
                changed_s=now_s - (since_s if session.established else started_s),
            )
        )
    return sorted(peers, key=lambda peer: _place(peer.address))


def _place(address: str) -> tuple[int, int, str]:
    """The place of a peer in lists, which are in the order of addresses."""
    parsed = ip_address(address.partition("%")[0])
    return parsed.version, int(parsed), address


def _readings(
    device: VirtualDevice,
) -> tuple[Mapping[str, Mapping[str, Mapping[str, int]]], Mapping[tuple[str, str], float]]:
    """Prefixes by peer, family and direction, and other values by metric and peer."""
    prefixes: dict[str, dict[str, dict[str, int]]] = {}
    values: dict[tuple[str, str], float] = {}
    for metric, labels, value in device.readings():
        if metric == _PREFIXES:
            prefixes.setdefault(labels["peer"], {}).setdefault(labels["afi_safi"], {})[labels["direction"]] = int(value)
        elif metric.startswith("fabric_bgp_"):
            values[metric, labels["peer"]] = float(value)
    return prefixes, values


def peer_address(device: str, session: ObservedBgpSession) -> str:
    """The address of a peer; that of an unnumbered one is link-local, with its interface."""
    if not isinstance(session.peer, str):
        return str(session.peer)
    return f"{link_local(device, session.peer)}%{session.peer}{UNIT}"


def summary_tree(peers: Sequence[PeerState]) -> Tree:
    """`show bgp summary`."""
    return {
        "group-count": len({peer.stated.group for peer in peers}),
        "peer-count": len(peers),
        "down-peer-count": sum(not peer.session.established for peer in peers),
        "bgp-peer": [_summary_peer(peer) for peer in peers],
    }


def _summary_peer(peer: PeerState) -> Tree:
    return {
        "peer-address": peer.address,
        "peer-as": peer.session.remote_as or 0,
        "route-queue-count": 0,
        "flap-count": peer.flaps,
        "elapsed-time": lasting(elapsed(peer.changed_s), peer.changed_s),
        "peer-state": _state(peer),
        "bgp-rib": _ribs(peer),
    }


def _state(peer: PeerState) -> str | NamedText:
    state = _state_name(peer)
    return shown_as(state, "Establ") if peer.session.established else state


def _state_name(peer: PeerState) -> str:
    return {"opensent": "OpenSent", "openconfirm": "OpenConfirm"}.get(
        peer.session.state, peer.session.state.capitalize()
    )


def _ribs(peer: PeerState) -> list[Tree]:
    """The tables of an established session. Its imports accept what is installed, and damp nothing."""
    if not peer.session.established:
        return []
    return [
        {
            "name": peer.table(family),
            "active-prefix-count": counts.get("installed", 0),
            "received-prefix-count": counts.get("received", 0),
            "accepted-prefix-count": counts.get("accepted", 0),
            "suppressed-prefix-count": 0,
            **({"advertised-prefix-count": counts["sent"]} if "sent" in counts else {}),
        }
        for family, counts in peer.prefixes.items()
        if family in TABLES
    ]


def summary_text(peers: Sequence[PeerState]) -> Iterator[str]:
    tree = summary_tree(peers)
    yield "Threading mode: BGP I/O"
    yield f"Groups: {tree['group-count']} Peers: {tree['peer-count']} Down peers: {tree['down-peer-count']}"
    yield BGP_HEADER
    for peer in tree["bgp-peer"]:
        state = peer["peer-state"]
        head = f"{peer['peer-address']:<16} {peer['peer-as']:>10}"
        counts = f"{0:>11}{0:>11}{0:>8}{peer['flap-count']:>8}"
        yield f"{head}{counts} {peer['elapsed-time'].text:>11} {state.said if isinstance(state, NamedText) else state} "
        yield from map(_rib_line, peer["bgp-rib"])


def _rib_line(rib: Tree) -> str:
    counts = (rib[f"{name}-prefix-count"] for name in ("active", "received", "accepted", "suppressed"))
    return f"  {rib['name']}: {'/'.join(map(str, counts))}"


def neighbors_tree(peers: Sequence[PeerState]) -> Tree:
    """`show bgp neighbor`."""
    return {"bgp-peer": [_neighbor(peer) for peer in peers]}


def _neighbor(peer: PeerState) -> Tree:
    virtual, stated = peer.virtual, peer.stated
    return {
        "peer-address": peer.address,
        "peer-as": peer.session.remote_as or 0,
        **_present("local-address", stated.local_address),
        **_present("local-as", stated.local_as),
        **_present("peer-group", stated.group),
        "peer-cfg-rti": peer.instance,
        "peer-fwd-rti": peer.instance,
        "peer-type": "Internal" if str(peer.session.remote_as) == stated.local_as else "External",
        "peer-state": _state_name(peer),
        "flap-count": peer.flaps,
        **_present("peer-id", virtual.peer_router_id or ""),
        **_present("local-id", stated.local_id),
        "bgp-bfd": {
            "bfd-configuration-state": "disabled" if virtual.bfd_up is None else "enabled",
            "bfd-operational-state": "up" if virtual.bfd_up else "down",
        },
        **_present("local-interface-name", f"{peer.session.interface}{UNIT}" if peer.session.interface else ""),
        "bgp-rib": _ribs(peer),
    }


def _present(name: str, value: str) -> Mapping[str, str]:
    return {name: value} if value else {}


def neighbors_text(peers: Sequence[PeerState]) -> Iterator[str]:
    for place, peer in enumerate(neighbors_tree(peers)["bgp-peer"]):
        if place:
            yield ""
        yield (
            f"Peer: {peer['peer-address']} AS {peer['peer-as']} "
            f"Local: {peer.get('local-address', 'unspecified')} AS {peer.get('local-as', 0)}"
        )
        yield f"  Group: {peer.get('peer-group', ''):<20} Routing-Instance: {peer['peer-cfg-rti']}"
        yield f"  Forwarding routing-instance: {peer['peer-fwd-rti']}"
        yield f"  Type: {peer['peer-type']:<11} State: {peer['peer-state']}"
        yield f"  Number of flaps: {peer['flap-count']}"
        if "peer-id" in peer:
            yield f"  Peer ID: {peer['peer-id']:<15} Local ID: {peer.get('local-id', '')}"
        bfd = peer["bgp-bfd"]
        yield f"  BFD: {bfd['bfd-configuration-state']}, {bfd['bfd-operational-state']}"
        if "local-interface-name" in peer:
            yield f"  Local Interface: {peer['local-interface-name']}"
        for rib in peer["bgp-rib"]:
            yield from _table(rib)


def _table(rib: Tree) -> Iterator[str]:
    yield f"  Table {rib['name']}"
    names = {
        "Active prefixes:": "active",
        "Received prefixes:": "received",
        "Accepted prefixes:": "accepted",
        "Suppressed due to damping:": "suppressed",
        "Advertised prefixes:": "advertised",
    }
    for text, name in names.items():
        if (count := rib.get(f"{name}-prefix-count")) is not None:
            yield f"    {text:<30}{count}"


def bfd_tree(peers: Iterable[PeerState], *, detail: bool = False) -> Tree:
    """`show bfd session`, and `show bfd session detail`."""
    sessions = [_bfd(peer, detail=detail) for peer in peers if peer.virtual.bfd_up is not None]
    return {"bfd-session": sessions, "sessions": len(sessions), "clients": len(sessions)}


def _bfd(peer: PeerState, *, detail: bool) -> Tree:
    virtual = peer.virtual
    tree: dict[str, object] = {
        "session-neighbor": peer.address,
        "session-state": "Up" if virtual.bfd_up else "Down",
        "session-interface": f"{virtual.interface}{UNIT}" if virtual.interface else "",
    }
    if virtual.bfd_remote_multiplier is not None and virtual.bfd_receive_ms is not None:
        tree["session-detection-time"] = _seconds(virtual.bfd_receive_ms * virtual.bfd_remote_multiplier)
        tree["session-adaptive-multiplier"] = virtual.bfd_remote_multiplier
    if virtual.bfd_transmit_ms is not None:
        tree["session-transmission-interval"] = _seconds(virtual.bfd_transmit_ms)
    if detail:
        tree["bfd-client"] = {"client-name": "BGP"}
        tree["remote-state"] = "Up" if virtual.bfd_up else "Down"
        tree["session-version"] = 1
    return tree


def _seconds(milliseconds: int) -> str:
    return f"{milliseconds / 1000:.3f}"


def bfd_text(peers: Iterable[PeerState], *, detail: bool = False) -> Iterator[str]:
    tree = bfd_tree(peers, detail=detail)
    if tree["bfd-session"]:
        yield from BFD_HEADER
    for session in tree["bfd-session"]:
        yield (
            f"{session['session-neighbor']:<25}{session['session-state']:<10}{session['session-interface']:<15}"
            f"{session.get('session-detection-time', ''):<9}{session.get('session-transmission-interval', ''):<10}"
            f"{session.get('session-adaptive-multiplier', ''):<4}"
        ).rstrip()
        if detail:
            yield f" Client {session['bfd-client']['client-name']}"
            yield f" Remote state {session['remote-state']}, version {session['session-version']}"
    yield ""
    yield f"{tree['sessions']} sessions, {tree['clients']} clients"
