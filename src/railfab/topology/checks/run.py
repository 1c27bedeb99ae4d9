"""Run all checks."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from railfab.findings import Finding
from railfab.intent import FabricIntent
from railfab.topology.checks import (
    capacity,
    collisions,
    drains,
    empty_cages,
    evenness,
    inventory,
    islands,
    overbuilt,
    profile,
    reach,
    redundancy,
    subnets,
    tables,
)
from railfab.topology.checks.port_limits import port_limits
from railfab.topology.checks.signals import signal_findings
from railfab.topology.links_by_tier import IndexedTopology
from railfab.topology.model import Topology

OF_INTENT: tuple[Callable[[FabricIntent], Iterator[Finding]], ...] = (
    overbuilt.overbuilt,
    empty_cages.empty_cages,
    profile.host_model,
    profile.pcie,
    profile.bfd,
    profile.mtu,
    profile.uet_pauses,
    reach.unknown_networks,
    reach.isolation,
    reach.services,
    reach.management_vlans,
    redundancy.management_leaves,
)
"""Checks of the intent alone."""

OF_TOPOLOGY: tuple[Callable[[IndexedTopology], Iterator[Finding]], ...] = (
    collisions.names,
    collisions.ports,
    collisions.addresses,
    subnets.gateways,
    subnets.vlans,
    subnets.summaries,
    redundancy.single_homes,
    redundancy.bonds,
    evenness.uneven_uplinks,
    evenness.missing_uplinks,
    evenness.uneven_downlinks,
    evenness.crossed_rails,
    islands.cables_without_switch,
    port_limits,
)
"""Checks of the topology alone."""

OF_BOTH: tuple[Callable[[IndexedTopology, FabricIntent], Iterator[Finding]], ...] = (
    capacity.oversubscription,
    redundancy.claims,
    redundancy.mlag_backups,
    islands.islands,
    evenness.connected_planes,
    reach.crossing_links,
    reach.shared_vlans,
    collisions.as_numbers,
    subnets.pools,
    subnets.outside_pools,
    subnets.l3_vnis,
    inventory.unknown_switches,
    drains.drained_switches,
    tables.table_sizes,
)
"""Checks that compare the topology with the intent."""


def findings(topology: Topology, intent: FabricIntent) -> tuple[Finding, ...]:
    """Every finding of every check; equal findings are merged."""
    return tuple(_findings(IndexedTopology(topology), intent))


def _findings(indexed: IndexedTopology, intent: FabricIntent) -> Iterator[Finding]:
    for compare in OF_BOTH:
        yield from compare(indexed, intent)
    for inspect in OF_TOPOLOGY:
        yield from inspect(indexed)
    yield from signal_findings(indexed.topology, intent)
    for validate in OF_INTENT:
        yield from validate(intent)
