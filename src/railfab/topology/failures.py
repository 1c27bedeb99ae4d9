"""Failure domains: for each switch, link and NIC, how many GPUs lose how much of their bandwidth.

What is counted. A GPU's bandwidth in a network is the sum of the ports that serve it: those of its NIC on the backend
(a shared NIC divided evenly among its GPUs, which changes no share), those of its host on the other networks. Each
failure is measured on the traffic that it stands between, said by `towards`:

- a NIC, a host link or a leaf takes ports away: shares of the bandwidth towards every GPU;
- a leaf-spine link or a spine takes uplinks of leaves away: shares of the bandwidth towards GPUs behind other leaves,
  when every host sends at once. A leaf hands up min(1, up / down) of what its hosts send; the loss is by how much that
  falls. Losing one of n spines costs 1/n on a leaf that is fully used, and less where uplinks are spare;
- a spine-super link or a super-spine takes uplinks of spines away: likewise, towards GPUs of other pods.

A loss is relative to what there was before the failure, so that an oversubscribed fabric is not counted twice. Traffic
is assumed to spread over all remaining links by their rates, and to use a NIC's remaining ports. A failure far away
(the other pod's spine) is counted for the GPUs behind it, not for those that talk to them. Peer links carry nothing
while all is well; a storage server's link and a switch's link to the management network serve no GPU.

A GPU is cut off where its share is all there was. With a scale-up network it may still be reached over the other GPUs
of its host; that is software's choice, and not counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from railfab.intent import FabricIntent
from railfab.topology.exposure import NOTHING, Effect, Exposure, exposure, loss
from railfab.topology.model import Link, Net, Node, Role, Topology
from railfab.topology.sorted_links import sort_links


class FailureKind(StrEnum):
    """What fails, in the order of the table."""

    NIC = "NIC"
    HOST_LINK = "host link"
    LEAF = "leaf"
    LEAF_LINK = "leaf-spine link"
    SPINE = "spine"
    SPINE_LINK = "spine-super link"
    SUPER = "super-spine"
    PEER_LINK = "peer link"
    SERVER_LINK = "server link"
    MANAGED_LINK = "switch management link"


class Towards(StrEnum):
    """The traffic that a failure is measured on."""

    EVERY_GPU = "every GPU"
    OTHER_LEAVES = "GPUs behind other leaves"
    OTHER_PODS = "GPUs of other pods"


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureDomain:
    """What one failure costs, for all elements of a network that cost the same.

    example: the first of them; a switch, `HOST railR` or `NODE:PORT--NODE:PORT`. count: how many there are.
    gpus: GPUs that lose bandwidth in this network. lost_percent: of theirs, on average [%]. cut_off: GPUs losing all.
    towards: the traffic that this is a share of.
    """

    net: Net
    kind: FailureKind
    example: str
    count: int
    gpus: int
    lost_percent: float
    cut_off: int
    towards: Towards


Failure = tuple[FailureKind, str, Effect]
"""What fails, its name, what it costs."""

TOWARDS = {
    FailureKind.LEAF_LINK: Towards.OTHER_LEAVES,
    FailureKind.SPINE: Towards.OTHER_LEAVES,
    FailureKind.SPINE_LINK: Towards.OTHER_PODS,
    FailureKind.SUPER: Towards.OTHER_PODS,
}
"""Where it is not every GPU."""


def failure_domains(topology: Topology, intent: FabricIntent) -> tuple[FailureDomain, ...]:
    """Every switch, link and NIC of every network, alike ones in one row."""
    found, hosts = sort_links(topology), intent.hosts
    networks = dict.fromkeys(node.net for node in topology.switches())
    return tuple(
        domain
        for net in networks
        for domain in _rows(
            net,
            _failures(exposure(net, topology, found, gpus_per_host=hosts.gpus, gpus_per_nic=hosts.gpus_per_nic)),
        )
    )


def _rows(net: Net, failures: Iterable[Failure]) -> Iterator[FailureDomain]:
    """One row for each kind and effect, in the order in which they were first met."""
    first: dict[tuple[FailureKind, int, float, int], str] = {}
    count: Counter[tuple[FailureKind, int, float, int]] = Counter()
    for kind, name, effect in failures:
        percent = round(100 * effect.lost / effect.gpus, 6) if effect.gpus else 0.0
        row = kind, effect.gpus, percent, effect.cut_off
        first.setdefault(row, name)
        count[row] += 1
    for row, name in first.items():
        kind, gpus, percent, cut_off = row
        yield FailureDomain(
            net=net,
            kind=kind,
            example=name,
            count=count[row],
            gpus=gpus,
            lost_percent=percent,
            cut_off=cut_off,
            towards=TOWARDS.get(kind, Towards.EVERY_GPU),
        )


def _failures(network: Exposure) -> Iterator[Failure]:
    for failures in FAILURES:
        yield from failures(network)


def _nics(network: Exposure) -> Iterator[Failure]:
    """None on the management network, whose ports are of several devices: a host's own and its BMC's."""
    if network.net is not Net.MANAGEMENT:
        for nic in network.nics:
            host, rail = nic
            yield FailureKind.NIC, host if rail is None else f"{host} rail{rail}", loss(network.gpus(nic), 1.0)


def _host_links(network: Exposure) -> Iterator[Failure]:
    for link in network.hosts:
        nic = link.a.node, link.a.rail
        if nic in network.nics:
            share = link.rate_gbps / sum(network.nics[nic].values())
            yield FailureKind.HOST_LINK, _label(link), loss(network.gpus(nic), share)


def _leaves(network: Exposure) -> Iterator[Failure]:
    for leaf in _switches(network, Role.LEAF):
        yield FailureKind.LEAF, leaf.name, network.without_leaf(leaf.name)


def _leaf_links(network: Exposure) -> Iterator[Failure]:
    return _uplinks(network, Role.LEAF, FailureKind.LEAF_LINK, lambda leaf, gbps: network.without_uplinks({leaf: gbps}))


def _spines(network: Exposure) -> Iterator[Failure]:
    for spine in _switches(network, Role.SPINE):
        yield FailureKind.SPINE, spine.name, network.without_uplinks(network.below.get(spine.name, {}))


def _spine_links(network: Exposure) -> Iterator[Failure]:
    return _uplinks(
        network, Role.SPINE, FailureKind.SPINE_LINK, lambda spine, gbps: network.without_spine_uplinks([(spine, gbps)])
    )


def _supers(network: Exposure) -> Iterator[Failure]:
    """Super-spines that serve the same spines of a pod cost that pod the same."""
    known: dict[tuple[tuple[str, int], ...], Effect] = {}
    for node in _switches(network, Role.SUPER):
        effect = NOTHING
        for spines in network.spines_by_pod(node.name):
            if spines not in known:
                known[spines] = network.without_spine_uplinks(spines)
            effect += known[spines]
        yield FailureKind.SUPER, node.name, effect


def _harmless(network: Exposure) -> Iterator[Failure]:
    """Links without which no GPU loses bandwidth."""
    for link in network.level:
        yield FailureKind.PEER_LINK, _label(link), NOTHING
    for link in network.hosts:
        if network.nodes[link.a.node].role is Role.SERVER:
            yield FailureKind.SERVER_LINK, _label(link), NOTHING
    for link in network.managed:
        yield FailureKind.MANAGED_LINK, _label(link), NOTHING


FAILURES: tuple[Callable[[Exposure], Iterator[Failure]], ...] = (
    _nics,
    _host_links,
    _leaves,
    _leaf_links,
    _spines,
    _spine_links,
    _supers,
    _harmless,
)


def _switches(network: Exposure, role: Role) -> Iterator[Node]:
    return (node for node in network.nodes.values() if node.role is role and node.net is network.net)


def _uplinks(network: Exposure, role: Role, kind: FailureKind, cost: Callable[[str, int], Effect]) -> Iterator[Failure]:
    """The links upwards of switches of a role; those of one switch and speed cost the same."""
    known: dict[tuple[str, int], Effect] = {}
    lower = {node.name for node in _switches(network, role)}
    for link in network.rising:
        if link.a.node in lower:
            key = link.a.node, link.rate_gbps
            if key not in known:
                known[key] = cost(*key)
            yield kind, _label(link), known[key]


def _label(link: Link) -> str:
    return f"{link.a.node}:{link.a.name}--{link.z.node}:{link.z.name}"
