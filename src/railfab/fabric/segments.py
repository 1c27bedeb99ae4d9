"""The places of hosts in a plan: segments, pods, and what connects them, nearest first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from railfab.fabric.design import Design


@dataclass(frozen=True, slots=True, kw_only=True)
class HostSegment:
    """A group of hosts on the same rail switches. name: `pod1-seg2`, with the prefix of the fabric. hosts: by name."""

    name: str
    pod: str
    hosts: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class HostPlaces:
    """The segments of a fabric in their order; pods by name, with their segments, where spines connect these.

    fabric: the name of what connects the pods; None for one pod, and where nothing does.
    """

    segments: tuple[HostSegment, ...]
    pods: Mapping[str, tuple[HostSegment, ...]]
    fabric: str | None

    def layers(self, segment: HostSegment) -> list[str]:
        """The segment and what it is in, nearest first."""
        pod = [segment.pod] if segment.pod in self.pods else []
        return [segment.name, *pod, *([self.fabric] if self.fabric is not None else [])]


def places(design: Design) -> HostPlaces:
    """The places of the GPU servers."""
    prefix = design.intent.names.prefix
    hosts: dict[tuple[str, str], list[str]] = {}
    for node in design.topology.hosts():
        pod = f"{prefix}pod{node.pod}"
        hosts.setdefault((pod, f"{pod}-seg{node.segment}"), []).append(node.name)
    segments = tuple(HostSegment(name=name, pod=pod, hosts=tuple(names)) for (pod, name), names in hosts.items())
    pods: dict[str, list[HostSegment]] = {}
    if design.intent.backend.spines is not None:
        for segment in segments:
            pods.setdefault(segment.pod, []).append(segment)
    return HostPlaces(
        segments=segments,
        pods={pod: tuple(within) for pod, within in pods.items()},
        fabric=f"{prefix}fabric" if len(pods) > 1 else None,
    )
