"""Renders the interfaces of a device model: SVIs, LAGs, ports and loopbacks, each with what NX-OS shows of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from railfab.device import (
    DEFAULT_INSTANCE,
    BfdTimers,
    BreakoutPort,
    DeviceModel,
    Fec,
    Interface,
    IpInterface,
    Lag,
    Loopback,
    Port,
    Svi,
    VlanMembership,
    interfaces_of_peers,
    number_of,
)
from railfab.platforms.nxos.names import device_name, segment_parts, vrf_name
from railfab.platforms.nxos.render_overlay import has_segments
from railfab.platforms.nxos.render_qos import port_lines
from railfab.platforms.shared.line_tree import Line
from railfab.platforms.shared.native_names import dotted_mac
from railfab.text.folding import number_ranges

DEFAULT_BFD = BfdTimers(interval_ms=50, multiplier=3)
"""Timers of an interface that states none (Nexus 9000 Interfaces guide, Default Settings for BFD)."""
DEFAULT_JUMBO_BYTES = 9216
"""`system jumbomtu` (Nexus 9000 Interfaces guide, MTU configuration)."""
FECS = {Fec.OFF: "off", Fec.BASE_R: "fc-fec", Fec.RS_528: "rs-fec", Fec.RS_544: "kp-fec"}
UNNUMBERED = ("ip forward", "ipv6 address use-link-local-only", "ipv6 link-local use-bia")
NO_REDIRECTS = ("no ip redirects", "no ipv6 redirects")
"""BFD echo packets come back to their sender, which a switch that sends redirects would answer (Nexus 9000 Interfaces
guide, BFD: disable ICMP redirects on BFD-enabled interfaces)."""
NO_LLDP = ("no lldp transmit", "no lldp receive")
EDGE = "spanning-tree port type edge"
"""Line of a port of a host: it forwards at once, not after 30 s (Nexus 9000 Layer 2 guide, STP Extensions)."""
EDGE_TRUNK = f"{EDGE} trunk"
"""Likewise of a trunk, on which the other line has no effect."""
CORE_TRACKING = "evpn multihoming core-tracking"
"""Line of an uplink: when all of them are down, the switch takes its Ethernet segments down."""
ANYCAST = "fabric forwarding mode anycast-gateway"
PEER_LINK = ("spanning-tree port type network", "vpc peer-link")


@dataclass(frozen=True, slots=True)
class _Switch:
    """A switch being rendered. lags: the LAG of each member. bfd: timers by interface.

    tracked: interfaces whose failure takes the Ethernet segments of hosts down.
    """

    model: DeviceModel
    lags: Mapping[str, Lag]
    bfd: Mapping[str, BfdTimers]
    tracked: frozenset[str]


def breakouts(model: DeviceModel) -> Iterator[Line]:
    """The split of cages, which NX-OS applies at once."""
    for breakout in model.breakouts:
        yield Line(f"interface breakout module 1 port {_cage(breakout)} map {breakout.rate_gbps}g-{breakout.lanes}x")


def _cage(breakout: BreakoutPort) -> str:
    return breakout.cage.rpartition("/")[2]


def interfaces(model: DeviceModel) -> Iterator[Line]:
    """SVIs, LAGs, ports and loopbacks, in NX-OS's order of kinds."""
    lags = {name: lag for lag in model.interfaces if isinstance(lag, Lag) for name in lag.members}
    switch = _Switch(model, lags, bfd_timers(model), tracked(model))
    for kind in (Svi, Lag, Port, Loopback):
        for interface in model.interfaces:
            if isinstance(interface, kind):
                lines = (*map(Line, _lines(interface, switch)), *_segment(interface))
                yield Line(f"interface {device_name(interface.name)}", lines)


def _segment(interface: Interface) -> Iterator[Line]:
    """The Ethernet segment of a LAG, with the MAC of its LACP (VXLAN guide 10.6, Configuring EVPN ESI Multihoming)."""
    if isinstance(interface, Lag) and interface.esi is not None:
        mac, number = segment_parts(interface.esi)
        yield Line("ethernet-segment", (Line(f"esi system-mac {dotted_mac(mac)} {number}"),))


def tracked(model: DeviceModel) -> frozenset[str]:
    """The ports with sessions of a switch with Ethernet segments: its uplinks.

    The link between both switches of a pair is a LAG. It is not tracked: in a pair without spines its failure would
    take the hosts from both switches.
    """
    if not has_segments(model):
        return frozenset()
    ports = {port.name for port in model.interfaces if isinstance(port, Port)}
    return frozenset(ports.intersection(interfaces_of_peers(model).values()))


def bfd_timers(model: DeviceModel) -> Mapping[str, BfdTimers]:
    """The BFD timers of each interface over which a session has BFD."""
    connected = interfaces_of_peers(model)
    timers = ((connected.get(neighbor.key), neighbor.bfd) for neighbor in model.neighbors)
    return {name: bfd for name, bfd in timers if name is not None and bfd is not None}


def jumbo_bytes(model: DeviceModel) -> int:
    """The MTU of bridged ports that have another than the default, of which NX-OS has one for all."""
    bridged = {
        interface.mtu_bytes
        for interface in model.interfaces
        if isinstance(interface, Port | Lag) and interface.vlans is not None and interface.mtu_bytes is not None
    }
    return max(bridged - {1500}, default=DEFAULT_JUMBO_BYTES)


def _lines(interface: Interface, switch: _Switch) -> Iterator[str]:
    if interface.description:
        yield f"description {interface.description}"
    if isinstance(interface, Port):
        yield from _port(interface, switch.lags.get(interface.name), switch.model)
        yield from [] if switch.model.lldp.runs_on(interface.name) or not switch.model.lldp.enabled else NO_LLDP
    elif isinstance(interface, Lag):
        yield from _attachment(interface, switch.model)
        yield from _lag(interface, switch.model)
    elif interface.mtu_bytes is not None:
        yield f"mtu {interface.mtu_bytes}"
    if isinstance(interface, Port | Lag):
        yield from port_lines(interface, switch.model)
    yield from _routed(interface, switch)
    if interface.name in switch.tracked:
        yield CORE_TRACKING
    yield from _state(interface, switch.lags.get(interface.name))


def _port(port: Port, lag: Lag | None, model: DeviceModel) -> Iterator[str]:
    """A port; a member of a LAG shows the LAG's attachment as its own."""
    yield from _attachment(lag or port, model)
    if port.rate_gbps is not None:
        yield f"speed {1000 * port.rate_gbps}"
    if port.fec is not None:
        yield f"fec {FECS[port.fec]}"
    if port.hold_up_ms:
        yield f"link debounce link-up time {port.hold_up_ms}"
    if lag is not None:
        yield f"channel-group {number_of(lag.name)} mode {'active' if lag.lacp else 'on'}"


def _attachment(interface: Port | Lag, model: DeviceModel) -> Iterator[str]:
    """Bridged in VLANs, or routed; with its MTU. `system default switchport` says which a port is by itself."""
    if interface.vlans is None:
        yield "no switchport"
    else:
        yield "switchport"
        yield from _membership(interface.vlans)
        if model.mlag is None or interface.name != model.mlag.peer_link:
            yield EDGE_TRUNK if interface.vlans.tagged or interface.vlans.untagged is None else EDGE
    if interface.mtu_bytes is not None:
        yield f"mtu {interface.mtu_bytes}"


def _membership(vlans: VlanMembership) -> Iterator[str]:
    """An access port with only an untagged VLAN, a trunk with any other. VLAN 1 is the default of both."""
    if not vlans.tagged and vlans.untagged is not None:
        yield from [f"switchport access vlan {vlans.untagged}"] * (vlans.untagged != 1)
        return
    yield "switchport mode trunk"
    if vlans.untagged not in (None, 1):
        yield f"switchport trunk native vlan {vlans.untagged}"
    native = () if vlans.untagged is None else (vlans.untagged,)
    yield f"switchport trunk allowed vlan {number_ranges(sorted({*native, *vlans.tagged})) or 'none'}"


def _lag(lag: Lag, model: DeviceModel) -> Iterator[str]:
    """Settings of a LAG beside its attachment: the speed of its members, and its part in a vPC pair.

    A port with another configured speed than the LAG cannot join it, not even by `force` (Nexus Interfaces guide,
    Configuring Port Channels, Compatibility Requirements), and the LAG exists before its members.
    """
    members = (model.interface(name) for name in lag.members)
    rate_gbps, *others = {member.rate_gbps for member in members if isinstance(member, Port)} or {None}
    if rate_gbps is not None and not others:
        yield f"speed {1000 * rate_gbps}"
    if model.mlag is not None and lag.name == model.mlag.peer_link:
        yield from PEER_LINK
    elif lag.mlag_id is not None:
        yield f"vpc {lag.mlag_id}"


def _routed(interface: Interface, switch: _Switch) -> Iterator[str]:
    """VRF, addresses and BFD."""
    if interface.network_instance not in (None, DEFAULT_INSTANCE):
        yield f"vrf member {vrf_name(str(interface.network_instance))}"
    bfd = switch.bfd.get(interface.name)
    if bfd is not None:
        yield from NO_REDIRECTS
    gateways = interface.gateways if isinstance(interface, Svi) else ()
    yield from _addresses((*gateways, *interface.addresses))
    if gateways:
        yield ANYCAST
    if interface.unnumbered:
        yield from UNNUMBERED
    if bfd is not None and bfd != DEFAULT_BFD:
        received = bfd.interval_ms if bfd.receive_ms is None else bfd.receive_ms
        yield f"bfd interval {bfd.interval_ms} min_rx {received} multiplier {bfd.multiplier}"


def _addresses(addresses: tuple[IpInterface, ...]) -> Iterator[str]:
    first = next((address for address in addresses if address.version == 4), None)
    for address in addresses:
        if address.version == 6:
            yield f"ipv6 address {address}"
        else:
            yield f"ip address {address}{'' if address is first else ' secondary'}"


def _state(interface: Interface, lag: Lag | None) -> Iterator[str]:
    """`no shutdown` of what may be down by default, also by `system default switchport shutdown`, which is all but
    loopbacks; `shutdown` of what may be up."""
    down = isinstance(interface, Svi) or (isinstance(interface, Port) and _is_routed(lag or interface))
    if interface.enabled and not isinstance(interface, Loopback):
        yield "no shutdown"
    elif not interface.enabled and not down:
        yield "shutdown"


def _is_routed(interface: Interface) -> bool:
    return isinstance(interface, Port | Lag) and interface.vlans is None
