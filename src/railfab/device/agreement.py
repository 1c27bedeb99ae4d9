"""Whether both ends of every link say the same: the check nobody makes by hand and every lossless fabric hangs on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from railfab.device.model import BgpNeighbor, DeviceModel, Interface, PortProfile, PortQos
from railfab.errors import Finding, Severity
from railfab.topology import Role, Topology


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """One end of a link: a switch and its interface, as its configuration has them."""

    device: DeviceModel
    interface: Interface

    @property
    def place(self) -> str:
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


Check = Callable[[End, End], Iterator[Finding]]


def disagreements(topology: Topology, models: Mapping[str, DeviceModel]) -> tuple[Finding, ...]:
    """Every link between two of these switches whose ends do not fit together, and every interface that is missing."""
    found: list[Finding] = []
    roles = {node.name: node.role for node in topology.nodes}
    for link in topology.links:
        if Role.HOST in (roles[link.a.node], roles[link.z.node]) or not {link.a.node, link.z.node} <= set(models):
            continue
        ends = [
            End(device=models[port.node], interface=interface)
            for port in (link.a, link.z)
            if (interface := models[port.node].interface(port.name)) is not None
        ]
        if len(ends) == 2:
            found.extend(finding for check in CHECKS for finding in check(*ends))
        else:
            found.extend(_missing(link.a.node, link.a.name, models))
            found.extend(_missing(link.z.node, link.z.name, models))
    return tuple(found)


def _missing(node: str, interface: str, models: Mapping[str, DeviceModel]) -> Iterator[Finding]:
    if models[node].interface(interface) is None:
        yield _finding(f"{node} {interface}", "is not configured", "Deploy the intent")


def _finding(where: str, problem: str, remedy: str) -> Finding:
    return Finding(severity=Severity.ERROR, where=where, problem=problem, remedy=remedy)


def _differ(a: End, z: End, what: str, left: object, right: object) -> Iterator[Finding]:
    if left != right:
        yield _finding(f"{a.place} and {z.place}", f"{what} differs: {left} and {right}", "Give both ends the same")


def _basics(a: End, z: End) -> Iterator[Finding]:
    yield from _differ(a, z, "MTU", a.interface.mtu_bytes, z.interface.mtu_bytes)
    yield from _differ(a, z, "speed", a.interface.rate_gbps, z.interface.rate_gbps)
    yield from _differ(a, z, "unnumbered", a.interface.unnumbered, z.interface.unnumbered)
    for end in (a, z):
        if not end.interface.enabled:
            yield _finding(end.place, "is shut down", "Enable it")
    if a.interface.address and z.interface.address and a.interface.network != z.interface.network:
        yield from _differ(a, z, "subnet", a.interface.network, z.interface.network)


def _sessions(a: End, z: End) -> Iterator[Finding]:
    for end, peer in ((a, z), (z, a)):
        if end.neighbor is None:
            yield _finding(end.place, f"has no BGP neighbour towards {peer.device.name}", "Deploy the intent")
        elif end.neighbor.remote_as != peer.device.bgp.asn:
            problem = f"expects AS {end.neighbor.remote_as}, {peer.device.name} is AS {peer.device.bgp.asn}"
            yield _finding(end.place, problem, "Correct the remote AS")
    if a.neighbor and z.neighbor:
        yield from _differ(a, z, "BFD", a.neighbor.bfd and a.device.bfd, z.neighbor.bfd and z.device.bfd)


def _congestion(a: End, z: End) -> Iterator[Finding]:
    left, right = a.qos, z.qos
    yield from _differ(a, z, "PFC", left is not None and left.pfc, right is not None and right.pfc)
    yield from _differ(a, z, "ECN", left is not None and left.ecn, right is not None and right.ecn)
    yield from _differ(a, z, "DSCP trust", left is not None and left.trust_dscp, right is not None and right.trust_dscp)
    yield from _differ(a, z, "DSCP to queue map", _dscp_map(a), _dscp_map(z))
    if a.thresholds and z.thresholds:
        for name in ("kmin_bytes", "kmax_bytes", "pmax_percent", "xoff_bytes"):
            yield from _differ(a, z, name, getattr(a.thresholds, name), getattr(z.thresholds, name))


def _dscp_map(end: End) -> dict[int, tuple[int, int | None]]:
    """Code point to queue and lossless priority."""
    classes = end.device.qos.classes if end.device.qos else ()
    return {dscp: (cls.queue, cls.lossless_priority) for cls in classes for dscp in cls.dscp}


CHECKS: tuple[Check, ...] = (_basics, _sessions, _congestion)
