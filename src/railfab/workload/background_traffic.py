"""Background traffic of a job: what its hosts send all the time in other classes."""

from __future__ import annotations

from dataclasses import dataclass

from railfab.intent import Job
from railfab.topology import PortKey, Topology
from railfab.workload.stages import ring_pairs


@dataclass(frozen=True, slots=True, kw_only=True)
class Background:
    """Packets of a class at a fixed rate between two host ports, without end and without recovery."""

    source: PortKey
    target: PortKey
    traffic_class: str
    rate_gbps: float


def background(job: Job, topology: Topology) -> tuple[Background, ...]:
    """The background traffic of a job: each NIC port sends its share to the same port of the next host on the rail."""
    if not job.background:
        return ()
    rate_gbps = {(port.node, port.name): port.rate_gbps for port, _, _ in topology.ports()}
    return tuple(
        Background(source=here, target=there, traffic_class=name, rate_gbps=share / 100 * rate_gbps[here])
        for here, there in ring_pairs(job, topology)
        for name, share in job.background.items()
    )
