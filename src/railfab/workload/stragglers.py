"""Slow GPUs, hosts and links of a job, by name or drawn, and the stages of pipelines that they slow down."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from random import Random

from railfab.errors import IntentError
from railfab.intent import Job
from railfab.intent.step_conditions import FactorRange, Straggler
from railfab.intent.training import Dimension
from railfab.text.counted import counted
from railfab.topology import PortKey, Topology
from railfab.workload.graph import StageGraph
from railfab.workload.plan import TrainingPlan
from railfab.workload.shapes import is_expert_layer

Factors = tuple[float, ...]
"""Multiples of the duration of computation, by stage of a pipeline."""


def gpu_factors(job: Job, hosts: Sequence[str], gpus_per_host: int) -> dict[int, float]:
    """Multiples of the duration of computation on the slow ranks of a job, by rank; several causes multiply.

    Raises IntentError for a host or GPU that the job does not have.
    """
    factors: dict[int, float] = {}
    for number, straggler in enumerate(job.stragglers or ()):
        _check_host(f"stragglers.{number}", straggler, hosts, gpus_per_host)
        for rank in range(len(hosts) * gpus_per_host):
            host, gpu = hosts[rank // gpus_per_host], rank % gpus_per_host + 1
            named = straggler.host == host and straggler.gpu in (None, gpu)
            drawn = {"gpu": f"{host}:{gpu}", "host": host}.get(straggler.every or "")
            factor = _factor(straggler, drawn or host) if named or drawn else 1.0
            if factor > 1.0:
                factors[rank] = factors.get(rank, 1.0) * factor
    return factors


def link_factors(job: Job, topology: Topology) -> dict[PortKey, float]:
    """Divisors of the rates of slow cables, by both ends. Raises IntentError for a port that is not cabled."""
    factors: dict[PortKey, float] = {}
    if not job.stragglers:
        return factors
    ends = {(port.node, port.name): (peer.node, peer.name) for port, peer, _ in topology.ports()}
    for number, straggler in enumerate(job.stragglers):
        if straggler.link is not None:
            node, _, interface = straggler.link.partition(":")
            slow = [_checked_port((node, interface), ends, f"stragglers.{number}.link")]
        else:
            slow = [(link.a.node, link.a.name) for link in topology.links] if straggler.every == "link" else []
        for port in slow:
            factor = _factor(straggler, ":".join(min(port, ends[port])))
            if factor > 1.0:
                for end in (port, ends[port]):
                    factors[end] = factors.get(end, 1.0) * factor
    return factors


def _factor(straggler: Straggler, name: str) -> float:
    """The factor of one that may be slow. What is drawn for a name depends on that, the straggler's kind and its seed:
    one that is slow stays so with a higher probability, and in a larger fabric."""
    draw = Random(f"{straggler.seed} {straggler.every} {name}")
    chance, place = draw.random(), draw.random()
    if straggler.probability is not None and chance >= straggler.probability:
        return 1.0
    factor = straggler.factor
    return factor.least + (factor.most - factor.least) * place if isinstance(factor, FactorRange) else factor


def _check_host(key: str, straggler: Straggler, hosts: Sequence[str], gpus_per_host: int) -> None:
    if straggler.host is not None and straggler.host not in hosts:
        problem = f"the job does not run on a host {straggler.host}"
        raise IntentError(f"{key}.host", problem, f"Use a name such as {hosts[0]}")
    if straggler.gpu is not None and straggler.gpu > gpus_per_host:
        problem = f"a host has {counted(gpus_per_host, 'GPU')}"
        raise IntentError(f"{key}.gpu", problem, f"Use 1 to {gpus_per_host}")


def _checked_port(port: PortKey, ends: Mapping[PortKey, PortKey], key: str) -> PortKey:
    if port not in ends:
        near = [known for known in ends if known[0] == port[0]]
        problem = f"the fabric has no cabled port {':'.join(port)}"
        raise IntentError(key, problem, f"Use a port such as {':'.join((near or list(ends))[0])}")
    return port


def slowed_pipelines(plan: TrainingPlan, factors: Mapping[int, float]) -> tuple[Factors, ...]:
    """Factors of the stages of the pipelines of which any may be the slowest; one with all 1 where nothing is slow.

    The ranks of a stage wait for the slowest in each layer, where they share it (tp, cp), its experts, or with ZeRO 3
    its parameters. Replicas wait for each other once, at the end of the step.
    """
    together = _together(plan)
    pipelines: dict[tuple[int, ...], list[float]] = {}
    for rank, factor in factors.items():
        place = plan.ranks.place(rank)
        key = tuple(place[dimension] for dimension in plan.ranks.order if dimension not in {*together, "pp"})
        stages = pipelines.setdefault(key, [1.0] * plan.parallelism.pp)
        stages[place["pp"]] = max(stages[place["pp"]], factor)
    return tuple(_largest(map(tuple, pipelines.values()))) or ((1.0,) * plan.parallelism.pp,)


def _together(plan: TrainingPlan) -> set[Dimension]:
    """Dimensions in which ranks wait for each other in each layer."""
    together: set[Dimension] = {"tp", "cp"}
    if is_expert_layer(plan.shape, plan.shape.layers - 1):
        together.add("ep")
    return together | {"ep", "dp"} if plan.parallelism.zero >= 3 else together


def _largest(pipelines: Iterable[Factors]) -> Iterator[Factors]:
    """Keep those that no other one matches or exceeds in each stage."""
    kept: list[Factors] = []
    for factors in sorted(set(pipelines), reverse=True):
        if not any(all(here <= there for here, there in zip(factors, each, strict=True)) for each in kept):
            kept.append(factors)
            yield factors


def slowed(graphs: Sequence[StageGraph], factors: Factors) -> list[StageGraph]:
    """The stages with computations that take so many times as long."""
    return [
        graph
        if factor == 1.0
        else replace(graph, computations=tuple(replace(work, flop=factor * work.flop) for work in graph.computations))
        for graph, factor in zip(graphs, factors, strict=True)
    ]
