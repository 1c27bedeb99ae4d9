"""A device model with its parts by name, for convergence."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from ipaddress import IPv4Address

from railfab.device import (
    DEFAULT_INSTANCE,
    BgpNeighbor,
    DeviceModel,
    Interface,
    Lag,
    Loopback,
    PrefixRange,
    interfaces_of_peers,
)
from railfab.forwarding.policies import (
    Policies,
    aggregates,
    contributor_ranges,
    export_filter,
    import_filter,
    is_internal,
)
from railfab.forwarding.prefixes import Prefix, prefix_of


@dataclass(frozen=True, kw_only=True, eq=False)
class SwitchConfig:
    """One configured switch. imports, exports: the number of the filter of each session, by the session's key."""

    model: DeviceModel
    imports: Mapping[str, int]
    exports: Mapping[str, int]

    @cached_property
    def interfaces(self) -> Mapping[str, Interface]:
        return {interface.name: interface for interface in self.model.interfaces}

    @cached_property
    def lag_of(self) -> Mapping[str, Lag]:
        """The LAG of each port that is a member of one."""
        lags = (interface for interface in self.model.interfaces if isinstance(interface, Lag))
        return {member: lag for lag in lags for member in lag.members}

    def routing_interface(self, port: str) -> Interface:
        """The interface that routes the packets of a configured port: its LAG, or the port itself."""
        return self.lag_of.get(port) or self.interfaces[port]

    @cached_property
    def places(self) -> Mapping[str, int]:
        """Place of each interface in the order of the model, which is the order of equal-cost next hops."""
        return {interface.name: place for place, interface in enumerate(self.model.interfaces)}

    @cached_property
    def neighbors(self) -> Mapping[str, BgpNeighbor]:
        """BGP neighbours by key."""
        return {neighbor.key: neighbor for neighbor in self.model.neighbors}

    @cached_property
    def interface_of(self) -> Mapping[str, str]:
        """The interface of each directly connected session, by key."""
        return interfaces_of_peers(self.model)

    @cached_property
    def sessions_on(self) -> Mapping[str, tuple[str, ...]]:
        """Keys of the sessions over each interface."""
        found: dict[str, list[str]] = defaultdict(list)
        for key, interface in self.interface_of.items():
            found[interface].append(key)
        return {interface: tuple(keys) for interface, keys in found.items()}

    @cached_property
    def subnets(self) -> tuple[tuple[str, Prefix], ...]:
        """The subnets of the routed interfaces that are no loopbacks, by the interface's name."""
        return tuple(
            (interface.name, prefix_of(network))
            for interface in self.model.interfaces
            if interface.network_instance == DEFAULT_INSTANCE and not isinstance(interface, Loopback)
            for network in interface.subnets
        )

    @cached_property
    def loopbacks(self) -> tuple[Prefix, ...]:
        """The prefixes of the loopbacks."""
        return tuple(
            prefix_of(network)
            for interface in self.model.interfaces
            if isinstance(interface, Loopback) and interface.enabled and interface.network_instance == DEFAULT_INSTANCE
            for network in interface.subnets
        )

    @cached_property
    def aggregates(self) -> tuple[tuple[Prefix, tuple[PrefixRange, ...]], ...]:
        """Aggregates, and the prefixes that make each be announced."""
        return tuple(
            (prefix_of(aggregate.prefix), contributor_ranges(aggregate)) for aggregate in aggregates(self.model)
        )

    @cached_property
    def clients(self) -> frozenset[str]:
        """Keys of the sessions with clients of this route reflector."""
        return frozenset(key for key, neighbor in self.neighbors.items() if neighbor.reflector_client)

    @cached_property
    def cluster(self) -> int | None:
        """The cluster of a route reflector, its router ID by default; None for another switch (RFC 4456)."""
        bgp = self.model.bgp
        return int(bgp.cluster_id or bgp.router_id or 0) if bgp and self.clients else None

    @cached_property
    def filters(self) -> frozenset[int]:
        """The numbers of the filters of all sessions."""
        return frozenset((*self.imports.values(), *self.exports.values()))

    @cached_property
    def speaker(self) -> tuple[object, ...]:
        """The settings that its own routes depend on, besides its peers and their announcements."""
        bgp = self.model.bgp
        if bgp is None:
            return ()
        return bgp.asn, bgp.max_paths, bgp.max_paths_internal, bgp.multiple_as, self.cluster, dict(self.imports)

    @cached_property
    def announcer(self) -> tuple[object, ...]:
        """The settings that the routes of its peers depend on, besides its own routes."""
        return self.asn, self.cluster, dict(self.exports)

    @cached_property
    def router_id(self) -> IPv4Address | None:
        """The BGP identifier: as configured, else the address of the first loopback."""
        loopback, bgp = self.model.loopback, self.model.bgp
        return bgp.router_id or (loopback if isinstance(loopback, IPv4Address) else None) if bgp else None

    @property
    def asn(self) -> int | None:
        return self.model.bgp.asn if self.model.bgp else None


def switch_config(model: DeviceModel, policies: Policies) -> SwitchConfig:
    """The tables of a model; its filters get numbers. Sessions with the same policies share them."""
    known: dict[object, tuple[int, int]] = {}
    imports: dict[str, int] = {}
    exports: dict[str, int] = {}
    for neighbor in model.neighbors:
        same = (neighbor.import_policies, neighbor.export_policies, is_internal(model, neighbor))
        if same not in known:
            known[same] = (
                policies.number(import_filter(model, neighbor)),
                policies.number(export_filter(model, neighbor)),
            )
        imports[neighbor.key], exports[neighbor.key] = known[same]
    return SwitchConfig(model=model, imports=imports, exports=exports)
