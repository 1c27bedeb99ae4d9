"""The prefixes of rails: of the addresses that the hosts of a rail have on a switch."""

from __future__ import annotations

from collections.abc import Mapping

from railfab.intent import FabricIntent
from railfab.topology.addresses import RailSlot, address_plan
from railfab.topology.dimensions import Dimensions
from railfab.topology.model import Net, Network, Role, Topology


def rail_prefixes(topology: Topology, intent: FabricIntent) -> Mapping[tuple[int, str], Network]:
    """The prefix of the hosts of a rail on a switch, by rail and switch."""
    if intent.hosts.attach != "routed":
        return {(found.rail, found.node): found.subnet for found in topology.gateways if found.rail is not None}
    plan = Dimensions(intent)
    addresses = address_plan(plan)
    slots = {(port.plane, port.switch, port.rail): port.slot for port in plan.nic_ports}
    return {
        (rail, node.name): addresses.host_network(
            RailSlot(
                plane=node.plane,
                rail=rail,
                pod=node.pod,
                segment=node.segment,
                leaf=plan.leaf_number(node.segment, node.index),
                slot=slots[node.plane, node.index, rail],
            )
        )
        for node in topology.nodes
        if node.role is Role.LEAF and node.net is Net.BACKEND and node.segment is not None
        for rail in plan.rails_of[node.index]
    }
