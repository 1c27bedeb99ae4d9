"""Nodes, ports, links, rails, addresses and AS numbers of a fabric; the catalogue of switches; the cabling plan."""

from railfab.topology.model import Breakout, Link, LinkKind, Node, Port, Role, Topology, link_kind

__all__ = ["Breakout", "Link", "LinkKind", "Node", "Port", "Role", "Topology", "link_kind"]
