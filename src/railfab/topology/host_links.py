"""The links between hosts and rail switches, whatever way hosts are attached, and those between the two of a pair."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product

from railfab.topology.addresses import AddressPlan, Place
from railfab.topology.attachment import PEER_BUNDLE, Attachment, Leaf
from railfab.topology.dimensions import Dimensions
from railfab.topology.model import Interface, Link, Port
from railfab.topology.nodes import host_name, leaf_name, numbers, planes, pods, segments
from railfab.topology.places import Panel, Spot, host_places, peer_cages
from railfab.topology.rails import NicPort

Ends = tuple[Interface | None, Interface | None]


@dataclass(frozen=True, slots=True)
class Strand:
    """One NIC port, and where it arrives: the port of its rail switch for each host of a segment in turn."""

    port: NicPort
    name: str
    spots: tuple[Spot, ...]


def strands(plan: Dimensions) -> tuple[Strand, ...]:
    panel = Panel(plan.leaf_model, plan.segments.platform or plan.leaf_model.platform, plan.host_lanes)
    return tuple(
        Strand(
            port=port,
            name=f"rail{port.rail}-p{port.port}",
            spots=tuple(panel.at(cage, lane) for cage, lane in host_places(plan, port)),
        )
        for port in plan.nic_ports
    )


def host_links(plan: Dimensions, addresses: AddressPlan, attachment: Attachment) -> Iterator[Link]:
    """By host, rail and NIC port."""
    own = strands(plan)
    for pod, segment in product(pods(plan), segments(plan)):
        ends = [_addressing(plan, addresses, attachment, (pod, segment), strand.port) for strand in own]
        vlans = [_vlan(plan, attachment, strand.port) for strand in own]
        leaves = [leaf_name(strand.port.plane, pod, segment, strand.port.switch) for strand in own]
        for host in numbers(plan.segments.hosts):
            name = host_name(pod, segment, host)
            for strand, leaf, end, vlan in zip(own, leaves, ends, vlans, strict=True):
                bundle = attachment.bundle(host, strand.port)
                yield _host_link(plan, strand, (name, leaf), host, end(host), vlan, bundle)


def _host_link(
    plan: Dimensions,
    strand: Strand,
    nodes: tuple[str, str],
    host: int,
    addresses: Ends,
    vlan: int | None,
    bundle: int | None,
) -> Link:
    rate, rail, spot = plan.intent.hosts.rate_gbps, strand.port.rail, strand.spots[host - 1]
    host_end = Port(
        node=nodes[0],
        name=strand.name,
        cage=0,
        lane=None,
        rate_gbps=rate,
        rail=rail,
        address=addresses[0],
        bundle=None if bundle is None else rail,
    )
    leaf_end = Port(
        node=nodes[1],
        name=spot.name,
        cage=spot.cage,
        lane=spot.lane,
        rate_gbps=rate,
        rail=rail,
        address=addresses[1],
        vlan=vlan,
        bundle=bundle,
    )
    return Link(a=host_end, z=leaf_end, rate_gbps=rate, cable_m=plan.segments.cable_m)


def _vlan(plan: Dimensions, attachment: Attachment, port: NicPort) -> int | None:
    return None if plan.intent.hosts.attach == "routed" else attachment.vlan(port.rail, port.slot)


def _addressing(
    plan: Dimensions, addresses: AddressPlan, attachment: Attachment, place: tuple[int, int], port: NicPort
) -> Callable[[int], Ends]:
    """Host's and switch's address on a NIC port, by host. place: pod and segment."""
    pod, segment = place
    if plan.intent.hosts.attach == "routed":
        leaf = plan.leaf_number(segment, port.switch)
        base = addresses.host_base(Place(port.plane, port.rail, pod, segment, leaf, port.slot))
        per_nic, turn, pair = plan.links_per_nic_and_leaf, port.turn, addresses.pair
        return lambda host: pair(base + 2 * ((host - 1) * per_nic + turn))
    if attachment.paired:
        return lambda _: (None, None)
    subnet = attachment.subnet(Leaf(port.plane, pod, segment, port.switch, ""), port.block)
    return lambda host: (attachment.host_address(subnet, host, port.turn), None)


def peer_links(plan: Dimensions) -> Iterator[Link]:
    """Between the switches of each pair: the first with the second, the third with the fourth."""
    if not plan.peer_links:
        return
    panel = Panel(plan.leaf_model, plan.segments.platform or plan.leaf_model.platform, 1)
    pairs = range(1, plan.segments.rail_switches, 2)
    for plane, pod, segment, switch in product(planes(plan), pods(plan), segments(plan), pairs):
        for cage in peer_cages(plan):
            ends = (
                _peer_port(plan, leaf_name(plane, pod, segment, number), panel.at(cage, 0))
                for number in (switch, switch + 1)
            )
            yield Link(a=next(ends), z=next(ends), rate_gbps=_peer_gbps(plan), cable_m=plan.segments.cable_m)


def _peer_gbps(plan: Dimensions) -> int:
    return max(plan.leaf_model.speeds_gbps)


def _peer_port(plan: Dimensions, node: str, spot: Spot) -> Port:
    return Port(
        node=node,
        name=spot.name,
        cage=spot.cage,
        lane=spot.lane,
        rate_gbps=_peer_gbps(plan),
        rail=None,
        address=None,
        bundle=PEER_BUNDLE,
    )
