"""The stages of a training job on a twin: its step, also one that another tool recorded, and its checkpoints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from railfab.errors import IntentError
from railfab.intent import FabricIntent, Job
from railfab.intent.step_conditions import Checkpoint
from railfab.topology import Net, PortKey, Role, Topology
from railfab.units import NS_PER_S, bytes_per_s
from railfab.workload.checkpoints import CheckpointTime, StorageSide, checkpoint_time, host_bytes, storage_side
from railfab.workload.ideal_times import Ideal, between_host_ports
from railfab.workload.job_hosts import first_hosts, hosts_of
from railfab.workload.mapping import host_ports
from railfab.workload.plan import TrainingPlan
from railfab.workload.rates import link_rates, roce_payload_share
from railfab.workload.recorded_step import RecordedStep
from railfab.workload.step_transfers import StepWork, step_transfers
from railfab.workload.storage_stripes import storage_ports, stripes
from railfab.workload.training_work import TrainingWork, training_work
from railfab.workload.transfer import Stage, Transfer


def training_stages(
    job: Job, intent: FabricIntent, topology: Topology, ideal: Ideal | None = None
) -> tuple[Stage, ...]:
    """The stages of a job with a model. ideal: durations where nothing is slow, by default between the ports of hosts.

    Raises IntentError, or Problems, for a job that a twin cannot run.
    """
    ideal = ideal or between_host_ports(intent, topology)
    hosts = hosts_of(job, topology)
    training, rates, ports = training_work(job, intent, hosts), link_rates(intent), host_ports(intent, topology, hosts)
    work = step_work(training)
    step = step_transfers(work, rates, ports)
    healthy = step_transfers(replace(work, slow={}), rates, ports) if work.slow else step
    ideal_s = ideal(healthy.transfers)
    run = Stage(name="step", transfers=step.transfers, calls=step.calls, ideal_s=ideal_s, slowed=bool(job.stragglers))
    if job.checkpoint is None:
        return (run,)
    side = storage_side(job.checkpoint, intent)
    writes = _checkpoint(job.checkpoint, training.plan, side, topology, hosts, ideal_s)
    write_s = max(writes.compute_ns / NS_PER_S, ideal(writes.transfers))
    transfers = writes.transfers
    if intent.storage is not None and intent.storage.protocol == "nvme-tcp":
        transfers = _paced(transfers, write_s, intent)
    if not job.checkpoint.asynchronous:
        return (run, replace(writes, transfers=transfers, ideal_s=write_s))
    time = checkpoint_time(
        job.checkpoint, training.plan, side, step_s=ideal_s, shared_step_s=ideal_s, write=lambda *_: write_s
    )
    return (run, _asynchronous(replace(writes, transfers=transfers), time, ports.port(0)))


def _asynchronous(writes: Stage, time: CheckpointTime, port: PortKey) -> Stage:
    """A checkpoint that is written during the next steps: all GPUs wait for the copy to the memory of their hosts."""
    copied = Transfer(source=port, target=port, payload_bytes=0, gap_ns=round(time.copy_s * NS_PER_S))
    least = replace(copied, gap_ns=writes.compute_ns)
    written = (replace(each, after=(0,), asynchronous=True) for each in (least, *writes.transfers))
    return replace(writes, compute_ns=0, transfers=(copied, *written), ideal_s=time.waits_s)


def step_work(work: TrainingWork) -> StepWork:
    """The work of a step of a job with a model."""
    parallelism = work.plan.parallelism
    return StepWork(
        ranks=work.plan.ranks,
        graphs=work.graphs,
        micro_batches=parallelism.micro_batches,
        vpp=parallelism.vpp,
        computation_s=lambda computation: computation.flop / work.flop_per_s,
        algorithms=work.algorithms,
        slow=work.slow,
    )


def recorded_stages(
    job: RecordedStep, intent: FabricIntent, topology: Topology, ideal: Ideal | None = None
) -> tuple[Stage, ...]:
    """The stage of a step that another tool recorded, on the first hosts of a fabric. ideal: as of `training_stages`.

    Raises IntentError for a job that a twin cannot run.
    """
    hosts = first_hosts(job.ranks, topology, intent.hosts.gpus)
    ports = host_ports(intent, topology, hosts, job.ranks(len(hosts) * intent.hosts.gpus))
    step = job.step_transfers(intent, ports)
    ideal_s = (ideal or between_host_ports(intent, topology))(step.transfers)
    if not ideal_s:
        raise IntentError(str(job.path), "nothing takes any time", "Use a job with computation or bytes")
    return (Stage(name="step", transfers=step.transfers, calls=step.calls, ideal_s=ideal_s),)


def _paced(transfers: Sequence[Transfer], write_s: float, intent: FabricIntent) -> tuple[Transfer, ...]:
    """Writes over TCP, whose windows are not modelled: each is sent at its mean rate, in place of RoCE, which loses
    packets on switches without a lossless class."""
    wire_gbps = 1 / (write_s * roce_payload_share(intent) * bytes_per_s(1.0))
    return tuple(replace(transfer, rate_gbps=wire_gbps * transfer.payload_bytes) for transfer in transfers)


def _checkpoint(
    checkpoint: Checkpoint,
    plan: TrainingPlan,
    side: StorageSide,
    topology: Topology,
    hosts: Sequence[str],
    step_s: float,
) -> Stage:
    """The write of a checkpoint. Its packets cross the storage network if there are servers, and it takes at least as
    long as the ports of hosts and the storage need."""
    by_host = host_bytes(checkpoint, plan)
    written = checkpoint_time(checkpoint, plan, side, step_s=step_s, shared_step_s=step_s)
    ports = [storage_ports(topology, role) for role in (Role.HOST, Role.SERVER)]
    transfers: tuple[Transfer, ...] = ()
    if side.net is Net.STORAGE and ports[1]:
        writers = [list(enumerate(ports[0][host])) for host in hosts]
        servers = [list(enumerate(held)) for held in ports[1].values()]
        transfers = tuple(
            Transfer(source=each.source, target=each.target, payload_bytes=each.share * by_host[each.host])
            for each in stripes(writers, servers)
        )
    return Stage(
        name="checkpoint",
        compute_ns=round(written.write_s * NS_PER_S),
        transfers=transfers,
        every=written.steps,
    )
