"""An existing topology as a source describes it: any field may be unknown. Frozen dataclasses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from railfab.errors import RailfabError, raise_all
from railfab.topology.model import Address, CabledPort, Interface, Role, Topology

Position = tuple[int, int | None]
"""Cage, from 1, and lane in it, from 1; None without breakout."""
MOST_ERRORS = 20
"""Limit of errors of a source that are reported together."""


class SourceError(RailfabError):
    """A source could not be read."""


def raise_first(where: str, errors: Sequence[SourceError]) -> None:
    """Raise the first errors of a source, with a line that counts the others; nothing for none."""
    rest = len(errors) - MOST_ERRORS
    problem = f"{rest:,} more errors are not shown"
    not_shown = [SourceError(where, problem, "Correct the first ones")] if rest > 0 else []
    raise_all([*errors[:MOST_ERRORS], *not_shown])


@dataclass(frozen=True, slots=True, kw_only=True)
class ExistingPort:
    """A port. Every field but node and name may be unknown.

    position: on the front panel, for a source that numbers ports instead of naming them.
    rate_gbps: its speed. most_gbps: its largest speed. addresses: empty if the source has none.
    """

    node: str
    name: str
    position: Position | None = None
    rate_gbps: int | None = None
    most_gbps: int | None = None
    addresses: tuple[Interface, ...] = ()


@dataclass(frozen=True, slots=True)
class ExistingLink:
    """A cable; the order of its ends has no meaning."""

    a: ExistingPort
    z: ExistingPort


@dataclass(frozen=True, slots=True, kw_only=True)
class ExistingNode:
    """A host or a switch; None and empty are unknown. model: name in the source. platform: name in railfab."""

    name: str
    role: Role | None = None
    model: str | None = None
    platform: str | None = None
    asn: int | None = None
    loopbacks: tuple[Address, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ExistingTopology:
    """The content of a source. source: its name, for messages. ports: those without a link.

    asns: every AS number that is registered in the source; empty if it does not register any.
    manages_switches: whether it has the cables of the management ports of switches.
    """

    source: str
    nodes: tuple[ExistingNode, ...]
    links: tuple[ExistingLink, ...]
    ports: tuple[ExistingPort, ...] = ()
    asns: frozenset[int] = frozenset()
    manages_switches: bool = True

    def all_ports(self) -> Iterator[ExistingPort]:
        """Every port, with a link or without."""
        for link in self.links:
            yield link.a
            yield link.z
        yield from self.ports


def existing_topology(topology: Topology, source: str = "existing topology") -> ExistingTopology:
    """A topology as a source with complete knowledge would describe it."""
    return ExistingTopology(
        source=source,
        nodes=tuple(
            ExistingNode(
                name=node.name,
                role=node.role,
                model=node.model,
                platform=node.platform,
                asn=node.asn,
                loopbacks=() if node.loopback is None else (node.loopback,),
            )
            for node in topology.nodes
        ),
        links=tuple(ExistingLink(_port(link.a), _port(link.z)) for link in topology.links),
    )


def _port(port: CabledPort) -> ExistingPort:
    return ExistingPort(
        node=port.node,
        name=port.name,
        rate_gbps=port.rate_gbps,
        addresses=() if port.address is None else (port.address,),
    )
