"""Management: the out-of-band network to every host, BMC and switch.

Each purpose (switches, hosts, BMCs) has a VLAN. `vrf`: the VLANs are local to a leaf, and one VRF routes between
leaves; `vlans`: each VLAN spans all leaves, by VXLAN if there are several. Addresses are the same in both. The switches
of this network are reached at their loopbacks.
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
    """Purpose of a management port; the number is its part of the pool."""

    SWITCH = 0
    HOST = 1
    BMC = 2


def management_part(network: AccessNetwork, management: Management, intent: FabricIntent, cluster: Topology) -> Part:
    """The nodes, links and gateways of the management network. cluster: the topology of all other networks."""
    cables = chain(
        host_cables(network, cluster.hosts()),
        pod_switch_cables(network, cluster.nodes, intent),
        spare_cables(network, cluster.nodes, intent),
    )
    numbered, reflectors = intent.profile.underlay == "numbered", intent.profile.reflectors
    ends = _ends(network, management, frozenset(node.name for node in cluster.switches()))
    links = (*access_links(network, cables, ends), *uplinks(network, numbered=numbered))
    return Part(
        nodes=switches(network, links, reflectors=reflectors if _stretched(management) else None),
        links=links,
        gateways=tuple(_gateways(network, management)),
    )


def vlan_of(management: Management, purpose: Purpose) -> int:
    return {
        Purpose.SWITCH: management.switch_vlan,
        Purpose.HOST: management.host_vlan,
        Purpose.BMC: management.bmc_vlan,
    }[purpose]


def _stretched(management: Management) -> bool:
    """Whether VLANs span several leaves."""
    return management.isolation == "vlans" and management.leaves is not None and management.leaves.count > 1


def _subnet(network: AccessNetwork, management: Management, purpose: Purpose, leaf: int) -> IPv4Network:
    """The subnet of a port of this purpose on this leaf."""
    if management.isolation == "vrf":
        return network.pools.leaf_subnet(purpose, leaf)
    return network.pools.purpose_subnet(purpose)


def _ends(network: AccessNetwork, management: Management, managed: frozenset[str]) -> Callable[[Cable], Ends]:
    """The settings of access links. managed: names of switches."""
    leaves = range(1, network.leaves.count + 1)
    vlans = {purpose: vlan_of(management, purpose) for purpose in Purpose}
    first = {
        (purpose, leaf): int(network.pools.leaf_subnet(purpose, leaf).network_address) + 2
        for purpose in Purpose
        for leaf in leaves
    }
    lengths = {purpose: _subnet(network, management, purpose, 1).prefixlen for purpose in Purpose}

    def ends(cable: Cable) -> Ends:
        on_host = Purpose.BMC if cable.port == "bmc" else Purpose.HOST
        purpose = Purpose.SWITCH if cable.node in managed else on_host
        number = first[purpose, cable.socket.leaf] + cable.socket.position
        return Ends((IPv4Interface((number, lengths[purpose])), None), vlans[purpose])

    return ends


def _gateways(network: AccessNetwork, management: Management) -> Iterator[Gateway]:
    """The gateway of every VLAN on every leaf, with the first address."""
    for leaf in range(1, network.leaves.count + 1):
        for purpose in Purpose:
            subnet, vlan = _subnet(network, management, purpose, leaf), vlan_of(management, purpose)
            yield Gateway(
                node=network.leaf_name(leaf),
                vlan=vlan,
                subnet=subnet,
                address=IPv4Interface((int(subnet.network_address) + 1, subnet.prefixlen)),
                anycast=_stretched(management),
                vni=VNI_BASE + vlan if _stretched(management) else None,
                tenant=VRF if management.isolation == "vrf" else None,
            )
