"""The dimensions of a backend: counts of hosts, switches, ports and links, used by wiring, addresses and checks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import ceil

from railfab.intent import FabricIntent, Segments, Spines, SuperSpines
from railfab.topology.catalogue import SwitchModel, model_named
from railfab.topology.rails import NicPort, nic_ports

MAX_UNCONNECTED = 256
"""Segments that a fabric without spines has numbers for."""


@dataclass(frozen=True)
class Dimensions:
    """Counts computed from an intent. Cages and ports are those of one switch."""

    intent: FabricIntent

    @cached_property
    def leaf_model(self) -> SwitchModel:
        return model_named(self.intent, self.segments.model)

    @cached_property
    def spine_model(self) -> SwitchModel | None:
        return model_named(self.intent, self.spines.model) if self.spines else None

    @cached_property
    def super_model(self) -> SwitchModel | None:
        return model_named(self.intent, self.supers.model) if self.supers else None

    @property
    def segments(self) -> Segments:
        return self.intent.backend.segments

    @property
    def spines(self) -> Spines | None:
        return self.intent.backend.spines

    @property
    def supers(self) -> SuperSpines | None:
        return self.intent.backend.super_spines

    @cached_property
    def nic_ports(self) -> tuple[NicPort, ...]:
        return nic_ports(self.intent)

    @cached_property
    def rails_of(self) -> Mapping[int, tuple[int, ...]]:
        """The rails that each rail switch of a segment serves (the same in every plane)."""
        rails_of: dict[int, dict[int, None]] = {}
        for port in self.nic_ports:
            rails_of.setdefault(port.switch, {})[port.rail] = None
        return {switch: tuple(rails) for switch, rails in sorted(rails_of.items())}

    @cached_property
    def links_per_host_and_leaf(self) -> int:
        """Links between a host and each rail switch of its segment."""
        hosts = self.intent.hosts
        return hosts.nics * hosts.nic_ports // (self.segments.rail_switches * self.intent.backend.planes)

    @cached_property
    def links_per_nic_and_leaf(self) -> int:
        """Ports of one NIC on the same rail switch."""
        return max(port.turn for port in self.nic_ports) + 1

    @cached_property
    def host_lanes(self) -> int:
        """Host ports per cage of a rail switch; 1 without breakout."""
        if not self.segments.breakout:
            return 1
        return self.leaf_model.lanes_for(self.intent.hosts.rate_gbps) or 1

    @cached_property
    def host_cages(self) -> tuple[int, ...] | None:
        """The cages that the intent assigns to hosts; None if hosts use cages from the first upwards."""
        ports = self.segments.ports
        return None if isinstance(ports, str) else tuple(cage for cages in ports.values() for cage in cages)

    @cached_property
    def host_cages_used(self) -> int:
        """Cages of a rail switch that the hosts of a segment use."""
        if self.host_cages is not None:
            return len(set(self.host_cages))
        return self._cages_of(self.segments.hosts)

    def _cages_of(self, hosts: int) -> int:
        """Cages of a rail switch that this number of hosts uses."""
        return -(-hosts * self.links_per_host_and_leaf // self.host_lanes)

    @cached_property
    def peer_links(self) -> int:
        """Links between the two switches of a pair, one per cage."""
        attach = self.intent.hosts.attach
        paired = attach == "mlag" or (attach == "esi" and self.spines is None)
        return self.segments.peer_links if paired else 0

    @cached_property
    def spare_cages(self) -> tuple[int, ...]:
        """Cages of a rail switch for links to other switches, from the last downwards."""
        named = set(self.host_cages or ())
        return tuple(cage for cage in range(self.leaf_model.cages, 0, -1) if cage not in named)

    @cached_property
    def uplink_lanes(self) -> int:
        """Uplinks per cage of a rail switch."""
        return _lanes(self.leaf_model, self.spines)

    @cached_property
    def links_per_leaf(self) -> int:
        """Links between a rail switch and a spine: as stated, or as many as a full rail switch needs."""
        if self.spines is None:
            return 0
        return self.spines.links_per_leaf or max(1, -(-self.uplinks_of_full_leaf // self.spines.count))

    @cached_property
    def uplinks_of_full_leaf(self) -> int:
        """The smallest number of uplinks that carry the traffic of all other ports at the stated ratio, whole cages."""
        return ceil(self.exact_uplinks / self.uplink_lanes) * self.uplink_lanes

    @cached_property
    def exact_uplinks(self) -> float:
        """Uplinks that exactly carry the traffic of all other ports at the stated ratio; may be a fraction."""
        return self._exact_uplinks(self.leaf_model.cages - self.peer_links)

    @cached_property
    def exact_uplinks_without_peers(self) -> float:
        """The same without peer links: the number that spines should divide."""
        return self._exact_uplinks(self.leaf_model.cages)

    @cached_property
    def exact_uplinks_of_today(self) -> float:
        """Uplinks that exactly carry the traffic of the current hosts at the stated ratio."""
        return self._cages_of(self.segments.hosts) * self._cage_gbps / self._uplink_gbps

    def _exact_uplinks(self, cages: int) -> float:
        if (bound := self._host_cages_bound) is not None:
            return bound * self._cage_gbps / self._uplink_gbps
        return exact_uplinks(
            cages=cages, down_gbps=self._cage_gbps, up_gbps=self._uplink_gbps, up_lanes=self.uplink_lanes
        )

    @property
    def _cage_gbps(self) -> int:
        """Host bandwidth per cage of a rail switch."""
        return self.host_lanes * self.intent.hosts.rate_gbps

    @property
    def _uplink_gbps(self) -> float:
        """Host bandwidth per uplink at the stated ratio."""
        assert self.spines is not None
        return self.spines.rate_gbps * self.intent.backend.oversubscription

    @cached_property
    def _host_cages_bound(self) -> int | None:
        """Largest number of cages for hosts, if the intent limits it."""
        ports, hosts = self.segments.ports, self.intent.backend.growth.hosts
        if not isinstance(ports, str):
            return max(sum(len(ports[rail]) for rail in rails) for rails in self.rails_of.values())
        return None if hosts is None else self._cages_of(hosts)

    @cached_property
    def uplinks(self) -> int:
        """Uplinks of a rail switch."""
        return self.links_per_leaf * self.spines.count if self.spines else 0

    @cached_property
    def uplink_cages(self) -> int:
        return -(-self.uplinks // self.uplink_lanes)

    @cached_property
    def host_room(self) -> int:
        """Largest number of hosts per segment for which the rail switches have ports."""
        ports, per_nic = self.segments.ports, self.links_per_nic_and_leaf
        if not isinstance(ports, str):
            return min(len(cages) * self.host_lanes // per_nic for cages in ports.values())
        cages = self.leaf_model.cages - self.peer_links - self.uplink_cages
        return max(0, cages) * self.host_lanes // self.links_per_host_and_leaf

    @cached_property
    def block_ports(self) -> int:
        """Ports per rail on a rail switch with the port layout by-rail."""
        return self.growth_hosts * self.links_per_nic_and_leaf

    @cached_property
    def spine_down_lanes(self) -> int:
        return _lanes(self.spine_model, self.spines) if self.spine_model else 1

    @cached_property
    def spine_up_lanes(self) -> int:
        return _lanes(self.spine_model, self.supers) if self.spine_model else 1

    @cached_property
    def super_lanes(self) -> int:
        return _lanes(self.super_model, self.supers) if self.super_model else 1

    @cached_property
    def supers_per_group(self) -> int:
        """Super-spines that each spine connects to."""
        return self.supers.count // self.supers.groups if self.supers else 0

    @cached_property
    def spines_per_group(self) -> int:
        """Spines of a pod that connect to the same super-spines."""
        return self.spines.count // self.supers.groups if self.supers and self.spines else 0

    @cached_property
    def links_per_spine(self) -> int:
        """Links between a spine and a super-spine: as stated, or as many as a full spine needs."""
        if self.supers is None or self.supers_per_group == 0:
            return 0
        return self.supers.links_per_spine or max(1, -(-self.uplinks_of_full_spine // self.supers_per_group))

    @cached_property
    def uplinks_of_full_spine(self) -> int:
        """The smallest number of uplinks of a spine that carry the traffic of its other ports at the stated ratio."""
        assert self.supers is not None
        assert self.spines is not None
        assert self.spine_model is not None
        ratio, segments = self.intent.backend.oversubscription, self.intent.backend.growth.segments
        if segments is not None:
            leaves = segments * self.segments.rail_switches
            down_gbps = leaves * self.links_per_leaf * self.spines.rate_gbps
            return ceil(down_gbps / (self.supers.rate_gbps * ratio))
        exact = exact_uplinks(
            cages=self.spine_model.cages,
            down_gbps=self.spine_down_lanes * self.spines.rate_gbps,
            up_gbps=self.supers.rate_gbps * ratio,
            up_lanes=self.spine_up_lanes,
        )
        return ceil(exact / self.spine_up_lanes) * self.spine_up_lanes

    @cached_property
    def spine_uplinks(self) -> int:
        return self.links_per_spine * self.supers_per_group

    @cached_property
    def spine_up_cages(self) -> int:
        return -(-self.spine_uplinks // self.spine_up_lanes)

    @cached_property
    def leaf_room(self) -> int | None:
        """Largest number of rail switches per pod for which a spine has ports; None without spines."""
        if self.spine_model is None:
            return None
        return max(0, self.spine_model.cages - self.spine_up_cages) * self.spine_down_lanes // self.links_per_leaf

    @cached_property
    def pod_room(self) -> int | None:
        """Largest number of pods for which a super-spine has ports; None without super-spines."""
        if self.super_model is None:
            return None
        return self.super_model.cages * self.super_lanes // max(1, self.spines_per_group * self.links_per_spine)

    @cached_property
    def growth_hosts(self) -> int:
        """Largest number of hosts per segment, for which ports and addresses are reserved."""
        return self.intent.backend.growth.hosts or self.host_room

    @cached_property
    def growth_segments(self) -> int:
        """Largest number of segments per pod, for which addresses and AS numbers are reserved."""
        room = MAX_UNCONNECTED if self.leaf_room is None else self.leaf_room // self.segments.rail_switches
        return self.intent.backend.growth.segments or room

    @cached_property
    def growth_leaves(self) -> int:
        return self.growth_segments * self.segments.rail_switches

    @cached_property
    def growth_pods(self) -> int:
        """Largest number of pods, for which addresses and AS numbers are reserved."""
        return self.intent.backend.growth.pods or (1 if self.pod_room is None else self.pod_room)

    def leaf_number(self, segment: int, switch: int) -> int:
        """The number of a rail switch in its pod (and plane)."""
        return (segment - 1) * self.segments.rail_switches + switch

    @property
    def leaves_per_pod(self) -> int:
        return self.segments.count * self.segments.rail_switches


def _lanes(model: SwitchModel | None, tier: Spines | SuperSpines | None) -> int:
    """Links to the tier above per cage of this model."""
    if model is None or tier is None or not tier.breakout:
        return 1
    return model.lanes_for(tier.rate_gbps) or 1


def exact_uplinks(*, cages: int, down_gbps: float, up_gbps: float, up_lanes: int) -> float:
    """Uplinks that exactly carry the traffic of the other cages of a switch; may be a fraction.

    down_gbps: per cage from below. up_gbps: per uplink, times the allowed oversubscription.
    """
    return cages * down_gbps / (down_gbps + up_lanes * up_gbps) * up_lanes
