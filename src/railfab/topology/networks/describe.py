"""Build the access networks (frontend, storage, management) of an intent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from railfab.intent import FabricIntent, Frontend, Management, Storage
from railfab.topology.catalogue import SwitchModel, models_of
from railfab.topology.dimensions import Dimensions
from railfab.topology.model import Net
from railfab.topology.networks.access import AccessNetwork

MANAGEMENT_RATIO = 4.0
"""Oversubscription of a full management leaf; the intent has no key for it."""
MANAGED_PORTS = ("mgmt0", "bmc")
"""Management ports of a host or storage server; a switch has only the first."""


@dataclass(frozen=True, slots=True)
class Site:
    """The switch models, and the largest size of the backend, which determine the positions on other networks.

    hosts: per segment. segments: per pod. rail_switches, spines: per segment and per pod, in all planes.
    """

    models: Mapping[str, SwitchModel]
    hosts: int
    segments: int
    rail_switches: int
    spines: int


def _site(intent: FabricIntent) -> Site:
    plan, backend = Dimensions(intent), intent.backend
    return Site(
        models=models_of(intent),
        hosts=max(plan.growth_hosts, backend.segments.hosts),
        segments=max(plan.growth_segments, backend.segments.count),
        rail_switches=backend.segments.rail_switches * backend.planes,
        spines=backend.spines.count * backend.planes if backend.spines else 0,
    )


def access_networks(intent: FabricIntent) -> tuple[AccessNetwork, ...]:
    """The frontend, storage and management of the intent, if it has them."""
    if not (intent.frontend or intent.storage or intent.management_network):
        return ()
    site = _site(intent)
    networks = (
        intent.frontend and _frontend(intent.frontend, site),
        intent.storage and _storage(intent.storage, site),
        intent.management and _management(intent.management, site),
    )
    return tuple(network for network in networks if network)


def _frontend(frontend: Frontend, site: Site) -> AccessNetwork:
    return AccessNetwork(
        net=Net.FRONTEND,
        prefix="front",
        host_ports=tuple(f"front-p{port}" for port in range(frontend.nic_ports)),
        rate_gbps=frontend.rate_gbps,
        ratio=frontend.oversubscription,
        pool=frontend.pool,
        leaves=frontend.leaves,
        spines=frontend.spines,
        models=site.models,
        group=min(2, frontend.nic_ports),
        segment_members=site.hosts,
        pod_members=0,
        segments=site.segments,
        spare_links=0,
        max_without_spines=1 if frontend.attach == "esi" else min(2, frontend.nic_ports),
    )


def _storage(storage: Storage, site: Site) -> AccessNetwork:
    return AccessNetwork(
        net=Net.STORAGE,
        prefix="store",
        host_ports=tuple(f"store-p{port}" for port in range(storage.nic_ports)),
        rate_gbps=storage.rate_gbps,
        ratio=storage.oversubscription,
        pool=storage.pool,
        leaves=storage.leaves,
        spines=storage.spines,
        models=site.models,
        group=min(2, max(storage.nic_ports, storage.server_ports)),
        segment_members=site.hosts,
        pod_members=0,
        segments=site.segments,
        spare_links=storage.server_ports,
        max_without_spines=min(2, max(storage.nic_ports, storage.server_ports)),
    )


def _management(management: Management, site: Site) -> AccessNetwork | None:
    """The management network: members of a segment are its hosts and rail switches, members of a pod its spines.

    None where the intent states only the management access of switches.
    """
    if management.leaves is None:
        return None
    return AccessNetwork(
        net=Net.MANAGEMENT,
        prefix="mgmt",
        host_ports=MANAGED_PORTS,
        rate_gbps=management.rate_gbps,
        ratio=MANAGEMENT_RATIO,
        pool=management.pool,
        leaves=management.leaves,
        spines=management.spines,
        models=site.models,
        group=2 if management.pairs else 1,
        segment_members=site.hosts + switch_places(site.rail_switches),
        pod_members=switch_places(site.spines),
        segments=site.segments,
        spare_links=1,
        max_without_spines=1,
    )


def switch_places(switches: int) -> int:
    """Slots for a number of switches: each needs one link, and a slot has one link per management port of a host."""
    return -(-switches // len(MANAGED_PORTS))
