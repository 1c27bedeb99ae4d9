"""Everything that a diagnosis looks at: configurations and states of switches, telemetry, and past deploys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

from railfab.deploy import DeployRecord
from railfab.device import DeviceModel, Observed, ObservedInterface, interfaces_of_peers
from railfab.diagnosis.window import TelemetryWindow
from railfab.errors import RailfabError
from railfab.fabric import Design
from railfab.fabric.nic_agreement import NicAgreement, NicStates
from railfab.platforms import Running, platform
from railfab.topology import CabledPort, Link, Role

PortName = tuple[str, str]
"""Names of a switch and of one of its interfaces."""
UP, STATE = "fabric_collector_session_up", "fabric_collector_session_state"
OVERLOADED, SESSION_UP = "fabric_collector_overloaded", "fabric_bgp_session_up"
NOT_READ = "its configuration and state were not read. Use railfab doctor with --on, which reads them"
NO_SERIES = "the telemetry has no series of it. Check that a collector collects from it, and the URL"
NOT_NEW = "no sample of it arrived in this time. Use a longer --for, or check the collector"
NO_DOCUMENT = "there is no document of its NICs. Write it there with railfab agent --once --output json"
OPER, ADMIN = "fabric_interface_oper_up", "fabric_interface_admin_up"


@dataclass(frozen=True, slots=True)
class PortEnd:
    """A port of a switch in the intent, its peer, and the cable between them."""

    port: CabledPort
    peer: CabledPort
    link: Link
    is_host: bool

    @property
    def name(self) -> PortName:
        return self.port.node, self.port.name


@dataclass(frozen=True, kw_only=True)
class Observations:
    """What is known of a fabric now.

    inspected: configuration and state by switch; unread: the error of each switch that could not be read. window: of
    the telemetry; without readings where there is none. deploys: of the journal, oldest first. nics: of hosts; None
    where they were not read.
    """

    fabric: Design
    inspected: Mapping[str, tuple[Running, Observed]]
    unread: Mapping[str, RailfabError]
    window: TelemetryWindow
    deploys: Sequence[DeployRecord] = ()
    nics: NicStates | None = None

    @property
    def streaming(self) -> frozenset[str]:
        """Switches whose telemetry streams at the end of the window."""
        return frozenset(series.device for series, value in self.window.latest(UP) if value)

    @cached_property
    def ends(self) -> Mapping[PortName, PortEnd]:
        """Every front-panel port of a switch that the intent has a cable for."""
        topology = self.fabric.topology
        hosts = {node.name for node in topology.nodes if node.role in (Role.HOST, Role.SERVER)}
        return {
            (port.node, port.name): PortEnd(port, peer, link, peer.node in hosts)
            for port, peer, link in topology.ports()
            if port.cage and port.node in self.fabric.models
        }

    @cached_property
    def interfaces(self) -> Mapping[PortName, ObservedInterface]:
        return {
            (name, interface.name): interface
            for name, (_, observed) in self.inspected.items()
            for interface in observed.interfaces
        }

    @cached_property
    def silent(self) -> frozenset[str]:
        """Switches of the intent whose telemetry was to stream in the whole window and did not.

        A collector that was late says nothing about its switches, nor do those that it has not dialed yet.
        """
        ever: set[str] = set()
        judged: set[str] = set()
        for reading in self.window.readings:
            for series, value in reading.values.items():
                if series.metric == UP:
                    judged.add(series.device)
                if (series.metric, bool(value)) in ((UP, True), (STATE, False), (OVERLOADED, True)):
                    ever.add(series.device)
        return frozenset(judged.intersection(self.fabric.models) - ever)

    @cached_property
    def sampled(self) -> frozenset[str]:
        """Switches of the intent of which a sample arrived in the window."""
        return frozenset(name for name in self.fabric.models if self.window.seconds.get(name, 0.0) > 0)

    @cached_property
    def agreement(self) -> NicAgreement | None:
        """The NICs against the switch ports as they run; None where the NICs were not read."""
        if self.nics is None:
            return None
        models: dict[str, DeviceModel] = {}
        for name, (running, _) in self.inspected.items():
            with suppress(RailfabError):  # a cause in the configuration
                models[name] = platform(self.fabric.models[name].platform).parse(running.text)
        return NicAgreement(self.fabric, self.nics, models)

    @cached_property
    def unknown(self) -> Mapping[str, str]:
        """What is not known of switches and hosts, a line with its name each: not read, or without a new sample.

        A switch that the collector cannot reach is no unknown one: that it is silent is known.
        """
        names = self.fabric.models.keys()
        not_read = dict.fromkeys(sorted(names - self.inspected.keys()), NOT_READ)
        seen = {series.device for reading in self.window.readings for series in reading.values}
        without = sorted(names - self.sampled - self.silent)
        not_sampled = {name: NOT_NEW if name in seen else NO_SERIES for name in without}
        hosts = dict.fromkeys(self.agreement.without_document if self.agreement else (), NO_DOCUMENT)
        reasons = {**hosts, **not_read, **not_sampled, **{name: str(error) for name, error in self.unread.items()}}
        return {name: why if name in why else f"{name}: {why}" for name, why in reasons.items()}

    @cached_property
    def session_ports(self) -> Mapping[PortName, PortName]:
        """The port of each BGP session with a peer at the end of a cable, by switch and peer as telemetry names it."""
        return {
            (name, str(neighbor.peer)): (name, interface)
            for name, model in self.fabric.models.items()
            for interfaces in [interfaces_of_peers(model)]
            for neighbor in model.neighbors
            if (interface := interfaces.get(neighbor.key, "")) and (name, interface) in self.ends
        }

    @cached_property
    def sessions_up(self) -> Mapping[PortName, bool]:
        """Whether the BGP session at a port is up, as the telemetry of its switch says."""
        return {
            port: value > 0
            for series, value in self.window.latest(SESSION_UP)
            if series.device not in self.silent
            and (port := self.session_ports.get((series.device, series["peer"]))) is not None
        }

    def is_up(self, port: PortName) -> bool | None:
        """Whether a port has a link, as the switch says, else its telemetry; None where neither does."""
        if (interface := self.interfaces.get(port)) is not None:
            return interface.oper_up
        if port[0] in self.silent or (value := self._oper.get(port)) is None:
            return None
        return value > 0

    def is_enabled(self, port: PortName) -> bool | None:
        """Whether a port is enabled; None where it is not known."""
        interface = self.interfaces.get(port)
        if interface is not None and interface.enabled is not None:
            return interface.enabled
        value = None if port[0] in self.silent else self._admin.get(port)
        return None if value is None else value > 0

    @cached_property
    def _oper(self) -> Mapping[PortName, float]:
        return self.window.port_values(OPER)

    @cached_property
    def _admin(self) -> Mapping[PortName, float]:
        return self.window.port_values(ADMIN)

    def switch_links(self) -> Iterator[tuple[PortEnd, PortEnd]]:
        """Both ends of every cable between two switches."""
        for link in self.fabric.topology.links:
            lower, upper = ((end.node, end.name) for end in (link.a, link.z))
            if lower in self.ends and upper in self.ends:
                yield self.ends[lower], self.ends[upper]

    def host_ends(self) -> Iterator[PortEnd]:
        return (end for end in self.ends.values() if end.is_host)
