"""The two ends of a link as configured, and the comparison of a setting that both platforms can state."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from railfab.device.diff import value_text
from railfab.device.interfaces import Interface, Lag, Port
from railfab.device.model import DeviceModel, interfaces_of_peers
from railfab.device.qos import ClassThresholds, PortQos, Qos
from railfab.device.routing import BgpNeighbor
from railfab.findings import Code, Finding, error
from railfab.intent import Ramp
from railfab.topology import Node

SAME = "Configure both ends with the same value"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlatformTraits:
    """Traits of a platform that matter when its configuration is compared with that of another one.

    unstated: features that its configuration does not state, because the system below sets them, or because it lacks
    them. shared: thresholds that have one value for all ports of a switch, whatever their links need. steps: by name of
    a value, to which the platform rounds it. cell_bytes: to which its chips do.
    """

    unstated: frozenset[str] = frozenset()
    shared: frozenset[str] = frozenset()
    steps: Mapping[str, int] = field(default_factory=dict)
    cell_bytes: int = 1


STATES_ALL = PlatformTraits()


@dataclass(frozen=True, kw_only=True)
class ConfiguredSwitch:
    """A switch and its model, with its ports, LAGs and sessions by name."""

    node: Node
    model: DeviceModel
    traits: PlatformTraits = STATES_ALL

    @cached_property
    def interfaces(self) -> Mapping[str, Interface]:
        return {interface.name: interface for interface in self.model.interfaces}

    @cached_property
    def lags(self) -> Mapping[str, Lag]:
        """The LAG of each port that is a member of one."""
        lags = (lag for lag in self.model.interfaces if isinstance(lag, Lag))
        return {member: lag for lag in lags for member in lag.members}

    @cached_property
    def ports(self) -> Mapping[str, PortQos]:
        return {port.interface: port for port in self.model.qos.ports} if self.model.qos else {}

    @cached_property
    def neighbors(self) -> Mapping[str, BgpNeighbor]:
        """The session over each interface."""
        by_key = interfaces_of_peers(self.model)
        return {by_key[neighbor.key]: neighbor for neighbor in self.model.neighbors if neighbor.key in by_key}

    def rate_gbps(self, port: Port, cage: str) -> int | None:
        """Speed of a port: its own, or that of the breakout of its cage; None where neither is stated."""
        if port.rate_gbps is not None:
            return port.rate_gbps
        return next((breakout.rate_gbps for breakout in self.model.breakouts if breakout.cage == cage), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkEnd:
    """One end of a link: a switch and its port, as configured.

    cage: name of the whole cage of the port. ramp: the ECN ramp that the intent states for the port, if any.
    """

    switch: ConfiguredSwitch
    port: Interface
    cage: str
    ramp: Ramp | None = None

    @property
    def name(self) -> str:
        """The name of the switch."""
        return self.switch.model.name

    @property
    def where(self) -> str:
        return f"{self.name} {self.port.name}"

    @property
    def lag(self) -> Lag | None:
        return self.switch.lags.get(self.port.name)

    @property
    def routed(self) -> Interface:
        """The interface that has the addresses: the port, or the LAG of which it is a member."""
        return self.lag or self.port

    @property
    def rate_gbps(self) -> int | None:
        return self.switch.rate_gbps(self.port, self.cage) if isinstance(self.port, Port) else None

    @property
    def neighbor(self) -> BgpNeighbor | None:
        return self.switch.neighbors.get(self.routed.name)

    @property
    def qos(self) -> Qos | None:
        return self.switch.model.qos

    @property
    def port_qos(self) -> PortQos | None:
        return self.switch.ports.get(self.port.name) or self.switch.ports.get(self.routed.name)

    def thresholds(self, traffic_class: str) -> ClassThresholds | None:
        """The thresholds of a class on this port; None where it has none."""
        port = self.port_qos
        profile = self.qos.profile(port.profile) if self.qos and port and port.profile else None
        return profile.of(traffic_class) if profile else None

    def states(self, *features: str) -> bool:
        """Whether the configuration of the platform states these features."""
        return self.switch.traits.unstated.isdisjoint(features)

    def step(self, value: str) -> int:
        """To what the platform and its chips round a value; 1 where it takes every one."""
        traits = self.switch.traits
        return max(traits.steps.get(value, 1), traits.cell_bytes if value.endswith("_bytes") else 1)


def mismatch(code: Code, a: LinkEnd, z: LinkEnd, setting: str, left: object, right: object) -> Iterator[Finding]:
    """The finding that a setting differs between two ends."""
    if left != right:
        problem = f"{setting} differs: {value_text(left)} and {value_text(right)}"
        yield error(code, f"{a.where} and {z.where}", problem, SAME)
