"""The buffer of every switch with a lossless class: one plan for all that have the same model and the same ports."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil

from railfab.intent import FabricIntent, Lossless, SwitchRole
from railfab.qos import (
    BufferPlan,
    FabricPath,
    PathLink,
    PortLoad,
    SwitchTraits,
    buffer_plan,
    chip_of,
    percent_of,
    profile_name,
)
from railfab.topology import Net, Node, Role, SwitchModel, Topology
from railfab.topology.grouping import grouped

RESUME_FRAMES = 2
"""Largest frames by which a queue falls below its pause threshold before sending may resume: SONiC's 18,432 bytes
(sonic-net/sonic-buildimage, device/*/*/*/pg_profile_lookup.ini, column xon)."""

SWITCH_ROLES: Mapping[Role, SwitchRole] = {Role.LEAF: "leaf", Role.SPINE: "spine", Role.SUPER: "super_spine"}
"""The roles of switches as the intent names them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PortThresholds:
    """Thresholds of the lossless queue of equal ports, as `railfab.device.ClassThresholds` has them."""

    name: str
    cable_m: int
    kmin_bytes: int
    kmax_bytes: int
    pmax_percent: int
    xoff_bytes: int
    xon_offset_bytes: int
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
        """Headroom of all ports together, of the chip's buffer, rounded up."""
        return max(1, percent_of(self.plan.uncut.headroom_bytes, self.plan.buffer_bytes))

    @property
    def thresholds(self) -> tuple[PortThresholds, ...]:
        """By speed and cable, as the device models have them. Each port may use its worst case of the headroom."""
        pool_bytes = self.headroom_pool_percent * self.plan.buffer_bytes / 100
        return tuple(
            PortThresholds(
                name=profile_name(port.load.rate_gbps, port.load.cable_m),
                cable_m=max(1, ceil(port.load.cable_m)),
                kmin_bytes=port.thresholds.kmin_bytes,
                kmax_bytes=port.thresholds.kmax_bytes,
                pmax_percent=port.thresholds.pmax_percent,
                xoff_bytes=port.thresholds.xoff_bytes,
                xon_offset_bytes=RESUME_FRAMES * self.plan.traits.mtu_bytes,
                headroom_percent=min(100, percent_of(port.headroom.worst_bytes, pool_bytes)),
                headroom_bytes=port.headroom.worst_bytes,
            )
            for port in self.plan.uncut.ports
        )


def switch_buffers(topology: Topology, intent: FabricIntent) -> tuple[SwitchBuffers, ...]:
    """In the order of the first switch of each kind; none without a lossless class."""
    if (lossless := intent.profile.lossless) is None:
        return ()
    networks = lossless_networks(intent)
    groups = topology.port_groups
    switches = (node for node in topology.switches() if node.net in networks and node.name in groups)
    kinds = grouped(switches, lambda node: (node.net, node.role, node.model, groups[node.name]))
    paths = {net: fabric_path(topology, net) for net in networks}
    return tuple(_planned(topology, intent, lossless, nodes, paths[nodes[0].net]) for nodes in kinds)


def lossless_networks(intent: FabricIntent) -> frozenset[Net]:
    """Networks that carry RoCE."""
    storage = {Net.STORAGE} if intent.storage is not None and intent.storage.protocol == "roce" else set()
    return frozenset({Net.BACKEND} | storage)


def fabric_path(topology: Topology, net: Net) -> FabricPath:
    """The longest path of a network, with the largest latency of its switches."""
    models = {node.model: topology.model_of(node) for node in topology.switches() if node.net is net}
    return FabricPath(
        links=tuple(PathLink(cable_m, rate_gbps) for cable_m, rate_gbps in topology.longest_path(net)),
        switch_ns=max((chip_of(model.silicon).latency_ns for model in models.values()), default=0),
    )


def _planned(
    topology: Topology, intent: FabricIntent, lossless: Lossless, nodes: list[Node], path: FabricPath
) -> SwitchBuffers:
    model, storage = topology.model_of(nodes[0]), intent.profile.storage_class
    traits = SwitchTraits(
        chip=chip_of(model.silicon),
        buffer_bytes=model.buffer_bytes,
        path=path,
        mtu_bytes=intent.profile.mtu,
        role=SWITCH_ROLES[nodes[0].role],
        default_headroom_bytes=model.default_headroom_bytes,
        vxlan=intent.profile.data_plane == "vxlan",
        classes=2 if storage is not None and storage.lossless else 1,
    )
    plan = buffer_plan(_loads(topology, nodes[0]), traits, lossless)
    return SwitchBuffers(model=model, switches=tuple(nodes), plan=plan)


def _loads(topology: Topology, node: Node) -> list[PortLoad]:
    """The ports of a switch by speed and length, whatever their peers are."""
    counts: Counter[tuple[int, float]] = Counter()
    for group in topology.port_groups[node.name]:
        counts[group.rate_gbps, group.cable_m] += group.ports
    return [PortLoad(rate_gbps, cable_m, count) for (rate_gbps, cable_m), count in sorted(counts.items())]
