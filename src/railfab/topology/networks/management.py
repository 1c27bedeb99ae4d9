"""Management: the way to every host, BMC and switch that needs no other network.

Each purpose (switches, hosts, BMCs) has a VLAN. `vrf`: a leaf's VLANs end on it, and one VRF routes between leaves;
`vlans`: each is one over all leaves, by VXLAN where there are several. Addresses are the same in both. Switches of this
network itself are reached at their loopbacks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import IntEnum
from ipaddress import IPv4Interface, IPv4Network
from itertools import chain

from railfab.intent import FabricIntent, Management
from railfab.topology.model import Gateway, Topology
from railfab.topology.networks.access import AccessNetwork
from railfab.topology.networks.frontend import VNI_BASE
from railfab.topology.networks.members import Cable, host_cables, pod_switch_cables, spare_cables
from railfab.topology.networks.parts import Ends, Part, access_links, switches, uplinks

VRF = "management"


class Purpose(IntEnum):
    """What a management port is for; the number is its part of the pool."""

    SWITCH = 0
    HOST = 1
    BMC = 2


def management_part(network: AccessNetwork, own: Management, intent: FabricIntent, cluster: Topology) -> Part:
    """cluster: all other networks, wired."""
    cables = chain(
        host_cables(network, cluster.hosts()),
        pod_switch_cables(network, cluster.nodes, intent),
        spare_cables(network, cluster.nodes, intent),
    )
    numbered, reflectors = intent.profile.underlay == "numbered", intent.profile.reflectors
    ends = _ends(network, own, frozenset(node.name for node in cluster.switches()))
    links = (*access_links(network, cables, ends), *uplinks(network, numbered=numbered))
    return Part(
        nodes=switches(network, links, reflectors=reflectors if _stretched(own) else None),
        links=links,
        gateways=tuple(_gateways(network, own)),
    )


def vlan_of(own: Management, purpose: Purpose) -> int:
    return {Purpose.SWITCH: own.switch_vlan, Purpose.HOST: own.host_vlan, Purpose.BMC: own.bmc_vlan}[purpose]


def _stretched(own: Management) -> bool:
    """VLANs span several leaves."""
    return own.isolation == "vlans" and own.leaves.count > 1


def _subnet(network: AccessNetwork, own: Management, purpose: Purpose, leaf: int) -> IPv4Network:
    """That a port of this purpose on this leaf is in."""
    if own.isolation == "vrf":
        return network.pools.leaf_subnet(purpose, leaf)
    return network.pools.purpose_subnet(purpose)


def _ends(network: AccessNetwork, own: Management, managed: frozenset[str]) -> Callable[[Cable], Ends]:
    """managed: names of switches."""
    leaves = range(1, network.leaves.count + 1)
    vlans = {purpose: vlan_of(own, purpose) for purpose in Purpose}
    first = {
        (purpose, leaf): int(network.pools.leaf_subnet(purpose, leaf).network_address) + 2
        for purpose in Purpose
        for leaf in leaves
    }
    lengths = {purpose: _subnet(network, own, purpose, 1).prefixlen for purpose in Purpose}

    def ends(cable: Cable) -> Ends:
        on_host = Purpose.BMC if cable.port == "bmc" else Purpose.HOST
        purpose = Purpose.SWITCH if cable.node in managed else on_host
        number = first[purpose, cable.socket.leaf] + cable.socket.position
        return Ends((IPv4Interface((number, lengths[purpose])), None), vlans[purpose])

    return ends


def _gateways(network: AccessNetwork, own: Management) -> Iterator[Gateway]:
    """Of every VLAN on every leaf: the first address."""
    for leaf in range(1, network.leaves.count + 1):
        for purpose in Purpose:
            subnet, vlan = _subnet(network, own, purpose, leaf), vlan_of(own, purpose)
            yield Gateway(
                node=network.leaf_name(leaf),
                vlan=vlan,
                subnet=subnet,
                address=IPv4Interface((int(subnet.network_address) + 1, subnet.prefixlen)),
                anycast=_stretched(own),
                vni=VNI_BASE + vlan if _stretched(own) else None,
                tenant=VRF if own.isolation == "vrf" else None,
            )
