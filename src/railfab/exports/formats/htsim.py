"""htsim: the `.topo` file of its fat trees, of 2 or 3 tiers, with the NIC port of each node.

A node is a NIC port. Nodes count through the ports of a rail switch, then through the rail switches of a pod, since
htsim knows only how many a switch has. It counts the links of a tier by rates and checks them by ports, so that a link
which is faster than those of hosts is a bundle of links as fast as these.
Sources: uet-htsim 40ccb05, sim/datacenter/fat_tree_topology.cpp and topologies/.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from railfab.errors import RailfabError
from railfab.exports.contract import ExportFormat
from railfab.exports.graph import BackendGraph, backend_graph, delay_ns
from railfab.fabric import Design
from railfab.fabric.file_sets import Document
from railfab.fabric.host_names import HostNames
from railfab.topology import TIERS, Link, Node

NAME = "htsim/fat_tree.topo"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tier:
    """The switches of a tier. down, up: links of each, as fast as those of hosts; bundle: those to a switch below."""

    down: int
    up: int
    bundle: int
    delay_ns: int


def documents(design: Design, names: HostNames) -> Iterator[Document]:
    """The tree, and the NIC port of each node. Raises RailfabError for a backend that is no fat tree of htsim's."""
    graph = backend_graph(design)
    tiers = list(_tiers(design, graph))
    uneven = next((tier for tier in tiers[:-1] if tier.down % tier.up), None)
    if uneven is not None:
        raise _refused(design, f"switches have {uneven.down} ports down and {uneven.up} up")
    pods = design.intent.backend.pods if len(tiers) > 2 else 1
    nodes = [link for link in graph.links if TIERS[design.topology.node(link.a.node).role] == 0]
    yield NAME, _tree(design, tiers, len(nodes), len(nodes) // pods)
    places = {switch.name: place for place, switch in enumerate(graph.switches)}
    ordered = sorted(nodes, key=lambda link: places[link.z.node])
    rows = [f"{number},{names[link.a.node]},{link.a.rail},{link.a.name}" for number, link in enumerate(ordered)]
    yield "htsim/nodes.csv", "\n".join(("node,host,rail,port", *rows, ""))


EXPORT = ExportFormat(
    help="the fat tree of htsim, with the NIC port of each node",
    documents=documents,
    equal="the switches of a tier of htsim's fat trees are equal",
)


def _refused(design: Design, problem: str) -> RailfabError:
    return RailfabError(str(design.path), f"{problem}, and htsim's fat trees do not", "Use railfab export ns3")


def _tiers(design: Design, graph: BackendGraph) -> Iterator[_Tier]:
    """The tiers from the rail switches up, each of equal switches."""
    backend = design.intent.backend
    if backend.spines is None:
        raise _refused(design, "the rail switches have no spines above them")
    if backend.planes > 1:
        raise _refused(design, f"the backend has {backend.planes} planes")
    if backend.super_spines is not None and backend.super_spines.groups < backend.spines.count:
        raise _refused(design, "spines of a pod share super-spines")
    links_of: dict[str, list[Link]] = {}
    for link in graph.links:
        links_of.setdefault(link.z.node, []).append(link)
    up: Counter[str] = Counter()
    for link in graph.links:
        up[link.a.node] += link.rate_gbps
    by_tier: dict[int, list[Node]] = {}
    for switch in graph.switches:
        by_tier.setdefault(TIERS[switch.role], []).append(switch)
    rate_gbps = design.intent.hosts.rate_gbps
    for tier, switches in sorted(by_tier.items()):
        below = [links_of.get(switch.name, []) for switch in switches]
        kinds = {
            (sum(link.rate_gbps for link in links), up[switch.name], frozenset(_bundles(links).values()))
            for switch, links in zip(switches, below, strict=True)
        }
        (down, uplinks, bundles), *_ = kinds
        lengths = {link.cable_m for links in below for link in links}
        if len(kinds) > 1 or len(lengths) > 1 or (tier > 1 and len(bundles) > 1):
            raise _refused(design, f"the switches of tier {tier} differ")
        bundle = max(bundles) if tier > 1 else rate_gbps
        if any(total % rate_gbps for total in (down, uplinks, bundle)):
            raise _refused(design, f"links between switches are no multiple of {rate_gbps} Gb/s")
        delay = max(1, round(delay_ns(below[0][0])))
        yield _Tier(down=down // rate_gbps, up=uplinks // rate_gbps, bundle=bundle // rate_gbps, delay_ns=delay)


def _bundles(links: list[Link]) -> Counter[str]:
    """The rate to each switch or host below [Gb/s]."""
    rates: Counter[str] = Counter()
    for link in links:
        rates[link.a.node] += link.rate_gbps
    return rates


def _tree(design: Design, tiers: list[_Tier], nodes: int, pod: int) -> str:
    """The file: all nodes, those of a pod, and each tier from below, of which the top one has no links upwards."""
    rate_gbps = design.intent.hosts.rate_gbps
    lines = [
        f"# {design.topology.fabric}, by railfab: a faster link is a bundle of links of {rate_gbps} Gb/s",
        f"Nodes {nodes}",
        f"Tiers {len(tiers)}",
        f"Podsize {pod}",
    ]
    for number, tier in enumerate(tiers):
        lines += ["", f"Tier {number}", f"Downlink_speed_Gbps {rate_gbps}", f"Radix_Down {tier.down}"]
        if number < len(tiers) - 1:
            lines.append(f"Radix_Up {tier.up}")
            lines += [f"Oversubscribed {tier.down // tier.up}"] if tier.down > tier.up else []
        lines.append(f"Downlink_Latency_ns {tier.delay_ns}")
        lines += [f"Bundle {tier.bundle}"] if tier.bundle > 1 else []
    return "\n".join((*lines, ""))
