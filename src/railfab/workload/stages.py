"""The stages of a job: transfers between host ports."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from railfab.errors import IntentError
from railfab.intent import Collective, Job, Phase, Traffic
from railfab.topology import CabledPort, PortKey, Topology
from railfab.units import NS_PER_MS
from railfab.workload.operations import OPERATIONS, edges
from railfab.workload.transfer import Transfer

QUEUE_PAIRS = 2
"""Queue pairs between two NIC ports in a collective; each is a separate flow, for better ECMP spreading.

NCCL sets the number by NCCL_IB_QPS_PER_CONNECTION.
"""

Gpu = tuple[str, int]
"""Host and rail; each GPU has the NIC of one rail."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One phase: computing for compute_ns, and transfers that start together; the next starts when both have ended."""

    name: str
    compute_ns: int = 0
    transfers: tuple[Transfer, ...] = ()


def ring_pairs(job: Job, topology: Topology) -> Iterator[tuple[PortKey, PortKey]]:
    """The NIC ports of the hosts of a job, each with the same port of the next host on its rail."""
    hosts = hosts_of(job, topology)
    nics = gpu_nics(topology, hosts)
    for rail in sorted({rail for _, rail in nics}):
        members = [host for host in hosts if (host, rail) in nics]
        for here, there in zip(members, members[1:] + members[:1], strict=True):
            if here != there:
                yield from zip(nics[here, rail], nics[there, rail], strict=False)


def stages(job: Job, topology: Topology) -> tuple[Stage, ...]:
    """The stages of a job on a fabric. Raises IntentError for hosts that the fabric does not have."""
    if job.model is not None:
        raise IntentError(f"job {job.job}: model", "a twin runs phases, not the step of a model", "Use phases")
    hosts = hosts_of(job, topology)
    nics = gpu_nics(topology, hosts)
    return tuple(_stage(phase, job, hosts, nics) for phase in job.phases)


def _stage(phase: Phase, job: Job, hosts: tuple[str, ...], nics: dict[Gpu, list[PortKey]]) -> Stage:
    if phase.collective is not None:
        return Stage(name=phase.collective.op, transfers=_collective(phase.collective, job, hosts, nics))
    if phase.traffic is not None:
        return Stage(name=phase.traffic.pattern, transfers=_incast(phase.traffic, job, hosts, nics))
    assert phase.compute is not None
    return Stage(name="compute", compute_ns=round(phase.compute.ms * NS_PER_MS))


def hosts_of(job: Job, topology: Topology) -> tuple[str, ...]:
    """The hosts of a job. Raises IntentError for hosts that the fabric does not have."""
    known = tuple(node.name for node in topology.hosts())
    if job.hosts == "all":
        return known
    if isinstance(job.hosts, int):
        if job.hosts > len(known):
            raise IntentError(
                f"job {job.job}: hosts",
                f"{job.hosts} is more than the {len(known)} hosts of the fabric",
                f"Use {len(known)} or less",
                key="hosts",
            )
        return known[: job.hosts]
    for name in job.hosts:
        if name not in known:
            raise IntentError(
                f"job {job.job}: hosts",
                f"the fabric has no host {name!r}",
                f"Use names such as {known[0]}",
                key="hosts",
            )
    return tuple(job.hosts)


def gpu_nics(topology: Topology, hosts: tuple[str, ...]) -> dict[Gpu, list[PortKey]]:
    """The NIC ports of each GPU, by host and rail."""
    ports: dict[str, list[CabledPort]] = {host: [] for host in hosts}
    for port, _, _ in topology.ports():
        if port.node in ports:
            ports[port.node].append(port)
    nics: dict[Gpu, list[PortKey]] = defaultdict(list)
    for host in hosts:
        for port in sorted(ports[host], key=lambda port: (port.rail or 0, port.name)):
            if port.rail is not None:
                nics[host, port.rail].append((host, port.name))
    return dict(nics)


def _collective(
    collective: Collective, job: Job, hosts: tuple[str, ...], nics: dict[Gpu, list[PortKey]]
) -> tuple[Transfer, ...]:
    """A collective on each rail; the bytes between two NICs are split over their ports and queue pairs."""
    transfers: list[Transfer] = []
    for rail in sorted({rail for _, rail in nics}):
        members = [host for host in hosts if (host, rail) in nics]
        for (source, target), payload_bytes in _edges(collective, job, len(members)).items():
            pairs = list(zip(nics[members[source], rail], nics[members[target], rail], strict=False))
            share = payload_bytes / len(pairs) / QUEUE_PAIRS
            transfers.extend(
                Transfer(source=a, target=b, payload_bytes=share, stream=stream)
                for a, b in pairs
                for stream in range(QUEUE_PAIRS)
            )
    return tuple(transfers)


def _edges(collective: Collective, job: Job, ranks: int) -> dict[tuple[int, int], float]:
    with naming(job):
        return edges(OPERATIONS[collective.op].rounds(ranks, collective.bytes, collective.algorithm), ranks)


@contextmanager
def naming(job: Job) -> Iterator[None]:
    """Put the name of the job in front of the place of an error."""
    try:
        yield
    except IntentError as error:
        raise error.changed(where=f"job {job.job}: {error.where}") from None


def _incast(traffic: Traffic, job: Job, hosts: tuple[str, ...], nics: dict[Gpu, list[PortKey]]) -> tuple[Transfer, ...]:
    """Transfers from the first NIC port of each sender to that of each receiver."""
    senders, receivers = incast_ends(traffic, job, hosts, nics)
    return tuple(
        Transfer(source=nics[sender][0], target=nics[receiver][0], payload_bytes=traffic.bytes)
        for receiver in receivers
        for sender in senders
    )


def incast_ends(
    traffic: Traffic, job: Job, hosts: tuple[str, ...], nics: dict[Gpu, list[PortKey]]
) -> tuple[list[Gpu], list[Gpu]]:
    """The senders and the receivers of an incast. Raises IntentError where the GPUs are too few.

    Receivers are the first GPUs; senders are on other hosts, chosen rail by rail to spread them over the hosts.
    """
    receivers = list(nics)[: traffic.receivers]
    taken = {host for host, _ in receivers}
    others = sorted((gpu for gpu in nics if gpu[0] not in taken), key=lambda gpu: (gpu[1], hosts.index(gpu[0])))
    if len(receivers) < traffic.receivers or len(others) < traffic.senders:
        raise IntentError(
            f"job {job.job}: incast",
            f"{traffic.senders} senders and {traffic.receivers} receivers are too many for {len(nics)} GPUs",
            f"Use at most {len(others)} senders; GPUs on the hosts of the receivers use the scale-up network",
            key="phases",
        )
    return others[: traffic.senders], receivers
