"""The backend as a graph of numbered nodes, as simulators take it: NICs first, then switches, and the links between."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from railfab.fabric import Design
from railfab.fabric.host_names import HostNames
from railfab.topology import Link, Net, Node
from railfab.topology.model import link_network

METRES_PER_NS = 0.2
"""Speed of a signal in fibre and copper cables: two thirds of that of light."""


@dataclass(frozen=True, slots=True)
class Nic:
    """A NIC of a host. rail: from 1."""

    host: str
    rail: int


@dataclass(frozen=True, kw_only=True)
class BackendGraph:
    """The NICs in the order of hosts and rails, which is that of ranks, the switches of the backend, and its links."""

    nics: tuple[Nic, ...]
    switches: tuple[Node, ...]
    links: tuple[Link, ...]

    @cached_property
    def numbers(self) -> Mapping[Nic | str, int]:
        """The number of each NIC, and of each switch by its name; from 0."""
        names: tuple[Nic | str, ...] = (*self.nics, *(switch.name for switch in self.switches))
        return {name: number for number, name in enumerate(names)}

    def numbered(self) -> Iterator[tuple[int, int, Link]]:
        """The numbers of the lower and the upper end of each link."""
        for link in self.links:
            rail = link.a.rail
            lower = self.numbers[link.a.node] if rail is None else self.numbers[Nic(link.a.node, rail)]
            yield lower, self.numbers[link.z.node], link


def backend_graph(design: Design) -> BackendGraph:
    """The graph of the backend."""
    topology, rails = design.topology, range(1, design.intent.hosts.nics + 1)
    nics = tuple(Nic(host.name, rail) for host in topology.hosts() for rail in rails)
    nodes = topology.by_name
    return BackendGraph(
        nics=nics,
        switches=tuple(switch for switch in topology.switches() if switch.net is Net.BACKEND),
        links=tuple(
            link
            for link in topology.links
            if link_network(nodes[link.a.node], nodes[link.z.node]) is Net.BACKEND and not topology.manages_switch(link)
        ),
    )


def delay_ns(link: Link) -> float:
    """The time of a signal on a cable [ns]."""
    return link.cable_m / METRES_PER_NS


def nic_table(graph: BackendGraph, names: HostNames) -> str:
    """CSV with the host and rail of each node that is a NIC."""
    rows = [f"{graph.numbers[nic]},{names[nic.host]},{nic.rail}" for nic in graph.nics]
    return "\n".join(("node,host,rail", *rows, ""))
