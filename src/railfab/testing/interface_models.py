"""Interfaces of a switch as hypothesis draws them: ports, LAGs, loopbacks and SVIs, and the peers behind them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_interface

from hypothesis import strategies as st

from railfab.device import (
    DEFAULT_INSTANCE,
    BreakoutPort,
    Fec,
    Interface,
    IpAddress,
    IpInterface,
    Lag,
    Loopback,
    NetworkInstance,
    Port,
    Svi,
    Vlan,
    VlanMembership,
    lag_name,
    loopback_name,
    svi_name,
)
from railfab.platforms import platform
from railfab.testing.able import least, most
from railfab.testing.reuse import either, optional, reused
from railfab.testing.routing_models import DrawnPeer
from railfab.testing.words import descriptions, ipv4_addresses, ipv6_addresses

SPEEDS = (40, 100, 200, 400)
BREAKOUTS = ((2, 100), (4, 10), (4, 25), (4, 100), (2, 200))


@dataclass(frozen=True, slots=True)
class PortSlot:
    """A port before it has a purpose: its name, and its speed unless the breakout gives it."""

    name: str
    rate_gbps: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Features, VRFs and VLANs that the interfaces of one switch may refer to. able: names of features."""

    able: Collection[str]
    instances: tuple[NetworkInstance, ...]
    vlans: tuple[Vlan, ...]

    @property
    def instance_names(self) -> tuple[str, ...]:
        return (DEFAULT_INSTANCE, *(instance.name for instance in self.instances))


Drawn = tuple[Interface, DrawnPeer | None]
"""An interface, and the peer at its other end, if a session can run there."""


def port_of(name: str, cage: int, lane: int | None = None) -> str:
    """The canonical name of a port, counted from 1; that of the cage on a platform without breakout ports."""
    names = platform(name).lab.interfaces
    found = names.port(cage, lane) or names.port(cage)
    assert found is not None
    return found


@reused
def cages(able: Collection[str]) -> st.SearchStrategy[tuple[int, int]]:
    """Lanes and speed of a cage; one lane is a cage as it is."""
    whole = st.tuples(st.just(1), st.sampled_from(SPEEDS))
    return whole | st.sampled_from(BREAKOUTS) if "breakout" in able else whole


def split(name: str, drawn: list[tuple[int, int]]) -> tuple[tuple[BreakoutPort, ...], tuple[PortSlot, ...]]:
    """The breakouts and the ports of the cages that were drawn, on the platform of that name."""
    breakouts, slots = [], []
    for cage, (lanes, rate) in enumerate(drawn, start=1):
        if lanes == 1:
            slots.append(PortSlot(port_of(name, cage), rate))
            continue
        breakouts.append(BreakoutPort(cage=port_of(name, cage), lanes=lanes, rate_gbps=rate))
        ports = platform(name).lab.interfaces.lanes(cage, lanes)
        slots += [PortSlot(port or port_of(name, cage), None) for port in ports]
    return tuple(breakouts), tuple(slots)


@st.composite
def ports_and_lags(draw: st.DrawFn, slots: Sequence[PortSlot], scope: Scope) -> list[Drawn]:
    """Every port, alone or as a member of a LAG, and the LAGs."""
    lags: dict[int, list[str]] = {}
    drawn: list[Drawn] = []
    for index, slot in enumerate(slots):
        port = Port(
            name=slot.name,
            enabled=draw(st.booleans()),
            rate_gbps=slot.rate_gbps,
            hold_up_ms=50 * draw(st.integers(least(scope.able, "hold_up_ms", 100) // 50, 100))
            if "hold_up" in scope.able and draw(st.booleans())
            else 0,
            fec=draw(_fecs(scope.able, slot.rate_gbps)) if "fec" in scope.able else None,
        )
        if "lag" in scope.able and draw(st.integers(0, 3)) == 0:
            lags.setdefault(draw(st.integers(1, 3)), []).append(slot.name)
            drawn.append((replace(port, description=draw(descriptions), network_instance=None), None))
        else:
            drawn.append(draw(_purposes(port, index, scope)))
    for number, members in lags.items():
        lacp = draw(st.booleans()) if "static_lag" in scope.able else True
        lag = Lag(name=lag_name(number), members=tuple(members), lacp=lacp)
        if "esi" in scope.able and draw(st.booleans()):
            lag = replace(
                lag, esi=f"00:00:00:01:00:01:00:01:{number:02x}:01", system_mac=f"02:00:00:00:00:{number:02x}"
            )
        drawn.append(draw(_purposes(lag, len(slots) + number, scope)))
    return drawn


@reused
def _fecs(able: Collection[str], rate_gbps: int | None) -> st.SearchStrategy[Fec | None]:
    """Ports of more than 100 Gb/s have no RS(528,514) (IEEE 802.3, clause 119); those of a split cage may be such."""
    slow = rate_gbps is not None and rate_gbps <= 100
    codes = [Fec.OFF, Fec.BASE_R, *([Fec.RS_528] if slow else []), *([Fec.RS_544] if "fec_rs_544" in able else [])]
    return st.none() | st.sampled_from(codes)


@st.composite
def _purposes(draw: st.DrawFn, interface: Port | Lag, index: int, scope: Scope) -> Drawn:
    """A port or LAG of a host, on a numbered or an unnumbered link, in VLANs, or just described."""
    purposes = ["described", "host", "numbered"]
    purposes += ["unnumbered"] * ("unnumbered" in scope.able)
    purposes += ["bridged"] * ("bridged_port" in scope.able and bool(scope.vlans))
    purpose = draw(st.sampled_from(purposes))
    described = purpose in ("described", "bridged")
    mtus = optional(st.integers(1280, most(scope.able, "ip_mtu_bytes", 9398)))
    interface = replace(
        interface,
        description=draw(descriptions if described else either("", descriptions)),
        mtu_bytes=draw(mtus) if "mtu" in scope.able else None,
    )
    if purpose == "described":
        return interface, None
    if purpose == "bridged":
        mtu_bytes = None if interface.mtu_bytes is None else max(interface.mtu_bytes, 1500)
        vlans = draw(_memberships(scope.vlans))
        return replace(interface, network_instance=None, vlans=vlans, mtu_bytes=mtu_bytes), None
    instance = draw(st.sampled_from(scope.instance_names))
    interface = replace(interface, network_instance=instance)
    if purpose == "unnumbered":
        peer = DrawnPeer(peer=interface.name, network_instance=instance)
        return replace(interface, unnumbered=True), draw(st.none() | st.just(peer))
    links = list(_links(index, draw(st.booleans()), scope.able))
    chosen = draw(st.lists(st.sampled_from(links), min_size=1, unique=True))
    interface = replace(interface, addresses=tuple(own for own, _ in chosen))
    far = chosen[0][1] if purpose == "numbered" else None
    return interface, None if far is None else DrawnPeer(peer=far, network_instance=instance)


@st.composite
def _memberships(draw: st.DrawFn, vlans: Sequence[Vlan]) -> VlanMembership:
    ids = sorted(vlan.vlan_id for vlan in vlans)
    untagged = draw(st.none() | st.sampled_from(ids))
    tagged = draw(st.lists(st.sampled_from(ids), min_size=untagged is None, unique=True))
    return VlanMembership(untagged=untagged, tagged=tuple(sorted(set(tagged) - {untagged})))


def _links(index: int, short: bool, able: Collection[str]) -> Iterator[tuple[IpInterface, IpAddress]]:
    """Two addresses of each of the subnets that belong to this interface."""
    ipv4 = IPv4Network((int(IPv4Network("10.16.0.0/12").network_address) + 4 * index, 31 if short else 30))
    own, peer, *_ = ipv4.hosts()
    yield ip_interface((own, ipv4.prefixlen)), peer
    if "ipv6" in able:
        ipv6 = IPv6Network((int(IPv6Network("fd00:12::/64").network_address) + 4 * index, 127 if short else 126))
        first = int(ipv6.network_address)
        yield ip_interface((ipv6[1], ipv6.prefixlen)), ipv6[0] if short else type(ipv6[0])(first + 2)


@reused
@st.composite
def loopbacks(draw: st.DrawFn, able: Collection[str]) -> list[Drawn]:
    """The first loopback, perhaps by mistake without an address, and perhaps a second one."""
    count = draw(st.integers(1, 2)) if "several_loopbacks" in able else 1
    drawn: list[Drawn] = []
    for number in range(count):
        versions: list[st.SearchStrategy[IPv4Address] | st.SearchStrategy[IPv6Address]] = [ipv4_addresses]
        versions += [ipv6_addresses] if "ipv6" in able else []
        addresses = [ip_interface(str(draw(strategy))) for strategy in versions if draw(st.booleans())]
        if number and not addresses:
            addresses = [ip_interface(draw(ipv4_addresses))]
        drawn.append((Loopback(name=loopback_name(number), addresses=tuple(addresses)), None))
    return drawn


@st.composite
def svis(draw: st.DrawFn, scope: Scope) -> list[Drawn]:
    """The gateways of some VLANs."""
    drawn: list[Drawn] = []
    for place, vlan in enumerate(scope.vlans):
        if "svi" not in scope.able or not draw(st.booleans()):
            continue
        subnet = IPv4Network((int(IPv4Network("10.96.0.0/12").network_address) + 256 * place, 24))
        address, anycast = ip_interface((subnet[1], 24)), "anycast_gateway" in scope.able and draw(st.booleans())
        switch_address = ip_interface((subnet[-2], 24))
        bare = "gateway_addresses" not in scope.able or (
            "gateway_without_address" in scope.able and draw(st.booleans())
        )
        drawn.append(
            (
                Svi(
                    name=svi_name(vlan.vlan_id),
                    vlan=vlan.vlan_id,
                    description=draw(either("", descriptions)),
                    network_instance=draw(st.sampled_from(scope.instance_names)),
                    addresses=() if anycast and bare else (switch_address if anycast else address,),
                    gateways=(address,) if anycast else (),
                ),
                None,
            )
        )
    return drawn
