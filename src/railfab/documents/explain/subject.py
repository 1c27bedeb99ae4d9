"""The fabric that is explained, with counts that several sections use."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from railfab.documents.plan import Plan
from railfab.intent import FabricIntent
from railfab.topology import FailureDomain, Net, Node, Role, Topology
from railfab.topology.dimensions import Dimensions


@dataclass(frozen=True)
class Subject:
    """A plan with its dimensions and counts."""

    plan: Plan

    @property
    def intent(self) -> FabricIntent:
        return self.plan.intent

    @property
    def topology(self) -> Topology:
        return self.plan.topology

    @cached_property
    def dimensions(self) -> Dimensions:
        return Dimensions(self.intent)

    @cached_property
    def counts(self) -> Mapping[Role, int]:
        """Number of backend nodes by role."""
        return Counter(node.role for node in self.topology.nodes if node.net is Net.BACKEND)

    @cached_property
    def first(self) -> Mapping[Role, Node]:
        """The first node of each role of the backend."""
        found: dict[Role, Node] = {}
        for node in self.topology.nodes:
            if node.net is Net.BACKEND:
                found.setdefault(node.role, node)
        return found

    @cached_property
    def cables(self) -> Mapping[tuple[Role, Role], int]:
        """Number of backend cables by the roles of their ends."""
        roles = {node.name: node.role for node in self.topology.nodes if node.net is Net.BACKEND}
        ends = ((roles.get(link.a.node), roles.get(link.z.node)) for link in self.topology.links)
        return Counter((a, z) for a, z in ends if a is not None and z is not None)

    @cached_property
    def failures(self) -> tuple[FailureDomain, ...]:
        return self.plan.failure_domains
