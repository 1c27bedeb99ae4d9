"""Consistency checks of the two ends of every link: MTU, speed, BGP, BFD, PFC, ECN and DSCP maps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from railfab.device.diff import value_text
from railfab.device.model import BgpNeighbor, DeviceModel, Interface, PortProfile, PortQos, TrafficClass
from railfab.findings import DifferenceCode, Finding, error
from railfab.topology import Role, Topology


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkEnd:
    """One end of a link: a switch and its interface, as configured."""

    device: DeviceModel
    interface: Interface

    @property
    def where(self) -> str:
        return f"{self.device.name} {self.interface.name}"

    @property
    def qos(self) -> PortQos | None:
        ports = self.device.qos.ports if self.device.qos else ()
        return next((port for port in ports if port.interface == self.interface.name), None)

    @property
    def thresholds(self) -> PortProfile | None:
        port = self.qos
        return self.device.qos.profile(port.profile) if self.device.qos and port and port.profile else None

    @property
    def neighbor(self) -> BgpNeighbor | None:
        neighbors = self.device.bgp.neighbors
        return next((found for found in neighbors if found.interface == self.interface.name), None)


Check = Callable[[LinkEnd, LinkEnd], Iterator[Finding]]


def disagreements(topology: Topology, models: Mapping[str, DeviceModel]) -> tuple[Finding, ...]:
    """Mismatched ends of the links between these switches, and interfaces that are not configured."""
    found: list[Finding] = []
    roles = {node.name: node.role for node in topology.nodes}
    for link in topology.links:
        if Role.HOST in (roles[link.a.node], roles[link.z.node]) or not {link.a.node, link.z.node} <= set(models):
            continue
        ends = [
            LinkEnd(device=models[port.node], interface=interface)
            for port in (link.a, link.z)
            if (interface := models[port.node].interface(port.name)) is not None
        ]
        if len(ends) == 2:
            found.extend(finding for check in CHECKS for finding in check(*ends))
        else:
            found.extend(_unconfigured(link.a.node, link.a.name, models))
            found.extend(_unconfigured(link.z.node, link.z.name, models))
    return tuple(found)


def _unconfigured(node: str, interface: str, models: Mapping[str, DeviceModel]) -> Iterator[Finding]:
    if models[node].interface(interface) is None:
        yield error(DifferenceCode.INTERFACE_MISSING, f"{node} {interface}", "is not configured", "Deploy the intent")


def _mismatch(
    code: DifferenceCode, a: LinkEnd, z: LinkEnd, setting: str, left: object, right: object
) -> Iterator[Finding]:
    if left != right:
        problem = f"{setting} differs: {value_text(left)} and {value_text(right)}"
        yield error(code, f"{a.where} and {z.where}", problem, "Configure both ends with the same value")


def _interface_settings(a: LinkEnd, z: LinkEnd) -> Iterator[Finding]:
    yield from _mismatch(DifferenceCode.MTU_MISMATCH, a, z, "MTU", a.interface.mtu_bytes, z.interface.mtu_bytes)
    yield from _mismatch(DifferenceCode.SPEED_MISMATCH, a, z, "speed", a.interface.rate_gbps, z.interface.rate_gbps)
    yield from _mismatch(
        DifferenceCode.UNNUMBERED_MISMATCH, a, z, "IPv6 unnumbered", a.interface.unnumbered, z.interface.unnumbered
    )
    for end in (a, z):
        if not end.interface.enabled:
            yield error(DifferenceCode.INTERFACE_DISABLED, end.where, "is shut down", "Enable it")
    if a.interface.address and z.interface.address and a.interface.network != z.interface.network:
        yield from _mismatch(DifferenceCode.SUBNET_MISMATCH, a, z, "subnet", a.interface.network, z.interface.network)


def _bgp_sessions(a: LinkEnd, z: LinkEnd) -> Iterator[Finding]:
    for end, peer in ((a, z), (z, a)):
        if end.neighbor is None:
            yield error(
                DifferenceCode.BGP_NEIGHBOR_MISSING,
                end.where,
                f"has no BGP neighbour towards {peer.device.name}",
                "Deploy the intent",
            )
        elif end.neighbor.remote_as != peer.device.bgp.asn:
            problem = f"expects AS {end.neighbor.remote_as}, but {peer.device.name} is in AS {peer.device.bgp.asn}"
            yield error(DifferenceCode.REMOTE_AS_MISMATCH, end.where, problem, "Correct the remote AS")
    if a.neighbor and z.neighbor:
        yield from _mismatch(
            DifferenceCode.BFD_MISMATCH, a, z, "BFD", a.neighbor.bfd and a.device.bfd, z.neighbor.bfd and z.device.bfd
        )


def _lossless_settings(a: LinkEnd, z: LinkEnd) -> Iterator[Finding]:
    left, right = a.qos, z.qos
    yield from _mismatch(
        DifferenceCode.PFC_MISMATCH, a, z, "PFC", left is not None and left.pfc, right is not None and right.pfc
    )
    yield from _mismatch(
        DifferenceCode.ECN_MISMATCH, a, z, "ECN", left is not None and left.ecn, right is not None and right.ecn
    )
    yield from _mismatch(
        DifferenceCode.DSCP_TRUST_MISMATCH,
        a,
        z,
        "DSCP trust",
        left is not None and left.trust_dscp,
        right is not None and right.trust_dscp,
    )
    yield from _mismatch(DifferenceCode.DSCP_MAP_MISMATCH, a, z, "DSCP map", _dscp_map(a), _dscp_map(z))
    if a.thresholds and z.thresholds:
        for name in ("kmin_bytes", "kmax_bytes", "pmax_percent", "xoff_bytes"):
            yield from _mismatch(
                DifferenceCode.THRESHOLD_MISMATCH, a, z, name, getattr(a.thresholds, name), getattr(z.thresholds, name)
            )


def _dscp_map(end: LinkEnd) -> tuple[str, ...]:
    """Queue and lossless priority of each code point, ascending: `26 to queue 3 with PFC priority 3`."""
    classes = end.device.qos.classes if end.device.qos else ()
    found = {dscp: cls for cls in classes for dscp in cls.dscp}
    return tuple(f"{dscp} to {_queue(found[dscp])}" for dscp in sorted(found))


def _queue(cls: TrafficClass) -> str:
    priority = "" if cls.lossless_priority is None else f" with PFC priority {cls.lossless_priority}"
    return f"queue {cls.queue}{priority}"


CHECKS: tuple[Check, ...] = (_interface_settings, _bgp_sessions, _lossless_settings)
