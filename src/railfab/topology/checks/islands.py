"""Check that every cable leads to a switch, and that the backend connects all GPUs.

Islands are parts of the backend without a path between them.
"""

from __future__ import annotations

from collections.abc import Iterator

from railfab.findings import DesignCode, Finding, error
from railfab.intent import FabricIntent
from railfab.topology.checks.deduplicate import deduplicate_by
from railfab.topology.links_by_tier import IndexedTopology
from railfab.topology.model import Link, Net


def cables_without_switch(indexed: IndexedTopology) -> Iterator[Finding]:
    """Check that a cable of a host or a storage server leads to a switch."""
    return deduplicate_by(("cable", _without_switch(link)) for link in indexed.links.without_switch)


def _without_switch(link: Link) -> Finding:
    return error(
        DesignCode.NO_SWITCH,
        f"{link.a.node} {link.a.name}",
        f"the cable leads to {link.z.node} {link.z.name}, which is no port of a switch",
        "Connect one of its ends to a switch",
    )


def islands(indexed: IndexedTopology, intent: FabricIntent) -> Iterator[Finding]:
    """Check that there is a path to every GPU, over switches or over the scale-up network of a host.

    A GPU reaches the islands of the switches that its NIC connects to; with a scale-up network also those of the other
    NICs of its host. Every GPU that shares no island with the first GPU is counted.
    """
    of_switch = _islands(indexed)
    scale_up = intent.hosts.scale_up is not None
    islands_of: dict[tuple[str, int | None], set[str]] = {}
    for link in indexed.links.hosts:
        if (island := of_switch.get(link.z.node)) is not None:
            islands_of.setdefault((link.a.node, None if scale_up else link.a.rail), set()).add(island)
    if not islands_of:
        return
    (host, rail), first = next(iter(islands_of.items()))
    unreachable = [place for place, others in islands_of.items() if first.isdisjoint(others)]
    if unreachable:
        elements = "hosts" if scale_up else "NICs"
        yield error(
            DesignCode.NO_PATH,
            _name(*unreachable[0]),
            f"there is no path to {_name(host, rail)}; {len(unreachable)} of {len(islands_of)} {elements} have none",
            "Add spines (super-spines between pods)" + ("" if scale_up else ", or a scale-up network in the hosts"),
        )


def _name(host: str, rail: int | None) -> str:
    return host if rail is None else f"{host} rail{rail}"


def _islands(indexed: IndexedTopology) -> dict[str, str]:
    """Backend switches, each with the first switch of its island."""
    neighbors: dict[str, list[str]] = {node.name: [] for node in indexed.topology.switches() if node.net is Net.BACKEND}
    for link in (*indexed.links.uplinks, *indexed.links.peer_links):
        if link.a.node in neighbors:
            neighbors[link.a.node].append(link.z.node)
            neighbors[link.z.node].append(link.a.node)
    island: dict[str, str] = {}
    for first in neighbors:
        reached = [first] if first not in island else []
        for name in reached:
            if name not in island:
                island[name] = first
                reached.extend(neighbors[name])
    return island
