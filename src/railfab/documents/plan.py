"""A fabric from its file to all that can be said of it before anything is configured."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from railfab.documents.bill import bill_of_materials
from railfab.documents.failures import failure_table
from railfab.documents.overview import Overview, overview
from railfab.documents.power import power
from railfab.documents.table import Table
from railfab.errors import RailfabError, each, raise_all
from railfab.fabric import refusals
from railfab.fabric.buffers import SwitchBuffers, all_buffer_findings, switch_buffers
from railfab.findings import Finding, Severity
from railfab.intent import FabricIntent, load_intent
from railfab.topology import Topology, failure_domains, findings, wire
from railfab.topology.racks import Position, rack_findings, racks

Say = Callable[[str], object]
"""Is told what happens next."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A fabric that can be built, with what a careful colleague says of it."""

    path: Path
    intent: FabricIntent
    topology: Topology
    positions: Mapping[str, Position]
    buffers: tuple[SwitchBuffers, ...]
    findings: tuple[Finding, ...]

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
    def failures(self) -> Table:
        return failure_table(failure_domains(self.topology, self.intent))


def planned(path: Path | str, say: Say = lambda _: None) -> Plan:
    """Read, wire and check the fabric of an intent file.

    Raises IntentError, TopologyError, UnsupportedFeature, or Problems with several of them; each names the file.
    """
    path = Path(path)
    say("reading")
    intent = load_intent(path)
    try:
        return _planned(path, intent, say)
    except RailfabError as error:
        raise_all([type(one)(f"{path}: {one.where}", one.problem, one.remedy) for one in each(error)])
        raise


def _planned(path: Path, intent: FabricIntent, say: Say) -> Plan:
    say("wiring")
    topology = wire(intent)
    say("checking")
    raise_all(refusals(intent, topology))
    buffers = switch_buffers(topology, intent)
    return Plan(
        path=path,
        intent=intent,
        topology=topology,
        positions=racks(topology, intent),
        buffers=buffers,
        findings=_errors_first(
            *findings(topology, intent), *all_buffer_findings(buffers), *rack_findings(topology, intent)
        ),
    )


def _errors_first(*found: Finding) -> tuple[Finding, ...]:
    return tuple(sorted(found, key=lambda finding: finding.severity is not Severity.ERROR))
