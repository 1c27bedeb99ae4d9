"""Compare the topology that Slurm has with the segments and pods of the plan."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from railfab.fabric.host_names import HostNames
from railfab.fabric.segments import HostPlaces
from railfab.findings import DifferenceCode, Finding
from railfab.imports.compare import LISTED, MISSING, UNEXPECTED, Category, Difference, grouped_differences
from railfab.imports.slurm import SlurmTopology

SEGMENT = Category(DifferenceCode.SEGMENT_DIFFERS, "are with hosts of other segments", "Move it there")
POD = Category(DifferenceCode.POD_DIFFERS, "are below the switch of another pod", "Move it there")


def slurm_differences(
    places: HostPlaces, slurm: SlurmTopology, names: HostNames, most: int | None = LISTED
) -> tuple[Finding, ...]:
    """Every difference: hosts first, then segments and pods. most: of a category that are listed; None for all.

    A switch or block of Slurm is the segment that most of its hosts are in, and a switch above such ones the pod that
    most of these are in. A segment may be divided there; hosts of several may not be together.
    """
    return tuple(grouped_differences(_differences(places, slurm, names), most))


def _differences(places: HostPlaces, slurm: SlurmTopology, names: HostNames) -> Iterator[Difference]:
    segment_of = {host: segment.name for segment in places.segments for host in segment.hosts}
    planned = {names[host]: host for host in segment_of}
    present = frozenset(slurm.hosts)
    for name, host in planned.items():
        if name not in present:
            yield MISSING, host, f"is not in {slurm.source}"
    for name in slurm.hosts:
        if name not in planned:
            yield UNEXPECTED, name, f"is in {slurm.source} and not in the intent"
    groups = {group: [planned[name] for name in hosts if name in planned] for group, hosts in slurm.groups.items()}
    yield from _several(groups, slurm)
    segments = {group: _most([segment_of[host] for host in hosts], group) for group, hosts in groups.items() if hosts}
    times = Counter(host for hosts in groups.values() for host in hosts)
    for group, segment in segments.items():
        for host in groups[group]:
            if times[host] == 1 and segment_of[host] != segment:
                problem = (
                    f"is with the hosts of {segment} in {slurm.source} ({group}), and in {segment_of[host]} in the plan"
                )
                yield SEGMENT, host, problem
    yield from _pods(places, segments, slurm)


def _several(groups: Mapping[str, list[str]], slurm: SlurmTopology) -> Iterator[Difference]:
    """Hosts below several leaf switches, as those of a segment are in the fabric and cannot be in Slurm's tree."""
    of_host: dict[str, list[str]] = {}
    for group, hosts in groups.items():
        for host in hosts:
            of_host.setdefault(host, []).append(group)
    for host, below in of_host.items():
        if len(below) > 1:
            problem = (
                f"is below {len(below)} leaf switches of {slurm.source} ({', '.join(below)}), where a host has one"
            )
            yield SEGMENT, host, problem


def _pods(places: HostPlaces, segments: Mapping[str, str], slurm: SlurmTopology) -> Iterator[Difference]:
    """Segments below the switch of another pod."""
    pod_of = {segment.name: segment.pod for segment in places.segments}
    below: dict[str, list[str]] = {}
    for group, segment in segments.items():
        if group in slurm.parents:
            below.setdefault(slurm.parents[group], []).append(segment)
    for switch, within in below.items():
        pod = _most([pod_of[segment] for segment in within], switch)
        for segment in dict.fromkeys(within):
            if pod_of[segment] != pod:
                yield POD, segment, f"is below {switch} in {slurm.source}, with the segments of {pod}"


def _most(names: Sequence[str], preferred: str) -> str:
    """The name that is there most often; of several the preferred one, else the first."""
    counts = Counter(names)
    return max(counts, key=lambda name: (counts[name], name == preferred))
