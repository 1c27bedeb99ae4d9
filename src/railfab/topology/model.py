"""What a fabric is made of: nodes, ports and links with their addresses and AS numbers. Plain and immutable."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from ipaddress import IPv4Address, IPv4Interface


class Role(StrEnum):
    HOST = "host"
    LEAF = "leaf"
    SPINE = "spine"


class LinkKind(StrEnum):
    """What a switch port leads to; the label `link` of `fabric_interface_info`."""

    HOST = "host"
    UPLINK = "uplink"
    DOWNLINK = "downlink"


@dataclass(frozen=True, slots=True, kw_only=True)
class Port:
    """One end of a link.

    name: the interface's canonical name on its platform (`ethernet-1/1/1`, `swp1`); on a host `rail1-p0`.
    cage: front-panel position on a switch, from 1; 0 on a host.
    lane: breakout position in the cage, from 1; None when the cage is not broken out.
    rail: the rail this port serves, from 1; None between switches.
    address: None on an unnumbered port.
    """

    node: str
    name: str
    cage: int
    lane: int | None
    rate_gbps: int
    rail: int | None
    address: IPv4Interface | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A cable. a is the lower end: host before leaf, leaf before spine."""

    a: Port
    z: Port
    rate_gbps: int
    cable_m: float

    def ends(self) -> tuple[tuple[Port, Port], tuple[Port, Port]]:
        """Each end beside its peer."""
        return (self.a, self.z), (self.z, self.a)


@dataclass(frozen=True, slots=True, kw_only=True)
class Breakout:
    """A cage split into `lanes` ports of `rate_gbps` each. cage_name: the parent interface's name."""

    cage_name: str
    lanes: int
    rate_gbps: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A host or a switch. pod, segment and index count from 1; segment is None on a spine.

    platform, model, asn and loopback are None on a host.
    """

    name: str
    role: Role
    pod: int
    segment: int | None
    index: int
    platform: str | None = None
    model: str | None = None
    asn: int | None = None
    loopback: IPv4Address | None = None
    breakouts: tuple[Breakout, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Topology:
    """A wired fabric. nodes: hosts, then leaves, then spines, in the order of their names' numbers."""

    fabric: str
    nodes: tuple[Node, ...]
    links: tuple[Link, ...]

    def switches(self) -> tuple[Node, ...]:
        return tuple(node for node in self.nodes if node.role is not Role.HOST)

    def hosts(self) -> tuple[Node, ...]:
        return tuple(node for node in self.nodes if node.role is Role.HOST)

    def node(self, name: str) -> Node:
        return next(node for node in self.nodes if node.name == name)

    def ports(self) -> Iterator[tuple[Port, Port, Link]]:
        """Every port of the fabric: the port, its peer, and the link between them."""
        for link in self.links:
            for port, peer in link.ends():
                yield port, peer, link

    def ports_of(self, node: str) -> tuple[tuple[Port, Port, Link], ...]:
        """The ports of one node, in front-panel order, each with its peer and link."""
        own = [found for found in self.ports() if found[0].node == node]
        return tuple(sorted(own, key=lambda found: (found[0].cage, found[0].lane or 0, found[0].name)))


def link_kind(role: Role, peer_role: Role) -> LinkKind:
    """What a port of a switch of this role leads to, by the role of its peer."""
    if peer_role is Role.HOST:
        return LinkKind.HOST
    return LinkKind.UPLINK if role is Role.LEAF else LinkKind.DOWNLINK
