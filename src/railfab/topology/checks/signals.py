"""Whether the two ends of every link can be joined: speed, lanes, error correction, length."""

from __future__ import annotations

from collections.abc import Iterator

from railfab.findings import DesignCode, Finding, error, warning
from railfab.intent import FabricIntent
from railfab.topology.model import Link, Topology
from railfab.topology.signals import Gap, Joint, Joints, Kind


def signal_findings(topology: Topology, intent: FabricIntent) -> Iterator[Finding]:
    """An error for each kind of link that nothing joins, a warning for each that only optics join."""
    joints = Joints(topology, intent)
    first: dict[Kind, Link] = {}
    count: dict[Kind, int] = {}
    for link in topology.links:
        kind = joints.kind(link)
        first.setdefault(kind, link)
        count[kind] = count.get(kind, 0) + 1
    for kind, link in first.items():
        finding = _finding(_where(link, count[kind]), joints.of(link))
        if finding is not None:
            yield finding


def _where(link: Link, count: int) -> str:
    ends = f"{link.a.node} {link.a.name} to {link.z.node} {link.z.name}"
    return ends if count == 1 else f"{ends} and {count - 1} more"


def _finding(where: str, found: Joint | Gap) -> Finding | None:
    if isinstance(found, Gap):
        return error(DesignCode.LINK_MEDIA, where, found.problem, found.remedy)
    if not found.optics_only:
        return None
    problem = f"{found.a} meet {found.z}, which no cable with attached ends joins: optics must, as {found.media.name}"
    remedy = "Use ends with equal lanes to save the optics"
    return warning(DesignCode.OPTICS_ONLY, where, problem, remedy)
