"""The numbers of an intent that wiring and checks ask for again and again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from railfab.intent import FabricIntent
from railfab.topology.catalogue import SwitchModel, switch_model


@dataclass(frozen=True)
class Dimensions:
    """How many of everything, and who meets whom. All indices count from 1 unless said."""

    intent: FabricIntent

    @property
    def leaf_model(self) -> SwitchModel:
        return switch_model(self.intent.backend.segments.model)

    @property
    def spine_model(self) -> SwitchModel:
        return switch_model(self.intent.backend.spines.model)

    @property
    def pods(self) -> range:
        return range(1, self.intent.backend.pods + 1)

    @property
    def segments(self) -> range:
        return range(1, self.intent.backend.segments.count + 1)

    @property
    def switches(self) -> range:
        return range(1, self.intent.backend.segments.rail_switches + 1)

    def hosts(self) -> Iterator[tuple[int, int, int]]:
        """(pod, segment, host)"""
        return product(self.pods, self.segments, range(1, self.intent.backend.segments.hosts + 1))

    def leaves(self) -> Iterator[tuple[int, int, int]]:
        """(pod, segment, switch of the segment)"""
        return product(self.pods, self.segments, self.switches)

    def spines(self) -> Iterator[tuple[int, int]]:
        """(pod, spine)"""
        return product(self.pods, range(1, self.intent.backend.spines.count + 1))

    def leaf_number(self, segment: int, switch: int) -> int:
        """A rail switch's number in its pod."""
        return (segment - 1) * self.intent.backend.segments.rail_switches + switch

    def nics(self) -> Iterator[tuple[int, int, int]]:
        """(rail, port of the NIC from 0, switch of the segment that it meets): ports take the switches in turn."""
        hosts, switches = self.intent.hosts, self.intent.backend.segments.rail_switches
        for rail, port in product(range(1, hosts.gpus + 1), range(hosts.nic_ports)):
            yield rail, port, ((rail - 1) * hosts.nic_ports + port) % switches + 1

    @property
    def links_per_leaf(self) -> int:
        """Links between a leaf and a spine: as stated, or as many as make the leaf non-blocking."""
        spines = self.intent.backend.spines
        return spines.links_per_leaf or max(1, self.uplinks_needed // spines.count)

    @property
    def host_ports_per_leaf(self) -> int:
        """Host-facing ports of one rail switch."""
        return self.intent.backend.segments.hosts * self.links_per_host_and_leaf

    @property
    def links_per_host_and_leaf(self) -> int:
        """Links between a host and each rail switch of its segment."""
        hosts = self.intent.hosts
        return hosts.gpus * hosts.nic_ports // self.intent.backend.segments.rail_switches

    @property
    def host_lanes(self) -> int:
        """Host ports that one cage of a rail switch gives; 1 when it is not broken out."""
        return self.leaf_model.lanes_for(self.intent.hosts.rate_gbps) or 1

    @property
    def host_cages(self) -> int:
        """Cages of a rail switch that hosts take."""
        return -(-self.host_ports_per_leaf // self.host_lanes)

    @property
    def uplinks_needed(self) -> int:
        """Uplinks of a rail switch that carry all its hosts can send (1:1)."""
        down_gbps = self.host_ports_per_leaf * self.intent.hosts.rate_gbps
        return -(-down_gbps // self.intent.backend.spines.rate_gbps)

    @property
    def leaves_per_pod(self) -> int:
        segments = self.intent.backend.segments
        return segments.count * segments.rail_switches
