"""Compute the topology of an intent: which port connects to which. Pure and deterministic.

The position of a port depends only on its own numbers: hosts fill the cages of a rail switch from the first upwards (or
the blocks, or the cages that the intent assigns to their rail), links to other switches use cages from the last
downwards. So one more host, segment or pod moves no cable; nor does one more spine, if its links are stated, and with
blocks also the hosts of a segment.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, product

from railfab.intent import FabricIntent
from railfab.topology.addresses import AddressPlan, RailSlot, address_plan
from railfab.topology.attachment import Attachment, RailLeaf
from railfab.topology.buildable import check_buildable
from railfab.topology.dimensions import Dimensions
from railfab.topology.fabric_links import fabric_links
from railfab.topology.host_links import host_links, peer_links
from railfab.topology.model import Bond, Summary, Topology
from railfab.topology.names import with_prefix
from railfab.topology.networks import add_networks
from railfab.topology.nodes import (
    host_name,
    hosts,
    leaf_name,
    leaves,
    numbers,
    planes,
    pods,
    segments,
    spines,
    super_spines,
)


def wire(intent: FabricIntent) -> Topology:
    """The topology of an intent: hosts and switches, every port, cable, address and AS number.

    Raises TopologyError, or Problems, if it cannot be built with these switches.
    """
    plan = Dimensions(intent)
    check_buildable(plan)
    return with_prefix(add_networks(intent, _backend(plan)), intent.names.prefix)


def _backend(plan: Dimensions) -> Topology:
    addresses, attachment = address_plan(plan), Attachment(plan)
    nodes = hosts(plan), leaves(plan, addresses), spines(plan, addresses), super_spines(plan, addresses)
    links = host_links(plan, addresses, attachment), peer_links(plan), fabric_links(plan, addresses)
    topology = Topology(
        fabric=plan.intent.fabric,
        nodes=tuple(chain(*nodes)),
        links=tuple(chain(*links)),
        models={model.name: model for model in (plan.leaf_model, plan.spine_model, plan.super_model) if model},
        pools=addresses.pools,
    )
    if plan.intent.hosts.attach == "routed":
        return replace(topology, summaries=tuple(_host_summaries(plan, addresses)))
    return _attached(plan, topology, attachment)


def _host_summaries(plan: Dimensions, addresses: AddressPlan) -> Iterator[Summary]:
    """One prefix for the host links of each rail on each rail switch, if the intent aggregates them.

    The prefix stays announced when a host link fails. Nothing is lost by that: the address of a NIC port is reached
    over its own link only, so no route could lead around it. Its packets are dropped at its rail switch, and not at
    that of their sender.
    """
    if not plan.intent.profile.bgp.aggregate_hosts or plan.spines is None:
        return
    slots = {(port.plane, port.switch, port.rail): port.slot for port in plan.nic_ports}
    for leaf in _leaves(plan):
        number = plan.leaf_number(leaf.segment, leaf.switch)
        for rail in plan.rails_of[leaf.switch]:
            slot = slots[leaf.plane, leaf.switch, rail]
            place = RailSlot(leaf.plane, rail, leaf.pod, leaf.segment, number, slot)
            yield Summary(node=leaf.name, prefix=addresses.host_network(place), contributors=())


def _attached(plan: Dimensions, topology: Topology, attachment: Attachment) -> Topology:
    """The topology with VLANs, gateways, summaries and bonds of hosts that are not attached routed."""
    leaf_switches = tuple(_leaves(plan))
    assert topology.pools is not None
    return replace(
        topology,
        pools=replace(topology.pools, hosts=attachment.subnets.pool),
        gateways=tuple(gateway for leaf in leaf_switches for gateway in attachment.gateways(leaf)),
        summaries=tuple(summary for leaf in leaf_switches if (summary := attachment.summary(leaf))),
        bonds=tuple(_bonds(plan, attachment)) if attachment.paired else (),
    )


def _leaves(plan: Dimensions) -> Iterator[RailLeaf]:
    switches = numbers(plan.segments.rail_switches)
    for plane, pod, segment, switch in product(planes(plan), pods(plan), segments(plan), switches):
        yield RailLeaf(plane, pod, segment, switch, leaf_name(plane, pod, segment, switch))


def _bonds(plan: Dimensions, attachment: Attachment) -> Iterator[Bond]:
    for pod, segment in product(pods(plan), segments(plan)):
        names = {switch: leaf_name(1, pod, segment, switch) for switch in numbers(plan.segments.rail_switches)}
        for host in numbers(plan.segments.hosts):
            yield from attachment.bonds((pod, segment, host), host_name(pod, segment, host), names)
