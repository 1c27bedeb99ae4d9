"""Device models as hypothesis draws them: whatever a platform says that it supports, and no more."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_interface

from hypothesis import strategies as st

from railfab.device import (
    DEFAULT_INSTANCE,
    LOOPBACK,
    BalancingMode,
    BreakoutPort,
    DeviceModel,
    Fec,
    HashField,
    Interface,
    IpAddress,
    IpInterface,
    Lag,
    LoadBalancing,
    Loopback,
    NetworkInstance,
    Port,
    Svi,
    Vlan,
    VlanMembership,
    Vtep,
    in_order,
    lag_name,
    loopback_name,
    svi_name,
)
from railfab.platforms import Support, platform
from railfab.platforms.features import FEATURES
from railfab.testing.qos_models import qos_models
from railfab.testing.routing_models import Peer, bgp_speakers, policy_lists
from railfab.testing.words import descriptions, ipv4_addresses, ipv6_addresses, words

SPEEDS = (40, 100, 200, 400)
BREAKOUTS = ((2, 100), (4, 10), (4, 25), (4, 100), (2, 200))


@dataclass(frozen=True, slots=True)
class Slot:
    """A port before it has a purpose: its name, and its speed unless the breakout gives it."""

    name: str
    rate_gbps: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """What the interfaces of one switch may refer to."""

    able: Collection[str]
    instances: tuple[NetworkInstance, ...]
    vlans: tuple[Vlan, ...]

    @property
    def instance_names(self) -> tuple[str, ...]:
        return (DEFAULT_INSTANCE, *(instance.name for instance in self.instances))


Drawn = tuple[Interface, Peer | None]
"""An interface, and where a session over it would be."""


SUPPORTED = (Support.YES, Support.EXTERNAL)


def features(name: str) -> frozenset[str]:
    """The features that a platform supports, or leaves to the operating system."""
    capabilities = platform(name).capabilities
    return frozenset(feature for feature in FEATURES if capabilities.support(feature) in SUPPORTED)


def port_of(name: str, cage: int, lane: int | None = None) -> str:
    """The canonical name of a port, counted from 1; that of the cage on a platform without breakout ports."""
    names = platform(name).lab.interfaces
    found = names.port(cage, lane) or names.port(cage)
    assert found is not None
    return found


@st.composite
def device_models(draw: st.DrawFn, name: str) -> DeviceModel:
    """A model within the features of the platform of that name."""
    able = features(name)
    vxlan = "vxlan" in able and draw(st.booleans())
    instances = tuple(draw(st.lists(_instances(vxlan), max_size=2, unique_by=_name))) if "vrf" in able else ()
    vlans = tuple(draw(st.lists(_vlans(vxlan), max_size=3, unique_by=_vlan_id))) if "vlan" in able else ()
    world = World(able=able, instances=instances, vlans=vlans)
    breakouts, slots = _split(name, draw(st.lists(_cages(able), min_size=1, max_size=3)))
    drawn = [*draw(_ports_and_lags(slots, world)), *draw(_loopbacks(able)), *draw(_svis(world))]
    peers = [peer for _, peer in drawn if peer is not None]
    peers += draw(_far_peers(able))
    speaks = bool(peers) or draw(st.booleans())
    policies = draw(policy_lists(able)) if speaks else ()
    bgp = draw(bgp_speakers(peers, LOOPBACK, policies, able)) if speaks else None
    ports = _qos_ports([interface for interface, _ in drawn], able)
    loopback = next(found for found, _ in drawn if found.name == LOOPBACK)
    own = next((address.ip for address in loopback.addresses if address.version == 4), None)
    return in_order(
        DeviceModel(
            name=draw(words),
            platform=name,
            breakouts=breakouts,
            interfaces=tuple(interface for interface, _ in drawn),
            bgp=bgp,
            qos=draw(st.none() | qos_models(ports, able)) if "pfc" in able else None,
            policies=policies,
            network_instances=instances,
            vlans=vlans,
            vtep=Vtep(source=LOOPBACK, address=own) if vxlan and own is not None else None,
            load_balancing=draw(_balancing(able)),
            drain=speaks and "drain" in able and draw(st.booleans()),
        )
    )


def _qos_ports(interfaces: Sequence[Interface], able: Collection[str]) -> list[str]:
    """The ports; where members of a LAG have no QoS of their own, the LAG instead of its members."""
    ports = [found.name for found in interfaces if isinstance(found, Port)]
    if "lag_member_qos" in able:
        return ports
    lags = [found for found in interfaces if isinstance(found, Lag)]
    members = {name for lag in lags for name in lag.members}
    return [name for name in ports if name not in members] + [lag.name for lag in lags]


def _name(instance: NetworkInstance) -> str:
    return instance.name


def _vlan_id(vlan: Vlan) -> int:
    return vlan.vlan_id


@st.composite
def _instances(draw: st.DrawFn, vxlan: bool) -> NetworkInstance:
    """A VRF; with an overlay it has an RD, targets and a VNI."""
    name = draw(words.filter(lambda word: word not in ("default", "mgmt")))
    router_id = draw(st.none() | ipv4_addresses)
    if not vxlan:
        return NetworkInstance(name=name, router_id=router_id)
    number = draw(st.integers(1, 65535))
    target = f"65000:{number}"
    return NetworkInstance(
        name=name,
        rd=target,
        import_targets=(target,),
        export_targets=(target,),
        vni=number + 20_000,
        router_id=router_id,
    )


@st.composite
def _vlans(draw: st.DrawFn, vxlan: bool) -> Vlan:
    vlan_id = draw(st.integers(2, 4094))
    return Vlan(vlan_id=vlan_id, name=draw(words), vni=10_000 + vlan_id if vxlan and draw(st.booleans()) else None)


def _cages(able: Collection[str]) -> st.SearchStrategy[tuple[int, int]]:
    """Lanes and speed of a cage; one lane is a cage as it is."""
    whole = st.tuples(st.just(1), st.sampled_from(SPEEDS))
    return whole | st.sampled_from(BREAKOUTS) if "breakout" in able else whole


def _split(name: str, cages: list[tuple[int, int]]) -> tuple[tuple[BreakoutPort, ...], tuple[Slot, ...]]:
    breakouts, slots = [], []
    for cage, (lanes, rate) in enumerate(cages, start=1):
        if lanes == 1:
            slots.append(Slot(port_of(name, cage), rate))
            continue
        breakouts.append(BreakoutPort(cage=port_of(name, cage), lanes=lanes, rate_gbps=rate))
        slots += [Slot(port_of(name, cage, lane), None) for lane in range(1, lanes + 1)]
    return tuple(breakouts), tuple(slots)


@st.composite
def _ports_and_lags(draw: st.DrawFn, slots: Sequence[Slot], world: World) -> list[Drawn]:
    """Every port, alone or as a member of a LAG, and the LAGs."""
    lags: dict[int, list[str]] = {}
    drawn: list[Drawn] = []
    for index, slot in enumerate(slots):
        port = Port(
            name=slot.name,
            enabled=draw(st.booleans()),
            rate_gbps=slot.rate_gbps,
            hold_up_ms=50 * draw(st.integers(2, 100)) if "hold_up" in world.able and draw(st.booleans()) else 0,
            fec=draw(st.none() | st.sampled_from(_fecs(world.able))) if "fec" in world.able else None,
        )
        if "lag" in world.able and draw(st.integers(0, 3)) == 0:
            lags.setdefault(draw(st.integers(1, 3)), []).append(slot.name)
            drawn.append((replace(port, description=draw(descriptions), network_instance=None), None))
        else:
            drawn.append(draw(_purposes(port, index, world)))
    for number, members in lags.items():
        lag = Lag(name=lag_name(number), members=tuple(members), lacp=draw(st.booleans()))
        if "esi" in world.able and draw(st.booleans()):
            lag = replace(
                lag, esi=f"00:00:00:01:00:01:00:01:{number:02x}:01", system_mac=f"02:00:00:00:00:{number:02x}"
            )
        drawn.append(draw(_purposes(lag, len(slots) + number, world)))
    return drawn


def _fecs(able: Collection[str]) -> list[Fec]:
    return [fec for fec in Fec if fec is not Fec.RS_544 or "fec_rs_544" in able]


@st.composite
def _purposes(draw: st.DrawFn, interface: Port | Lag, index: int, world: World) -> Drawn:
    """A port or LAG of a host, on a numbered or an unnumbered link, in VLANs, or just described."""
    purposes = ["described", "host", "numbered"]
    purposes += ["unnumbered"] * ("unnumbered" in world.able)
    purposes += ["bridged"] * ("bridged_port" in world.able and bool(world.vlans))
    purpose = draw(st.sampled_from(purposes))
    described = purpose in ("described", "bridged")
    interface = replace(
        interface,
        description=draw(descriptions if described else st.just("") | descriptions),
        mtu_bytes=draw(st.none() | st.integers(1280, 9398)) if "mtu" in world.able else None,
    )
    if purpose == "described":
        return interface, None
    if purpose == "bridged":
        mtu_bytes = None if interface.mtu_bytes is None else max(interface.mtu_bytes, 1500)
        vlans = draw(_memberships(world.vlans))
        return replace(interface, network_instance=None, vlans=vlans, mtu_bytes=mtu_bytes), None
    instance = draw(st.sampled_from(world.instance_names))
    interface = replace(interface, network_instance=instance)
    if purpose == "unnumbered":
        peer = Peer(peer=interface.name, network_instance=instance)
        return replace(interface, unnumbered=True), draw(st.none() | st.just(peer))
    links = list(_links(index, draw(st.booleans()), world.able))
    chosen = draw(st.lists(st.sampled_from(links), min_size=1, unique=True))
    interface = replace(interface, addresses=tuple(own for own, _ in chosen))
    far = chosen[0][1] if purpose == "numbered" else None
    return interface, None if far is None else Peer(peer=far, network_instance=instance)


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


@st.composite
def _loopbacks(draw: st.DrawFn, able: Collection[str]) -> list[Drawn]:
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
def _svis(draw: st.DrawFn, world: World) -> list[Drawn]:
    """The gateways of some VLANs."""
    drawn: list[Drawn] = []
    for place, vlan in enumerate(world.vlans):
        if "svi" not in world.able or not draw(st.booleans()):
            continue
        subnet = IPv4Network((int(IPv4Network("10.96.0.0/12").network_address) + 256 * place, 24))
        address, anycast = ip_interface((subnet[1], 24)), "anycast_gateway" in world.able and draw(st.booleans())
        drawn.append(
            (
                Svi(
                    name=svi_name(vlan.vlan_id),
                    vlan=vlan.vlan_id,
                    description=draw(st.just("") | descriptions),
                    network_instance=draw(st.sampled_from(world.instance_names)),
                    addresses=() if anycast else (address,),
                    gateways=(address,) if anycast else (),
                ),
                None,
            )
        )
    return drawn


@st.composite
def _far_peers(draw: st.DrawFn, able: Collection[str]) -> list[Peer]:
    """Peers beyond the links of the switch."""
    if not {"update_source", "multihop"} <= set(able):
        return []
    found = draw(st.lists(ipv4_addresses.map(lambda address: address + 0x60000000), max_size=2, unique=True))
    return [Peer(peer=address, far=True) for address in found]


@st.composite
def _balancing(draw: st.DrawFn, able: Collection[str]) -> LoadBalancing | None:
    """Load balancing; None where everything is the platform's default."""
    modes = [mode for mode in BalancingMode if mode is BalancingMode.FLOW or f"load_balancing_{mode}" in able]
    mode = draw(st.sampled_from(modes))
    special = {HashField.QUEUE_PAIR: "hash_queue_pair", HashField.INGRESS_PORT: "hash_ingress_port"}
    known = [field for field in HashField if special.get(field, "hash_fields") in able]
    fields = draw(st.lists(st.sampled_from(known), max_size=4, unique=True)) if "hash_fields" in able else []
    found = LoadBalancing(
        mode=mode,
        fields=tuple(sorted(fields, key=list(HashField).index)),
        seed=draw(st.none() | st.integers(0, 65535)) if "hash_seed" in able else None,
        flowlet_gap_us=draw(st.none() | st.integers(10, 10_000)) if mode is BalancingMode.FLOWLET else None,
    )
    return None if found == LoadBalancing() else found
