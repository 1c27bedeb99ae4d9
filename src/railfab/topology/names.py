"""Names of switches and hosts with the prefix of their fabric."""

from __future__ import annotations

from dataclasses import replace

from railfab.topology.model import CabledPort, Link, Topology


def with_prefix(topology: Topology, prefix: str) -> Topology:
    """The topology whose nodes have this prefix before their names."""
    if not prefix:
        return topology
    return replace(
        topology,
        nodes=tuple(replace(node, name=prefix + node.name) for node in topology.nodes),
        links=tuple(_link(link, prefix) for link in topology.links),
        gateways=tuple(replace(gateway, node=prefix + gateway.node) for gateway in topology.gateways),
        summaries=tuple(replace(summary, node=prefix + summary.node) for summary in topology.summaries),
        bonds=tuple(
            replace(bond, host=prefix + bond.host, switches=tuple(prefix + name for name in bond.switches))
            for bond in topology.bonds
        ),
    )


def _link(link: Link, prefix: str) -> Link:
    return replace(link, a=_port(link.a, prefix), z=_port(link.z, prefix))


def _port(port: CabledPort, prefix: str) -> CabledPort:
    return replace(port, node=prefix + port.node)
