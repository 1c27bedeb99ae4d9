"""The frontend, storage and management of an intent as access networks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from railfab.intent import FabricIntent, Frontend, Management, Storage
from railfab.topology.catalogue import SwitchModel, models_of
from railfab.topology.dimensions import Dimensions
from railfab.topology.model import Net
from railfab.topology.networks.access import AccessNetwork

MANAGEMENT_RATIO = 4.0
"""Oversubscription of a full management leaf, which nothing states."""
MANAGED_PORTS = ("mgmt0", "bmc")
"""Of a host or storage server; a switch has the first."""


@dataclass(frozen=True, slots=True)
class Site:
    """What the places on other networks follow from: the switch models, and what the backend may grow to.

    hosts: of a segment. segments: of a pod. rail_switches, spines: of a segment and of a pod, in all planes.
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
    """Those that the intent has: frontend, storage, management."""
    if not (intent.frontend or intent.storage or intent.management):
        return ()
    place = _site(intent)
    found = (
        intent.frontend and _frontend(intent.frontend, place),
        intent.storage and _storage(intent.storage, place),
        intent.management and _management(intent.management, place),
    )
    return tuple(network for network in found if network)


def _frontend(own: Frontend, place: Site) -> AccessNetwork:
    return AccessNetwork(
        net=Net.FRONTEND,
        prefix="front",
        host_ports=tuple(f"front-p{port}" for port in range(own.nic_ports)),
        rate_gbps=own.rate_gbps,
        ratio=own.oversubscription,
        pool=own.pool,
        leaves=own.leaves,
        spines=own.spines,
        models=place.models,
        group=min(2, own.nic_ports),
        segment_members=place.hosts,
        pod_members=0,
        segments=place.segments,
        spare_links=0,
        alone=1 if own.attach == "esi" else min(2, own.nic_ports),
    )


def _storage(own: Storage, place: Site) -> AccessNetwork:
    return AccessNetwork(
        net=Net.STORAGE,
        prefix="store",
        host_ports=tuple(f"store-p{port}" for port in range(own.nic_ports)),
        rate_gbps=own.rate_gbps,
        ratio=own.oversubscription,
        pool=own.pool,
        leaves=own.leaves,
        spines=own.spines,
        models=place.models,
        group=min(2, max(own.nic_ports, own.server_ports)),
        segment_members=place.hosts,
        pod_members=0,
        segments=place.segments,
        spare_links=own.server_ports,
        alone=min(2, max(own.nic_ports, own.server_ports)),
    )


def _management(own: Management, place: Site) -> AccessNetwork:
    """A segment has its hosts and its rail switches on it, a pod its spines."""
    return AccessNetwork(
        net=Net.MANAGEMENT,
        prefix="mgmt",
        host_ports=MANAGED_PORTS,
        rate_gbps=own.rate_gbps,
        ratio=MANAGEMENT_RATIO,
        pool=own.pool,
        leaves=own.leaves,
        spines=own.spines,
        models=place.models,
        group=1,
        segment_members=place.hosts + switch_places(place.rail_switches),
        pod_members=switch_places(place.spines),
        segments=place.segments,
        spare_links=1,
        alone=1,
    )


def switch_places(switches: int) -> int:
    """Places of so many switches: each needs one link, and a host's place has one for each of its management ports."""
    return -(-switches // len(MANAGED_PORTS))
