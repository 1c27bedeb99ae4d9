"""Prefixes: pools, summaries, and the subnets of rails and VLANs."""

from __future__ import annotations

from collections.abc import Iterator

from railfab.documents.table import Cell, Table
from railfab.intent import FabricIntent
from railfab.topology.model import Gateway, Net, Network, Topology
from railfab.topology.rail_prefixes import rail_prefixes

COLUMNS = ("prefix", "what", "network", "switches", "rail", "vlan", "vni", "gateway", "tenant")


def subnets(topology: Topology, intent: FabricIntent) -> Table:
    """Pools, summaries, the prefix of each rail on each switch, and the subnet of each VLAN."""
    rows = (*_pools(topology, intent), *_summaries(topology), *_rails(topology, intent), *_vlans(topology))
    return Table(name="subnets", columns=COLUMNS, rows=rows)


def _pools(topology: Topology, intent: FabricIntent) -> Iterator[tuple[Cell, ...]]:
    pools: list[tuple[str, Net, Network]] = []
    if own := topology.pools:
        kinds = ("hosts", own.hosts), ("loopbacks", own.loopbacks), ("fabric links", own.fabric_links)
        pools += [(f"pool of {what}", Net.BACKEND, prefix) for what, prefix in kinds]
    others = (Net.FRONTEND, intent.frontend), (Net.STORAGE, intent.storage), (Net.MANAGEMENT, intent.management_network)
    pools += [("pool", net, section.pool) for net, section in others if section is not None]
    for what, net, prefix in pools:
        yield str(prefix), what, net, None, None, None, None, None, None


def _summaries(topology: Topology) -> Iterator[tuple[Cell, ...]]:
    for summary in topology.summaries:
        of = len(summary.contributors) or "host links"
        net, what = topology.node(summary.node).net, f"summary of {of}"
        yield str(summary.prefix), what, net, summary.node, None, None, None, None, None


def _rails(topology: Topology, intent: FabricIntent) -> Iterator[tuple[Cell, ...]]:
    """Prefixes of routed host links; VLANs have separate rows."""
    if intent.hosts.attach == "routed":
        for (rail, switch), prefix in sorted(rail_prefixes(topology, intent).items(), key=lambda found: found[0][0]):
            yield str(prefix), "host links", Net.BACKEND, switch, rail, None, None, None, None


def _vlans(topology: Topology) -> Iterator[tuple[Cell, ...]]:
    """One row per subnet, with all its gateways."""
    switches: dict[tuple[str, int], list[str]] = {}
    first: dict[tuple[str, int], Gateway] = {}
    for gateway in topology.gateways:
        key = str(gateway.subnet), gateway.vlan
        switches.setdefault(key, []).append(gateway.node)
        first.setdefault(key, gateway)
    for (prefix, vlan), names in switches.items():
        found = first[prefix, vlan]
        net, via = topology.node(found.node).net, str(found.address.ip)
        yield prefix, "VLAN", net, " ".join(names), found.rail, vlan, found.vni, via, found.tenant
