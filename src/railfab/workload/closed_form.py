"""A job on a design in closed form: durations from rates and volumes, without a packet."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from railfab.errors import IntentError
from railfab.intent import FabricIntent, Job, Traffic
from railfab.intent.algorithms import StepAlgorithms
from railfab.topology import Topology
from railfab.workload.checkpoints import CheckpointTime, Write, checkpoint_time, storage_side
from railfab.workload.graph import StageGraph
from railfab.workload.job_hosts import gpu_nics, hosts_of
from railfab.workload.operations import OPERATIONS
from railfab.workload.plan import TrainingPlan
from railfab.workload.ranks import Group, Span
from railfab.workload.rates import NETWORK_STEP_S, CallTime, LinkRates, link_rates
from railfab.workload.recorded_step import RecordedStep
from railfab.workload.shapes import attention_flop, mlp_flop, parameters
from railfab.workload.stages import in_phase, incast_ends
from railfab.workload.step import Costs, PipelineTime, StepTime, step_time
from railfab.workload.stragglers import Factors, slowed, slowed_pipelines
from railfab.workload.training_work import TrainingWork, training_work

TIER = "closed form"
NOT_SEEN = (
    "collisions of ECMP hashes",
    "oversubscribed uplinks and traffic between rails",
    "queues, ECN and PFC thresholds",
    "failures",
    "stragglers that the job does not state",
    "other jobs",
)
"""Properties of a fabric that a closed form cannot show."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectiveTime:
    """Calls of an operation of a group in a step. seconds: of all calls. bus_bytes_per_s: as in nccl-tests, latency
    included; nic_bytes_per_s: payload of the busiest NIC. hosts: those of a group. hidden: whether it runs beside
    computation."""

    group: str
    op: str
    algorithm: str
    ranks: int
    hosts: int
    calls: int
    size_bytes: int
    call_s: float
    bus_bytes_per_s: float
    nic_bytes_per_s: float
    hidden: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class JobEstimate:
    """A step of a job on a design. exposed_s: communication for which GPUs wait, by group.

    tokens_per_s, flop_share, memory_bytes, parameters: None for a job without a model. flop_share: work of the model
    over the peak of the GPUs (MFU). slow_factor: of the computation of the slowest stage. checkpoint: its part of a
    step is in exposed_s. not_modelled: kinds of work of a recorded job that take no time here, with counts.
    pipeline: the stages of the slowest pipeline.
    """

    tier: str
    not_seen: tuple[str, ...]
    gpus: int
    stage: int
    compute_s: float
    exposed_s: dict[str, float]
    bubble_s: float
    step_s: float
    collectives: tuple[CollectiveTime, ...]
    tokens_per_s: float | None = None
    flop_share: float | None = None
    memory_bytes: int | None = None
    parameters: int | None = None
    slow_gpus: int = 0
    slow_factor: float = 1.0
    checkpoint: CheckpointTime | None = None
    not_modelled: Mapping[str, int] = field(default_factory=dict)
    pipeline: PipelineTime | None = None


class Calls(Protocol):
    """Durations of calls on a fabric; the closed form is the first."""

    @property
    def tier(self) -> str:
        """The tier that durations are computed with."""

    @property
    def not_seen(self) -> tuple[str, ...]:
        """Properties of a fabric that durations do not show."""

    def call(
        self, rates: LinkRates, group: str, op: str, size_bytes: float, span: Span, algorithm: str | None = None
    ) -> CallTime:
        """Duration of one call of every group of a kind. Raises IntentError where the algorithm cannot be."""


class ClosedForm:
    """Durations from the rates of NICs and of the scale-up network."""

    tier: str = TIER
    not_seen: tuple[str, ...] = NOT_SEEN

    def call(
        self, rates: LinkRates, group: str, op: str, size_bytes: float, span: Span, algorithm: str | None = None
    ) -> CallTime:
        """Duration of one call."""
        del group
        return rates.call(op, size_bytes, span, algorithm)


CLOSED_FORM = ClosedForm()


@dataclass(frozen=True, slots=True, kw_only=True)
class _StepCalls:
    """Durations of the operations of a model's step, with the algorithms that its job names. known: those so far."""

    calls: Calls
    rates: LinkRates
    spans: Mapping[Group, Span]
    algorithms: StepAlgorithms
    known: dict[tuple[Group, str, int], CallTime] = field(default_factory=dict)

    def time(self, group: Group, op: str, size_bytes: int) -> CallTime:
        """Duration of one call. Raises IntentError for an algorithm that cannot serve the group."""
        key = (group, op, size_bytes)
        if key not in self.known:
            self.known[key] = self._time(*key)
        return self.known[key]

    def _time(self, group: Group, op: str, size_bytes: int) -> CallTime:
        name, key = self.algorithms.stated(group, op) or (None, "")
        try:
            return self.calls.call(self.rates, group, op, size_bytes, self.spans[group], name)
        except IntentError as error:
            if not name:
                raise
            raise IntentError(f"algorithm.{key}", error.problem, error.remedy) from None


@dataclass(frozen=True, slots=True, kw_only=True)
class _ModelStep:
    """The step of a model, whose slowest pipeline all others wait for."""

    work: TrainingWork
    pipelines: Sequence[Factors]

    def time(self, calls: _StepCalls) -> tuple[StepTime, Factors]:
        """The step, and the factors of the stages of the slowest pipeline."""
        costs = Costs(
            computation_s=lambda work: work.flop / self.work.flop_per_s,
            communication_s=lambda talk: calls.time(talk.group, talk.op, talk.size_bytes).seconds,
        )
        parallelism = self.work.plan.parallelism
        batches, vpp = parallelism.micro_batches, parallelism.vpp
        times = [
            (step_time(slowed(self.work.graphs, factors), costs, micro_batches=batches, vpp=vpp), factors)
            for factors in self.pipelines
        ]
        return max(times, key=lambda each: each[0].total_s)


class RecordedJob(RecordedStep, Protocol):
    """A job that another tool recorded."""

    def groups(self, ranks: int) -> Mapping[str, Sequence[Sequence[int]]]:
        """The ranks of every group, by kind; groups of a kind communicate at once."""
        ...

    def estimate(self, intent: FabricIntent, topology: Topology, calls: Calls) -> JobEstimate:
        """A step on a design. Raises IntentError."""
        ...


def estimate(
    job: Job | RecordedJob,
    intent: FabricIntent,
    topology: Topology,
    calls: Calls = CLOSED_FORM,
    write: Write | None = None,
) -> JobEstimate:
    """A step of a job on a design. Raises IntentError, or Problems, for a job that the design cannot run.

    calls: durations of collectives. write: duration of a checkpoint; None: where only NICs and the storage limit it.
    """
    if not isinstance(job, Job):
        return job.estimate(intent, topology, calls)
    hosts = hosts_of(job, topology)
    if job.model is None:
        return _phases(job, intent, topology, hosts, calls)
    if calls is CLOSED_FORM:
        _refuse_slow_links(job)
    return _training_estimate(job, intent, hosts, calls, write)


def _training_estimate(
    job: Job, intent: FabricIntent, hosts: Sequence[str], calls: Calls, write: Write | None
) -> JobEstimate:
    """The step of a job with a model."""
    work = training_work(job, intent, hosts)
    plan = work.plan
    model = _ModelStep(work=work, pipelines=slowed_pipelines(plan, work.slow))
    step_calls = _StepCalls(calls=calls, rates=link_rates(intent), spans=work.spans, algorithms=work.algorithms)
    step, factors = model.time(step_calls)
    checkpoint = _checkpoint(job, intent, model, step_calls, step.total_s, write)
    waits = {} if checkpoint is None else {"checkpoint": checkpoint.step_s}
    step_s = step.total_s + sum(waits.values())
    return JobEstimate(
        tier=calls.tier,
        not_seen=calls.not_seen,
        gpus=plan.ranks.count,
        stage=step.stage,
        compute_s=step.compute_s,
        exposed_s={**step.exposed_s, **waits},
        bubble_s=step.bubble_s,
        step_s=step_s,
        collectives=tuple(collective_times(work.graphs[step.stage], step_calls.spans, step_calls.time)),
        tokens_per_s=plan.step_tokens / step_s,
        flop_share=_model_flop(plan) / (step_s * work.peak_flop_per_s * plan.ranks.count),
        memory_bytes=work.memory.total,
        parameters=parameters(plan.shape),
        slow_gpus=len(work.slow),
        slow_factor=factors[step.stage],
        checkpoint=checkpoint,
        pipeline=step.pipeline,
    )


def _refuse_slow_links(job: Job) -> None:
    for number, straggler in enumerate(job.stragglers or ()):
        if straggler.link is not None or straggler.every == "link":
            key = "every" if straggler.link is None else "link"
            problem = "a closed form sees no links"
            raise IntentError(f"stragglers.{number}.{key}", problem, "Leave it out, or use --tier max-min")


def _checkpoint(
    job: Job,
    intent: FabricIntent,
    model: _ModelStep,
    calls: _StepCalls,
    step_s: float,
    write: Write | None,
) -> CheckpointTime | None:
    """The checkpoint of a job; collectives that meet its writes have what these leave of the NICs."""
    asked = job.checkpoint
    if asked is None:
        return None
    side, shared_step_s = storage_side(asked, intent), step_s
    if asked.asynchronous and side.left_share < 1.0:
        beside = replace(calls, rates=calls.rates.beside_others(side.left_share), known={})
        shared_step_s = model.time(beside)[0].total_s
    return checkpoint_time(asked, model.work.plan, side, step_s=step_s, shared_step_s=shared_step_s, write=write)


def _model_flop(plan: TrainingPlan) -> float:
    """Work of the model in a step, forward and backward, without what is recomputed."""
    shape = plan.shape
    layers = sum(attention_flop(shape) + mlp_flop(shape, layer) for layer in range(shape.layers))
    return 3.0 * plan.step_tokens * (layers + 2 * shape.hidden * shape.vocabulary)


def collective_times(
    graph: StageGraph, spans: Mapping[Group, Span], call: Callable[[Group, str, int], CallTime]
) -> Iterator[CollectiveTime]:
    """The operations of a stage, by group, operation and size. call: duration of one by these three."""
    counts: Counter[tuple[Group, str, int, bool]] = Counter()
    for talk in graph.communications:
        counts[talk.group, talk.op, talk.size_bytes, talk.beside is not None] += talk.calls
    for (group, op, size_bytes, hidden), count in counts.items():
        yield collective_time(group, op, size_bytes, count, spans[group], call(group, op, size_bytes), hidden=hidden)


def collective_time(
    group: str, op: str, size_bytes: int, count: int, span: Span, call: CallTime, *, hidden: bool = False
) -> CollectiveTime:
    """Calls of an operation with this duration, with their bandwidths."""
    return CollectiveTime(
        group=group,
        op=op,
        algorithm=call.algorithm,
        ranks=span.ranks,
        hosts=span.hosts,
        calls=count,
        size_bytes=size_bytes,
        call_s=call.seconds,
        bus_bytes_per_s=OPERATIONS[op].bus_factor(span.ranks) * size_bytes / call.seconds,
        nic_bytes_per_s=call.nic_bytes / call.seconds,
        hidden=hidden,
    )


def _phases(job: Job, intent: FabricIntent, topology: Topology, hosts: tuple[str, ...], calls: Calls) -> JobEstimate:
    """The phases of a job one after another; a collective runs on every rail at once, over whole NICs."""
    gpu = link_rates(intent)
    rates = replace(gpu, nic=gpu.nic * intent.hosts.gpus_per_nic, scale_up=None)
    port = rates.nic / intent.hosts.nic_ports
    collectives: list[CollectiveTime] = []
    rail = Span(ranks=len(hosts), hosts=len(hosts), ranks_per_host=1)
    whole = Span(ranks=len(hosts) * intent.hosts.gpus, hosts=len(hosts), ranks_per_host=intent.hosts.gpus)
    for number, phase in enumerate(job.phases):
        with in_phase(job, number):
            if asked := phase.collective:
                span, links = (rail, rates) if asked.group == "rail" else (whole, gpu)
                if span.ranks > 1:
                    call = calls.call(links, asked.group, asked.op, asked.bytes, span, asked.algorithm)
                    collectives.append(collective_time(asked.group, asked.op, asked.bytes, 1, span, call))
            if phase.traffic is not None:
                collectives.append(_incast_time(phase.traffic, topology, hosts, port))
    compute_s = sum(phase.compute.ms / 1e3 for phase in job.phases if phase.compute is not None)
    exposed: defaultdict[str, float] = defaultdict(float)
    for each in collectives:
        exposed[each.group] += each.call_s
    return JobEstimate(
        tier=calls.tier,
        not_seen=calls.not_seen,
        gpus=len(hosts) * intent.hosts.gpus,
        stage=0,
        compute_s=compute_s,
        exposed_s=dict(exposed),
        bubble_s=0.0,
        step_s=compute_s + sum(exposed.values()),
        collectives=tuple(collectives),
    )


def _incast_time(traffic: Traffic, topology: Topology, hosts: tuple[str, ...], port: float) -> CollectiveTime:
    """Independent flows between the first ports of NICs: the end with most flows takes longest."""
    senders, receivers = map(len, incast_ends(traffic, hosts, gpu_nics(topology, hosts)))
    most = max(senders, receivers)
    call_s = NETWORK_STEP_S + most * traffic.bytes / port
    return CollectiveTime(
        group="incast",
        op=traffic.pattern,
        algorithm="direct",
        ranks=senders + receivers,
        hosts=len(hosts),
        calls=1,
        size_bytes=traffic.bytes,
        call_s=call_s,
        bus_bytes_per_s=most * traffic.bytes / call_s,
        nic_bytes_per_s=most * traffic.bytes / call_s,
        hidden=False,
    )
