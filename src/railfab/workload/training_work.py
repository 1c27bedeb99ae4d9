"""The work of a training job on its hosts: its plan, the work of each stage, and the rates and factors of its GPUs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from railfab.errors import IntentError
from railfab.intent import Accelerator, FabricIntent, Job
from railfab.intent.algorithms import StepAlgorithms
from railfab.topology.equipment import host_of
from railfab.workload.graph import StageGraph, stage_graph
from railfab.workload.memory import GpuMemory, check_memory
from railfab.workload.plan import TrainingPlan, training_plan
from railfab.workload.ranks import GROUPS, Group, Span
from railfab.workload.stragglers import gpu_factors


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingWork:
    """A training job on its hosts. peak_flop_per_s: of a GPU; flop_per_s: what its computation reaches.

    slow: multiples of the duration of computation, by slow rank.
    """

    plan: TrainingPlan
    graphs: Sequence[StageGraph]
    algorithms: StepAlgorithms
    peak_flop_per_s: float
    flop_per_s: float
    memory: GpuMemory
    slow: Mapping[int, float]

    @property
    def spans(self) -> Mapping[Group, Span]:
        """The hosts of the groups of each kind."""
        return {group: self.plan.ranks.span(group) for group in GROUPS}


def training_work(job: Job, intent: FabricIntent, hosts: Sequence[str]) -> TrainingWork:
    """The work of a job with a model. Raises IntentError, or Problems, for one that does not fit its GPUs."""
    plan = training_plan(job, hosts=len(hosts), gpus_per_host=intent.hosts.gpus)
    host = host_of(intent.hosts)
    memory = check_memory(plan, host.gpu_memory_gb)
    gpu = job.gpu or Accelerator()
    peak = (gpu.tflops or host.tflops) * 1e12
    graphs = [stage_graph(plan, stage) for stage in range(plan.parallelism.pp)]
    _check_algorithms(job, graphs)
    return TrainingWork(
        plan=plan,
        graphs=graphs,
        algorithms=job.algorithm or StepAlgorithms(),
        peak_flop_per_s=peak,
        flop_per_s=peak * gpu.efficiency,
        memory=memory,
        slow=gpu_factors(job, hosts, intent.hosts.gpus),
    )


def _check_algorithms(job: Job, graphs: Iterable[StageGraph]) -> None:
    """Raise IntentError for an algorithm that the job states for an operation that its step does not have."""
    algorithms = job.algorithm or StepAlgorithms()
    talks = {(talk.group, talk.op) for graph in graphs for talk in graph.communications}
    used = {stated[1] for talk in talks if (stated := algorithms.stated(*talk))}
    for key in algorithms.stated_keys():
        if key not in used:
            problem = "the step of this job has no such operation among several GPUs"
            raise IntentError(f"algorithm.{key}", problem, "Leave it out")
