"""All checks, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from railfab.findings import Finding
from railfab.intent import FabricIntent
from railfab.topology.checks import (
    capacity,
    collisions,
    evenness,
    inventory,
    islands,
    profile,
    reach,
    redundancy,
    subnets,
)
from railfab.topology.checks.few_ports import few_ports
from railfab.topology.checks.signals import signal_findings
from railfab.topology.model import Topology
from railfab.topology.sorted_links import Wired

CHOSEN: tuple[Callable[[FabricIntent], Iterator[Finding]], ...] = (
    profile.host_model,
    profile.bfd,
    profile.mtu,
    profile.uet_pauses,
    reach.unknown_networks,
    reach.isolation,
    reach.services,
    reach.management_vlans,
)
"""Asked of the intent alone."""

WIRED: tuple[Callable[[Wired], Iterator[Finding]], ...] = (
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
    evenness.uneven_supers,
    evenness.stray_rails,
    few_ports,
)
"""Asked of what is wired, whatever was meant."""

HELD: tuple[Callable[[Wired, FabricIntent], Iterator[Finding]], ...] = (
    capacity.oversubscription,
    redundancy.claims,
    islands.islands,
    evenness.meeting_planes,
    reach.crossing_links,
    reach.shared_vlans,
    collisions.as_numbers,
    subnets.pools,
    subnets.outside_pools,
    inventory.unknown_switches,
)
"""What is wired, held against what was meant."""


def findings(topology: Topology, intent: FabricIntent) -> tuple[Finding, ...]:
    """Every finding of every check, all reported together; alike ones as one."""
    return tuple(_findings(Wired(topology), intent))


def _findings(wired: Wired, intent: FabricIntent) -> Iterator[Finding]:
    for held in HELD:
        yield from held(wired, intent)
    for laid in WIRED:
        yield from laid(wired)
    yield from signal_findings(wired.topology, intent)
    for chosen in CHOSEN:
        yield from chosen(intent)
