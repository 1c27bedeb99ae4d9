"""The closed form of a step against SimAI-analytical with its bus bandwidths, and against an executed schedule."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.laws import examples
from tests.workload.references import MODELS, reference_plan, rows

from railfab.workload import schedule
from railfab.workload.graph import Communication, Computation, StageGraph
from railfab.workload.operations import OPERATIONS
from railfab.workload.rates import LinkRates
from railfab.workload.schedule import StageWork, StateTransfers, pipeline_s
from railfab.workload.step import Costs, StepTime, step_time

GB = 2**30
"""SimAI's gigabyte."""
INSIDE, NIC = LinkRates(nic=48.5 * GB, scale_up=360.0 * GB), LinkRates(nic=48.5 * GB, scale_up=float("inf"))
"""SimAI bounds a group inside a host by NVLink, and one of several hosts by the NICs alone."""
SMALL_BYTES, SMALL_S = 2**20, 15e-6
"""SimAI takes a constant for messages below 1 MiB; this one is that of 8 ranks."""
OPS = {"ALLREDUCE": "allreduce", "ALLGATHER": "allgather", "REDUCESCATTER": "reducescatter", "ALLTOALL": "alltoall"}
GROUPS = {"": "tp", "EP": "ep", "DP_EP": "edp"}
COLUMNS = (("forward", "fwd"), ("backward", "input_grad"), ("backward", "weight_grad"))


def aicb_graph(name: str, *, dp: bool) -> StageGraph:
    """The stage that AICB wrote, as SimAI reads it: what is not of a layer is in the step, and not in the bubble."""
    computations, communications = [], []
    for row in (row for row in rows("layers_aicb.csv") if row["model"] == name):
        is_layer = row["layer"].startswith(("attention", "mlp", "final"))
        calls = int(row["calls_per_step"])
        for phase, column in COLUMNS:
            when = phase if is_layer else "step"
            computations.append(Computation(phase=when, part="mlp", calls=calls, flop=float(row[f"{column}_ns"])))
            op, _, group = row[f"{column}_comm"].partition("_")
            if op == "NONE" or not int(row[f"{column}_bytes"]):
                continue
            kind = "dp" if column == "weight_grad" and not group else GROUPS[group]
            if dp or kind not in ("dp", "edp"):
                communications.append(
                    Communication(
                        phase=when,
                        part="mlp",
                        group=kind,
                        op=OPS[op],
                        calls=calls,
                        size_bytes=int(row[f"{column}_bytes"]),
                    )
                )
    return StageGraph(stage=0, computations=tuple(computations), communications=tuple(communications))


@cache
def ratios(name: str) -> dict[tuple[str, str, int], float]:
    """Share of the peak that SimAI assumes, by group, operation and bytes."""
    return {
        (row["group"].replace("DP_EP", "EDP").lower(), row["op"], int(row["bytes"])): float(row["ratio"])
        for row in rows("groups_simai.csv")
        if row["model"] == name
    }


def simai_step(name: str, *, dp: bool) -> StepTime:
    plan, model = reference_plan(name), MODELS[name]

    def seconds(talk: Communication) -> float:
        if talk.size_bytes < SMALL_BYTES:
            return SMALL_S if plan.ranks.group_size(talk.group) > 1 else 0.0
        span = plan.ranks.span(talk.group)
        bus = (INSIDE if span.hosts == 1 else NIC).bus(talk.op, span) * ratios(name)[
            talk.group, talk.op, talk.size_bytes
        ]
        return OPERATIONS[talk.op].bus_factor(span.ranks) * talk.size_bytes / bus

    costs = Costs(computation_s=lambda work: work.flop / 1e9, communication_s=seconds)
    layers, batches = model["L"] // model["pp"], plan.parallelism.micro_batches
    graphs = [aicb_graph(name, dp=dp)] * model["pp"]
    if batches % model["pp"]:  # no schedule interleaves these, and SimAI divides the bubble nevertheless
        plain = step_time(graphs, costs, micro_batches=batches)
        return replace(plain, bubble_s=plain.bubble_s / layers)
    return step_time(graphs, costs, micro_batches=batches, vpp=layers)


@pytest.mark.parametrize("variant", ["no_overlap", "dp_overlap1"])
@pytest.mark.parametrize("name", MODELS)
def test_a_step_takes_what_simai_says(name: str, variant: str) -> None:
    (there,) = (row for row in rows("steps_simai.csv") if (row["model"], row["variant"]) == (name, variant))
    here = simai_step(name, dp=variant == "no_overlap")
    assert here.compute_s * 1e6 == pytest.approx(float(there["compute_us"]), rel=0.001)
    assert here.bubble_s * 1e6 == pytest.approx(float(there["bubble_us"]), rel=0.01)
    assert here.total_s * 1e6 == pytest.approx(float(there["total_us"]), rel=0.02)
    for group, column in (("dp", "dp_us"), ("edp", "dp_ep_us"), ("tp", "tp_us"), ("ep", "ep_us")):
        assert here.exposed_s.get(group, 0.0) * 1e6 == pytest.approx(float(there[column]), rel=0.02), group


def stage_of(stage: int, forward_ns: float, batches: int) -> StageGraph:
    works = (("forward", forward_ns), ("backward", 2 * forward_ns))
    return StageGraph(
        stage=stage,
        computations=tuple(Computation(phase=phase, part="mlp", calls=batches, flop=ns) for phase, ns in works),
        communications=(),
    )


FREE = Costs(computation_s=lambda work: work.flop / 1e9, communication_s=lambda talk: 0.0)


def order_1f1b(stage: int, stages: int, batches: int, chunks: int) -> list[tuple[str, int, int]]:
    """Phase, chunk and micro-batch in the order of a stage: 1F1B, interleaved where there are chunks (Megatron)."""
    total = batches * chunks

    def work(phase: str, turn: int) -> tuple[str, int, int]:
        chunk = turn % (stages * chunks) // stages
        batch = turn // (stages * chunks) * stages + turn % stages
        return phase, chunk if phase == "forward" else chunks - 1 - chunk, batch

    warm = min(total, stages - stage - 1 if chunks == 1 else 2 * (stages - stage - 1) + (chunks - 1) * stages)
    order = [work("forward", turn) for turn in range(warm)]
    for turn in range(total - warm):
        order += [work("forward", warm + turn), work("backward", turn)]
    return order + [work("backward", turn) for turn in range(total - warm, total)]


def executed_ns(forward_ns: list[float], batches: int, chunks: int) -> float:
    """The end of a schedule in which each work waits for its stage and for the chunk before it."""
    stages = len(forward_ns)
    queues = [order_1f1b(stage, stages, batches, chunks) for stage in range(stages)]
    ends: dict[tuple[str, int, int, int], float] = {}
    free = [0.0] * stages
    while any(queues):
        before = len(ends)
        for stage, queue in enumerate(queues):
            while queue:
                phase, chunk, batch = queue[0]
                place = chunk * stages + stage
                needs = place - 1 if phase == "forward" else place + 1
                key = (phase, batch, *divmod(needs, stages))
                if phase == "backward" and place == chunks * stages - 1:
                    key = ("forward", batch, chunk, stage)
                if (phase, place) != ("forward", 0) and key not in ends:
                    break
                start = max(free[stage], ends.get(key, 0.0))
                length = forward_ns[stage] / chunks * (1 if phase == "forward" else 2)
                ends[phase, batch, chunk, stage] = free[stage] = start + length
                queue.pop(0)
        assert len(ends) > before, "the schedule is stuck"
    return max(free)


@given(stages=st.integers(1, 6), groups=st.integers(1, 4), chunks=st.integers(1, 3))
@settings(max_examples=examples(40), deadline=None)
def test_an_even_pipeline_takes_as_long_as_its_schedule(stages: int, groups: int, chunks: int) -> None:
    chunks, batches = (1 if stages == 1 else chunks), groups * stages
    graphs = [stage_of(stage, 60.0, batches) for stage in range(stages)]
    here = step_time(graphs, FREE, micro_batches=batches, vpp=chunks)
    assert here.total_s * 1e9 == pytest.approx(executed_ns([60.0] * stages, batches, chunks))


@given(times=st.lists(st.integers(50, 100), min_size=1, max_size=5), groups=st.integers(1, 4), chunks=st.integers(1, 3))
@settings(max_examples=examples(40), deadline=None)
def test_an_uneven_pipeline_takes_as_long_as_its_schedule(times: list[int], groups: int, chunks: int) -> None:
    chunks, batches = (1 if len(times) == 1 else chunks), groups * len(times)
    graphs = [stage_of(stage, float(time), batches) for stage, time in enumerate(times)]
    here = step_time(graphs, FREE, micro_batches=batches, vpp=chunks)
    assert here.total_s * 1e9 == pytest.approx(executed_ns([float(time) for time in times], batches, chunks))
    assert here.bubble_s >= 0.0


PASSES = st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), min_size=1, max_size=4)
STATE = st.tuples(st.integers(0, 40), st.integers(1, 6))


def made_stages(
    passes: list[tuple[int, int]], gathers: tuple[int, int], reductions: tuple[int, int]
) -> list[StageWork]:
    return [
        StageWork(
            forward_s=float(forward),
            backward_s=float(backward),
            gathers=StateTransfers(beside_s=float(gathers[0]), pieces=gathers[1]),
            reductions=StateTransfers(beside_s=float(reductions[0]), pieces=reductions[1]),
        )
        for forward, backward in passes
    ]


def in_pieces_s(work: StageWork, batches: int) -> float:
    """The end of a pipeline of one stage, piece by piece of its transfers, each with its part of the layers."""
    link = free = 0.0
    gathers, reductions = work.gathers, work.reductions
    for _piece in range(gathers.pieces):
        link += gathers.beside_s / gathers.pieces
        free = max(free, link if gathers.beside_s else 0.0) + work.forward_s / gathers.pieces
    free += (batches - 1) * (work.forward_s + work.backward_s)
    for _piece in range(reductions.pieces):
        free += work.backward_s / reductions.pieces
        link = max(link, free) + reductions.beside_s / reductions.pieces
    return max(free, link) if reductions.beside_s else free


@example(passes=[(9, 9)], gathers=(3, 3), reductions=(3, 3), batches=2)
@example(passes=[(3, 3)], gathers=(9, 3), reductions=(9, 3), batches=2)
@given(passes=PASSES, gathers=STATE, reductions=STATE, batches=st.integers(1, 5))
@settings(max_examples=examples(60), deadline=None)
def test_transfers_of_state_go_piece_by_piece_with_their_layers(
    passes: list[tuple[int, int]], gathers: tuple[int, int], reductions: tuple[int, int], batches: int
) -> None:
    (work,) = made_stages(passes[:1], gathers, reductions)
    assert pipeline_s([work], micro_batches=batches, vpp=1) == pytest.approx(in_pieces_s(work, batches))


@given(passes=PASSES, gathers=STATE, reductions=STATE, groups=st.integers(1, 3), chunks=st.integers(1, 3))
@settings(max_examples=examples(60), deadline=None)
def test_transfers_of_state_cost_between_nothing_and_their_duration_and_more_pieces_never_more(
    passes: list[tuple[int, int]], gathers: tuple[int, int], reductions: tuple[int, int], groups: int, chunks: int
) -> None:
    chunks = 1 if len(passes) == 1 else chunks

    def end_s(gathered: tuple[int, int], reduced: tuple[int, int]) -> float:
        stages = made_stages(passes, gathered, reduced)
        return pipeline_s(stages, micro_batches=groups * len(passes), vpp=chunks)

    without, whole, finer = (
        end_s((0, 1), (0, 1)),
        end_s(gathers, reductions),
        end_s((gathers[0], 2 * gathers[1]), (reductions[0], 2 * reductions[1])),
    )
    assert without <= whole <= without + gathers[0] + reductions[0] + 1e-9
    assert finer <= whole + 1e-9


@given(passes=PASSES, gathers=STATE, reductions=STATE, which=st.integers(0, 3), factor=st.floats(1.0, 3.0))
@settings(max_examples=examples(60), deadline=None)
def test_a_slower_pass_never_makes_a_pipeline_end_earlier(
    passes: list[tuple[int, int]], gathers: tuple[int, int], reductions: tuple[int, int], which: int, factor: float
) -> None:
    stages = made_stages(passes, gathers, reductions)
    slow, place = list(stages), which % len(passes)
    slow[place] = replace(stages[place], forward_s=factor * stages[place].forward_s)
    ends = [pipeline_s(each, micro_batches=2 * len(passes), vpp=1) for each in (stages, slow)]
    assert ends[0] <= ends[1] + 1e-9


def test_chunks_without_whole_groups_of_micro_batches_are_an_error_and_do_not_hang() -> None:
    """The stages would wait for each other; jobs and texts of others with such a plan are refused."""
    stages = [StageWork(forward_s=1.0, backward_s=2.0)] * 6
    with pytest.raises(ValueError, match=r"^8 micro-batches of 2 chunks on 6 stages wait$"):
        pipeline_s(stages, micro_batches=8, vpp=2)


@given(passes=PASSES, groups=st.integers(3, 12), chunks=st.integers(1, 2))
@settings(max_examples=examples(30), deadline=None)
def test_micro_batches_beyond_those_that_are_followed_cost_a_turn_of_the_slowest_stage(
    passes: list[tuple[int, int]], groups: int, chunks: int
) -> None:
    """At most, and exactly where one stage is clearly the slowest."""
    chunks, batches = (1 if len(passes) == 1 else chunks), groups * len(passes)
    passes = [
        (9 * forward, 9 * backward) if number == 0 else (forward, backward)
        for number, (forward, backward) in enumerate(passes)
    ]
    stages = made_stages(passes, (0, 1), (0, 1))
    whole = pipeline_s(stages, micro_batches=batches, vpp=chunks)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(schedule, "MOST_PASSES", 0)
        assert pipeline_s(stages, micro_batches=batches, vpp=chunks) == pytest.approx(whole)
