"""Check that the other networks can be built with their switches, leaves and pools."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Network

from railfab.errors import RailfabError, TopologyError
from railfab.intent import FabricIntent, Frontend
from railfab.text.remedies import SET, Choice, Remedy, remedy, values
from railfab.topology.model import Net
from railfab.topology.networks import hardware
from railfab.topology.networks.access import AccessNetwork
from railfab.topology.networks.describe import access_networks
from railfab.topology.networks.members import spare_groups

Errors = Iterator[RailfabError]
SMALLEST_POOL = 16
"""Smallest number of addresses of a pool, which is divided into parts."""
SHORTEST = 8
"""Length of the largest prefix that a remedy suggests."""
MAX_LEAVES = 4096
"""Largest number of leaves in an intent."""
LIMIT_GROWTH = Choice("backend.growth to the size that the fabric will reach", verb="limit")
FIXED = 3
"""Addresses of a subnet that are not for hosts: network, gateway and broadcast."""


def network_errors(intent: FabricIntent) -> list[RailfabError]:
    """Every reason why a frontend, storage or management cannot be wired.

    Raises TopologyError if the numbers of the intent do not divide or its switch models do not exist (see `buildable`).
    """
    return [error for network in access_networks(intent) for error in _errors(network, intent)]


def _errors(network: AccessNetwork, intent: FabricIntent) -> list[RailfabError]:
    """Errors of one network: a step runs only if the steps before it found none."""
    for checks in STEPS:
        if errors := [error for check in checks for error in check(network)]:
            return errors
    return [error for check in LAST for error in check(network, intent)]


STEPS = (
    (hardware.models_are_known,),
    (
        hardware.models_run_their_platforms,
        hardware.ports_have_their_speed,
        hardware.leaves_form_pairs,
        hardware.leaves_are_connected,
    ),
    (hardware.cages_can_be_split, hardware.spines_have_ports),
    (hardware.leaves_have_ports,),
)


def _leaves_suffice(network: AccessNetwork, intent: FabricIntent) -> Errors:
    needed, there = _leaves_needed(network, intent), network.leaves.count
    if needed > there:
        leaves = "1 leaf is" if there == 1 else f"{there} leaves are"
        segments = "1 segment" if network.segments == 1 else f"{network.segments} segments"
        reserved = f"{segments} per pod with {network.segment_members} slots each"
        problem = f"{leaves} too few: with {reserved} reserved, the last leaf in use is {needed}"
        yield TopologyError(f"{network.key}.leaves.count", problem, _enough_leaves(network, intent, needed))


def _enough_leaves(network: AccessNetwork, intent: FabricIntent, needed: int) -> Remedy:
    """The remedy: the number of leaves, or a smaller growth that the present leaves are enough for."""
    more = values(f"{network.key}.leaves.count", [needed] if needed <= MAX_LEAVES else [])
    limit = _enough_growth(network, intent)
    return remedy(*more, *([limit] if limit else [] if more else [LIMIT_GROWTH]))


def _enough_growth(network: AccessNetwork, intent: FabricIntent) -> Choice | None:
    backend = intent.backend
    present = {"hosts": backend.segments.hosts, "segments": backend.segments.count}
    for keys in (("hosts",), ("segments",), ("hosts", "segments")):
        bounds = {key: present[key] for key in keys}
        growth = backend.growth.model_copy(update=bounds)
        bounded = intent.model_copy(update={"backend": backend.model_copy(update={"growth": growth})})
        same = next(other for other in access_networks(bounded) if other.net is network.net)
        if same.slots and _leaves_needed(same, bounded) <= network.leaves.count:
            stated = ", ".join(f"{key}: {bound}" for key, bound in bounds.items())
            changes = {f"backend.growth.{key}": bound for key, bound in bounds.items()}
            return Choice(f"backend.growth: {{{stated}}} (if the fabric will not grow)", changes, SET)
    return None


def _leaves_needed(network: AccessNetwork, intent: FabricIntent) -> int:
    """Number of the last leaf in use, or of the other leaf of its pair."""
    backend = intent.backend
    last = network.segment_members if network.net is Net.MANAGEMENT else backend.segments.hosts
    groups = [network.place(backend.pods, backend.segments.count, last - 1).group]
    groups += [network.spare_place(member).group for member in _last_spares(network, intent)]
    return (max(groups) + 1) * network.group


def _last_spares(network: AccessNetwork, intent: FabricIntent) -> Iterator[int]:
    """Number of the last member of each group outside pods."""
    if network.net is Net.STORAGE and intent.storage and intent.storage.servers:
        yield intent.storage.servers - 1
    elif network.net is Net.MANAGEMENT:
        groups = spare_groups(intent)
        yield from ((group.count - 1) * len(groups) + turn for turn, group in enumerate(groups) if group.count)


def _pool_suffices(network: AccessNetwork, intent: FabricIntent) -> Errors:
    needed = max(SMALLEST_POOL, *_addresses_needed(network, intent))
    if network.pool.num_addresses < needed:
        problem = f"{network.pool} is too small for {network.leaves.count} leaves of {network.access_ports} ports"
        yield TopologyError(f"{network.key}.pool", problem, _larger(f"{network.key}.pool", network.pool, needed))


def _addresses_needed(network: AccessNetwork, intent: FabricIntent) -> Iterator[int]:
    """The size that each part of the pool requires."""
    pools, leaves = network.pools, network.leaves.count
    yield 8 * (2 + leaves + (network.spines.count if network.spines else 0))
    if intent.profile.underlay == "numbered":
        yield 4 * leaves * pools.uplink_stride
    if network.net is Net.MANAGEMENT:
        yield 8 * leaves * pools.port_stride
    elif network.net is Net.STORAGE or (intent.frontend and intent.frontend.attach == "routed"):
        yield 2 * leaves * pools.link_stride
    elif intent.frontend and not intent.frontend.tenants:
        yield 2 * _hosts_subnet(network, intent)


def _hosts_subnet(network: AccessNetwork, intent: FabricIntent) -> int:
    """Addresses of a subnet with all hosts."""
    backend = intent.backend
    return network.member_number(backend.pods, backend.segments.count, backend.segments.hosts) + FIXED


def _subnets_suffice(network: AccessNetwork, intent: FabricIntent) -> Errors:
    if network.net is Net.FRONTEND and intent.frontend:
        yield from _tenants_suffice(network, intent, intent.frontend)


def _tenants_suffice(network: AccessNetwork, intent: FabricIntent, frontend: Frontend) -> Errors:
    """Check that the first VLAN of the first tenant has addresses for all hosts, and the others for a gateway."""
    needed = _hosts_subnet(network, intent) if frontend.attach == "esi" else FIXED
    for _, key, found in frontend.tenant_vlans():
        if found.subnet.num_addresses < needed:
            problem = f"{found.subnet} is too small for {needed} addresses"
            yield TopologyError(f"{key}.subnet", problem, _larger(f"{key}.subnet", found.subnet, needed))
        needed = FIXED


def _services_have_free_addresses(network: AccessNetwork, intent: FabricIntent) -> Errors:
    """Check that servers have addresses that are not assigned to devices."""
    if network.net is not Net.MANAGEMENT or intent.management is None or network.pool.num_addresses < SMALLEST_POOL:
        return
    free = network.pools.servers
    for name, servers in intent.management.services:
        for server in servers:
            if server in network.pool and server not in free:
                where = f"management.services.{name}"
                problem = f"{server} is in the part of {network.pool} that is assigned to devices"
                yield TopologyError(where, problem, f"Use an address in {free}, or outside {network.pool}")


def _larger(key: str, prefix: IPv4Network, addresses: int) -> Remedy:
    """The remedy for a prefix with fewer addresses."""
    length = 32 - (addresses - 1).bit_length()
    if length < SHORTEST:
        return remedy(LIMIT_GROWTH)
    return remedy(Choice(f"a /{length}", {key: str(prefix.supernet(new_prefix=length))}))


LAST = (_leaves_suffice, _pool_suffices, _subnets_suffice, _services_have_free_addresses)
