"""The stages of a training job on a twin: its step, and its checkpoints."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from railfab.errors import IntentError
from railfab.intent import FabricIntent, Job
from railfab.intent.step_conditions import Checkpoint
from railfab.sim.fluid import FluidFlows, fluid_ends
from railfab.topology import Net, PortKey, Role, Topology
from railfab.units import NS_PER_S, bytes_per_s
from railfab.workload.checkpoints import StorageSide, checkpoint_time, host_bytes, storage_side
from railfab.workload.job_hosts import gpu_nics, hosts_of
from railfab.workload.mapping import HostPorts
from railfab.workload.plan import TrainingPlan
from railfab.workload.rates import link_rates, roce_payload_share
from railfab.workload.step_transfers import step_transfers
from railfab.workload.storage_stripes import storage_ports, stripes
from railfab.workload.training_work import training_work
from railfab.workload.transfer import Stage, Transfer

QUANTUM_S = 1e-6
"""Time within which events of an ideal step are one [s]."""


def training_stages(job: Job, intent: FabricIntent, topology: Topology) -> tuple[Stage, ...]:
    """The stages of a job with a model. Raises IntentError, or Problems, for a job that a twin cannot run."""
    hosts = hosts_of(job, topology)
    work, rates = training_work(job, intent, hosts), link_rates(intent)
    gpus = [(host, gpu // intent.hosts.gpus_per_nic + 1) for host in hosts for gpu in range(intent.hosts.gpus)]
    ports = HostPorts(gpus=gpus, nics=gpu_nics(topology, hosts), scale_up=rates.scale_up)
    step = step_transfers(work, rates, ports)
    healthy = step_transfers(work, rates, ports, {}) if work.slow else step
    share = bytes_per_s(roce_payload_share(intent))
    port_rates = {
        (port.node, port.name): share * min(port.rate_gbps, intent.hosts.port_gbps) for port, _, _ in topology.ports()
    }
    ideal_s = ideal_seconds(healthy.transfers, port_rates)
    run = Stage(name="step", transfers=step.transfers, calls=step.calls, ideal_s=ideal_s)
    if job.checkpoint is None:
        return (run,)
    return (run, _checkpoint(job.checkpoint, work.plan, storage_side(job.checkpoint, intent), topology, hosts, ideal_s))


def _checkpoint(
    checkpoint: Checkpoint,
    plan: TrainingPlan,
    side: StorageSide,
    topology: Topology,
    hosts: Sequence[str],
    step_s: float,
) -> Stage:
    """The write of a checkpoint, for which all GPUs wait. Its packets cross the storage network if there are servers,
    and it takes at least as long as the ports of hosts and the storage need."""
    if checkpoint.asynchronous:
        problem = "a twin does not write beside the next steps"
        raise IntentError("checkpoint.asynchronous", problem, "Leave it out, or use `railfab simulate`")
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
        ideal_s=written.write_s,
    )


def ideal_seconds(transfers: Sequence[Transfer], port_bytes_per_s: dict[PortKey, float]) -> float:
    """Duration of transfers that wait for each other, where only the ports of hosts limit them [s]."""
    number = {port: 2 * place for place, port in enumerate(port_bytes_per_s)}
    crossing = np.array([transfer.payload_bytes > 0 for transfer in transfers])
    ends = [(number[transfer.source], number[transfer.target] + 1) for transfer in transfers]
    pairs = [(earlier, later) for later, transfer in enumerate(transfers) for earlier in transfer.after]
    earlier, later = np.array(pairs, np.int64).reshape(-1, 2).T
    flows = FluidFlows(
        paths=np.array(ends, np.int64),
        route=np.where(crossing, np.arange(len(transfers)), -1),
        alike=np.ones(len(transfers), np.int64),
        payload_bytes=np.array([transfer.payload_bytes for transfer in transfers]),
        latency_s=np.array([transfer.gap_ns for transfer in transfers]) / NS_PER_S,
        earlier=earlier,
        later=later,
    )
    return float(fluid_ends(flows, np.repeat(list(port_bytes_per_s.values()), 2), quantum_s=QUANTUM_S).max())
