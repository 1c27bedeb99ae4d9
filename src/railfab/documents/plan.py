"""A design with the tables of its documents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from railfab.documents.bill import bill_of_materials
from railfab.documents.failures import failure_table
from railfab.documents.overview import Overview, overview
from railfab.documents.power import power
from railfab.documents.table import Table
from railfab.errors import raise_all
from railfab.fabric import Design, Say, design
from railfab.fabric.design import naming
from railfab.findings import Finding, by_severity
from railfab.hosts import nic_notes
from railfab.topology import FailureDomain, failure_domains
from railfab.topology.racks import Position, racks


@dataclass(frozen=True, kw_only=True)
class Plan(Design):
    """A design that can be documented: its tables, each computed once."""

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """Findings of the design, with the notes that concern its documents; errors first, notes last."""
        return by_severity((*super().findings, *nic_notes(self.intent)))

    @cached_property
    def positions(self) -> Mapping[str, Position]:
        """Rack and unit of every node, by name."""
        with naming(self.document):
            return racks(self.topology, self.intent)

    @cached_property
    def gpus(self) -> int:
        return len(self.topology.hosts()) * self.intent.hosts.gpus

    @cached_property
    def overview(self) -> Overview:
        return overview(self.topology, self.intent)

    @cached_property
    def power(self) -> Table:
        return power(self.topology, self.intent, self.positions)

    @cached_property
    def bill(self) -> Table:
        return bill_of_materials(self.topology, self.intent)

    @cached_property
    def failure_domains(self) -> tuple[FailureDomain, ...]:
        return failure_domains(self.topology, self.intent)

    @cached_property
    def failures(self) -> Table:
        return failure_table(self.failure_domains)


def planned(path: Path | str, say: Say = lambda _: None) -> Plan:
    """Read, wire and check the fabric of an intent file.

    Raises IntentError, TopologyError, UnsupportedFeature, or Problems with several of them; each names the file.
    """
    fabric = design(path, say)
    say("checking")
    raise_all(fabric.refusals())
    plan = Plan(document=fabric.document, intent=fabric.intent, topology=fabric.topology)
    _ = plan.findings
    return plan
