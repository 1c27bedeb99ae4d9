"""Checks of switches by themselves, and of the two ends of every link: ports, BGP, BFD, PFC, ECN and DSCP maps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from railfab.device.diff import value_text
from railfab.device.interfaces import Interface, Lag, Loopback, Port
from railfab.device.model import DeviceModel, interfaces_of_peers
from railfab.device.qos import ClassPriority, ClassThresholds, PortQos, Qos, TrafficClass
from railfab.device.routing import BgpNeighbor, Remote
from railfab.findings import Code, DifferenceCode, Finding, error, warning
from railfab.topology import TIERS, Link, Node, Topology

SAME = "Configure both ends with the same value"


@dataclass(frozen=True, kw_only=True)
class ConfiguredSwitch:
    """A switch and its model, with its ports, LAGs and sessions by name."""

    node: Node
    model: DeviceModel

    @cached_property
    def interfaces(self) -> Mapping[str, Interface]:
        return {interface.name: interface for interface in self.model.interfaces}

    @cached_property
    def lags(self) -> Mapping[str, Lag]:
        """The LAG of each port that is a member of one."""
        lags = (interface for interface in self.model.interfaces if isinstance(interface, Lag))
        return {member: lag for lag in lags for member in lag.members}

    @cached_property
    def ports(self) -> Mapping[str, PortQos]:
        return {port.interface: port for port in self.model.qos.ports} if self.model.qos else {}

    @cached_property
    def neighbors(self) -> Mapping[str, BgpNeighbor]:
        """The session over each interface."""
        by_key = interfaces_of_peers(self.model)
        return {by_key[found.key]: found for found in self.model.neighbors if found.key in by_key}


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkEnd:
    """One end of a link: a switch and its port, as configured."""

    switch: ConfiguredSwitch
    port: Interface

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


Check = Callable[[LinkEnd, LinkEnd], Iterator[Finding]]


def disagreements(topology: Topology, models: Mapping[str, DeviceModel]) -> tuple[Finding, ...]:
    """Mistakes within these switches, mismatched ends of the links between them, and ports that are not configured."""
    switches = {
        node.name: ConfiguredSwitch(node=node, model=models[node.name])
        for node in topology.switches()
        if node.name in models
    }
    found = [finding for switch in switches.values() for finding in _switch_mistakes(switch)]
    found.extend(_shared_addresses(switches, topology))
    for link in topology.links:
        if link.a.node in switches and link.z.node in switches and link.a.cage and link.z.cage:
            found.extend(_link_mistakes(link, switches))
    return tuple(found)


def _shared_addresses(switches: Mapping[str, ConfiguredSwitch], topology: Topology) -> Iterator[Finding]:
    """Addresses that two switches have, or one of a switch of which there is no model here; gateways are shared."""
    owners = {node.loopback: node.name for node in topology.switches() if node.loopback is not None}
    for name, switch in switches.items():
        for interface in switch.model.interfaces:
            for address in interface.addresses:
                owner = owners.setdefault(address.ip, name)
                if owner != name:
                    problem = f"has {address.ip}, which is an address of {owner}"
                    where = f"{name} {interface.name}"
                    yield error(DifferenceCode.ADDRESS_SHARED, where, problem, "Give one of both another address")


def _switch_mistakes(switch: ConfiguredSwitch) -> Iterator[Finding]:
    model = switch.model
    if model.bgp is None:
        yield error(DifferenceCode.BGP_MISSING, model.name, "has no BGP speaker", "Deploy the intent")
    for interface in model.interfaces:
        if isinstance(interface, Loopback) and not interface.addresses:
            where = f"{model.name} {interface.name}"
            yield error(DifferenceCode.LOOPBACK_WITHOUT_ADDRESS, where, "has no address", "Deploy the intent")
    if model.qos is not None:
        for found in model.qos.classes:
            yield from _other_priority(f"{model.name} class {found.name}", found)
        for port in model.qos.ports:
            for own in port.priorities:
                yield from _other_priority(f"{model.name} {port.interface} class {own.traffic_class}", own)


def _other_priority(where: str, found: TrafficClass | ClassPriority) -> Iterator[Finding]:
    sent, obeyed = found.pfc_priority, found.obeyed_priority
    if sent != obeyed:
        problem = f"sends pause frames of {_priority(sent)} and obeys those of {_priority(obeyed)}"
        yield error(DifferenceCode.PFC_PRIORITY_MISMATCH, where, problem, "Configure the same priority for both")


def _priority(priority: int | None) -> str:
    return "no priority" if priority is None else f"priority {priority}"


def _link_mistakes(link: Link, switches: Mapping[str, ConfiguredSwitch]) -> Iterator[Finding]:
    ends = []
    for port in (link.a, link.z):
        configured = switches[port.node].interfaces.get(port.name)
        if configured is None:
            where = f"{port.node} {port.name}"
            yield error(DifferenceCode.INTERFACE_MISSING, where, "is not configured", "Deploy the intent")
        else:
            ends.append(LinkEnd(switch=switches[port.node], port=configured))
    if len(ends) == 2:
        for check in CHECKS:
            yield from check(*ends)


def _mismatch(code: Code, a: LinkEnd, z: LinkEnd, setting: str, left: object, right: object) -> Iterator[Finding]:
    if left != right:
        problem = f"{setting} differs: {value_text(left)} and {value_text(right)}"
        yield error(code, f"{a.where} and {z.where}", problem, SAME)


def _port_settings(a: LinkEnd, z: LinkEnd) -> Iterator[Finding]:
    for end in (a, z):
        if not (end.port.enabled and end.routed.enabled):
            yield error(DifferenceCode.INTERFACE_DISABLED, end.where, "is shut down", "Enable it")
    if isinstance(a.port, Port) and isinstance(z.port, Port):
        speeds = a.port.rate_gbps, z.port.rate_gbps
        yield from _mismatch(DifferenceCode.SPEED_MISMATCH, a, z, "speed", *speeds)
        yield from _mismatch(DifferenceCode.FEC_MISMATCH, a, z, "FEC", a.port.fec, z.port.fec)
    yield from _mismatch(DifferenceCode.LAG_MISMATCH, a, z, "membership in a LAG", a.lag is not None, z.lag is not None)
    if a.lag and z.lag:
        yield from _mismatch(DifferenceCode.LAG_MISMATCH, a, z, "LACP", a.lag.lacp, z.lag.lacp)


def _routed_settings(a: LinkEnd, z: LinkEnd) -> Iterator[Finding]:
    left, right = a.routed, z.routed
    yield from _mismatch(DifferenceCode.MTU_MISMATCH, a, z, "MTU", left.mtu_bytes, right.mtu_bytes)
    yield from _mismatch(DifferenceCode.UNNUMBERED_MISMATCH, a, z, "IPv6 unnumbered", left.unnumbered, right.unnumbered)
    for version in (4, 6):
        ours, theirs = (
            tuple(net for net in interface.subnets if net.version == version) for interface in (left, right)
        )
        if ours and theirs and not set(ours) & set(theirs):
            yield from _mismatch(DifferenceCode.SUBNET_MISMATCH, a, z, "subnet", ours, theirs)


def _bgp_sessions(a: LinkEnd, z: LinkEnd) -> Iterator[Finding]:
    """Sessions over a link; the link between the switches of a pair may have none."""
    paired = TIERS[a.switch.node.role] == TIERS[z.switch.node.role]
    if a.switch.model.bgp is None or z.switch.model.bgp is None or (paired and not (a.neighbor or z.neighbor)):
        return
    for end, peer in ((a, z), (z, a)):
        if end.neighbor is None:
            problem = f"has no BGP neighbour towards {peer.name}"
            yield error(DifferenceCode.BGP_NEIGHBOR_MISSING, end.where, problem, "Deploy the intent")
        else:
            yield from _remote_as(end, end.neighbor, peer)
    if a.neighbor and z.neighbor:
        yield from _session_settings(a, z, a.neighbor, z.neighbor)


def _remote_as(end: LinkEnd, neighbor: BgpNeighbor, peer: LinkEnd) -> Iterator[Finding]:
    own, other = (side.switch.model.bgp for side in (end, peer))
    assert own is not None
    assert other is not None
    expected = neighbor.remote_as
    if isinstance(expected, Remote):
        agree = (own.asn == other.asn) is (expected is Remote.INTERNAL)
        text = f"expects an AS that is {'its own' if expected is Remote.INTERNAL else 'not its own'}"
    else:
        agree, text = expected == other.asn, f"expects AS {expected}"
    if not agree:
        problem = f"{text}, but {peer.name} is in AS {other.asn}"
        yield error(DifferenceCode.REMOTE_AS_MISMATCH, end.where, problem, "Correct the remote AS")


def _session_settings(a: LinkEnd, z: LinkEnd, left: BgpNeighbor, right: BgpNeighbor) -> Iterator[Finding]:
    yield from _mismatch(DifferenceCode.BFD_MISMATCH, a, z, "BFD", left.bfd, right.bfd)
    families = sorted(left.families), sorted(right.families)
    yield from _mismatch(DifferenceCode.FAMILY_MISMATCH, a, z, "the set of BGP families", *map(tuple, families))
    passwords = left.password is not None, right.password is not None
    yield from _mismatch(DifferenceCode.BGP_PASSWORD_MISMATCH, a, z, "the BGP password", *passwords)
    if left.timers.hold_s != right.timers.hold_s:
        problem = f"BGP hold times differ: {left.timers.hold_s} s and {right.timers.hold_s} s, and the smaller one acts"
        yield warning(DifferenceCode.BGP_TIMERS_MISMATCH, f"{a.where} and {z.where}", problem, SAME)


def _priorities(a: LinkEnd, z: LinkEnd) -> Iterator[Finding]:
    """PFC by priority, and the classifier of each port."""
    left, right = (end.port_qos.pfc if end.port_qos else () for end in (a, z))
    for priority in sorted({*left, *right}):
        setting, ends = f"PFC of priority {priority}", (priority in left, priority in right)
        yield from _mismatch(DifferenceCode.PFC_MISMATCH, a, z, setting, *ends)
    if a.qos and z.qos:
        classified = _is_classified(a), _is_classified(z)
        yield from _mismatch(DifferenceCode.DSCP_TRUST_MISMATCH, a, z, "DSCP trust", *classified)
        if all(classified):
            maps = _dscp_map(a), _dscp_map(z)
            yield from _mismatch(DifferenceCode.DSCP_MAP_MISMATCH, a, z, "DSCP map", *maps)


def _is_classified(end: LinkEnd) -> bool:
    return end.port_qos is not None and end.port_qos.classifier is not None


def _dscp_map(end: LinkEnd) -> tuple[str, ...]:
    """Queue and priority of each code point, ascending: `26 to queue 3 with PFC priority 3`."""
    port, qos = end.port_qos, end.qos
    classifier = qos.classifier(port.classifier) if qos and port and port.classifier else None
    classes = {found.name: found for found in qos.classes} if qos else {}
    points = classifier.dscp if classifier else ()
    return tuple(f"{point} to {_queue(classes[name])}" for point, name in points if name in classes)


def _queue(found: TrafficClass) -> str:
    priority = "" if found.pfc_priority is None else f" with PFC priority {found.pfc_priority}"
    return f"queue {found.queue}{priority}"


def _marking(a: LinkEnd, z: LinkEnd) -> Iterator[Finding]:
    """ECN and the thresholds of each class."""
    left, right = (end.port_qos.ecn if end.port_qos else () for end in (a, z))
    for name in dict.fromkeys((*left, *right)):
        yield from _mismatch(DifferenceCode.ECN_MISMATCH, a, z, f"ECN of class {name}", name in left, name in right)
    for found in a.qos.classes if a.qos else ():
        ours, theirs = a.thresholds(found.name), z.thresholds(found.name)
        if ours and theirs:
            for setting, one, other in _compared(ours, theirs):
                problem = f"{setting} of class {found.name}"
                yield from _mismatch(DifferenceCode.THRESHOLD_MISMATCH, a, z, problem, one, other)


def _compared(ours: ClassThresholds, theirs: ClassThresholds) -> Iterator[tuple[str, object, object]]:
    """The thresholds that two ends must share. The share of the headroom depends on the chip of each switch."""
    if ours.ecn and theirs.ecn:
        for name in ("kmin_bytes", "kmax_bytes", "pmax_percent"):
            yield name, getattr(ours.ecn, name), getattr(theirs.ecn, name)
    for name in ("xoff_bytes", "alpha"):
        yield name, getattr(ours, name), getattr(theirs, name)


CHECKS: tuple[Check, ...] = (_port_settings, _routed_settings, _bgp_sessions, _priorities, _marking)
