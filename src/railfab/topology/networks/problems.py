"""Why the other networks cannot be built of their switches, leaves and pools: all reasons together."""

from __future__ import annotations

from collections.abc import Iterator

from railfab.errors import RailfabError, TopologyError
from railfab.intent import FabricIntent, Frontend
from railfab.topology.model import Net
from railfab.topology.networks import hardware
from railfab.topology.networks.access import AccessNetwork
from railfab.topology.networks.describe import access_networks
from railfab.topology.networks.members import kinds

Errors = Iterator[RailfabError]
SMALLEST_POOL = 16
"""Addresses that a pool has at least, to be divided."""
SHORTEST = 8
"""Length of the largest prefix that anybody has for a network."""
MOST_LEAVES = 4096
"""That an intent may state."""
REALLY = "in backend.growth how far it will really grow"
FIXED = 3
"""Addresses of a subnet that are no host's: network, gateway and broadcast."""


def network_errors(intent: FabricIntent) -> list[RailfabError]:
    """Every reason why a frontend, storage or management cannot be wired.

    The intent's numbers divide and its backend's switch models exist (see `buildable`), or this raises TopologyError.
    """
    return [error for network in access_networks(intent) for error in _errors(network, intent)]


def _errors(network: AccessNetwork, intent: FabricIntent) -> list[RailfabError]:
    """Of one network: each step stands on those before it."""
    for checks in STEPS:
        if found := [error for check in checks for error in check(network)]:
            return found
    return [error for check in LAST for error in check(network, intent)]


STEPS = (
    (hardware.models_are_known,),
    (
        hardware.models_run_their_platforms,
        hardware.ports_have_their_speed,
        hardware.leaves_form_pairs,
        hardware.leaves_are_joined,
    ),
    (hardware.cages_can_be_split, hardware.spines_have_ports),
    (hardware.leaves_have_ports,),
)


def _leaves_suffice(network: AccessNetwork, intent: FabricIntent) -> Errors:
    needed, there = _leaves_needed(network, intent), network.leaves.count
    if needed > there:
        few = "1 leaf is" if there == 1 else f"{there} leaves are"
        segments = "1 segment" if network.segments == 1 else f"{network.segments} segments"
        room = f"{segments} of {network.segment_members} places in a pod"
        problem = f"{few} too few: with room for {room}, places are taken up to leaf {needed}"
        yield TopologyError(f"{network.key}.leaves.count", problem, _enough_leaves(network, intent, needed))


def _enough_leaves(network: AccessNetwork, intent: FabricIntent, needed: int) -> str:
    """As many as are needed, or no more room than would do with those that are there."""
    backend = intent.backend
    present = {"hosts": backend.segments.hosts, "segments": backend.segments.count}
    for keys in (("hosts",), ("segments",), ("hosts", "segments")):
        bounds = {key: present[key] for key in keys}
        growth = backend.growth.model_copy(update=bounds)
        bounded = intent.model_copy(update={"backend": backend.model_copy(update={"growth": growth})})
        same = next(other for other in access_networks(bounded) if other.net is network.net)
        if same.slots and _leaves_needed(same, bounded) <= network.leaves.count:
            stated = ", ".join(f"{key}: {bound}" for key, bound in bounds.items())
            less = f"say backend.growth: {{{stated}}} if no more will come"
            return f"Use {needed}, or {less}" if needed <= MOST_LEAVES else f"{less[0].upper()}{less[1:]}"
    return f"Use {needed}" if needed <= MOST_LEAVES else f"Say {REALLY}"


def _leaves_needed(network: AccessNetwork, intent: FabricIntent) -> int:
    """The last leaf that something is cabled to, or its partner."""
    backend = intent.backend
    last = network.segment_members if network.net is Net.MANAGEMENT else backend.segments.hosts
    groups = [network.place(backend.pods, backend.segments.count, last - 1).group]
    groups += [network.spare_place(member).group for member in _last_spares(network, intent)]
    return (max(groups) + 1) * network.group


def _last_spares(network: AccessNetwork, intent: FabricIntent) -> Iterator[int]:
    """The last of each kind that belongs to no pod."""
    if network.net is Net.STORAGE and intent.storage and intent.storage.servers:
        yield intent.storage.servers - 1
    elif network.net is Net.MANAGEMENT:
        own = kinds(intent)
        yield from ((kind.count - 1) * len(own) + turn for turn, kind in enumerate(own) if kind.count)


def _pool_suffices(network: AccessNetwork, intent: FabricIntent) -> Errors:
    needed = max(SMALLEST_POOL, *_addresses_needed(network, intent))
    if network.pool.num_addresses < needed:
        problem = f"{network.pool} is too small for {network.leaves.count} leaves of {network.access_ports} ports"
        yield TopologyError(f"{network.key}.pool", problem, _larger(needed))


def _addresses_needed(network: AccessNetwork, intent: FabricIntent) -> Iterator[int]:
    """The size that the pool has to have for each of its parts."""
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
    """Addresses of a subnet that all hosts are in."""
    backend = intent.backend
    return network.member_number(backend.pods, backend.segments.count, backend.segments.hosts) + FIXED


def _subnets_suffice(network: AccessNetwork, intent: FabricIntent) -> Errors:
    if network.net is Net.FRONTEND and intent.frontend:
        yield from _tenants_suffice(network, intent, intent.frontend)


def _tenants_suffice(network: AccessNetwork, intent: FabricIntent, own: Frontend) -> Errors:
    """The first tenant has addresses for all hosts; the others for a gateway at least."""
    needed = _hosts_subnet(network, intent) if own.attach == "esi" else FIXED
    for name, tenant in own.tenants.items():
        if tenant.subnet.num_addresses < needed:
            problem = f"{tenant.subnet} is too small for {needed} addresses"
            yield TopologyError(f"frontend.tenants.{name}.subnet", problem, _larger(needed))
        needed = FIXED


def _services_are_elsewhere(network: AccessNetwork, intent: FabricIntent) -> Errors:
    """Servers have addresses that no switch, host or link is given."""
    if network.net is not Net.MANAGEMENT or intent.management is None or network.pool.num_addresses < SMALLEST_POOL:
        return
    free = network.pools.servers
    for name, servers in intent.management.services:
        for server in servers:
            if server in network.pool and server not in free:
                where, problem = f"management.services.{name}", f"{server} is among the addresses of {network.pool}"
                yield TopologyError(where, f"{problem} that devices get", f"Use one of {free}, or of another prefix")


def _larger(addresses: int) -> str:
    """What to do about a prefix that has not so many."""
    length = 32 - (addresses - 1).bit_length()
    return f"Use a /{length}" if length >= SHORTEST else f"Say {REALLY}"


LAST = (_leaves_suffice, _pool_suffices, _subnets_suffice, _services_are_elsewhere)
