"""The hosts of a job on a fabric, and the NIC ports of their GPUs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from itertools import zip_longest

from railfab.errors import IntentError
from railfab.intent import Job
from railfab.topology import CabledPort, PortKey, Topology
from railfab.workload.transfer import Gpu


def refusal(job: Job, key: str, problem: str, remedy: str) -> IntentError:
    """The error of a key of a job, which names the job."""
    return IntentError(f"job {job.job}: {key}", problem, remedy, key=key)


def hosts_of(job: Job, topology: Topology) -> tuple[str, ...]:
    """The hosts of a job, in the order of its ranks. Raises IntentError for hosts that the fabric does not have."""
    scattered = job.placement is not None and job.placement.hosts == "scattered"
    known = _scattered(topology) if scattered else tuple(node.name for node in topology.hosts())
    if job.hosts == "all":
        return known
    if isinstance(job.hosts, int):
        if job.hosts > len(known):
            problem = f"{job.hosts} is more than the {len(known)} hosts of the fabric"
            raise refusal(job, "hosts", problem, f"Use {len(known)} or less")
        return known[: job.hosts]
    for name in job.hosts:
        if name not in known:
            raise refusal(job, "hosts", f"the fabric has no host {name!r}", f"Use names such as {known[0]}")
    return tuple(job.hosts)


def first_hosts(ranks: Callable[[int], int], topology: Topology, gpus_per_host: int) -> tuple[str, ...]:
    """The first hosts of a fabric that a job needs. ranks: their number on so many GPUs."""
    hosts = [node.name for node in topology.hosts()]
    return tuple(hosts[: -(-ranks(len(hosts) * gpus_per_host) // gpus_per_host)])


def _scattered(topology: Topology) -> tuple[str, ...]:
    """The hosts of a fabric, the next one of each segment in turn."""
    segments: defaultdict[tuple[int, int | None], list[str]] = defaultdict(list)
    for node in topology.hosts():
        segments[node.pod, node.segment].append(node.name)
    return tuple(name for turn in zip_longest(*segments.values()) for name in turn if name is not None)


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
