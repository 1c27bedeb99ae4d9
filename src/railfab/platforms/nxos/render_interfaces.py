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
from railfab.platforms.nxos.render_qos import port_lines
from railfab.platforms.shared.line_tree import Line
from railfab.platforms.shared.native_names import dotted_mac
from railfab.text.folding import number_ranges

DEFAULT_BFD = BfdTimers(interval_ms=50, multiplier=3)
"""Of an interface without timers (Nexus 9000 Interfaces guide, Default Settings for BFD)."""
DEFAULT_JUMBO_BYTES = 9216
"""`system jumbomtu` (Nexus 9000 Interfaces guide, MTU configuration)."""
FECS = {Fec.OFF: "off", Fec.BASE_R: "fc-fec", Fec.RS_528: "rs-fec", Fec.RS_544: "kp-fec"}
UNNUMBERED = ("ip forward", "ipv6 address use-link-local-only", "ipv6 link-local use-bia")
NO_REDIRECTS = ("no ip redirects", "no ipv6 redirects")
"""BFD echo packets come back to their sender, which a switch that sends redirects would answer (Nexus 9000 Interfaces
guide, BFD: disable ICMP redirects on BFD-enabled interfaces)."""
NO_LLDP = ("no lldp transmit", "no lldp receive")
EDGE = "spanning-tree port type edge"
"""Of an access port: it forwards at once, where it would wait 30 s (Nexus 9000 Layer 2 guide, STP Extensions)."""
ANYCAST = "fabric forwarding mode anycast-gateway"
PEER_LINK = ("spanning-tree port type network", "vpc peer-link")


@dataclass(frozen=True, slots=True)
class _Switch:
    """A switch being rendered. lags: the LAG of each member. bfd: timers by interface."""

    model: DeviceModel
    lags: Mapping[str, Lag]
    bfd: Mapping[str, BfdTimers]


def breakouts(model: DeviceModel) -> Iterator[Line]:
    """The split of cages, which NX-OS applies at once."""
    for found in model.breakouts:
        yield Line(f"interface breakout module 1 port {_cage(found)} map {found.rate_gbps}g-{found.lanes}x")


def _cage(breakout: BreakoutPort) -> str:
    return breakout.cage.rpartition("/")[2]


def interfaces(model: DeviceModel) -> Iterator[Line]:
    """SVIs, LAGs, ports and loopbacks, in NX-OS's order of kinds."""
    lags = {name: found for found in model.interfaces if isinstance(found, Lag) for name in found.members}
    switch = _Switch(model, lags, bfd_timers(model))
    for kind in (Svi, Lag, Port, Loopback):
        for found in model.interfaces:
            if isinstance(found, kind):
                lines = (*map(Line, _lines(found, switch)), *_segment(found))
                yield Line(f"interface {device_name(found.name)}", lines)


def _segment(found: Interface) -> Iterator[Line]:
    """The Ethernet segment of a LAG (VXLAN guide, Configuring VXLAN EVPN Multihoming); its LACP has the same MAC."""
    if isinstance(found, Lag) and found.esi is not None:
        mac, number = segment_parts(found.esi)
        yield Line(f"ethernet-segment {number}", (Line(f"system-mac {dotted_mac(mac)}"),))


def bfd_timers(model: DeviceModel) -> Mapping[str, BfdTimers]:
    """The BFD timers of each interface over which a session has BFD."""
    connected = interfaces_of_peers(model)
    found = ((connected.get(neighbor.key), neighbor.bfd) for neighbor in model.neighbors)
    return {name: bfd for name, bfd in found if name is not None and bfd is not None}


def jumbo_bytes(model: DeviceModel) -> int:
    """The MTU of bridged ports that have another than the default, of which NX-OS has one for all."""
    bridged = {
        found.mtu_bytes
        for found in model.interfaces
        if isinstance(found, Port | Lag) and found.vlans is not None and found.mtu_bytes is not None
    }
    return max(bridged - {1500}, default=DEFAULT_JUMBO_BYTES)


def _lines(found: Interface, switch: _Switch) -> Iterator[str]:
    if found.description:
        yield f"description {found.description}"
    if isinstance(found, Port):
        yield from _port(found, switch.lags.get(found.name))
        yield from [] if switch.model.lldp.runs_on(found.name) or not switch.model.lldp.enabled else NO_LLDP
    elif isinstance(found, Lag):
        yield from _attachment(found)
        yield from _lag(found, switch.model)
    elif found.mtu_bytes is not None:
        yield f"mtu {found.mtu_bytes}"
    if isinstance(found, Port | Lag):
        yield from port_lines(found, switch.model)
    yield from _routed(found, switch)
    yield from _state(found, switch.lags.get(found.name))


def _port(port: Port, lag: Lag | None) -> Iterator[str]:
    """A port; a member of a LAG shows the LAG's attachment as its own."""
    yield from _attachment(lag or port)
    if port.rate_gbps is not None:
        yield f"speed {1000 * port.rate_gbps}"
    if port.fec is not None:
        yield f"fec {FECS[port.fec]}"
    if port.hold_up_ms:
        yield f"link debounce link-up time {port.hold_up_ms}"
    if lag is not None:
        yield f"channel-group {number_of(lag.name)} mode {'active' if lag.lacp else 'on'}"


def _attachment(found: Port | Lag) -> Iterator[str]:
    """Bridged in VLANs, or routed; with its MTU. `system default switchport` says which a port is by itself."""
    if found.vlans is None:
        yield "no switchport"
    else:
        yield "switchport"
        yield from _membership(found.vlans)
    if found.mtu_bytes is not None:
        yield f"mtu {found.mtu_bytes}"


def _membership(vlans: VlanMembership) -> Iterator[str]:
    """An access port with only an untagged VLAN, a trunk with any other. VLAN 1 is the default of both."""
    if not vlans.tagged and vlans.untagged is not None:
        yield from [f"switchport access vlan {vlans.untagged}"] * (vlans.untagged != 1)
        yield EDGE
        return
    yield "switchport mode trunk"
    if vlans.untagged not in (None, 1):
        yield f"switchport trunk native vlan {vlans.untagged}"
    own = () if vlans.untagged is None else (vlans.untagged,)
    yield f"switchport trunk allowed vlan {number_ranges(sorted({*own, *vlans.tagged})) or 'none'}"


def _lag(lag: Lag, model: DeviceModel) -> Iterator[str]:
    """What a LAG has beside its attachment: the speed of its members, and its part in a vPC pair.

    A port with another configured speed than the LAG cannot join it, not even by `force` (Nexus Interfaces guide,
    Configuring Port Channels, Compatibility Requirements), and the LAG exists before its members.
    """
    members = (model.interface(name) for name in lag.members)
    rate_gbps, *others = {found.rate_gbps for found in members if isinstance(found, Port)} or {None}
    if rate_gbps is not None and not others:
        yield f"speed {1000 * rate_gbps}"
    if model.mlag is not None and lag.name == model.mlag.peer_link:
        yield from PEER_LINK
    elif lag.mlag_id is not None:
        yield f"vpc {lag.mlag_id}"


def _routed(found: Interface, switch: _Switch) -> Iterator[str]:
    """VRF, addresses and BFD."""
    if found.network_instance not in (None, DEFAULT_INSTANCE):
        yield f"vrf member {vrf_name(str(found.network_instance))}"
    bfd = switch.bfd.get(found.name)
    if bfd is not None:
        yield from NO_REDIRECTS
    gateways = found.gateways if isinstance(found, Svi) else ()
    yield from _addresses((*gateways, *found.addresses))
    if gateways:
        yield ANYCAST
    if found.unnumbered:
        yield from UNNUMBERED
    if bfd is not None and bfd != DEFAULT_BFD:
        received = bfd.interval_ms if bfd.receive_ms is None else bfd.receive_ms
        yield f"bfd interval {bfd.interval_ms} min_rx {received} multiplier {bfd.multiplier}"


def _addresses(addresses: tuple[IpInterface, ...]) -> Iterator[str]:
    first = next((found for found in addresses if found.version == 4), None)
    for found in addresses:
        if found.version == 6:
            yield f"ipv6 address {found}"
        else:
            yield f"ip address {found}{'' if found is first else ' secondary'}"


def _state(found: Interface, lag: Lag | None) -> Iterator[str]:
    """`no shutdown` of what may be down by default, also by `system default switchport shutdown`, which is all but
    loopbacks; `shutdown` of what may be up."""
    down = isinstance(found, Svi) or (isinstance(found, Port) and _is_routed(lag or found))
    if found.enabled and not isinstance(found, Loopback):
        yield "no shutdown"
    elif not found.enabled and not down:
        yield "shutdown"


def _is_routed(found: Interface) -> bool:
    return isinstance(found, Port | Lag) and found.vlans is None
