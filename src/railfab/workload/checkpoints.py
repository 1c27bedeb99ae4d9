"""Checkpoints of a training job: their bytes by host, the storage that takes them, and how long GPUs wait for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil

from railfab.errors import IntentError
from railfab.intent import FabricIntent
from railfab.intent.step_conditions import Checkpoint
from railfab.topology.model import Net
from railfab.units import ETHERNET_OVERHEAD_BYTES, IP_BYTES, bytes_per_s
from railfab.workload.graph import PARAMETER_BYTES, stage_parameters
from railfab.workload.memory import OPTIMIZER_BYTES
from railfab.workload.plan import TrainingPlan
from railfab.workload.rates import ETHERNET_BYTES, roce_payload_share

STATE_BYTES = PARAMETER_BYTES + OPTIMIZER_BYTES
"""A parameter in a checkpoint: in BF16, and what Adam needs to go on."""
TCP_BYTES = 32
"""Header with timestamps (RFC 7323)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageSide:
    """Target of checkpoints. net: storage, or the backend where its switches have a class of storage.

    host_bytes_per_s: payload that a host sends; storage_bytes_per_s: that the storage takes of all. payload_share: of
    the line rate. left_share: what collectives that meet the writes of a checkpoint have of a NIC; 1 on other NICs.
    """

    net: Net
    host_bytes_per_s: float
    storage_bytes_per_s: float
    payload_share: float
    left_share: float = 1.0

    def write_s(self, host_bytes: Sequence[float]) -> float:
        """Duration of a write where only the NICs of hosts and the storage limit it [s]."""
        return max(max(host_bytes) / self.host_bytes_per_s, sum(host_bytes) / self.storage_bytes_per_s)


Write = Callable[[Sequence[float], StorageSide], float]
"""Duration of a checkpoint with these bytes of each host [s]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointTime:
    """A checkpoint. bytes: of the job. steps: from one to the next. write_s: until the storage has it. copy_s: to the
    memory of hosts, if asynchronous.

    waits_s: that the GPUs wait for one: for the write, or if asynchronous for the copy to their host, for the write
    before where that is not done yet, and for collectives that share NICs with it.
    """

    network: str
    bytes: int
    steps: int
    write_s: float
    waits_s: float
    copy_s: float = 0.0

    @property
    def step_s(self) -> float:
        """Wait of a step in the mean [s]."""
        return self.waits_s / self.steps


def host_bytes(checkpoint: Checkpoint, plan: TrainingPlan) -> list[float]:
    """Bytes that each host writes, (host,): replicas share the state of their stage. A stated size is divided alike."""
    gpus_per_host = plan.ranks.gpus_per_host
    counts = [0.0] * -(-plan.ranks.count // gpus_per_host)
    replicas = [plan.ranks.group_size(group) for group in ("dp", "edp")]
    share = [
        sum(count / size for count, size in zip(stage_parameters(plan, stage), replicas, strict=True))
        for stage in range(plan.parallelism.pp)
    ]
    for stages in plan.ranks.groups("pp"):
        for stage, rank in enumerate(stages):
            counts[rank // gpus_per_host] += share[stage]
    width = STATE_BYTES if checkpoint.bytes is None else checkpoint.bytes / sum(counts)
    return [width * count for count in counts]


def storage_side(checkpoint: Checkpoint, intent: FabricIntent) -> StorageSide:
    """Target of the checkpoints of a job. Raises IntentError for a design without storage, or without its rate."""
    hosts, storage, shared = intent.hosts, intent.storage, intent.profile.storage_class
    protocol = storage.protocol if storage else shared.protocol if shared else ""
    payload = roce_payload_share(intent) if protocol == "roce" else _tcp_payload_share(intent)
    limit = None if checkpoint.storage_gbps is None else bytes_per_s(checkpoint.storage_gbps)
    if storage is not None:
        port = payload * bytes_per_s(storage.rate_gbps)
        servers = storage.servers * storage.server_ports * port
        rates = [rate for rate in (servers, limit) if rate]
        return StorageSide(
            net=Net.STORAGE,
            host_bytes_per_s=storage.nic_ports * port,
            storage_bytes_per_s=_required(min(rates, default=None)),
            payload_share=payload,
        )
    if shared is None:
        problem = "the design has no storage network, and its backend no class of storage"
        remedy = "Leave it out, or add storage or profile.storage_class to the intent"
        raise IntentError("checkpoint", problem, remedy)
    lossless = intent.profile.lossless
    weight = lossless.weight if lossless else 100 - shared.weight
    nics = hosts.gpus // hosts.gpus_per_nic * hosts.nic_ports
    return StorageSide(
        net=Net.BACKEND,
        host_bytes_per_s=nics * payload * bytes_per_s(hosts.port_gbps),
        storage_bytes_per_s=_required(limit),
        payload_share=payload,
        left_share=weight / (weight + shared.weight),
    )


def _required(rate: float | None) -> float:
    if rate is None:
        problem = "the design has no storage servers, whose ports would be the rate of the storage"
        raise IntentError("checkpoint", problem, "State storage_gbps, for example 800")
    return rate


def _tcp_payload_share(intent: FabricIntent) -> float:
    mtu, ip = intent.profile.mtu, IP_BYTES[intent.profile.family]
    return (mtu - ip - TCP_BYTES) / (mtu + ETHERNET_BYTES + ETHERNET_OVERHEAD_BYTES)


def checkpoint_time(
    checkpoint: Checkpoint,
    plan: TrainingPlan,
    side: StorageSide,
    *,
    step_s: float,
    shared_step_s: float,
    write: Write | None = None,
) -> CheckpointTime:
    """Duration of a checkpoint, and of the wait of the GPUs for it.

    step_s: a step without one; shared_step_s: one whose collectives meet its writes at all times. They meet in as many
    steps as the write takes, and no longer than NICs are busy with it.
    """
    by_host = host_bytes(checkpoint, plan)
    write_s = side.write_s(by_host) if write is None else write(by_host, side)
    steps = checkpoint.every_steps or max(1, ceil((checkpoint.every_s or 0.0) / step_s))
    waits_s, copy_s = write_s, 0.0
    if checkpoint.asynchronous:
        copy_s = max(by_host) / (plan.ranks.gpus_per_host * bytes_per_s(checkpoint.copy_gbps))
        met_s = min(write_s, (shared_step_s - step_s) * min(float(steps), write_s / step_s))
        waits_s = copy_s + max(0.0, write_s - steps * step_s) + met_s
    return CheckpointTime(
        network=side.net.value,
        bytes=round(sum(by_host)),
        steps=steps,
        write_s=write_s,
        waits_s=waits_s,
        copy_s=copy_s,
    )
