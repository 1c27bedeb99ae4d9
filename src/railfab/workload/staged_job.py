"""A job as a twin runs it, from a job file or from another tool: stages, hosts and background traffic."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from railfab.intent import Collective, FabricIntent, Job
from railfab.topology import PortKey, Topology
from railfab.workload.background_traffic import Background, background
from railfab.workload.job_hosts import first_hosts, hosts_of
from railfab.workload.recorded_step import RecordedStep
from railfab.workload.stages import stages
from railfab.workload.stragglers import link_factors
from railfab.workload.transfer import Stage

if TYPE_CHECKING:
    from railfab.workload.ideal_times import Ideal


@dataclass(frozen=True, slots=True, kw_only=True)
class StagedJob:
    """A job on a fabric. job: its name. repeat: steps; None without end. slow_links: divisors of the rates of links, by
    port. collective: of a job that communicates in nothing else."""

    job: str
    hosts: tuple[str, ...]
    stages: tuple[Stage, ...]
    repeat: int | None = None
    background: tuple[Background, ...] = ()
    slow_links: Mapping[PortKey, float] = field(default_factory=dict)
    collective: Collective | None = None

    @property
    def ideal_s(self) -> float | None:
        """Duration of a step in the mean where nothing is slow [s]; None where it follows from the paths of a stage."""
        ideals = [None if stage.ideal_s is None else stage.ideal_s / stage.every for stage in self.stages]
        return None if None in ideals else sum(seconds for seconds in ideals if seconds is not None)


def staged(
    job: Job | RecordedStep, topology: Topology, intent: FabricIntent | None, *, ideal: Ideal | None = None
) -> StagedJob:
    """A job on a fabric. intent, ideal: see `stages`. Raises IntentError, or Problems, for one that it cannot run."""
    work = stages(job, topology, intent, ideal=ideal)
    if not isinstance(job, Job):
        assert intent is not None
        return StagedJob(job=job.job, hosts=first_hosts(job.ranks, topology, intent.hosts.gpus), stages=work)
    collectives = [phase.collective for phase in job.phases if phase.compute is None]
    return StagedJob(
        job=job.job,
        hosts=hosts_of(job, topology),
        stages=work,
        repeat=job.repeat,
        background=background(job, topology),
        slow_links=link_factors(job, topology),
        collective=collectives[0] if len(collectives) == 1 else None,
    )
