"""Renders a device model to EOS configuration, as a tree of lines.

The sections are in the order of PyAVD's (eos_cli_config_gen), so that both can be compared.
"""

from __future__ import annotations

from collections.abc import Iterator

from railfab.device import DEFAULT_INSTANCE, DeviceModel, Interface, IpInterface, Management, Svi, Vlan
from railfab.platforms.eos.balancing import cluster_lines, dynamic_lines, hash_lines
from railfab.platforms.eos.names import GATEWAY_MAC, PEER_VLAN, VXLAN_INTERFACE, native_name
from railfab.platforms.eos.peer_link import mlag_lines, peer_vlan
from railfab.platforms.eos.render_bgp import bgp_lines
from railfab.platforms.eos.render_interfaces import interface_lines
from railfab.platforms.eos.render_management import (
    aaa_lines,
    banner_lines,
    gnmi_lines,
    lldp_lines,
    ntp_lines,
    ssh_lines,
    syslog_lines,
)
from railfab.platforms.eos.render_policy import as_path_lists, community_lists, prefix_lists, route_maps
from railfab.platforms.eos.render_qos import (
    applied_buffer_lines,
    buffer_lines,
    map_lines,
    profile_lines,
    service_profiles,
    watchdog_lines,
)
from railfab.platforms.shared.line_tree import Line
from railfab.platforms.shared.route_map_lines import all_entries

MULTI_AGENT = "service routing protocols model multi-agent"
"""The routing agents that EVPN and IPv6 next hops need; those before them are gone since EOS 4.32."""

TUNNEL_QOS = (
    "vxlan qos ecn propagation",
    "vxlan qos dscp propagation encapsulation",
    "vxlan qos map dscp to traffic-class decapsulation",
)
"""ECN and DSCP of a packet are those of its tunnel too, and its class on the way out is that of its own DSCP."""

DRAIN = Line("maintenance", (Line("unit System", (Line("quiesce"),)),))
"""The unit of the whole switch: its BGP sessions announce GSHUT (RFC 8326), as EOS's own profile for it says."""


def render(model: DeviceModel) -> tuple[Line, ...]:
    """The whole configuration of one switch."""
    management, qos = model.management or Management(), model.qos
    return (
        Line(MULTI_AGENT),
        *lldp_lines(model.lldp),
        *syslog_lines(management),
        *(buffer_lines(qos) if qos else ()),
        *([Line(f"hostname {model.name}")] if model.name else []),
        *(profile_lines(qos, model.silicon) if qos else ()),
        *([Line(f"no spanning-tree vlan-id {PEER_VLAN}")] if model.mlag else []),
        *_vlans(model),
        *_vrfs(model, management),
        *banner_lines(management),
        *gnmi_lines(management),
        *aaa_lines(management),
        *interface_lines(model, service_profiles(qos)),
        *_tunnel(model),
        *hash_lines(model),
        *cluster_lines(model),
        *_gateway_mac(model),
        *_routing(model),
        *dynamic_lines(model),
        *_policy_lists(model),
        *_ipv6_routing(model),
        *([DRAIN] if model.drain else []),
        *mlag_lines(model),
        *ntp_lines(management),
        *(map_lines(qos) if qos else ()),
        *(watchdog_lines(qos) if qos else ()),
        *route_maps(model),
        *bgp_lines(model),
        *(applied_buffer_lines(qos) if qos else ()),
        *ssh_lines(management),
    )


def _vlans(model: DeviceModel) -> Iterator[Line]:
    yield from map(_vlan, model.vlans)
    if model.mlag is not None:
        yield peer_vlan()


def _vlan(vlan: Vlan) -> Line:
    return Line(f"vlan {vlan.vlan_id}", (Line(f"name {vlan.name}"),) if vlan.name else ())


def _vrfs(model: DeviceModel, management: Management) -> Iterator[Line]:
    """The VRFs, that of the servers too."""
    names = {found.name for found in model.network_instances} | {management.network_instance}
    yield from (Line(f"vrf instance {name}") for name in sorted(names - {DEFAULT_INSTANCE}))


def _tunnel(model: DeviceModel) -> Iterator[Line]:
    """The VXLAN interface; its UDP port is the default one, 4789."""
    lines = [f"vxlan source-interface {native_name(model.vtep.source)}"] if model.vtep else []
    lines += [f"vxlan vlan {vlan.vlan_id} vni {vlan.vni}" for vlan in model.vlans if vlan.vni is not None]
    lines += [f"vxlan vrf {found.name} vni {found.vni}" for found in model.network_instances if found.vni is not None]
    if lines:
        yield Line(f"interface {VXLAN_INTERFACE}", tuple(map(Line, (*lines, *TUNNEL_QOS))))


def _gateway_mac(model: DeviceModel) -> Iterator[Line]:
    """One address for all anycast gateways of a switch."""
    svis = [found for found in model.interfaces if isinstance(found, Svi) and found.gateways]
    if svis:
        stated = next((found.gateway_mac for found in svis if found.gateway_mac is not None), GATEWAY_MAC)
        yield Line(f"ip virtual-router mac-address {stated}")


def _unnumbered_instances(model: DeviceModel) -> set[str | None]:
    return {found.network_instance for found in model.interfaces if found.unnumbered}


def _routing(model: DeviceModel) -> Iterator[Line]:
    """`ipv6 interfaces`: IPv4 packets are routed over interfaces that have no IPv4 address (RFC 8950)."""
    over_ipv6 = _unnumbered_instances(model)
    yield Line(f"ip routing{' ipv6 interfaces' * (DEFAULT_INSTANCE in over_ipv6)}")
    for found in model.network_instances:
        yield Line(f"ip routing{' ipv6 interfaces' * (found.name in over_ipv6)} vrf {found.name}")


def _policy_lists(model: DeviceModel) -> Iterator[Line]:
    entries = all_entries(model)
    yield from as_path_lists(entries)
    yield from community_lists(entries)
    yield from prefix_lists(entries)


def _addresses(interface: Interface) -> tuple[IpInterface, ...]:
    return (*interface.addresses, *interface.gateways) if isinstance(interface, Svi) else interface.addresses


def _ipv6_routing(model: DeviceModel) -> Iterator[Line]:
    """In every network instance with an IPv6 address or an unnumbered interface."""
    used = _unnumbered_instances(model)
    used |= {found.network_instance for found in model.interfaces if any(x.version == 6 for x in _addresses(found))}
    if DEFAULT_INSTANCE in used:
        yield Line("ipv6 unicast-routing")
    for found in model.network_instances:
        if found.name in used:
            yield Line(f"ipv6 unicast-routing vrf {found.name}")
