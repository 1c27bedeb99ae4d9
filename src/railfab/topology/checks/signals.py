"""Check that a cable or optic can connect the two ends of every link: speed, lanes, FEC, length."""

from __future__ import annotations

from collections.abc import Iterator

from railfab.findings import DesignCode, Finding, error, warning
from railfab.intent import FabricIntent
from railfab.topology.model import Link, Topology
from railfab.topology.signals import LinkMatch, LinkMatcher, LinkMismatch, LinkType


def signal_findings(topology: Topology, intent: FabricIntent) -> Iterator[Finding]:
    """An error for each type of link that no medium connects, a warning for each that only optics connect."""
    matcher = LinkMatcher(topology, intent)
    first: dict[LinkType, Link] = {}
    count: dict[LinkType, int] = {}
    for link in topology.links:
        link_type = matcher.type_of(link)
        first.setdefault(link_type, link)
        count[link_type] = count.get(link_type, 0) + 1
    for link_type, link in first.items():
        finding = _finding(_where(link, count[link_type]), matcher.of(link))
        if finding is not None:
            yield finding


def _where(link: Link, count: int) -> str:
    ends = f"{link.a.node} {link.a.name} to {link.z.node} {link.z.name}"
    return ends if count == 1 else f"{ends} and {count - 1} more"


def _finding(where: str, found: LinkMatch | LinkMismatch) -> Finding | None:
    if isinstance(found, LinkMismatch):
        return error(DesignCode.LINK_MEDIA, where, found.problem, found.remedy)
    if not found.optics_only:
        return None
    problem = f"no DAC, AEC or AOC connects {found.a} to {found.z}; optics such as {found.media.name} are needed"
    remedy = "Use ports with equal lanes to avoid optics"
    return warning(DesignCode.OPTICS_ONLY, where, problem, remedy)
