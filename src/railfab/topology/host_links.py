"""The links between hosts and rail switches, for every `attach`, and the peer links of pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product

from railfab.topology.addresses import AddressPlan, RailSlot
from railfab.topology.attachment import PEER_BUNDLE, Attachment, RailLeaf
from railfab.topology.dimensions import Dimensions
from railfab.topology.front_panel import Panel, PanelPort, host_panel_positions, peer_cages
from railfab.topology.model import CabledPort, Interface, Link
from railfab.topology.nodes import host_name, leaf_name, numbers, planes, pods, segments
from railfab.topology.rails import NicPort

Ends = tuple[Interface | None, Interface | None]


@dataclass(frozen=True, slots=True)
class NicPortLinks:
    """One NIC port, and its port on the rail switch for each host of a segment in turn."""

    port: NicPort
    name: str
    switch_ports: tuple[PanelPort, ...]


def nic_port_links(plan: Dimensions) -> tuple[NicPortLinks, ...]:
    panel = Panel(plan.leaf_model, plan.segments.platform or plan.leaf_model.platform, plan.host_lanes)
    return tuple(
        NicPortLinks(
            port=port,
            name=f"rail{port.rail}-p{port.port}",
            switch_ports=tuple(panel.at(cage, lane) for cage, lane in host_panel_positions(plan, port)),
        )
        for port in plan.nic_ports
    )


def host_links(plan: Dimensions, addresses: AddressPlan, attachment: Attachment) -> Iterator[Link]:
    """Links between hosts and rail switches, ordered by host, rail and NIC port."""
    nic_links = nic_port_links(plan)
    for pod, segment in product(pods(plan), segments(plan)):
        ends = [_addressing(plan, addresses, attachment, (pod, segment), links.port) for links in nic_links]
        vlans = [_vlan(plan, attachment, links.port) for links in nic_links]
        leaves = [leaf_name(links.port.plane, pod, segment, links.port.switch) for links in nic_links]
        for host in numbers(plan.segments.hosts):
            name = host_name(pod, segment, host)
            for links, leaf, end, vlan in zip(nic_links, leaves, ends, vlans, strict=True):
                bundle = attachment.bundle(host, links.port)
                yield _host_link(plan, links, (name, leaf), host, end(host), vlan, bundle)


def _host_link(
    plan: Dimensions,
    links: NicPortLinks,
    nodes: tuple[str, str],
    host: int,
    addresses: Ends,
    vlan: int | None,
    bundle: int | None,
) -> Link:
    rate, rail, switch_port = plan.intent.hosts.rate_gbps, links.port.rail, links.switch_ports[host - 1]
    host_end = CabledPort(
        node=nodes[0],
        name=links.name,
        cage=0,
        lane=None,
        rate_gbps=rate,
        rail=rail,
        address=addresses[0],
        bundle=None if bundle is None else rail,
    )
    leaf_end = CabledPort(
        node=nodes[1],
        name=switch_port.name,
        cage=switch_port.cage,
        lane=switch_port.lane,
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
    """A function from a host to the addresses of both ends of its link. place: pod and segment."""
    pod, segment = place
    if plan.intent.hosts.attach == "routed":
        leaf = plan.leaf_number(segment, port.switch)
        base = addresses.host_base(RailSlot(port.plane, port.rail, pod, segment, leaf, port.slot))
        per_nic, turn, pair = plan.links_per_nic_and_leaf, port.turn, addresses.pair
        return lambda host: pair(base + 2 * ((host - 1) * per_nic + turn))
    if attachment.paired:
        return lambda _: (None, None)
    subnet = attachment.subnet(RailLeaf(port.plane, pod, segment, port.switch, ""), port.block)
    return lambda host: (attachment.host_address(subnet, host, port.turn), None)


def peer_links(plan: Dimensions) -> Iterator[Link]:
    """Links between the switches of each pair: the first with the second, the third with the fourth."""
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


def _peer_port(plan: Dimensions, node: str, switch_port: PanelPort) -> CabledPort:
    return CabledPort(
        node=node,
        name=switch_port.name,
        cage=switch_port.cage,
        lane=switch_port.lane,
        rate_gbps=_peer_gbps(plan),
        rail=None,
        address=None,
        bundle=PEER_BUNDLE,
    )
