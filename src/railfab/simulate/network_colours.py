"""Digests of what a network says of its links and nodes, but for their names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from railfab.sim.network import LINK_AXES, NODE_AXES, Bools, Ints, Network

Colours = NDArray[np.uint64]
PASSIVE = ("hash_fields", "hash_seed")
"""Properties of nodes that choose links by hashes, which are given here."""
ODD = np.array(
    [0x9E3779B97F4A7C15, 0xD1342543DE82EF95, 0xAF251AF3B0F025B5, 0xA24BAED4963EE407, 0x9FB21C651E98DF25], np.uint64
)
"""Odd multipliers, which tell the parts of a digest apart."""


@dataclass(frozen=True, slots=True, eq=False)
class NetworkColours:
    """Digests of what a network says of each link and of each node, and the ends of each link.

    link_of, node_of: numbers of the network that links and nodes are like; several may be like one.
    """

    links: Colours
    nodes: Colours
    near: Ints
    far: Ints
    link_of: Ints
    node_of: Ints

    @classmethod
    def of(cls, network: Network) -> NetworkColours:
        links = _digests(network, LINK_AXES, network.links)
        nodes = _digests(network, [name for name in NODE_AXES if name not in PASSIVE], network.nodes)
        return cls(links, nodes, network.near, network.far, np.arange(network.links), np.arange(network.nodes))

    def with_copies(self, paths: Ints, copied: Bools) -> tuple[NetworkColours, Ints]:
        """These with copies of links, and of the nodes between two of them; and the paths over those.

        paths: (path, hop) links, -1 behind the last. copied: (path, hop) those of which a path gets its own; neither
        its first nor its last one.
        """
        place, hop = np.nonzero(copied)
        like, count = paths[place, hop], len(self.link_of)
        begins, ends = ~copied[place, hop - 1], ~copied[place, hop + 1]
        far = np.where(ends, self.far[like], len(self.node_of) + np.cumsum(~ends) - 1)
        near = np.where(begins, self.near[like], np.append(0, far)[:-1])
        links, nodes = np.column_stack((like, like ^ 1)).ravel(), self.far[like[~ends]]
        laid = paths.copy()
        laid[place, hop] = count + 2 * np.arange(len(like))
        colours = NetworkColours(
            links=np.append(self.links, self.links[links]),
            nodes=np.append(self.nodes, self.nodes[nodes]),
            near=np.append(self.near, np.column_stack((near, far)).ravel()),
            far=np.append(self.far, np.column_stack((far, near)).ravel()),
            link_of=np.append(self.link_of, self.link_of[links]),
            node_of=np.append(self.node_of, self.node_of[nodes]),
        )
        return colours, laid


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
