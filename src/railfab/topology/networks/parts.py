"""Switches, access links and uplinks of an access network."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

from railfab.topology.front_panel import Panel
from railfab.topology.model import Bond, Breakout, CabledPort, Gateway, Interface, Link, Node, Role
from railfab.topology.networks.access import AccessNetwork
from railfab.topology.networks.members import Cable

Broken = Mapping[str, Mapping[int, int]]
"""The cages in use with breakout, by switch, with the speed of their ports [Gb/s]."""


@dataclass(frozen=True, kw_only=True)
class Part:
    """The nodes, links, gateways and LAGs that a network adds to a topology."""

    nodes: tuple[Node, ...]
    links: tuple[Link, ...]
    gateways: tuple[Gateway, ...] = ()
    bonds: tuple[Bond, ...] = ()


class Ends(NamedTuple):
    """Settings of the two ports of an access link: of the member, then of the leaf. vlan: of the leaf port."""

    addresses: tuple[Interface | None, Interface | None]
    vlan: int | None = None
    bundles: tuple[int | None, int | None] = (None, None)


def routed(network: AccessNetwork) -> Callable[[Cable], Ends]:
    """Settings of routed access links: a /31 each."""
    link = network.pools.link
    return lambda cable: Ends(link(*cable.socket))


def access_links(network: AccessNetwork, cables: Iterable[Cable], ends: Callable[[Cable], Ends]) -> Iterator[Link]:
    """The link of each cable."""
    spots, rate, cable_m = network.access_panel.ports, network.rate_gbps, network.leaves.cable_m
    leaves = [network.leaf_name(leaf) for leaf in range(network.leaves.count + 1)]
    for cable in cables:
        (leaf, position), (addresses, vlan, bundles) = cable.socket, ends(cable)
        spot = spots[position]
        member_end = CabledPort(
            node=cable.node,
            name=cable.port,
            cage=0,
            lane=None,
            rate_gbps=rate,
            rail=None,
            address=addresses[0],
            bundle=bundles[0],
        )
        leaf_end = CabledPort(
            node=leaves[leaf],
            name=spot.name,
            cage=spot.cage,
            lane=spot.lane,
            rate_gbps=rate,
            rail=None,
            address=addresses[1],
            vlan=vlan,
            bundle=bundles[1],
        )
        yield Link(a=member_end, z=leaf_end, rate_gbps=rate, cable_m=cable_m)


def uplinks(network: AccessNetwork, *, numbered: bool) -> Iterator[Link]:
    """Links from every leaf to every spine: on leaves from the last cage down, on spines from the first cage up."""
    if (spines := network.spines) is None:
        return
    per_spine = range(spines.links_per_leaf)
    for leaf, spine, k in product(_numbers(network.leaves.count), _numbers(spines.count), per_spine):
        uplink, downlink = (spine - 1) * len(per_spine) + k, (leaf - 1) * len(per_spine) + k
        cage, lane = divmod(uplink, network.uplink_lanes)
        addresses = network.pools.uplink(leaf, uplink) if numbered else (None, None)
        yield Link(
            a=_fabric_port(
                network,
                network.leaf_name(leaf),
                network.uplink_panel,
                (network.leaf_model.cages - cage - 1) * network.uplink_lanes + lane,
                addresses[0],
            ),
            z=_fabric_port(network, network.spine_name(spine), network.spine_panel, downlink, addresses[1]),
            rate_gbps=spines.rate_gbps,
            cable_m=spines.cable_m,
        )


def _fabric_port(
    network: AccessNetwork, node: str, panel: Panel, position: int, address: Interface | None
) -> CabledPort:
    spot = panel.ports[position]
    return CabledPort(
        node=node,
        name=spot.name,
        cage=spot.cage,
        lane=spot.lane,
        rate_gbps=network.spines.rate_gbps if network.spines else 0,
        rail=None,
        address=address,
    )


def switches(network: AccessNetwork, links: Iterable[Link], *, reflectors: int | None) -> tuple[Node, ...]:
    """The leaves and spines of a network. reflectors: number of route reflectors; None without overlay."""
    broken = _broken_out(links)
    return (*_leaves(network, broken, overlay=reflectors is not None), *_spines(network, broken, reflectors or 0))


def _leaves(network: AccessNetwork, broken: Broken, *, overlay: bool) -> Iterator[Node]:
    panel, lanes = network.access_panel, {network.rate_gbps: network.lanes}
    if network.spines:
        lanes = {network.spines.rate_gbps: network.uplink_lanes, **lanes}
    for leaf in _numbers(network.leaves.count):
        loopback = network.pools.leaf_loopback(leaf)
        yield Node(
            name=network.leaf_name(leaf),
            role=Role.LEAF,
            pod=0,
            segment=None,
            index=leaf,
            platform=panel.platform,
            model=network.leaves.model,
            asn=network.first_asn + leaf,
            loopback=loopback,
            breakouts=_breakouts(panel, broken.get(network.leaf_name(leaf), {}), lanes),
            net=network.net,
            vtep=loopback if overlay else None,
        )


def _spines(network: AccessNetwork, broken: Broken, reflectors: int) -> Iterator[Node]:
    if (spines := network.spines) is None:
        return
    panel, lanes = network.spine_panel, {spines.rate_gbps: network.spine_lanes}
    for spine in _numbers(spines.count):
        yield Node(
            name=network.spine_name(spine),
            role=Role.SPINE,
            pod=0,
            segment=None,
            index=spine,
            platform=panel.platform,
            model=spines.model,
            asn=network.first_asn,
            loopback=network.pools.spine_loopback(spine),
            breakouts=_breakouts(panel, broken.get(network.spine_name(spine), {}), lanes),
            net=network.net,
            reflector=spine <= reflectors,
        )


def _breakouts(panel: Panel, cages: Mapping[int, int], lanes: Mapping[int, int]) -> tuple[Breakout, ...]:
    """Breakouts in front-panel order. cages: to the speed of their ports. lanes: ports per cage, by speed."""
    names = panel.model.interface_names(panel.platform, 1) if cages else ()
    return tuple(
        Breakout(cage_name=names[cage - 1], lanes=lanes[rate_gbps], rate_gbps=rate_gbps)
        for cage, rate_gbps in sorted(cages.items())
    )


def _broken_out(links: Iterable[Link]) -> Broken:
    found: dict[str, dict[int, int]] = {}
    for link in links:
        for port in (link.a, link.z):
            if port.lane is not None:
                found.setdefault(port.node, {})[port.cage] = port.rate_gbps
    return found


def _numbers(count: int) -> range:
    return range(1, count + 1)
