"""Failures, traffic between rails, networks, AI models, and findings."""

from __future__ import annotations

from collections.abc import Iterator

from railfab.documents.explain.formats import capacity, joined
from railfab.documents.explain.subject import Subject
from railfab.documents.sentences import uneven
from railfab.documents.sizing import gpu_count
from railfab.text.counted import counted
from railfab.topology import FailureDomain, FailureKind, Net
from railfab.topology.equipment import host_of
from railfab.topology.networks import NamedNetwork, networks_of


def failures(subject: Subject) -> Iterator[str]:
    """A sentence per kind of failure of each network."""
    several = len({domain.net for domain in subject.failures}) > 1
    for domain in subject.failures:
        yield f"{domain.net.capitalize()}: a{_failure(domain)}" if several else f"A{_failure(domain)}"
    yield from uneven(subject.failures)


def _failure(domain: FailureDomain) -> str:
    kind = "rail switch" if domain.net is Net.BACKEND and domain.kind is FailureKind.LEAF else domain.kind
    elements = f"any of {domain.count:,}, for example {domain.example}" if domain.count > 1 else domain.example
    if not domain.affected:
        return f" {kind} ({elements}): no {domain.unit} loses any of {domain.service}."
    return f" {kind} ({elements}): {_loss(domain)}."


def _loss(domain: FailureDomain) -> str:
    """Units, what they lose, and whether they lose all of it."""
    units, lose = counted(domain.affected, domain.unit), "loses" if domain.affected == 1 else "lose"
    if domain.slowest_percent is None and domain.cut_off == domain.affected:
        return f"{units} {lose} {domain.service}"
    cut = f"{domain.cut_off:,} cut off" if domain.cut_off else "none is cut off"
    slowest = "" if domain.spread is None else f", and the slowest flow runs at {domain.slowest_percent:.4g} %"
    return f"{units} {lose} {domain.lost_percent:.4g} % of {domain.service}{slowest}; {cut}"


def across_rails(subject: Subject) -> Iterator[str]:
    """Paths between GPUs of different rails."""
    backend, up = subject.intent.backend, subject.intent.hosts.scale_up
    together = len(subject.dimensions.rails_of) < subject.intent.hosts.nics
    if subject.intent.hosts.nics == 1:
        return
    if backend.spines is not None:
        where = (
            "Traffic between rails of one switch stays there, other traffic between rails passes the spines"
            if together
            else "Traffic between rails passes the spines"
        )
        yield where + (
            f"; it may also change rails inside a host, over {up.name} with {capacity(up.gbps_per_gpu)} per GPU."
            if up
            else "; hosts have no scale-up network."
        )
    elif all(len(rails) == subject.intent.hosts.nics for rails in subject.dimensions.rails_of.values()):
        yield "All rails of a segment are on the same switches, which route between them." + _inside(subject)
    elif up:
        some = "Some rails share a switch; all others" if together else "Rails"
        yield (
            f"{some} connect only inside a host, over {up.name} with {capacity(up.gbps_per_gpu)} per GPU (as with "
            "NCCL PXN)."
        )
    else:
        yield "Rails of different switches are not connected: there are no spines and no scale-up network."


def _inside(subject: Subject) -> str:
    up = subject.intent.hosts.scale_up
    return f" Inside a host, {up.name} carries {capacity(up.gbps_per_gpu)} per GPU." if up else ""


def networks(subject: Subject) -> Iterator[str]:
    """A sentence per network, if there are more than backend and scale-up."""
    named = networks_of(subject.intent)
    if len(named) > 1:
        for network in named:
            yield _network(subject, network)


def _network(subject: Subject, network: NamedNetwork) -> str:
    switches = sum(node.net is network.net for node in subject.topology.switches())
    parts = [f"{capacity(network.gbps_per_host)} per host"]
    if network.net is not None:
        parts.append(counted(switches, "switch"))
    if network.ratio is not None:
        parts.append(f"oversubscription up to {network.ratio:g}:1")
    if network.lossless:
        parts.append("with the lossless class")
    if network.net is not None:
        parts.append(f"reaching {joined(network.reaches) if network.reaches else 'no other network'}")
    return f"{network.name[0].upper()}{network.name[1:]}: {network.about}; {', '.join(parts)}."


SIZES = ("parameters_billion", "bytes_per_parameter", "memory_gb")


def models(subject: Subject) -> Iterator[str]:
    """GPUs for the parameters of each AI model."""
    memory = host_of(subject.intent.hosts).gpu_memory_gb
    for row in gpu_count(subject.topology, subject.intent).records():
        gpus, hosts, copies = (int(row[key] or 0) for key in ("gpus", "hosts", "copies_in_fabric"))
        hold = f"{counted(gpus, 'GPU')} of {memory} GB hold{'s' if gpus == 1 else ''}, on {counted(hosts, 'host')}"
        size, width, memory_gb = (f"{float(row[key] or 0):g}" for key in SIZES)
        room = f"holds it {copies:,} times" if copies > 1 else "holds it once" if copies else "is too small for it"
        yield (
            f"{row['model']}: {size} billion parameters x {width} bytes are "
            f"{memory_gb} GB, which {hold}; the fabric {room}."
        )


def findings(subject: Subject) -> Iterator[str]:
    """The findings of `plan`."""
    if not subject.plan.findings:
        yield "`railfab plan` has no findings."
    yield from (f"{finding.severity}: {finding} [{finding.code}]" for finding in subject.plan.findings)
