"""The configuration of an EOS switch as a whole, rendered from a device model and parsed to one.

The sections are in the order of PyAVD's (eos_cli_config_gen), so that both can be compared. Parsing is total: a line is
an error only when its value is impossible. What the model cannot express is unmodelled, and so is a line that differs
from the one by which this platform renders the model (the name of a peer group, say).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from ipaddress import IPv4Interface, IPv6Interface

from railfab.device import (
    DEFAULT_INSTANCE,
    BalancingMode,
    DeviceModel,
    IpInterface,
    Lldp,
    ManagementAccess,
    Mlag,
    NetworkInstance,
    PfcWatchdog,
    Qos,
    Svi,
    Vlan,
    Vtep,
    in_order,
)
from railfab.errors import raise_all
from railfab.platforms.differences import Difference
from railfab.platforms.eos import bgp, interfaces, policy, qos, system
from railfab.platforms.eos.comparison import headers, with_entries_of, with_number
from railfab.platforms.eos.interfaces import VLAN, NativeInterface
from railfab.platforms.eos.lines import FORMAT, canonical
from railfab.platforms.eos.names import GATEWAY_MAC, JERICHO, PEER_VLAN, VXLAN_INTERFACE, interface_name
from railfab.platforms.eos.peer_link import PEER_SVI, addresses_of
from railfab.platforms.eos.qos import MMU, MMU_PROFILE, QUEUE, SECONDS, WATCHDOG, numbers
from railfab.platforms.eos.usage import marked, without_those_below
from railfab.platforms.shared.line_grammar import line_differences, unmodelled
from railfab.platforms.shared.line_tree import Line
from railfab.platforms.shared.native_names import plain_mac
from railfab.platforms.shared.statements import (
    REST,
    WORD,
    Reading,
    Word,
    below,
    flag,
    inline,
    integer,
    line,
    lines,
    sections,
    table,
    written,
)

NAME, ROUTER = "eos", "router bgp "
VNI = integer(1, 2**24 - 1)
MULTI_AGENT = "service routing protocols model multi-agent"
"""The routing agents that EVPN and IPv6 next hops need; those before them are gone since EOS 4.32."""

TUNNEL_QOS = (
    "vxlan qos ecn propagation",
    "vxlan qos dscp propagation encapsulation",
    "vxlan qos map dscp to traffic-class decapsulation",
)
"""ECN and DSCP of a packet are those of its tunnel too, and its class on the way out is that of its own DSCP."""


@dataclass(slots=True, kw_only=True)
class NativeVlan:
    name: str = line("name {}", REST, default="")
    peer_link: bool = flag("trunk group MLAG")


@dataclass(slots=True, kw_only=True)
class Vxlan:
    """The VXLAN interface; its UDP port is the default, 4789."""

    source: str | None = line("vxlan source-interface {}", bgp.NATIVE_INTERFACE)
    vlans: dict[int, int] = table("vxlan vlan {} vni {}", VLAN, VNI)
    vrfs: dict[str, int] = table("vxlan vrf {} vni {}", WORD, VNI)
    qos: bool = flag(TUNNEL_QOS[0], beside=TUNNEL_QOS[1:])


@dataclass(slots=True, kw_only=True)
class MaintenanceUnit:
    quiesce: bool = flag("quiesce")


@dataclass(slots=True, kw_only=True)
class Maintenance:
    """The unit System is the whole switch: its BGP sessions announce GSHUT (RFC 8326), as EOS's own profile says."""

    units: dict[str, MaintenanceUnit] = sections("unit {}", WORD, kind=MaintenanceUnit)


@dataclass(slots=True, kw_only=True)
class EosConfiguration:
    """routing: of each VRF, None the default one, with whether IPv4 is routed over IPv6 addresses (RFC 8950).

    ntp: VRF and address of each server.
    """

    multi_agent: bool = flag(MULTI_AGENT)
    lldp_hello_s: int = line("lldp timer {}", integer(1, 32768), default=30)
    lldp_hold_s: int = line("lldp hold-time {}", integer(1, 65535), default=120)
    lldp: bool = flag("no lldp run", default=True)
    syslog: system.EosSyslog = inline(system.EosSyslog)
    buffers: qos.Buffers | None = below(MMU_PROFILE, qos.Buffers)
    hostname: str = line("hostname {}", WORD, default="")
    qos_profiles: dict[str, qos.QosProfile] = sections("qos profile {}", WORD, kind=qos.QosProfile)
    peer_vlan_without_stp: bool = flag(f"no spanning-tree vlan-id {PEER_VLAN}")
    vlans: dict[int, NativeVlan] = sections("vlan {}", VLAN, kind=NativeVlan)
    vrfs: list[str] = lines("vrf instance {}", WORD)
    banner: str | None = line("banner login\n{}\nEOF", Word(r"(?s:.*)", str))
    gnmi: system.EosGnmi | None = below("management api gnmi", system.EosGnmi)
    aaa: system.EosAaa = inline(system.EosAaa)
    interfaces: dict[str, NativeInterface] = sections(
        "interface {}", Word(r"(?:Ethernet|Port-Channel|Loopback|Vlan)\d\S*", str), kind=NativeInterface
    )
    vxlan: Vxlan | None = below(f"interface {VXLAN_INTERFACE}", Vxlan)
    hash_policies: system.HashPolicies | None = below("load-balance policies", system.HashPolicies)
    cluster: system.Cluster | None = below("load-balance cluster", system.Cluster)
    gateway_mac: str | None = line("ip virtual-router mac-address {}", Word(r"\S+", plain_mac))
    routing: list[tuple[str | None, str | None]] = lines("ip routing[ {}][ vrf {}]", Word("ipv6 interfaces", str), WORD)
    dynamic: bool = flag("ip hardware fib load-balance distribution dynamic")
    lists: policy.PolicyLists = inline(policy.PolicyLists)
    ipv6_routing: list[str | None] = lines("ipv6 unicast-routing[ vrf {}]", WORD)
    maintenance: Maintenance | None = below("maintenance", Maintenance)
    mlag: system.MlagConfiguration | None = below("mlag configuration", system.MlagConfiguration)
    ntp: list[tuple[str | None, str]] = lines("ntp server[ vrf {}] {}", WORD, WORD)
    cos_maps: list[tuple[tuple[int, ...], int]] = lines("qos map cos {} to traffic-class {}", numbers(0, 7), QUEUE)
    dscp_maps: list[tuple[tuple[int, ...], int]] = lines("qos map dscp {} to traffic-class {}", numbers(0, 63), QUEUE)
    detect_ms: int | None = line(f"{WATCHDOG} default timeout {{}}", SECONDS)
    recover_ms: int | None = line(f"{WATCHDOG} default recovery-time {{}}", SECONDS)
    polling_ms: int | None = line(f"{WATCHDOG} default polling-interval {{}}", SECONDS)
    watchdog_drops: bool = flag(f"{WATCHDOG} action drop")
    route_maps: policy.RouteMaps = sections(
        "route-map {} {} {}", WORD, policy.ACTION, integer(1, 16777215), kind=policy.RouteMapEntry
    )
    routers: dict[int, bgp.Router] = sections("router bgp {}", bgp.ASN, kind=bgp.Router)
    applied_buffers: bool = flag(f"{MMU_PROFILE} apply")
    headroom_pool_bytes: int | None = line(f"{MMU} headroom-pool limit[ bytes] {{}}", qos.BYTES)
    ssh: system.Ssh | None = below("management ssh", system.Ssh)


# To EOS


def render(model: DeviceModel) -> tuple[Line, ...]:
    """The whole configuration of one switch."""
    return written(native(model))


def native(model: DeviceModel) -> EosConfiguration:
    management, balancing = model.management or ManagementAccess(), model.load_balancing
    configuration = EosConfiguration(
        multi_agent=True,
        lldp_hello_s=model.lldp.hello_s,
        lldp_hold_s=model.lldp.hold_s,
        lldp=model.lldp.enabled,
        syslog=system.native_syslog(management),
        hostname=model.name,
        vlans={vlan.vlan_id: NativeVlan(name=vlan.name) for vlan in model.vlans},
        vrfs=_vrfs(model, management),
        banner=management.banner,
        gnmi=system.native_gnmi(management),
        aaa=system.native_aaa(management),
        interfaces=interfaces.native_interfaces(model, qos.service_profiles(model.qos)),
        vxlan=_vxlan(model),
        hash_policies=system.native_hash(model),
        cluster=system.native_cluster(model),
        gateway_mac=_gateway_mac(model),
        routing=_routing(model),
        dynamic=balancing is not None and balancing.mode is BalancingMode.FLOWLET,
        lists=policy.native_lists(model),
        ipv6_routing=_ipv6_routing(model),
        maintenance=Maintenance(units={"System": MaintenanceUnit(quiesce=True)}) if model.drain else None,
        mlag=system.native_mlag(model),
        ntp=[(system.vrf_of(management), server) for server in management.ntp],
        route_maps=policy.native_route_maps(model),
        routers=bgp.native_bgp(model),
        ssh=system.native_ssh(management),
    )
    if model.qos is not None:
        _add_qos(configuration, model.qos, model.silicon)
    if model.mlag is not None:
        _add_peer_link(configuration, model, model.mlag)
    return configuration


def _vrfs(model: DeviceModel, management: ManagementAccess) -> list[str]:
    """The VRFs, that of the servers too."""
    names = {instance.name for instance in model.network_instances} | {management.network_instance}
    return sorted(names - {DEFAULT_INSTANCE})


def _vxlan(model: DeviceModel) -> Vxlan | None:
    vxlan = Vxlan(
        source=model.vtep.source if model.vtep else None,
        vlans={vlan.vlan_id: vlan.vni for vlan in model.vlans if vlan.vni is not None},
        vrfs={instance.name: instance.vni for instance in model.network_instances if instance.vni is not None},
    )
    return None if vxlan == Vxlan() else replace(vxlan, qos=True)


def _gateway_mac(model: DeviceModel) -> str | None:
    """One address for all anycast gateways of a switch."""
    svis = [each for each in model.interfaces if isinstance(each, Svi) and each.gateways]
    return next((svi.gateway_mac for svi in svis if svi.gateway_mac is not None), GATEWAY_MAC) if svis else None


def _instances(model: DeviceModel) -> list[str | None]:
    """The network instances as EOS's VRFs, None the default one."""
    return [None, *(instance.name for instance in model.network_instances)]


def _unnumbered(model: DeviceModel) -> set[str | None]:
    return {each.network_instance for each in model.interfaces if each.unnumbered}


def _routing(model: DeviceModel) -> list[tuple[str | None, str | None]]:
    over_ipv6 = _unnumbered(model)
    return [("ipv6 interfaces" if (vrf or DEFAULT_INSTANCE) in over_ipv6 else None, vrf) for vrf in _instances(model)]


def _ipv6_routing(model: DeviceModel) -> list[str | None]:
    """In every network instance with an IPv6 address or an unnumbered interface."""
    used = _unnumbered(model)
    for each in model.interfaces:
        addresses = (*each.addresses, *each.gateways) if isinstance(each, Svi) else each.addresses
        if any(address.version == 6 for address in addresses):
            used.add(each.network_instance)
    return [vrf for vrf in _instances(model) if (vrf or DEFAULT_INSTANCE) in used]


def _add_qos(configuration: EosConfiguration, model_qos: Qos, silicon: str) -> None:
    """silicon: chip of the switch."""
    default = model_qos.traffic_class(model_qos.default_class).queue
    configuration.buffers = qos.native_buffers(model_qos)
    configuration.applied_buffers = configuration.buffers is not None
    configuration.headroom_pool_bytes = model_qos.headroom_pool_bytes
    virtual_output_queues = silicon.startswith(JERICHO)
    configuration.qos_profiles = dict(qos.native_profiles(model_qos, virtual_output_queues=virtual_output_queues))
    configuration.cos_maps = [((0,), default)]
    configuration.dscp_maps = list(qos.native_dscp_maps(model_qos))
    if (watchdog := model_qos.watchdog) is not None:
        configuration.detect_ms, configuration.recover_ms = watchdog.detect_ms, watchdog.recover_ms
        configuration.polling_ms, configuration.watchdog_drops = qos.polling_ms(watchdog), True


def _add_peer_link(configuration: EosConfiguration, model: DeviceModel, mlag: Mlag) -> None:
    """The VLAN of the peer link, and its SVI, which stays up while no other port has the VLAN."""
    address, _ = addresses_of(model, mlag)
    configuration.peer_vlan_without_stp = True
    configuration.vlans[PEER_VLAN] = NativeVlan(name="MLAG", peer_link=True)
    configuration.interfaces[PEER_SVI] = NativeInterface(
        description="MLAG peer link",
        autostate=False,
        ipv4=[address] if isinstance(address, IPv4Interface) else [],
        ipv6=[address] if isinstance(address, IPv6Interface) else [],
    )


# From EOS


def parse(text: str) -> DeviceModel:
    """The model of a configuration text, with or without a header.

    Raises ConfigError, or Problems with every bad value, each with its line and section.
    """
    stated = canonical(FORMAT.tree(text))
    configuration, reading = EosConfiguration(), Reading()
    reading.read(configuration, stated)
    raise_all(reading.errors)
    model = in_order(model_of(configuration))
    rendering = canonical(render(model))
    return replace(model, unmodelled=unmodelled(with_entries_of(stated, rendering), rendering))


def differences(text: str, rendered: str) -> tuple[Difference, ...]:
    """The lines in which a configuration differs from a rendered one; of a section that it lacks only the header."""
    stated, wanted = canonical(FORMAT.tree(text)), canonical(FORMAT.tree(rendered))
    stated = with_entries_of(stated, wanted)
    lines = tuple(with_number(stated, wanted))
    differing = (*line_differences(lines, wanted), *line_differences(headers(stated, lines), headers(lines, stated)))
    return marked(tuple(without_those_below(differing)), stated, wanted)


def model_of(configuration: EosConfiguration) -> DeviceModel:
    """The model, in the order of the configuration."""
    mlag = configuration.mlag
    natives = {name: each for name, each in configuration.interfaces.items() if mlag is None or name != PEER_SVI}
    breakouts, rates = interfaces.breakouts_of(natives)
    peer_link = mlag.peer_link if mlag else None
    model = DeviceModel(
        name=configuration.hostname,
        platform=NAME,
        breakouts=breakouts,
        interfaces=tuple(
            interfaces.interfaces_of(natives, rates=rates, gateway_mac=configuration.gateway_mac, peer_link=peer_link)
        ),
        bgp=next((bgp.bgp_of(asn, router) for asn, router in reversed(configuration.routers.items())), None),
        qos=_qos(configuration, natives),
        policies=policy.policies_in(configuration.lists, configuration.route_maps),
        network_instances=tuple(_network_instances(configuration)),
        vlans=tuple(_vlans(configuration)),
        load_balancing=system.balancing_of(
            configuration.cluster, configuration.hash_policies, dynamic=configuration.dynamic
        ),
        management=system.management_of(
            configuration.syslog, configuration.gnmi, configuration.aaa, configuration.ntp, configuration.banner
        ),
        lldp=_lldp(configuration),
        drain="System" in (units := configuration.maintenance.units if configuration.maintenance else {})
        and units["System"].quiesce,
        silicon=JERICHO if any(profile.tx_queues for profile in configuration.qos_profiles.values()) else "",
    )
    model = replace(model, vtep=_vtep(configuration, model))
    return model if mlag is None else replace(model, mlag=_mlag(configuration, mlag, model))


def _vlans(configuration: EosConfiguration) -> Iterator[Vlan]:
    vnis = configuration.vxlan.vlans if configuration.vxlan else {}
    for vlan_id in dict.fromkeys((*configuration.vlans, *vnis)):
        if configuration.mlag is None or vlan_id != PEER_VLAN:
            vlan = configuration.vlans.get(vlan_id, NativeVlan())
            yield Vlan(vlan_id=vlan_id, name=vlan.name, vni=vnis.get(vlan_id))


def _network_instances(configuration: EosConfiguration) -> Iterator[NetworkInstance]:
    """The VRFs in which packets are routed; another one is that of the management port."""
    vnis = configuration.vxlan.vrfs if configuration.vxlan else {}
    routers = [vrf for router in configuration.routers.values() for vrf in router.vrfs.items()]
    for name in dict.fromkeys(vrf for _, vrf in configuration.routing if vrf is not None):
        vrf = next((vrf for vrf_name, vrf in routers if vrf_name == name), bgp.RouterVrf())
        yield NetworkInstance(
            name=name,
            rd=vrf.rd,
            import_targets=tuple(vrf.imports),
            export_targets=tuple(vrf.exports),
            vni=vnis.get(name),
            router_id=vrf.router_id,
        )


def _vtep(configuration: EosConfiguration, model: DeviceModel) -> Vtep | None:
    """The VTEP with the first address of its loopback; without one it is unmodelled."""
    source = configuration.vxlan and configuration.vxlan.source
    loopback = model.interface(source) if source else None
    if loopback is None or not loopback.addresses:
        return None
    return Vtep(source=loopback.name, address=loopback.addresses[0].ip)


def _mlag(configuration: EosConfiguration, mlag: system.MlagConfiguration, model: DeviceModel) -> Mlag:
    svi = configuration.interfaces.get(PEER_SVI, NativeInterface())
    addresses: list[IpInterface] = [*svi.ipv4, *svi.ipv6]
    return system.mlag_of(mlag, addresses[0] if addresses else None, model.loopback)


def _lldp(configuration: EosConfiguration) -> Lldp:
    return Lldp(
        enabled=configuration.lldp,
        silent=tuple(name for name, each in configuration.interfaces.items() if each.silent),
        hello_s=configuration.lldp_hello_s,
        hold_multiplier=max(1, round(configuration.lldp_hold_s / configuration.lldp_hello_s)),
    )


def _qos(configuration: EosConfiguration, natives: Mapping[str, NativeInterface]) -> Qos | None:
    detect_ms, recover_ms, watchdog = configuration.detect_ms, configuration.recover_ms, None
    if detect_ms is not None and recover_ms is not None:
        watchdog = PfcWatchdog(detect_ms=detect_ms, recover_ms=recover_ms)
    classes = {point: traffic_class for points, traffic_class in configuration.dscp_maps for point in points}
    default = next(
        (number for priorities, number in reversed(configuration.cos_maps) if 0 in priorities), qos.DEFAULT_CLASS
    )
    switch = qos.EosQos(
        profiles=configuration.qos_profiles,
        classes=classes,
        default=default,
        buffers=configuration.buffers or qos.Buffers(),
        ports={interface_name(name): each.profile for name, each in natives.items() if each.profile is not None},
    )
    return qos.qos_of(switch, watchdog, configuration.headroom_pool_bytes)
