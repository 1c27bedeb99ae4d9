"""A device model with the tables by name that convergence looks things up in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from railfab.device import BgpNeighbor, DeviceModel, Interface
from railfab.forwarding.prefixes import Policies, Prefix, prefix_of


@dataclass(frozen=True, kw_only=True, eq=False)
class SwitchConfig:
    """One configured switch. import_policy, export_policy: their numbers in the policy table."""

    model: DeviceModel
    import_policy: int
    export_policy: int

    @cached_property
    def interfaces(self) -> Mapping[str, Interface]:
        return {interface.name: interface for interface in self.model.interfaces}

    @cached_property
    def places(self) -> Mapping[str, int]:
        """Place of each interface in the order of the model, which is the order of equal-cost next hops."""
        return {interface.name: place for place, interface in enumerate(self.model.interfaces)}

    @cached_property
    def neighbors(self) -> Mapping[str, BgpNeighbor]:
        """BGP neighbours by interface."""
        return {neighbor.interface: neighbor for neighbor in self.model.bgp.neighbors}

    @cached_property
    def subnets(self) -> tuple[tuple[str, Prefix], ...]:
        """The subnet of each numbered interface, by the interface's name."""
        return tuple(
            (interface.name, prefix_of(interface.address.network))
            for interface in self.model.interfaces
            if interface.address is not None
        )

    @property
    def asn(self) -> int:
        return self.model.bgp.asn

    @property
    def max_paths(self) -> int:
        return self.model.bgp.max_paths


def switch_config(model: DeviceModel, policies: Policies) -> SwitchConfig:
    """The tables of a model; its policies get numbers."""
    return SwitchConfig(
        model=model,
        import_policy=policies.number(model.bgp.import_prefixes),
        export_policy=policies.number(model.bgp.export_prefixes),
    )
