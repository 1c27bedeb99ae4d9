"""Where the links of a fabric are: their tiers and rails."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from railfab.forwarding import LinkTable
from railfab.topology import TIERS, Net, Role, Topology

Numbers = NDArray[np.int64]
ROLE_NAMES = {
    Role.HOST: "host",
    Role.SERVER: "storage server",
    Role.LEAF: "leaf",
    Role.SPINE: "spine",
    Role.SUPER: "super-spine",
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LinkPlaces:
    """Tier and rails of directed links. links: (place,) numbers of those of the backend, in their order.

    tiers: such as `leaf > spine`, up from the hosts and down again. rails: sets of rails that lower ends serve.
    tier, rail: (place,) positions in these.
    """

    links: Numbers
    tiers: tuple[str, ...]
    rails: tuple[tuple[int, ...], ...]
    tier: Numbers
    rail: Numbers


def link_places(topology: Topology) -> LinkPlaces:
    """The places of the links of the backend of a topology."""
    table, nodes, served = LinkTable(topology), topology.by_name, _served_rails(topology)
    rows: list[tuple[int, tuple[int, int, str], tuple[int, ...]]] = []
    for link, (near_name, _) in enumerate(table.keys):
        near, far = nodes[near_name], nodes[table.far_key(link)[0]]
        if {near.net, far.net} != {Net.BACKEND}:
            continue
        lower = min(TIERS[near.role], TIERS[far.role])
        is_down = TIERS[far.role] < TIERS[near.role]
        order = (is_down, -lower if is_down else lower, f"{ROLE_NAMES[near.role]} > {ROLE_NAMES[far.role]}")
        port = table.near[link] if table.near[link].rail is not None else table.near[link ^ 1]
        low = near if TIERS[near.role] == lower else far
        rows.append((link, order, (port.rail,) if port.rail is not None else served.get(low.name, ())))
    tiers, rails = sorted({order for _, order, _ in rows}), sorted({rails for _, _, rails in rows})
    return LinkPlaces(
        links=np.array([link for link, _, _ in rows], np.int64),
        tiers=tuple(name for *_, name in tiers),
        rails=tuple(rails),
        tier=np.array([tiers.index(order) for _, order, _ in rows], np.int64),
        rail=np.array([rails.index(numbers) for *_, numbers in rows], np.int64),
    )


def _served_rails(topology: Topology) -> dict[str, tuple[int, ...]]:
    """The rails that each switch serves: of its host ports, and of the switches below it."""
    nodes = topology.by_name
    served: dict[str, set[int]] = {}
    links = sorted(topology.links, key=lambda link: max(TIERS[nodes[end.node].role] for end in (link.a, link.z)))
    for link in links:
        low, high = sorted((link.a, link.z), key=lambda end: TIERS[nodes[end.node].role])
        if TIERS[nodes[low.node].role] == TIERS[nodes[high.node].role]:
            continue
        rails = {rail for rail in (low.rail, high.rail) if rail is not None} or served.get(low.node, set())
        served.setdefault(high.node, set()).update(rails)
    return {name: tuple(sorted(rails)) for name, rails in served.items()}
