"""Interfaces of a switch, from its topology: ports, LAGs, SVIs and the loopback, and the VLANs and VRFs behind them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from ipaddress import ip_interface

from railfab.device.interfaces import (
    DEFAULT_INSTANCE,
    LOOPBACK,
    Interface,
    IpInterface,
    Lag,
    Loopback,
    Mlag,
    MlagKeepalive,
    NetworkInstance,
    Port,
    Svi,
    Vlan,
    VlanMembership,
    Vtep,
    lag_name,
    loopback_name,
    svi_name,
)
from railfab.device.plan_switch import PlannedConnection, PlannedSwitch
from railfab.intent import Tenant, vlan_name
from railfab.topology import Gateway, Net, Node
from railfab.topology.networks.frontend import VNI_BASE

PEER_LINK_ENDS = ip_interface("169.254.255.0/31"), ip_interface("169.254.255.1/31")
"""Addresses of the two switches of an MLAG pair on their peer link, where nothing else connects them."""


def planned_interfaces(switch: PlannedSwitch) -> tuple[Interface, ...]:
    """The interfaces of a switch."""
    ports = (_port(connection, switch) for connection in switch.connections)
    lags = (_lag(number, members, switch) for number, members in switch.lags.items())
    svis = (_svi(gateway, switch) for gateway in switch.gateways)
    return (*ports, _loopback(switch), *lags, *svis)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Attachment:
    """Attachment of a port or LAG: routed, or in VLANs. None of both is a member of a LAG."""

    network_instance: str | None = None
    addresses: tuple[IpInterface, ...] = ()
    unnumbered: bool = False
    vlans: VlanMembership | None = None


def _port(connection: PlannedConnection, switch: PlannedSwitch) -> Port:
    """A port; a member of a LAG has no MTU of its own."""
    port, peer, member = connection.port, connection.peer, connection.port.bundle is not None
    attached = _Attachment() if member else _attached(connection, switch)
    return Port(
        name=port.name,
        description=f"{peer.node} {peer.name}",
        mtu_bytes=None if member else switch.profile.mtu,
        rate_gbps=port.rate_gbps if port.lane is None else None,
        hold_up_ms=switch.profile.link_hold_up_ms,
        network_instance=attached.network_instance,
        addresses=attached.addresses,
        unnumbered=attached.unnumbered,
        vlans=attached.vlans,
        link_level_retry=_has_link_level_retry(connection, switch),
    )


def _has_link_level_retry(connection: PlannedConnection, switch: PlannedSwitch) -> bool:
    wanted = switch.profile.ultra_ethernet.link_level_retry
    return wanted and connection.to_switch and switch.node.net is Net.BACKEND


def _lag(number: int, members: tuple[PlannedConnection, ...], switch: PlannedSwitch) -> Lag:
    """A LAG: to a switch, to the other switch of a pair, or to a host, which may have it to both switches of a pair."""
    first = members[0]
    attached = _attached(first, switch)
    lag = Lag(
        name=lag_name(number),
        description=f"{first.peer.node} {_far_lag(first, switch)}",
        mtu_bytes=switch.profile.mtu,
        members=tuple(member.port.name for member in members),
        network_instance=attached.network_instance,
        addresses=attached.addresses,
        unnumbered=attached.unnumbered,
        vlans=attached.vlans,
    )
    bond = switch.fabric.bonds.get((switch.node.name, number))
    if bond is not None and bond.esi is not None:
        return replace(lag, esi=bond.esi, system_mac=_pair_mac(switch, bond.switches))
    if bond is not None and len(bond.switches) > 1:
        return replace(lag, mlag_id=number)
    return lag


def _far_lag(first: PlannedConnection, switch: PlannedSwitch) -> str:
    """The name of a LAG at its other end."""
    bond = switch.fabric.bonds.get((switch.node.name, first.port.bundle or 0))
    return bond.name if bond is not None else lag_name(first.peer.bundle or 0)


def _pair_mac(switch: PlannedSwitch, names: tuple[str, ...]) -> str:
    """A locally administered MAC address that two switches of a pair share: of pod, segment and first switch."""
    first = switch.fabric.topology.by_name[names[0]]
    octets = (2, first.pod >> 8, first.pod & 255, (first.segment or 0) & 255, first.index >> 8, first.index & 255)
    return ":".join(f"{octet:02x}" for octet in octets)


def _attached(first: PlannedConnection, switch: PlannedSwitch) -> _Attachment:
    """The attachment of a port, or of a LAG by the first of its ports: VLANs of a host or of a pair, or routed."""
    port = first.port
    if first in switch.peer_link:
        vlans = tuple(sorted(gateway.vlan for gateway in switch.gateways))
        return _Attachment(vlans=VlanMembership(untagged=None, tagged=vlans))
    if port.vlan is not None:
        return _Attachment(vlans=_host_vlans(port.vlan, switch))
    return _Attachment(
        network_instance=switch.network_instance,
        addresses=() if port.address is None else (port.address,),
        unnumbered=first.to_switch and port.address is None,
    )


def _host_vlans(vlan: int, switch: PlannedSwitch) -> VlanMembership:
    """The VLANs of a host: untagged its own, tagged those of the further tenants of the frontend."""
    tenants = switch.gateways if switch.node.net is Net.FRONTEND else ()
    return VlanMembership(untagged=vlan, tagged=tuple(sorted({tenant.vlan for tenant in tenants} - {vlan})))


def _loopback(switch: PlannedSwitch) -> Loopback:
    """The loopback with the router ID, a /32 or /128.

    In a VRF it is the second one, because the first of some systems is always in the default network instance
    (`system0` of SR Linux, `lo` of Linux).
    """
    address = switch.node.loopback
    assert address is not None
    name = LOOPBACK if switch.network_instance == DEFAULT_INSTANCE else loopback_name(1)
    return Loopback(name=name, network_instance=switch.network_instance, addresses=(ip_interface(address),))


def _svi(gateway: Gateway, switch: PlannedSwitch) -> Svi:
    """The interface of a VLAN, with its gateway: an anycast one is beside an address of the switch, if any is left."""
    place = switch.node.name, gateway.vlan
    address = switch.fabric.switch_addresses.get(place) if gateway.anycast else gateway.address
    return Svi(
        name=svi_name(gateway.vlan),
        description=_vlan_name(gateway, switch),
        mtu_bytes=switch.profile.mtu,
        network_instance=gateway.tenant or switch.network_instance,
        vlan=gateway.vlan,
        addresses=() if address is None else (address,),
        gateways=(gateway.address,) if gateway.anycast else (),
    )


def planned_vlans(switch: PlannedSwitch) -> tuple[Vlan, ...]:
    """The VLANs of a switch: each has a gateway there."""
    return tuple(
        Vlan(vlan_id=gateway.vlan, name=_vlan_name(gateway, switch), vni=gateway.vni) for gateway in switch.gateways
    )


def _vlan_name(gateway: Gateway, switch: PlannedSwitch) -> str:
    """`rail3`; the name of a tenant, and of a further VLAN of it; `switches`, `hosts` and `bmcs` of management."""
    if gateway.rail is not None:
        return f"rail{gateway.rail}"
    management = switch.fabric.intent.management
    if switch.node.net is Net.MANAGEMENT and management is not None:
        names = {management.switch_vlan: "switches", management.host_vlan: "hosts", management.bmc_vlan: "bmcs"}
        return names[gateway.vlan]
    if gateway.tenant is None:
        return svi_name(gateway.vlan)
    tenant = _tenant_of(gateway, switch)
    further = tenant.vlans.items() if tenant is not None else ()
    matching = (vlan_name(gateway.tenant, name) for name, vlan in further if vlan.vlan == gateway.vlan)
    return next(matching, gateway.tenant)


def _tenant_of(gateway: Gateway, switch: PlannedSwitch) -> Tenant | None:
    """The tenant of the intent that a VLAN belongs to; None where the intent states none."""
    frontend = switch.fabric.intent.frontend
    if gateway.tenant is None or frontend is None or switch.node.net is not Net.FRONTEND:
        return None
    return frontend.tenants.get(gateway.tenant)


def planned_instances(switch: PlannedSwitch) -> tuple[NetworkInstance, ...]:
    """The VRFs of a switch: of the tenants of its VLANs, and of the management network.

    One in an overlay has an RD of the router and its first VLAN, and one target for all its switches.
    """
    instances: dict[str, NetworkInstance] = {}
    if (name := switch.network_instance) != DEFAULT_INSTANCE:
        instances[name] = NetworkInstance(name=name, router_id=switch.node.router_id)
    for gateway in reversed(switch.gateways):
        if gateway.tenant is not None and gateway.vni is not None:
            instances[gateway.tenant] = _instance(gateway.tenant, gateway, switch)
    return tuple(instances.values())


def _instance(name: str, first: Gateway, switch: PlannedSwitch) -> NetworkInstance:
    """A VRF in an overlay. first: of its VLANs, whose MAC-VRF has the RD of the router and the VLAN, so it has not."""
    tenant = _tenant_of(first, switch)
    l3vni = tenant.l3vni if tenant is not None else None
    target = f"{first.vlan}:{first.vni if l3vni is None else l3vni}"
    return NetworkInstance(
        name=name,
        rd=f"{switch.node.router_id}:{VNI_BASE + first.vlan}",
        import_targets=(target,),
        export_targets=(target,),
        vni=l3vni,
        router_id=switch.node.router_id,
    )


def planned_vtep(switch: PlannedSwitch) -> Vtep | None:
    """The VXLAN tunnel endpoint of a switch with an overlay."""
    return None if switch.node.vtep is None else Vtep(source=LOOPBACK, address=switch.node.vtep)


def planned_mlag(switch: PlannedSwitch) -> Mlag | None:
    """The MLAG pair of a switch.

    The keepalive runs between the loopbacks, over the spines and not the peer link. Without spines the ends have
    link-local addresses (RFC 3927) on the peer link, and the keepalive runs over the network for management, if any.
    """
    if not (links := switch.peer_link):
        return None
    node, peer = switch.node, links[0].peer_node
    assert links[0].port.bundle is not None
    assert peer.loopback is not None
    first, second = sorted((node, peer), key=_number)
    pair = Mlag(
        domain=f"{first.name}-{second.index}",
        peer_link=lag_name(links[0].port.bundle),
        system_mac=_pair_mac(switch, (first.name,)),
    )
    if switch.fabric.intent.backend.spines is None:
        address, peer_address = PEER_LINK_ENDS if node is first else PEER_LINK_ENDS[::-1]
        return replace(pair, address=address, peer=peer_address.ip, keepalive=_managed_keepalive(switch, peer))
    keepalive = MlagKeepalive(peer=peer.loopback, source=node.loopback, network_instance=switch.network_instance)
    return replace(pair, keepalive=keepalive)


def _managed_keepalive(switch: PlannedSwitch, peer: Node) -> MlagKeepalive | None:
    """The keepalive between the management ports of a pair; None without their addresses."""
    addresses = (_management_address(switch, name) for name in (switch.node.name, peer.name))
    management, (source, destination) = switch.fabric.intent.management, addresses
    if management is None or source is None or destination is None:
        return None
    return MlagKeepalive(peer=destination.ip, source=source.ip, network_instance=management.vrf)


def _management_address(switch: PlannedSwitch, name: str) -> IpInterface | None:
    ports = switch.fabric.topology.ports_of(name)
    return next((port.address for port, _, _ in ports if not port.cage and port.address is not None), None)


def _number(node: Node) -> int:
    return node.index
