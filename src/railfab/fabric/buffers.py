"""The buffer of every switch: one plan for all that have the same model and the same ports."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from railfab.findings import Finding
from railfab.intent import FabricIntent, Lossless
from railfab.qos import BufferPlan, PortLoad, buffer_findings, buffer_plan, percent_of, profile_name
from railfab.topology import Net, Node, SwitchModel, Topology
from railfab.topology.grouping import grouped
from railfab.topology.model import link_network

Loads = tuple[tuple[int, float, int], ...]
"""Lossless ports of a switch: speed [Gb/s], cable [m], how many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PortThresholds:
    """Of the lossless queue of ports that are alike. headroom_percent: of what the switch keeps for headroom, as a
    platform that takes shares is told."""

    name: str
    kmin_bytes: int
    kmax_bytes: int
    pmax_percent: int
    xoff_bytes: int
    headroom_percent: int
    headroom_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchBuffers:
    """Switches of one model with the same ports, and how each divides its buffer."""

    model: SwitchModel
    switches: tuple[Node, ...]
    plan: BufferPlan

    @property
    def where(self) -> str:
        """The switches, in a word or three."""
        more = len(self.switches) - 1
        return self.switches[0].name + (f" and {more:,} more" if more else "")

    @property
    def headroom_pool_percent(self) -> int:
        """What all ports together keep for headroom, of the chip's buffer, rounded up."""
        return max(1, percent_of(self.plan.uncut.needed_headroom_bytes, self.plan.buffer_bytes))

    @property
    def thresholds(self) -> tuple[PortThresholds, ...]:
        """By speed and cable, as the device models have them."""
        pool_bytes = self.headroom_pool_percent * self.plan.buffer_bytes / 100
        return tuple(
            PortThresholds(
                name=profile_name(port.load.rate_gbps, port.load.cable_m),
                kmin_bytes=port.thresholds.kmin_bytes,
                kmax_bytes=port.thresholds.kmax_bytes,
                pmax_percent=port.thresholds.pmax_percent,
                xoff_bytes=port.thresholds.xoff_bytes,
                headroom_percent=percent_of(port.thresholds.headroom_bytes, pool_bytes),
                headroom_bytes=port.thresholds.headroom_bytes,
            )
            for port in self.plan.uncut.ports
        )


def switch_buffers(topology: Topology, intent: FabricIntent) -> tuple[SwitchBuffers, ...]:
    """In the order of the first switch of each kind; none without a lossless class."""
    if (lossless := intent.profile.lossless) is None:
        return ()
    loads = _loads(topology, _lossless_networks(intent))
    lossless_switches = (node for node in topology.switches() if node.name in loads)
    return tuple(
        _planned(topology, intent, lossless, nodes, loads[nodes[0].name])
        for nodes in grouped(lossless_switches, lambda node: (node.role, node.model, loads[node.name]))
    )


def _planned(
    topology: Topology, intent: FabricIntent, lossless: Lossless, nodes: list[Node], loads: Loads
) -> SwitchBuffers:
    model = topology.model_of(nodes[0])
    plan = buffer_plan(
        [PortLoad(rate_gbps=rate, cable_m=metres, count=count) for rate, metres, count in loads],
        buffer_bytes=model.buffer_bytes,
        mtu_bytes=intent.profile.mtu,
        lossless=lossless,
        vxlan=intent.profile.data_plane == "vxlan",
    )
    return SwitchBuffers(model=model, switches=tuple(nodes), plan=plan)


def _lossless_networks(intent: FabricIntent) -> set[Net]:
    """Networks that carry RoCE."""
    storage = {Net.STORAGE} if intent.storage is not None and intent.storage.protocol == "roce" else set()
    return {Net.BACKEND} | storage


def _loads(topology: Topology, lossless: set[Net]) -> dict[str, Loads]:
    """By switch, for switches with lossless ports."""
    nodes = topology.by_name
    counts: Counter[tuple[str, int, float]] = Counter()
    for link in topology.links:
        a, z = nodes[link.a.node], nodes[link.z.node]
        if link_network(a, z) in lossless:
            counts[z.name, link.rate_gbps, link.cable_m] += 1
            if a.model is not None:
                counts[a.name, link.rate_gbps, link.cable_m] += 1
    loads: dict[str, list[tuple[int, float, int]]] = {}
    for (name, rate, metres), count in counts.items():
        loads.setdefault(name, []).append((rate, metres, count))
    return {name: tuple(sorted(ports)) for name, ports in loads.items()}


def all_buffer_findings(buffers: tuple[SwitchBuffers, ...]) -> Iterator[Finding]:
    """Of every kind of switch; what reads the same for all of them is said once."""
    said: set[str] = set()
    for kind in buffers:
        for finding in buffer_findings(kind.where, kind.plan):
            if (line := f"{finding.severity} {finding.problem}") not in said:
                said.add(line)
                yield finding
