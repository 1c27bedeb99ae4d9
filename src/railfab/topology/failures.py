"""Failure domains: for each switch, link and NIC, how many GPUs lose how much of their bandwidth.

Definition. The bandwidth of a GPU in a network is the sum of its ports: those of its NIC on the backend (a shared NIC
is divided evenly among its GPUs, which changes no share), those of its host on the other networks. Each failure is
measured on the traffic that it affects, stated by `towards`:

- a NIC, a host link or a leaf removes ports: shares of the bandwidth to every GPU;
- a leaf-spine link or a spine removes uplinks of leaves: shares of the bandwidth to GPUs behind other leaves, when all
  hosts send at the same time. A leaf carries min(1, up / down) of the traffic of its hosts upwards; the loss is the
  decrease of this share. Losing one of n spines costs 1/n on a fully used leaf, and less with spare uplinks;
- a spine-super link or a super-spine removes uplinks of spines: in the same way, to GPUs of other pods.

A loss is relative to the bandwidth before the failure, so that oversubscription is not counted twice. Traffic is
assumed to spread over all remaining links by their rates, and to use the remaining ports of a NIC. A remote failure
(the spine of another pod) is counted for the GPUs behind it, not for those that communicate with them. Peer links carry
no traffic without a failure; the link of a storage server, and of a switch to the management network, serve no GPU.

A GPU is cut off if it loses all of its bandwidth. With a scale-up network it may still be reached over the other GPUs
of its host; this depends on software and is not counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from railfab.intent import FabricIntent
from railfab.topology.exposure import NO_EFFECT, Effect, Exposure, exposure, loss
from railfab.topology.links_by_tier import links_by_tier
from railfab.topology.model import Link, Net, Node, Role, Topology


class FailureKind(StrEnum):
    """The element that fails, in the order of the table."""

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
    """The effect of one failure, for all elements of a network with the same effect.

    example: the first element; a switch, `HOST railR` or `NODE:PORT--NODE:PORT`. count: number of elements.
    gpus: GPUs that lose bandwidth in this network. lost_percent: their average loss [%]. cut_off: GPUs that lose all.
    towards: the traffic that is measured.
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
"""Kind, name and effect of a failing element."""

TOWARDS = {
    FailureKind.LEAF_LINK: Towards.OTHER_LEAVES,
    FailureKind.SPINE: Towards.OTHER_LEAVES,
    FailureKind.SPINE_LINK: Towards.OTHER_PODS,
    FailureKind.SUPER: Towards.OTHER_PODS,
}
"""The measured traffic of each kind of failure, if it is not the traffic to every GPU."""


def failure_domains(topology: Topology, intent: FabricIntent) -> tuple[FailureDomain, ...]:
    """Failure domains of every switch, link and NIC of every network, equal ones merged."""
    found, hosts = links_by_tier(topology), intent.hosts
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
    """One row for each kind and effect, in the order of their first elements."""
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
    """Failures of NICs; none on the management network, where the ports of a host belong to host and BMC."""
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
    """Failures of super-spines; those with the same spines of a pod have the same effect on the pod."""
    known: dict[tuple[tuple[str, int], ...], Effect] = {}
    for node in _switches(network, Role.SUPER):
        effect = NO_EFFECT
        for spines in network.spines_by_pod(node.name):
            if spines not in known:
                known[spines] = network.without_spine_uplinks(spines)
            effect += known[spines]
        yield FailureKind.SUPER, node.name, effect


def _harmless(network: Exposure) -> Iterator[Failure]:
    """Failures of links that carry no traffic of GPUs."""
    for link in network.peer_links:
        yield FailureKind.PEER_LINK, _label(link), NO_EFFECT
    for link in network.hosts:
        if network.nodes[link.a.node].role is Role.SERVER:
            yield FailureKind.SERVER_LINK, _label(link), NO_EFFECT
    for link in network.managed:
        yield FailureKind.MANAGED_LINK, _label(link), NO_EFFECT


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
    """Failures of uplinks of switches of a role; those of one switch and speed have the same effect."""
    known: dict[tuple[str, int], Effect] = {}
    lower = {node.name for node in _switches(network, role)}
    for link in network.uplinks:
        if link.a.node in lower:
            key = link.a.node, link.rate_gbps
            if key not in known:
                known[key] = cost(*key)
            yield kind, _label(link), known[key]


def _label(link: Link) -> str:
    return f"{link.a.node}:{link.a.name}--{link.z.node}:{link.z.name}"
