"""Renders the interfaces of a device model: ports, LAGs, loopbacks and SVIs, in EOS's order of lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from railfab.device import (
    DEFAULT_INSTANCE,
    DeviceModel,
    Interface,
    IpInterface,
    Lag,
    Port,
    Svi,
    VlanMembership,
    natural,
)
from railfab.folding import number_ranges
from railfab.platforms.eos.names import (
    CAGE_LANES,
    FECS,
    PEER_VLAN,
    cage_ports,
    native_name,
    segment_identifier,
    segment_target,
    speed_name,
)
from railfab.platforms.eos.peer_link import peer_svi
from railfab.platforms.shared.line_tree import Line
from railfab.platforms.shared.native_names import dotted_mac

UNNUMBERED = "ipv6 enable"
PEER_GROUP = "MLAG"
"""Trunk group of the VLAN of the peer link, so that no other trunk has it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Around:
    """What the lines of an interface say besides its own settings.

    speeds: by port. lags: line of each member of a LAG. silent: ports without LLDP. profiles: QoS profile of a port or
    LAG. peer_link: LAG to the other switch of a pair.
    """

    speeds: Mapping[str, str]
    lags: Mapping[str, str]
    silent: frozenset[str]
    profiles: Mapping[str, str]
    peer_link: str | None


def interface_lines(model: DeviceModel, profiles: Mapping[str, str]) -> Iterator[Line]:
    """Every interface, in EOS's order of kinds. profiles: name of the QoS profile of each port and LAG that has one."""
    around = Around(
        speeds=_speeds(model),
        lags={name: _channel_group(lag) for lag in model.interfaces if isinstance(lag, Lag) for name in lag.members},
        silent=frozenset(model.lldp.silent),
        profiles=profiles,
        peer_link=model.mlag.peer_link if model.mlag else None,
    )
    yield from (_lag(found, around) for found in model.interfaces if isinstance(found, Lag))
    yield from _ports(model, around)
    yield from (_loopback(found) for found in model.interfaces if not isinstance(found, Lag | Port | Svi))
    yield from (_svi(found) for found in model.interfaces if isinstance(found, Svi))
    if model.mlag is not None:
        yield peer_svi(model)


def _speeds(model: DeviceModel) -> dict[str, str]:
    found = {
        port.name: speed_name(port.rate_gbps)
        for port in model.interfaces
        if isinstance(port, Port) and port.rate_gbps is not None
    }
    for cage in model.breakouts:
        word = speed_name(cage.rate_gbps, CAGE_LANES // cage.lanes)
        found.update(dict.fromkeys(cage_ports(cage.cage, cage.lanes), word))
    return found


def _channel_group(lag: Lag) -> str:
    return f"channel-group {native_name(lag.name).removeprefix('Port-Channel')} mode {'active' if lag.lacp else 'on'}"


def _ports(model: DeviceModel, around: Around) -> Iterator[Line]:
    """The ports, and the ports of split cages that are not used, with nothing but their speed."""
    known = {port.name for port in model.interfaces if isinstance(port, Port)}
    unused = [name for name in around.speeds if name not in known]
    lines = [(port.name, _port(port, around)) for port in model.interfaces if isinstance(port, Port)]
    lines += [(name, _section(name, [f"speed {around.speeds[name]}"])) for name in unused]
    if unused:
        lines.sort(key=lambda found: natural(found[0]))
    return (line for _, line in lines)


def _section(name: str, lines: Iterable[str]) -> Line:
    return Line(f"interface {native_name(name)}", tuple(map(_line, lines)))


@lru_cache(maxsize=4096)
def _line(text: str) -> Line:
    """Ports of a switch share most of their lines."""
    return Line(text)


def _port(port: Port, around: Around) -> Line:
    lines = [*_first(port)]
    if port.hold_up_ms:
        lines.append(f"link-debounce time {port.hold_up_ms} 0")
    if speed := around.speeds.get(port.name):
        lines.append(f"speed {speed}")
    if port.fec is not None:
        lines.append(FECS[port.fec])
    group = around.lags.get(port.name)
    lines += [] if group else _switching(port.vlans)
    lines += _routing(port)
    lines += [group] if group else []
    lines += ["no lldp transmit", "no lldp receive"] if port.name in around.silent else []
    lines += _profile(port.name, around)
    return _section(port.name, lines)


def _first(interface: Interface) -> Iterator[str]:
    if interface.description:
        yield f"description {interface.description}"
    if not interface.enabled:
        yield "shutdown"
    if interface.mtu_bytes is not None:
        yield f"mtu {interface.mtu_bytes}"


def _switching(vlans: VlanMembership | None, also: tuple[int, ...] = ()) -> Iterator[str]:
    """Routed without VLANs; a port with one untagged VLAN and no other is an access port, EOS's default mode."""
    if vlans is None:
        yield "no switchport"
        return
    tagged = (*vlans.tagged, *also)
    if not tagged and vlans.untagged is not None:
        if vlans.untagged != 1:
            yield f"switchport access vlan {vlans.untagged}"
        return
    if vlans.untagged is not None and vlans.untagged != 1:
        yield f"switchport trunk native vlan {vlans.untagged}"
    carried = tagged if vlans.untagged is None else (*tagged, vlans.untagged)
    yield f"switchport trunk allowed vlan {number_ranges(sorted({*carried})) or 'none'}"
    yield "switchport mode trunk"


def _routing(interface: Interface) -> Iterator[str]:
    """The VRF comes first: a change of it removes the addresses."""
    if interface.network_instance not in (None, DEFAULT_INSTANCE):
        yield f"vrf {interface.network_instance}"
    yield from _addresses(interface.addresses, "ip address", 4)
    if interface.unnumbered:
        yield UNNUMBERED
    yield from _addresses(interface.addresses, "ipv6 address", 6)


def _addresses(addresses: tuple[IpInterface, ...], words: str, version: int) -> Iterator[str]:
    own = [address for address in addresses if address.version == version]
    for place, address in enumerate(own):
        yield f"{words} {address}{' secondary' * (version == 4 and place > 0)}"


def _profile(name: str, around: Around) -> Iterator[str]:
    if name in around.profiles:
        yield f"service-profile {around.profiles[name]}"


def _lag(lag: Lag, around: Around) -> Line:
    is_peer_link = lag.name == around.peer_link
    lines = [*_first(lag), *_switching(lag.vlans, (PEER_VLAN,) if is_peer_link else ())]
    if is_peer_link:
        lines.append(f"switchport trunk group {PEER_GROUP}")
    sections = [_segment(lag.esi)] if lag.esi else []
    after = [*_routing(lag)]
    if lag.system_mac is not None:
        after.append(f"lacp system-id {dotted_mac(lag.system_mac)}")
    if lag.mlag_id is not None:
        after.append(f"mlag {lag.mlag_id}")
    after += _profile(lag.name, around)
    return Line(f"interface {native_name(lag.name)}", (*map(_line, lines), *sections, *map(_line, after)))


def _segment(esi: str) -> Line:
    lines = (f"identifier {segment_identifier(esi)}", f"route-target import {segment_target(esi)}")
    return Line("evpn ethernet-segment", tuple(map(Line, lines)))


def _loopback(loopback: Interface) -> Line:
    return _section(loopback.name, [*_first(loopback), *_routing(loopback)])


def _svi(svi: Svi) -> Line:
    lines = [*_first(svi), *_routing(svi)]
    for gateway in svi.gateways:
        lines.append(f"{'ip' if gateway.version == 4 else 'ipv6'} address virtual {gateway}")
    return _section(svi.name, lines)
