"""The workload text of AICB, which SimAI reads: a row for each layer and micro-batch of a rank of the first stage."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from railfab.errors import IntentError
from railfab.intent import FabricIntent
from railfab.intent.algorithms import StepAlgorithms
from railfab.intent.training import Dimension
from railfab.text.counted import listed
from railfab.text.display import display
from railfab.topology import Topology
from railfab.workload.closed_form import Calls, JobEstimate, collective_times
from railfab.workload.graph import Communication, Computation, Part, StageGraph, WorkPhase
from railfab.workload.ranks import GROUPS, Group, Ranks, Span
from railfab.workload.rates import CallTime, link_rates
from railfab.workload.step import Costs, step_time

if TYPE_CHECKING:
    from railfab.workload.group_calls import StepTransfers
    from railfab.workload.mapping import HostPorts

MICRO, TRAINING = "MICRO", ("HYBRID_TRANSFORMER_FWD_IN_BCKWD", "HYBRID_TRANSFORMER")
POLICIES = (MICRO, *TRAINING)
"""First words of a file that are read; SimAI's others order the layers differently."""
UNREAD_POLICIES = (
    *("DATA", "MODEL", "HYBRID_DATA_MODEL", "HYBRID_MODEL_DATA", "HYBRID_CUSTOMIZED"),
    *("HYBRID_DLRM", "HYBRID_DLRM_ENHANCED", "DISTRIBUTED_INFERENCE"),
)
FIELDS = 12
OPS = {
    "ALLREDUCE": "allreduce",
    "ALLGATHER": "allgather",
    "REDUCESCATTER": "reducescatter",
    "ALLTOALL": "alltoall",
    "BROADCAST": "broadcast",
}
GROUP_SUFFIXES: Mapping[str, Group] = {"_DP_EP": "edp", "_EP": "ep"}
PASSES = (("forward", "tp", 2), ("backward", "tp", 5), ("backward", "dp", 8))
"""Phase, group of an operation without a suffix, and first field, of the three passes: forward, gradients of inputs,
gradients of weights (SimAI's Workload::initialize_workload)."""
LAYERS = ("attention", "mlp", "final")
"""Beginnings of the names of rows of a micro-batch; other rows are once in a step, and in no bubble (SimAI)."""
NS = 1e-9
MOST = 10**15
"""Greatest number that a field is believed to have: a million seconds, or 1,000 TB."""
Call = tuple[WorkPhase, Group, str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """The first line. gpus: None where it is not stated. pp_bytes: that a rank sends to the next stage at once."""

    tp: int = 1
    ep: int = 1
    pp: int = 1
    vpp: int = 1
    micro_batches: int = 1
    gpus: int | None = None
    pp_bytes: int = 0
    recomputed: int = 0

    @property
    def chunks(self) -> int:
        """Chunks of a stage that interleave: 1 where it is the only one, or the micro-batches are no multiple of the
        stages, as that schedule needs; AICB states vpp for such jobs, too."""
        return 1 if self.pp == 1 or self.micro_batches % self.pp else self.vpp


@dataclass(frozen=True, kw_only=True)
class LayerTable:
    """The work of a rank of the first stage of the pipeline; the other stages are taken to be alike.

    seconds: computation of a step by phase [s]. calls: of a step. empty: operations of 0 bytes.
    """

    path: Path
    header: Header
    seconds: Mapping[WorkPhase, float]
    calls: Mapping[Call, int]
    empty: int

    @property
    def job(self) -> str:
        """Name of the file without its suffix."""
        return self.path.stem

    @property
    def not_modelled(self) -> dict[str, int]:
        """Kinds of work that take no time here, with their counts."""
        kinds = {"operations of 0 bytes": self.empty, "layers that are computed again": self.header.recomputed}
        return {kind: count for kind, count in kinds.items() if count}

    def ranks(self, gpus: int) -> int:
        """Number of ranks: what the file states, or all GPUs."""
        stated = self.header.gpus or gpus
        if stated > gpus:
            problem = f"all_gpus is {stated:,}, and the fabric has {gpus:,} GPUs"
            raise IntentError(
                f"{self.path}:1", problem, f"Generate the workload for {gpus:,} GPUs, or use a larger design"
            )
        return stated

    def groups(self, ranks: int) -> Mapping[str, Sequence[Sequence[int]]]:
        """The ranks of every group of each kind; neighbours share tensors first, then experts, data and stages."""
        placed = self._placed(ranks, 1)
        return {group: list(placed.groups(group)) for group in GROUPS}

    def _placed(self, ranks: int, gpus_per_host: int) -> Ranks:
        tp, ep, pp = self.header.tp, self.header.ep, self.header.pp
        if ranks % (tp * ep * pp):
            problem = f"model_parallel_NPU_group {tp} x ep {ep} x pp {pp} does not divide {ranks:,} GPUs"
            raise IntentError(f"{self.path}:1", problem, f"State all_gpus as a multiple of {tp * ep * pp}")
        dp = ranks // (tp * ep * pp)
        sizes: dict[Dimension, int] = {"tp": tp, "cp": 1, "ep": ep, "dp": dp, "pp": pp}
        return Ranks(sizes=sizes, order=("tp", "cp", "ep", "dp", "pp"), gpus_per_host=gpus_per_host)

    def graph(self, ranks: int, stage: int = 0) -> StageGraph:
        """The work of a stage in a step, without what groups of one rank say."""
        placed = self._placed(ranks, 1)
        talks = [
            Communication(phase=phase, part="mlp", group=group, op=op, calls=calls, size_bytes=size_bytes)
            for (phase, group, op, size_bytes), calls in self.calls.items()
        ]
        computations = tuple(
            Computation(phase=phase, part="mlp", calls=1, seconds=seconds) for phase, seconds in self.seconds.items()
        )
        spoken = (talk for talk in (*talks, *self._pipeline_talk(stage)) if talk.calls and talk.size_bytes)
        communications = tuple(talk for talk in spoken if placed.group_size(talk.group) > 1)
        return StageGraph(stage=stage, computations=computations, communications=communications)

    def _pipeline_talk(self, stage: int) -> Iterator[Communication]:
        """Activations to the next stage, and gradients to the one before, for each chunk, as of a job with a model."""
        chunks, size_bytes = self.header.chunks, self.header.pp_bytes
        beside: Part | None = "mlp" if chunks > 1 else None
        ends: tuple[tuple[WorkPhase, int], ...] = (("forward", self.header.pp - 1), ("backward", 0))
        for phase, end in ends:
            sent = chunks - 1 if stage == end else chunks
            yield Communication(
                phase=phase,
                part="mlp",
                group="pp",
                op="sendrecv",
                calls=sent * self.header.micro_batches,
                size_bytes=size_bytes,
                beside=beside,
            )

    def estimate(self, intent: FabricIntent, topology: Topology, calls: Calls) -> JobEstimate:
        """A step on a design: compute, what is exposed, and the bubble of stages that are alike."""
        gpus = len(topology.hosts()) * intent.hosts.gpus
        ranks, rates = self.ranks(gpus), link_rates(intent)
        placed, graph = self._placed(ranks, intent.hosts.gpus), self.graph(ranks)
        spans: dict[Group, Span] = {group: placed.span(group) for group in GROUPS}

        def time(group: Group, op: str, size_bytes: int) -> CallTime:
            return calls.call(rates, group, op, size_bytes, spans[group])

        costs = Costs(
            computation_s=lambda work: work.seconds or 0.0,
            communication_s=lambda talk: time(talk.group, talk.op, talk.size_bytes).seconds,
        )
        pp, header = self.header.pp, self.header
        step = step_time([graph] * pp, costs, micro_batches=header.micro_batches, vpp=header.chunks)
        if not step.total_s:
            raise IntentError(str(self.path), "nothing takes any time", "Use a workload with computation or more GPUs")
        return JobEstimate(
            tier=calls.tier,
            not_seen=calls.not_seen,
            gpus=ranks,
            stage=0,
            compute_s=step.compute_s,
            exposed_s=dict(step.exposed_s),
            bubble_s=step.bubble_s,
            step_s=step.total_s,
            collectives=tuple(collective_times(graph, spans, time)),
            not_modelled=self.not_modelled,
        )

    def step_transfers(self, intent: FabricIntent, hosts: HostPorts) -> StepTransfers:
        """A step as transfers: that of a job with a model, in whose stages the work of the first one is done."""
        from railfab.workload.step_transfers import StepWork, step_transfers  # needs numpy, the closed form does not

        ranks, header = len(hosts.gpus), self.header
        work = StepWork(
            ranks=self._placed(ranks, intent.hosts.gpus),
            graphs=[self.graph(ranks, stage) for stage in range(header.pp)],
            micro_batches=header.micro_batches,
            vpp=header.chunks,
            computation_s=lambda computation: computation.seconds or 0.0,
            algorithms=StepAlgorithms(),
            slow={},
        )
        return step_transfers(work, link_rates(intent), hosts, where=str(self.path))


def is_layer_table(text: str) -> bool:
    """Whether a file begins as a workload text."""
    words = text.partition("\n")[0].split(None, 1)
    return bool(words) and words[0] in (*POLICIES, *UNREAD_POLICIES)


def read_layer_table(path: Path, text: str) -> LayerTable:
    """The workload in a text. Raises IntentError for the first line that is none."""
    lines = text.splitlines()
    header = _header(path, lines[0])
    rows = _rows(path, lines)
    nanoseconds: Counter[WorkPhase] = Counter()
    calls: Counter[Call] = Counter()
    empty = 0
    for number, fields in rows:
        for phase, group, first in PASSES:
            place, when = f"{path}:{number}", phase if fields[0].startswith(LAYERS) else "step"
            nanoseconds[when] += _number(place, fields[first])
            op, size_bytes = fields[first + 1], _number(place, fields[first + 2])
            if op == "NONE":
                continue
            named, kind = _operation(place, op, group)
            if size_bytes:
                calls["step" if named in ("dp", "edp") else when, named, kind, size_bytes] += 1
            else:
                empty += 1
    seconds = {phase: NS * sum_ns for phase, sum_ns in nanoseconds.items()}
    return LayerTable(path=path, header=header, seconds=seconds, calls=dict(calls), empty=empty)


def _header(path: Path, line: str) -> Header:
    where, words = f"{path}:1", line.split()
    if words[0] not in POLICIES:
        problem = f"the order of layers of {words[0]} is not modelled"
        raise IntentError(where, problem, f"Use a workload of {listed(POLICIES)}, such as AICB writes")
    names = [word.rstrip(":") for word in words]

    def stated(*keys: str, default: int = 1) -> int:
        for key in keys:
            if key in names[1:-1]:
                return _number(where, words[names.index(key) + 1], key)
        return default

    header = Header(
        tp=stated("model_parallel_NPU_group"),
        ep=stated("ep", "expert_parallel_npu_group"),
        pp=stated("pp"),
        vpp=stated("vpp"),
        micro_batches=stated("ga"),
        gpus=stated("all_gpus", default=0) or None,
        pp_bytes=stated("pp_comm", default=0),
        recomputed=stated("checkpoint_initiates", default=0),
    )
    for key in ("tp", "ep", "pp", "vpp", "micro_batches"):
        if getattr(header, key) < 1:
            raise IntentError(where, f"{key} is 0", "State 1 or more")
    return header


def _rows(path: Path, lines: Sequence[str]) -> list[tuple[int, list[str]]]:
    """The rows that line 2 counts, split into fields, with their lines."""
    rows = [(number, line.split()) for number, line in enumerate(lines[2:], 3) if line.strip()]
    count = _number(f"{path}:2", lines[1].strip() if len(lines) > 1 else "", "the number of rows")
    for number, fields in rows:
        if len(fields) != FIELDS:
            problem = f"the row has {len(fields)} fields, and {FIELDS} are expected"
            raise IntentError(f"{path}:{number}", problem, "Generate the file again, or complete the row")
    if len(rows) != count:
        problem = f"{count:,} rows are stated, and {len(rows):,} follow"
        raise IntentError(f"{path}:2", problem, f"Generate the file again if it is cut off, or state {len(rows)}")
    return rows


def _operation(place: str, text: str, group: Group) -> tuple[Group, str]:
    for suffix, named in GROUP_SUFFIXES.items():
        if text.endswith(suffix):
            text, group = text.removesuffix(suffix), named
            break
    if text not in OPS:
        problem = f"{display(text)} is not an operation"
        raise IntentError(place, problem, f"Use one of {listed(('NONE', *OPS))}, or one of these with _EP or _DP_EP")
    return group, OPS[text]


def _number(place: str, text: str, name: str = "") -> int:
    """A whole number from 0 up, which AICB may write as `6291456.0`."""
    try:
        whole = int(text) if text.isdecimal() else int(float(text))
        if 0 <= whole <= MOST and float(text) == whole:
            return whole
    except (ValueError, OverflowError):  # int() of nan, and of inf
        pass
    subject = f"{name} is {display(text)}" if name else display(text)
    raise IntentError(place, f"{subject}{', which' if name else ''} is no whole number from 0 up", "Correct it")
