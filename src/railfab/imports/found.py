"""What exists, as far as a source knows it: a topology in which any field may be unknown. Plain and immutable."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from railfab.errors import RailfabError
from railfab.topology.model import Address, Interface, Port, Role, Topology

Position = tuple[int, int | None]
"""Cage, from 1, and lane in it, from 1; None when the cage is not broken out."""


class SourceError(RailfabError):
    """What exists could not be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundPort:
    """A port. Every field but node and name may be unknown.

    position: where it is on the front panel, for a source that counts ports instead of naming them.
    rate_gbps: what it runs at. most_gbps: the most that it can. addresses: empty when the source knows none.
    """

    node: str
    name: str
    position: Position | None = None
    rate_gbps: int | None = None
    most_gbps: int | None = None
    addresses: tuple[Interface, ...] = ()


@dataclass(frozen=True, slots=True)
class FoundLink:
    """A cable, in no order."""

    a: FoundPort
    z: FoundPort


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundNode:
    """A host or a switch; None and empty are unknown. model: as the source spells it. platform: railfab's name."""

    name: str
    role: Role | None = None
    model: str | None = None
    platform: str | None = None
    asn: int | None = None
    loopbacks: tuple[Address, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundTopology:
    """What a source holds. source: its name, for people. ports: those that are in no link.

    asns: every AS number that the source has registered, whoever uses it; empty when it keeps none.
    """

    source: str
    nodes: tuple[FoundNode, ...]
    links: tuple[FoundLink, ...]
    ports: tuple[FoundPort, ...] = ()
    asns: frozenset[int] = frozenset()

    def all_ports(self) -> Iterator[FoundPort]:
        """Every port, with a link or without."""
        for link in self.links:
            yield link.a
            yield link.z
        yield from self.ports


def as_found(topology: Topology, source: str = "what exists") -> FoundTopology:
    """A topology as a source would hold it that knows everything."""
    return FoundTopology(
        source=source,
        nodes=tuple(
            FoundNode(
                name=node.name,
                role=node.role,
                model=node.model,
                platform=node.platform,
                asn=node.asn,
                loopbacks=() if node.loopback is None else (node.loopback,),
            )
            for node in topology.nodes
        ),
        links=tuple(FoundLink(_port(link.a), _port(link.z)) for link in topology.links),
    )


def _port(port: Port) -> FoundPort:
    return FoundPort(
        node=port.node,
        name=port.name,
        rate_gbps=port.rate_gbps,
        addresses=() if port.address is None else (port.address,),
    )
