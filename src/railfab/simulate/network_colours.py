"""Digests of what a network says of its links and nodes, but for their names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from railfab.sim.network import LINK_AXES, NODE_AXES, Ints, Network

Colours = NDArray[np.uint64]
PASSIVE = ("balancing", "hash_fields", "hash_seed", "flowlet_gap_ns")
"""Properties of nodes that choose links, which are given here."""
ODD = np.array(
    [0x9E3779B97F4A7C15, 0xD1342543DE82EF95, 0xAF251AF3B0F025B5, 0xA24BAED4963EE407, 0x9FB21C651E98DF25], np.uint64
)
"""Odd multipliers, which tell the parts of a digest apart."""


@dataclass(frozen=True, slots=True, eq=False)
class NetworkColours:
    """Digests of what a network says of each link and of each node."""

    links: Colours
    nodes: Colours
    near: Ints
    far: Ints

    @classmethod
    def of(cls, network: Network) -> NetworkColours:
        links = _digests(network, LINK_AXES, network.links)
        nodes = _digests(network, [name for name in NODE_AXES if name not in PASSIVE], network.nodes)
        return cls(links, nodes, network.near, network.far)


def _digests(network: Network, names: Sequence[str], count: int) -> Colours:
    digests = np.zeros(count, np.uint64)
    for name in names:
        for column in np.asarray(getattr(network, name), float).reshape(count, -1).T:
            digests = mixed(digests * ODD[0] + (column + 0.0).view(np.uint64))
    return digests


def mixed(values: Colours) -> Colours:
    """The finaliser of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014)."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))
