"""Failure domains: for each switch, link and NIC, how many units lose how much of which service.

Definition. Each network is measured on the services of its own members (`services`). The bandwidth of a GPU in a
network is the sum of its ports: those of its NIC on the backend (a shared NIC is divided evenly among its GPUs, which
changes no share), those of its host on the other networks; of a storage server, those of the server.

- a NIC, a host link or a leaf removes ports;
- a leaf-spine link or a spine removes uplinks of leaves: shares of the bandwidth beyond the leaf, when all members send
  at the same time. A leaf carries min(1, up / down) of the traffic of its members upwards; the loss is the decrease of
  this share. Losing one of n spines costs 1/n on a fully used leaf, and less with spare uplinks;
- a spine-super link or a super-spine removes uplinks of spines: in the same way, to GPUs of other pods.

A loss is relative to the bandwidth before the failure, so that oversubscription is not counted twice. It is a loss of
capacity: traffic is assumed to use the remaining links by their rates, and the remaining ports of a NIC. The slowest
flow is stated beside it, since ECMP without weights does not spread flows by the rates that are left (`spreading`), and
a collective waits for its slowest flow. A remote failure (the spine of another pod) is counted for the members behind
it, not for those that communicate with them. Peer links carry no traffic without a failure.

A unit is cut off if it loses all. With a scale-up network a GPU may still be reached over the other GPUs of its host;
this depends on software and is not counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from railfab.intent import FabricIntent
from railfab.topology.exposure import NO_EFFECT, Effect, Exposure, exposure, loss
from railfab.topology.links_by_tier import links_by_tier
from railfab.topology.model import Link, Net, Node, Role, Topology
from railfab.topology.services import AccessKind, Population, Service, Unit, populations
from railfab.topology.spreading import Spread, spread_after


class FailureKind(StrEnum):
    """The element that fails, in the order of the table."""

    NIC = "NIC"
    HOST_LINK = "host link"
    SERVER_LINK = "server link"
    MGMT0_LINK = "mgmt0 link"
    BMC_LINK = "BMC link"
    MANAGED_LINK = "switch management link"
    LEAF = "leaf"
    LEAF_LINK = "leaf-spine link"
    SPINE = "spine"
    SPINE_LINK = "spine-super link"
    SUPER = "super-spine"
    PEER_LINK = "peer link"


ACCESS = {
    AccessKind.HOST: FailureKind.HOST_LINK,
    AccessKind.SERVER: FailureKind.SERVER_LINK,
    AccessKind.MGMT0: FailureKind.MGMT0_LINK,
    AccessKind.BMC: FailureKind.BMC_LINK,
    AccessKind.SWITCH: FailureKind.MANAGED_LINK,
}
"""The failure of a link of a unit."""

BEYOND_LEAF = {FailureKind.LEAF_LINK, FailureKind.SPINE}
BEYOND_SPINE = {FailureKind.SPINE_LINK, FailureKind.SUPER}


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureDomain:
    """The effect of one failure, for all elements of a network with the same effect.

    example: the first element; a switch, `HOST railR` or `NODE:PORT--NODE:PORT`. count: number of elements.
    affected: units that lose some of the service. lost_percent: their average loss of capacity [%]. cut_off: units that
    lose all. slowest_percent: rate of the slowest flow of those affected, of its rate before [%]; None for a service
    that needs only a path. spread: of the flows, after the failure of a link between switches that leaves them uneven.
    """

    net: Net
    kind: FailureKind
    example: str
    count: int
    unit: Unit
    affected: int
    lost_percent: float
    cut_off: int
    service: Service
    slowest_percent: float | None
    spread: Spread | None = None


Failure = tuple[FailureKind, str, Effect, Spread | None]
"""Kind, name and effect of a failing element, and the spread of flows after it if that is uneven."""


def failure_domains(topology: Topology, intent: FabricIntent) -> tuple[FailureDomain, ...]:
    """Failure domains of every switch, link and NIC of every network, equal ones merged."""
    found = links_by_tier(topology)
    networks = dict.fromkeys(node.net for node in topology.switches())
    return tuple(domain for net in networks for domain in _of_network(exposure(net, topology, found), intent))


def _of_network(network: Exposure, intent: FabricIntent) -> Iterator[FailureDomain]:
    members = populations(network, intent.hosts, weighted=intent.profile.bgp.weighted_ecmp)
    for failures in FAILURES:
        for population in members:
            yield from _rows(population, failures(population))
    yield from _rows(members[0], _peer_links(members[0]))


Row = tuple[FailureKind, int, float, int, float, Spread | None]
"""Kind, affected units, their loss and that of the slowest flow [%], rounded, and the spread: equal ones are merged."""


def _rows(population: Population, failures: Iterable[Failure]) -> Iterator[FailureDomain]:
    """One row for each kind and effect, in the order of their first elements."""
    first: dict[Row, str] = {}
    count: Counter[Row] = Counter()
    for kind, name, effect, spread in failures:
        lost = _percent(effect.lost / effect.units) if effect.units else 0.0
        row = kind, effect.units, lost, effect.cut_off, _percent(effect.slowest), spread
        first.setdefault(row, name)
        count[row] += 1
    for row, name in first.items():
        kind, affected, lost, cut_off, slowest, spread = row
        yield FailureDomain(
            net=population.network.net,
            kind=kind,
            example=name,
            count=count[row],
            unit=population.unit,
            affected=affected,
            lost_percent=lost,
            cut_off=cut_off,
            service=_service(population, kind),
            slowest_percent=None if population.network.needs_path else slowest,
            spread=spread,
        )


def _percent(share: float) -> float:
    return round(100 * share, 6)


def _service(population: Population, kind: FailureKind) -> Service:
    if kind in BEYOND_LEAF:
        return population.far
    return population.farther if kind in BEYOND_SPINE else population.near


def _nics(population: Population) -> Iterator[Failure]:
    network = population.network
    for nic in network.nics if population.has_nics else ():
        host, rail = nic
        yield FailureKind.NIC, host if rail is None else f"{host} rail{rail}", loss(network.units(nic), 1.0), None


def _access_links(population: Population) -> Iterator[Failure]:
    network, kind = population.network, ACCESS[population.access]
    for link in network.members:
        nic = link.a.node, link.a.rail
        share = link.rate_gbps / sum(network.nics[nic].values())
        yield kind, _label(link), loss(network.units(nic), share), None


def _leaves(population: Population) -> Iterator[Failure]:
    for leaf in _switches(population.network, Role.LEAF):
        yield FailureKind.LEAF, leaf.name, population.network.without_leaf(leaf.name), None


def _leaf_links(population: Population) -> Iterator[Failure]:
    network, kind = population.network, FailureKind.LEAF_LINK
    return _uplinks(population, Role.LEAF, kind, lambda leaf, gbps: network.without_uplinks({leaf: gbps}))


def _spines(population: Population) -> Iterator[Failure]:
    network = population.network
    for spine in _switches(network, Role.SPINE):
        yield FailureKind.SPINE, spine.name, network.without_uplinks(network.below.get(spine.name, {})), None


def _spine_links(population: Population) -> Iterator[Failure]:
    network, kind = population.network, FailureKind.SPINE_LINK
    return _uplinks(population, Role.SPINE, kind, lambda spine, gbps: network.without_spine_uplinks([(spine, gbps)]))


def _supers(population: Population) -> Iterator[Failure]:
    """Failures of super-spines; those with the same spines of a pod have the same effect on the pod."""
    network, known = population.network, dict[tuple[tuple[str, int], ...], Effect]()
    for node in _switches(network, Role.SUPER):
        effect = NO_EFFECT
        for spines in network.spines_by_pod(node.name):
            if spines not in known:
                known[spines] = network.without_spine_uplinks(spines)
            effect += known[spines]
        yield FailureKind.SUPER, node.name, effect, None


FAILURES: tuple[Callable[[Population], Iterator[Failure]], ...] = (
    _nics,
    _access_links,
    _leaves,
    _leaf_links,
    _spines,
    _spine_links,
    _supers,
)


def _peer_links(population: Population) -> Iterator[Failure]:
    for link in population.network.peer_links:
        yield FailureKind.PEER_LINK, _label(link), NO_EFFECT, None


def _switches(network: Exposure, role: Role) -> Iterator[Node]:
    return (node for node in network.nodes.values() if node.role is role and node.net is network.net)


def _uplinks(
    population: Population, role: Role, kind: FailureKind, cost: Callable[[str, int], Effect]
) -> Iterator[Failure]:
    """Failures of uplinks of switches of a role; those of one speed between two switches have the same effect."""
    network = population.network
    effects: dict[tuple[str, int], Effect] = {}
    known: dict[tuple[str, str, int], tuple[Effect, Spread | None]] = {}
    lower = {node.name for node in _switches(network, role)}
    for link in network.uplinks:
        if link.a.node in lower:
            key, pair = (link.a.node, link.rate_gbps), (link.a.node, link.z.node, link.rate_gbps)
            if key not in effects:
                effects[key] = cost(*key)
            if pair not in known:
                known[pair] = _spread(population, pair, effects[key])
            yield kind, _label(link), *known[pair]


def _spread(population: Population, pair: tuple[str, str, int], effect: Effect) -> tuple[Effect, Spread | None]:
    """The effect of the failure of a link with its slowest flow, and the spread if that is uneven.

    Weights make it even, but for port channels: a channel is one next hop, whatever links it has left.
    """
    network = population.network
    if network.needs_path or (population.weighted and pair[:2] not in network.channels):
        return effect, None
    spread, behind = spread_after(network, *pair), effect.units or network.behind(pair[0])
    if not spread.uneven or not behind:
        return effect, None
    return replace(effect, units=behind, slowest=min(effect.slowest, spread.slowest)), spread


def _label(link: Link) -> str:
    return f"{link.a.node}:{link.a.name}--{link.z.node}:{link.z.name}"
