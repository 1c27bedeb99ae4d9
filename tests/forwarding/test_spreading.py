"""What failure domains say of the slowest flow is what the next-hop groups of the converged switches give."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import pytest
from tests.topology.fabric_intents import fabric

from railfab.device import IpAddress, plan
from railfab.forwarding import FabricChange, ForwardingState, LinkTable, Marking, converge, unconfigured
from railfab.intent import FabricIntent
from railfab.sim import Framing
from railfab.topology import FailureDomain, FailureKind, Link, Role, Topology, failure_domains, wire

SUPERS = {"count": 2, "rate_gbps": 400, "links_per_spine": 4, "model": "7220-ixr-d5"}
TWO_PODS = {"backend__pods": 2, "backend__spines__count": 2, "backend__spines__links_per_leaf": 2}
INTENTS = {
    "pod64: two links to each of four spines": fabric(backend__spines__links_per_leaf=2),
    "numbered links": fabric(backend__spines__links_per_leaf=2, profile__underlay="numbered"),
    "four links to each of two spines": fabric(backend__spines__count=2, backend__spines__links_per_leaf=4),
    "one link to each of eight spines": fabric(backend__spines__count=8, backend__spines__links_per_leaf=1),
    "uplinks to spare": fabric(backend__segments__hosts=3, backend__spines__links_per_leaf=2),
    "oversubscribed": fabric(backend__spines__count=2, backend__spines__links_per_leaf=2),
    "two pods": fabric(**TWO_PODS, backend__segments__hosts=2, backend__super_spines=SUPERS),
    "groups of super-spines": fabric(
        **TWO_PODS, backend__segments__hosts=2, backend__super_spines=SUPERS | {"groups": 2, "links_per_spine": 8}
    ),
}
LEAF_LINKS = [(name, FailureKind.LEAF_LINK) for name in INTENTS]
SPINE_LINKS = [(name, FailureKind.SPINE_LINK) for name in ("two pods", "groups of super-spines")]


def converged(topology: Topology, intent: FabricIntent) -> ForwardingState:
    start = unconfigured(LinkTable(topology), framing=Framing(), marking=Marking())
    return converge(start, FabricChange(dict(plan(topology, intent))))


def without(state: ForwardingState, link: Link) -> ForwardingState:
    return converge(state, FabricChange({}, cut=frozenset({(link.a.node, link.a.name)})))


def paths(
    state: ForwardingState, leaf: str, target: IpAddress, share: float = 1.0
) -> Iterator[tuple[float, list[int]]]:
    """Every path of flows from a leaf to an address, with its share of them: each next hop takes the same."""
    hops = state.routes.egress(leaf, target)
    for link in hops:
        far = state.links.far(link).node
        if state.links.is_host(far):
            yield share, []
        else:
            for part, rest in paths(state, far, target, share / len(hops)):
                yield part, [link, *rest]


def flows(
    state: ForwardingState, topology: Topology, *, between_pods: bool
) -> tuple[list[list[int]], dict[int, float]]:
    """The paths between leaves, or leaves of different pods, and the load of each link, as a share of its rate."""
    targets: dict[str, IpAddress] = {}
    offered_gbps: Counter[str] = Counter()
    for link in topology.links:
        if topology.node(link.a.node).role is Role.HOST:
            assert link.a.address is not None
            targets[link.z.node] = link.a.address.ip
            offered_gbps[link.z.node] += link.rate_gbps
    found: list[list[int]] = []
    loads: dict[int, float] = {}
    for leaf in targets:
        others = [
            other
            for other in targets
            if other != leaf and (not between_pods or topology.node(other).pod != topology.node(leaf).pod)
        ]
        for other in others:
            for share, path in paths(state, leaf, targets[other]):
                found.append(path)
                for link in path:
                    gbps = share * offered_gbps[leaf] / len(others) / state.links.near[link].rate_gbps
                    loads[link] = loads.get(link, 0.0) + gbps
    return found, loads


def slowest(state: ForwardingState, topology: Topology, *, between_pods: bool) -> float:
    """The rate of the slowest flow, as a share of what it sends, when all leaves send at the same time."""
    found, loads = flows(state, topology, between_pods=between_pods)
    return min(1 / max(1.0, *(loads[link] for link in path)) for path in found)


def first(topology: Topology, kind: FailureKind, intent: FabricIntent) -> tuple[FailureDomain, Link]:
    """The first failure of a kind, and its link."""
    domain = next(found for found in failure_domains(topology, intent) if found.kind is kind)
    return domain, next(
        link for link in topology.links if domain.example == f"{link.a.node}:{link.a.name}--{link.z.node}:{link.z.name}"
    )


@pytest.mark.parametrize(("name", "kind"), LEAF_LINKS + SPINE_LINKS)
def test_the_slowest_flow_after_the_failure_of_a_link_is_as_stated(name: str, kind: FailureKind) -> None:
    intent = INTENTS[name]
    topology = wire(intent)
    whole, (domain, link) = converged(topology, intent), first(topology, kind, intent)
    pods = kind is FailureKind.SPINE_LINK
    before = slowest(whole, topology, between_pods=pods)
    after = slowest(without(whole, link), topology, between_pods=pods)
    assert domain.slowest_percent == pytest.approx(100 * after / before, abs=1e-4)


@pytest.mark.parametrize(("name", "kind"), LEAF_LINKS + SPINE_LINKS)
def test_weighted_ecmp_spreads_the_loss_over_all_flows(name: str, kind: FailureKind) -> None:
    bgp = INTENTS[name].profile.bgp.model_copy(update={"weighted_ecmp": True})
    profile = INTENTS[name].profile.model_copy(update={"bgp": bgp})
    intent = INTENTS[name].model_copy(update={"profile": profile})
    topology = wire(intent)
    whole, (domain, link) = converged(topology, intent), first(topology, kind, intent)
    pods = kind is FailureKind.SPINE_LINK
    before = slowest(whole, topology, between_pods=pods)
    after = slowest(without(whole, link), topology, between_pods=pods)
    assert domain.spread is None
    assert domain.slowest_percent == pytest.approx(100 * after / before, abs=1e-4)


def test_a_next_hop_has_the_weight_of_the_links_behind_it() -> None:
    """The spine with one link left has half of the weight of the others: 1 of 7 shares over its two links."""
    intent = fabric(backend__spines__links_per_leaf=2, profile__bgp={"weighted_ecmp": True})
    topology = wire(intent)
    _, link = first(topology, FailureKind.LEAF_LINK, intent)
    left = without(converged(topology, intent), link)
    host = next(one.a for one in topology.links if one.z.node == link.a.node and one.a.rail is not None)
    assert host.address is not None
    shares = Counter(left.links.far(hop).node for hop in left.routes.egress("pod1-seg2-leaf1", host.address.ip))
    assert shares == {"pod1-spine1": 2, "pod1-spine2": 4, "pod1-spine3": 4, "pod1-spine4": 4}


def test_of_two_parallel_links_one_fails_and_the_other_leaves_keep_eight_next_hops() -> None:
    """2 of the 8 lead over the spine with one link left: 2/8 of the flows halve, and a collective with them."""
    intent = INTENTS["pod64: two links to each of four spines"]
    topology = wire(intent)
    domain, link = first(topology, FailureKind.LEAF_LINK, intent)
    left = without(converged(topology, intent), link)
    host = next(one.a for one in topology.links if one.z.node == link.a.node and one.a.rail is not None)
    assert host.address is not None
    over = [left.links.far(hop).node for hop in left.routes.egress("pod1-seg2-leaf1", host.address.ip)]
    assert domain.spread is not None
    assert (len(over), over.count(link.z.node)) == (domain.spread.next_hops, domain.spread.slowed) == (8, 2)
    assert (domain.spread.slowest, domain.spread.weighted) == (0.5, 0.875)
    assert len(left.routes.egress(link.z.node, host.address.ip)) == 1


def test_one_link_to_each_spine_leaves_no_uneven_spread() -> None:
    intent = INTENTS["one link to each of eight spines"]
    assert [domain.spread for domain in failure_domains(wire(intent), intent)] == [None] * 5


def test_a_port_channel_keeps_its_share_of_the_flows_in_both_directions() -> None:
    bundled = {"backend__spines__links_per_leaf": 2, "backend__spines__bundle": True}
    intent = fabric(**bundled)
    weighted = fabric(**bundled, profile__bgp={"weighted_ecmp": True})
    assert failure_domains(wire(weighted), weighted) == failure_domains(wire(intent), intent)
    domain, _ = first(wire(intent), FailureKind.LEAF_LINK, intent)
    assert domain.spread is not None
    assert (domain.spread.next_hops, domain.spread.slowed, domain.spread.slowest) == (4, 1, 0.5)
    routed = replace(domain.spread, next_hops=8, slowed=2, channel=False)
    assert routed == first(wire(INTENTS["pod64: two links to each of four spines"]), domain.kind, intent)[0].spread
