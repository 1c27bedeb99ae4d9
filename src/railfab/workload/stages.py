"""The stages of a job: transfers between host ports."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from railfab.errors import IntentError
from railfab.intent import AtMost, Collective, FabricIntent, Job, Phase, Traffic
from railfab.text.counted import counted
from railfab.topology import PortKey, Topology
from railfab.units import NS_PER_MS
from railfab.workload.job_hosts import gpu_nics, hosts_of, refusal
from railfab.workload.ranks import RanksByHost
from railfab.workload.transfer import Gpu, Stage, Transfer

if TYPE_CHECKING:
    from railfab.workload.ideal_times import Ideal
    from railfab.workload.recorded_step import RecordedStep

QUEUE_PAIRS = 2
"""Queue pairs between two NIC ports in a collective; each is a separate flow, for better ECMP spreading.

NCCL sets the number by NCCL_IB_QPS_PER_CONNECTION.
"""


def ring_pairs(job: Job, topology: Topology) -> Iterator[tuple[PortKey, PortKey]]:
    """The NIC ports of the hosts of a job, each with the same port of the next host on its rail."""
    hosts = hosts_of(job, topology)
    nics = gpu_nics(topology, hosts)
    for rail in sorted({rail for _, rail in nics}):
        members = [host for host in hosts if (host, rail) in nics]
        for here, there in zip(members, members[1:] + members[:1], strict=True):
            if here != there:
                yield from zip(nics[here, rail], nics[there, rail], strict=False)


def stages(
    job: Job | RecordedStep, topology: Topology, intent: FabricIntent | None = None, *, ideal: Ideal | None = None
) -> tuple[Stage, ...]:
    """The stages of a step of a job on a fabric. intent, ideal: for one that is not of phases, see `training_stages`.

    Raises IntentError, or Problems, for a job that the fabric cannot run.
    """
    if not isinstance(job, Job) or job.model is not None:
        from railfab.workload.training_stages import recorded_stages, training_stages  # the closed form needs no numpy

        assert intent is not None
        if isinstance(job, Job):
            return training_stages(job, intent, topology, ideal)
        return recorded_stages(job, intent, topology, ideal)
    hosts = hosts_of(job, topology)
    nics = gpu_nics(topology, hosts)
    run: list[Stage] = []
    for number, phase in enumerate(job.phases):
        with in_phase(job, number):
            run.append(_stage(phase, hosts, nics))
    if not any(stage.compute_ns or stage.transfers for stage in run):
        raise refusal(job, "phases", "nothing takes any time", "Use more hosts, or a compute phase")
    return tuple(run)


@contextmanager
def in_phase(job: Job, number: int) -> Iterator[None]:
    """Put the job and the number of a phase in front of the key of an error about the phase."""
    try:
        yield
    except IntentError as error:
        raise refusal(job, f"phases.{number}.{error.where}", error.problem, error.remedy) from None


def _stage(phase: Phase, hosts: tuple[str, ...], nics: dict[Gpu, list[PortKey]]) -> Stage:
    if phase.collective is not None:
        return Stage(name=phase.collective.op, transfers=_collective(phase.collective, hosts, nics))
    if phase.traffic is not None:
        return Stage(name=phase.traffic.pattern, transfers=_incast(phase.traffic, hosts, nics))
    assert phase.compute is not None
    return Stage(name="compute", compute_ns=round(phase.compute.ms * NS_PER_MS))


def _collective(collective: Collective, hosts: tuple[str, ...], nics: dict[Gpu, list[PortKey]]) -> tuple[Transfer, ...]:
    """A collective on each rail; the bytes between two NICs are split over their ports and queue pairs.

    Raises IntentError for another group, and for an algorithm that cannot serve so many hosts.
    """
    from railfab.workload.algorithms import transfer_rounds  # needs numpy, which the closed form does not
    from railfab.workload.mapping import mapped

    if collective.group != "rail":
        remedy = "Use rail, or `railfab simulate`"
        raise IntentError("collective.group", f"a twin has no group {collective.group}", remedy)
    transfers: list[Transfer] = []
    for rail in sorted({rail for _, rail in nics}):
        gpus = [(host, rail) for host in hosts if (host, rail) in nics]
        if len(gpus) < 2:
            continue
        ranks = RanksByHost((1,) * len(gpus))
        rounds = transfer_rounds(collective.op, collective.algorithm, ranks, collective.bytes)
        flows = mapped(rounds, gpus, nics, queue_pairs=QUEUE_PAIRS).whole_flows()
        transfers.extend(
            Transfer(source=source, target=target, payload_bytes=payload_bytes, stream=stream)
            for (source, target, stream), payload_bytes in flows.items()
        )
    return tuple(transfers)


def _incast(traffic: Traffic, hosts: tuple[str, ...], nics: dict[Gpu, list[PortKey]]) -> tuple[Transfer, ...]:
    """Transfers from the first NIC port of each sender to that of each receiver."""
    senders, receivers = incast_ends(traffic, hosts, nics)
    return tuple(
        Transfer(source=nics[sender][0], target=nics[receiver][0], payload_bytes=traffic.bytes)
        for receiver in receivers
        for sender in senders
    )


def incast_ends(
    traffic: Traffic, hosts: tuple[str, ...], nics: dict[Gpu, list[PortKey]]
) -> tuple[list[Gpu], list[Gpu]]:
    """The senders and the receivers of an incast. Raises IntentError where the GPUs are too few.

    Receivers are the first GPUs; senders are on other hosts, chosen rail by rail to spread them over the hosts.
    """
    receivers = list(nics)[: traffic.receivers]
    taken = {host for host, _ in receivers}
    others = sorted((gpu for gpu in nics if gpu[0] not in taken), key=lambda gpu: (gpu[1], hosts.index(gpu[0])))
    senders = traffic.senders
    count = max(1, min(senders.at_most, len(others))) if isinstance(senders, AtMost) else senders
    if len(receivers) < traffic.receivers or len(others) < count:
        ends = f"{counted(count, 'sender')} and {counted(traffic.receivers, 'receiver')}"
        fits = f"Use at most {counted(len(others), 'sender')}" if others else "Use fewer receivers, or more hosts"
        raise IntentError(
            "traffic.senders",
            f"{ends} are too many for {counted(len(nics), 'GPU')}",
            f"{fits}; GPUs on the hosts of the receivers use the scale-up network",
        )
    return others[:count], receivers
