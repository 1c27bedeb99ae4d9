"""The configuration of one switch as values, without anything vendor-specific.

The planner makes models, platforms render and parse them, `agreement` compares the two ends of a link, and the twin
computes a fabric from them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from railfab.device.interfaces import (
    BreakoutPort,
    Interface,
    IpAddress,
    IpNetwork,
    Loopback,
    Mlag,
    NetworkInstance,
    Vlan,
    Vtep,
)
from railfab.device.qos import Qos
from railfab.device.routing import BgpNeighbor, BgpSpeaker, Policy
from railfab.device.system import Lldp, LoadBalancing, ManagementAccess


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceModel:
    """One switch. Interfaces are the ports in front-panel order, then loopbacks, LAGs and SVIs, each by number.

    Everything else is in the order of `in_order`, which platforms apply to what they parse. bgp: None without a BGP
    speaker. qos: None when the fabric has no lossless class. management: None where railfab does not manage it.
    drain: graceful shutdown of all BGP sessions (RFC 8326), so that neighbours prefer other paths.
    silicon: chip of the switch, as the catalogue has it; empty where only a configuration is known, and not compared.
    unmodelled: parts of a parsed configuration that the model cannot express, one line each with its path, sorted.
    """

    name: str
    platform: str
    breakouts: tuple[BreakoutPort, ...]
    interfaces: tuple[Interface, ...]
    bgp: BgpSpeaker | None
    qos: Qos | None
    policies: tuple[Policy, ...] = ()
    network_instances: tuple[NetworkInstance, ...] = ()
    vlans: tuple[Vlan, ...] = ()
    vtep: Vtep | None = None
    mlag: Mlag | None = None
    load_balancing: LoadBalancing | None = None
    management: ManagementAccess | None = None
    lldp: Lldp = field(default_factory=Lldp)
    drain: bool = False
    silicon: str = field(default="", compare=False)
    unmodelled: tuple[str, ...] = ()

    def interface(self, name: str) -> Interface | None:
        return next((interface for interface in self.interfaces if interface.name == name), None)

    @property
    def loopback(self) -> IpAddress | None:
        """The first address of the first loopback; None without one."""
        addresses = (address.ip for port in self.interfaces if isinstance(port, Loopback) for address in port.addresses)
        return next(addresses, None)

    def policy(self, name: str) -> Policy | None:
        return next((policy for policy in self.policies if policy.name == name), None)

    @property
    def neighbors(self) -> tuple[BgpNeighbor, ...]:
        """The BGP neighbours; none without a BGP speaker."""
        return self.bgp.neighbors if self.bgp else ()

    @property
    def used_policies(self) -> frozenset[str]:
        """Names of the policies that BGP sessions use."""
        return frozenset(
            name for neighbor in self.neighbors for name in (*neighbor.import_policies, *neighbor.export_policies)
        )


def fabric_prefixes(model: DeviceModel) -> frozenset[IpNetwork]:
    """The addresses of the fabric: prefixes that its policies permit, and those of its own interfaces."""
    permitted = {prefix.prefix for policy in model.policies for rule in policy.rules for prefix in rule.prefixes}
    return frozenset(permitted | {address.network for port in model.interfaces for address in port.addresses})


def interfaces_of_peers(model: DeviceModel) -> Mapping[str, str]:
    """The interface over which each neighbour is directly connected, by the key of the neighbour.

    Of an unnumbered session its interface, else the first one in the network instance with the longest subnet that has
    the address of the peer; a peer in no subnet has none.
    """
    names: dict[tuple[str | None, int, int, int], str] = {}
    for interface in model.interfaces:
        for subnet in () if isinstance(interface, Loopback) else interface.subnets:
            host_bits = subnet.max_prefixlen - subnet.prefixlen
            prefix = int(subnet.network_address) >> host_bits
            names.setdefault((interface.network_instance, subnet.version, host_bits, prefix), interface.name)
    sizes = sorted({host_bits for _, _, host_bits, _ in names})
    by_neighbor: dict[str, str] = {}
    for neighbor in model.neighbors:
        peer, instance = neighbor.peer, neighbor.network_instance
        if isinstance(peer, str):
            by_neighbor[neighbor.key] = peer
            continue
        around = (names.get((instance, peer.version, size, int(peer) >> size)) for size in sizes)
        if name := next(filter(None, around), None):
            by_neighbor[neighbor.key] = name
    return by_neighbor
