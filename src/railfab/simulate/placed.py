"""A job on the hosts of a design: the GPU of each rank, and the ranks of every group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from railfab.fabric import Design
from railfab.intent import Job
from railfab.topology import PortKey
from railfab.workload import RecordedJob
from railfab.workload.job_hosts import gpu_nics, hosts_of
from railfab.workload.mapping import HostPorts
from railfab.workload.plan import training_plan
from railfab.workload.ranks import GROUPS
from railfab.workload.rates import link_rates
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
    hosts = hosts_of(job, design.topology) if isinstance(job, Job) else _first_hosts(job, design)
    gpus_per_host, per_nic = design.intent.hosts.gpus, design.intent.hosts.gpus_per_nic
    gpus = [(host, gpu // per_nic + 1) for host in hosts for gpu in range(gpus_per_host)]
    groups: dict[str, Sequence[Sequence[int]]]
    if not isinstance(job, Job):
        gpus = gpus[: job.ranks(len(gpus))]
        groups = dict(job.groups(len(gpus)))
    elif job.model is None:
        ranks = range(len(gpus))
        rails = [list(ranks[gpu::gpus_per_host]) for gpu in range(0, gpus_per_host, per_nic)]
        groups = {"rail": rails, "all": [list(ranks)]}
    else:
        plan = training_plan(job, hosts=len(hosts), gpus_per_host=gpus_per_host)
        groups = {group: list(plan.ranks.groups(group)) for group in GROUPS}
    nics = gpu_nics(design.topology, hosts)
    return PlacedJob(
        job=job,
        hosts=hosts,
        ports=HostPorts(gpus=gpus, nics=nics, scale_up=link_rates(design.intent).scale_up),
        groups=groups,
        slow_links=link_factors(job, design.topology) if isinstance(job, Job) else {},
    )


def _first_hosts(job: RecordedJob, design: Design) -> tuple[str, ...]:
    """The first hosts of a design, as many as a recorded job needs."""
    hosts, per_host = [node.name for node in design.topology.hosts()], design.intent.hosts.gpus
    return tuple(hosts[: -(-job.ranks(len(hosts) * per_host) // per_host)])
