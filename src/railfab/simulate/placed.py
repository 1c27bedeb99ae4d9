"""A job on the hosts of a design: the GPU of each rank, and the ranks of every group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from railfab.fabric import Design
from railfab.intent import Job
from railfab.topology import PortKey
from railfab.workload import RecordedJob
from railfab.workload.job_hosts import first_hosts, hosts_of
from railfab.workload.mapping import HostPorts, host_ports
from railfab.workload.plan import training_plan
from railfab.workload.ranks import GROUPS
from railfab.workload.stragglers import link_factors

RankGroups = Mapping[str, Sequence[Sequence[int]]]
"""The ranks of every group, by kind."""


@dataclass(frozen=True, kw_only=True)
class PlacedJob:
    """A job on a design. hosts: in the order of its ranks. slow_links: divisors of the rates of links that it states to
    be slow, by port."""

    job: Job | RecordedJob
    hosts: tuple[str, ...]
    ports: HostPorts
    groups: RankGroups
    slow_links: Mapping[PortKey, float]


def placed_job(job: Job | RecordedJob, design: Design) -> PlacedJob:
    """The ranks of a job on a design. Raises IntentError, or Problems, for a job that the design cannot run."""
    intent, topology = design.intent, design.topology
    gpus_per_host, per_nic = intent.hosts.gpus, intent.hosts.gpus_per_nic
    hosts = hosts_of(job, topology) if isinstance(job, Job) else first_hosts(job.ranks, topology, gpus_per_host)
    count = len(hosts) * gpus_per_host if isinstance(job, Job) else job.ranks(len(hosts) * gpus_per_host)
    groups: dict[str, Sequence[Sequence[int]]]
    if not isinstance(job, Job):
        groups = dict(job.groups(count))
    elif job.model is None:
        ranks = range(count)
        rails = [list(ranks[gpu::gpus_per_host]) for gpu in range(0, gpus_per_host, per_nic)]
        groups = {"rail": rails, "all": [list(ranks)]}
    else:
        plan = training_plan(job, hosts=len(hosts), gpus_per_host=gpus_per_host)
        groups = {group: list(plan.ranks.groups(group)) for group in GROUPS}
    return PlacedJob(
        job=job,
        hosts=hosts,
        ports=host_ports(intent, topology, hosts, count),
        groups=groups,
        slow_links=link_factors(job, topology) if isinstance(job, Job) else {},
    )
