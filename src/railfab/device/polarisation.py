"""Polarisation: switches of consecutive tiers that choose alike among equal paths, and so use a part of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from railfab.device.system import BalancingMode, LoadBalancing
from railfab.findings import DifferenceCode, Finding, error
from railfab.text.folding import folded_all
from railfab.topology import TIERS, Topology

HASHING = (BalancingMode.FLOW, BalancingMode.FLOWLET)
"""Modes in which the hash of a packet chooses its path."""


def polarised_tiers(topology: Topology, balancing: Mapping[str, LoadBalancing | None]) -> Iterator[Finding]:
    """An error of each switch that hashes as its neighbours of the next tier do, where these have a choice of paths.

    balancing: of switches by name. Without a configured seed each switch has one of its own. Hashes of two platforms
    are not taken to be equal.
    """
    for name, lower in balancing.items():
        if lower is None or lower.seed is None or lower.mode not in HASHING:
            continue
        node = topology.node(name)
        peers = {peer.node for _, peer, _ in topology.ports_of(name)}
        alike = [
            peer
            for peer in sorted(peers & balancing.keys())
            if TIERS[topology.node(peer).role] > TIERS[node.role]
            and topology.node(peer).platform == node.platform
            and balancing[peer] == lower
            and _has_choice(topology, peer)
        ]
        if alike:
            above = f"{folded_all(alike)} above it (seed {lower.seed})"
            problem = f"chooses paths by the same hash as {above}, so that a part of their links is unused"
            remedy = "Give each tier another seed, as the intent does"
            yield error(DifferenceCode.HASH_POLARISED, name, problem, remedy)


def _has_choice(topology: Topology, switch: str) -> bool:
    """Whether a switch has several ways to a destination: up, over parallel links, or over two switches below it."""
    tier, reached = TIERS[topology.node(switch).role], set[object]()
    for _, peer, _ in topology.ports_of(switch):
        above = TIERS[topology.node(peer.node).role] > tier
        ways = {"up"} if above else {peer.node, *_below(topology, peer.node)}
        if ways & reached:
            return True
        reached |= ways
    return False


def _below(topology: Topology, switch: str) -> Iterator[tuple[str, int | None]]:
    """The nodes below a switch; of hosts each rail by itself."""
    tier = TIERS[topology.node(switch).role]
    for port, peer, _ in topology.ports_of(switch):
        if TIERS[topology.node(peer.node).role] < tier:
            yield peer.node, port.rail
