"""Intent to topology: which port meets which. Pure and deterministic.

A port's place follows from its own numbers alone: hosts fill the cages of a rail switch from the first upwards, uplinks
from the last downwards, so that a further host, segment or spine moves no cable.
"""

from __future__ import annotations

from collections.abc import Iterator

from railfab.intent import FabricIntent
from railfab.topology import addresses
from railfab.topology.buildable import check_buildable
from railfab.topology.dimensions import Dimensions
from railfab.topology.model import Breakout, Link, Node, Port, Role, Topology


def wire(intent: FabricIntent) -> Topology:
    """The fabric of an intent: hosts, rail switches and spines, every port, cable, address and AS number.

    Raises TopologyError, or Problems, when it cannot be built of these switches.
    """
    plan = Dimensions(intent)
    check_buildable(plan)
    hosts = tuple(_host(pod, segment, host) for pod, segment, host in plan.hosts())
    leaves = tuple(_leaf(plan, pod, segment, switch) for pod, segment, switch in plan.leaves())
    spines = tuple(_spine(plan, pod, spine) for pod, spine in plan.spines())
    return Topology(
        fabric=intent.fabric,
        nodes=hosts + leaves + spines,
        links=tuple(_host_links(plan)) + tuple(_fabric_links(plan)),
    )


def _host(pod: int, segment: int, host: int) -> Node:
    return Node(name=f"pod{pod}-seg{segment}-host{host}", role=Role.HOST, pod=pod, segment=segment, index=host)


def _leaf(plan: Dimensions, pod: int, segment: int, switch: int) -> Node:
    segments, number = plan.intent.backend.segments, plan.leaf_number(segment, switch)
    broken_out = plan.host_cages if plan.host_lanes > 1 else 0
    return Node(
        name=f"pod{pod}-seg{segment}-leaf{switch}",
        role=Role.LEAF,
        pod=pod,
        segment=segment,
        index=switch,
        platform=segments.platform,
        model=segments.model,
        asn=addresses.leaf_asn(pod, number),
        loopback=addresses.leaf_loopback(pod, number),
        breakouts=tuple(
            Breakout(
                cage_name=plan.leaf_model.interface(segments.platform, cage, None),
                lanes=plan.host_lanes,
                rate_gbps=plan.intent.hosts.rate_gbps,
            )
            for cage in range(1, broken_out + 1)
        ),
    )


def _spine(plan: Dimensions, pod: int, spine: int) -> Node:
    spines = plan.intent.backend.spines
    return Node(
        name=f"pod{pod}-spine{spine}",
        role=Role.SPINE,
        pod=pod,
        segment=None,
        index=spine,
        platform=spines.platform,
        model=spines.model,
        asn=addresses.spine_asn(pod),
        loopback=addresses.spine_loopback(pod, spine),
    )


def _host_links(plan: Dimensions) -> Iterator[Link]:
    """Host h's links fill its share of a rail switch's ports in the order of rail and NIC port."""
    for pod, segment, host in plan.hosts():
        taken = dict.fromkeys(plan.switches, 0)
        for rail, nic_port, switch in plan.nics():
            yield _host_link(plan, (pod, segment, host), (rail, nic_port, switch), taken[switch])
            taken[switch] += 1


def _host_link(plan: Dimensions, host: tuple[int, int, int], nic: tuple[int, int, int], nth: int) -> Link:
    """The nth link (from 0) between a host and one of its rail switches."""
    (pod, segment, number), (rail, nic_port, switch) = host, nic
    segments, rate = plan.intent.backend.segments, plan.intent.hosts.rate_gbps
    position, lanes = (number - 1) * plan.links_per_host_and_leaf + nth, plan.host_lanes
    cage, lane = position // lanes + 1, (position % lanes + 1 if lanes > 1 else None)
    ports_here = [port for other, port, met in plan.nics() if (other, met) == (rail, switch)]
    host_address, leaf_address = addresses.host_link(
        rail=rail,
        pod=pod,
        leaf=plan.leaf_number(segment, switch),
        index=(number - 1) * len(ports_here) + ports_here.index(nic_port),
    )
    host_end = Port(
        node=f"pod{pod}-seg{segment}-host{number}",
        name=f"rail{rail}-p{nic_port}",
        cage=0,
        lane=None,
        rate_gbps=rate,
        rail=rail,
        address=host_address,
    )
    leaf_end = Port(
        node=f"pod{pod}-seg{segment}-leaf{switch}",
        name=plan.leaf_model.interface(segments.platform, cage, lane),
        cage=cage,
        lane=lane,
        rate_gbps=rate,
        rail=rail,
        address=leaf_address,
    )
    return Link(a=host_end, z=leaf_end, rate_gbps=rate, cable_m=segments.cable_m)


def _fabric_links(plan: Dimensions) -> Iterator[Link]:
    for pod, segment, switch in plan.leaves():
        for spine in range(1, plan.intent.backend.spines.count + 1):
            for k in range(plan.links_per_leaf):
                yield _fabric_link(plan, (pod, segment, switch), spine, k)


def _fabric_link(plan: Dimensions, leaf: tuple[int, int, int], spine: int, k: int) -> Link:
    """The k-th link (from 0) between a leaf and a spine."""
    pod, segment, switch = leaf
    spines, segments = plan.intent.backend.spines, plan.intent.backend.segments
    number, uplink = plan.leaf_number(segment, switch), (spine - 1) * plan.links_per_leaf + k
    leaf_cage, spine_cage = plan.leaf_model.cages - uplink, (number - 1) * plan.links_per_leaf + k + 1
    numbered = plan.intent.profile.underlay == "numbered"
    ends = addresses.fabric_link(pod=pod, leaf=number, uplink=uplink) if numbered else (None, None)
    leaf_end = Port(
        node=f"pod{pod}-seg{segment}-leaf{switch}",
        name=plan.leaf_model.interface(segments.platform, leaf_cage, None),
        cage=leaf_cage,
        lane=None,
        rate_gbps=spines.rate_gbps,
        rail=None,
        address=ends[0],
    )
    spine_end = Port(
        node=f"pod{pod}-spine{spine}",
        name=plan.spine_model.interface(spines.platform, spine_cage, None),
        cage=spine_cage,
        lane=None,
        rate_gbps=spines.rate_gbps,
        rail=None,
        address=ends[1],
    )
    return Link(a=leaf_end, z=spine_end, rate_gbps=spines.rate_gbps, cable_m=spines.cable_m)
