"""Workload texts of AICB: the same calls, bytes and computation as a job file, and as SimAI reads them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from tests.workload.references import MODELS, REFERENCE, reference_plan, rows
from tests.workload.test_step import aicb_graph

from railfab.errors import RailfabError
from railfab.fabric import design
from railfab.intent import Job
from railfab.workload import estimate
from railfab.workload.graph import StageGraph, stage_graph
from railfab.workload.recorded import load_any_job
from railfab.workload.recorded.layer_table import LayerTable

FABRICS = Path(__file__).parents[2] / "inventory" / "fabrics"
NOTHING = ["1", "NONE", "0"]
GROUPS = {"tp": "", "ep": "_EP", "dp": "", "edp": "_DP_EP"}
Volumes = Counter[tuple[str, str, str, int]]


def written(path: Path, header: str, table: list[list[str]]) -> LayerTable:
    path.write_text("\n".join([header, str(len(table)), *map("\t".join, table)]) + "\n")
    job, _ = load_any_job(path)
    assert isinstance(job, LayerTable)
    return job


def header_of(name: str) -> str:
    """The first line that AICB writes; it writes the bytes for the next stage as a quotient."""
    model = MODELS[name]
    sent = 2 * model["seq"] * model["h"] / model["tp"] if model["pp"] > 1 else 0
    batches = reference_plan(name).parallelism.micro_batches
    return (
        f"HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: {model['tp']} ep: {model['ep']} pp: {model['pp']} "
        f"vpp: {model['L'] // model['pp']} ga: {batches} all_gpus: {model['world']} checkpoints: 0 "
        f"checkpoint_initiates: 0 pp_comm: {sent}"
    )


def volumes(graph: StageGraph) -> Volumes:
    counts: Volumes = Counter()
    for talk in graph.communications:
        counts[talk.phase, talk.group, talk.op, talk.size_bytes] += talk.calls
    return counts


def aicb_row(phase: str, group: str, op: str, size_bytes: int) -> list[str]:
    """A row with an operation of a graph in the column that SimAI takes it from."""
    column = 2 if group in ("dp", "edp") else 1 if phase == "backward" else 0
    passes = [NOTHING] * column + [["1", op.upper() + GROUPS[group], str(size_bytes)]] + [NOTHING] * (2 - column)
    name = "grad_gather" if phase == "step" else "attention_row"
    return [name, "-1", *(field for fields in passes for field in fields), "100"]


@pytest.mark.parametrize("name", MODELS)
def test_a_job_file_and_its_text_give_equal_calls_and_bytes(name: str, tmp_path: Path) -> None:
    plan = reference_plan(name)
    graph = stage_graph(plan, 0)
    expected = volumes(graph)
    sent = {key: calls for key, calls in expected.items() if key[1] == "pp"}
    table = [aicb_row(*key) for key, calls in expected.items() if key not in sent for _ in range(calls)]
    header = header_of(name).replace(f"vpp: {MODELS[name]['L'] // MODELS[name]['pp']}", f"vpp: {plan.parallelism.vpp}")
    job = written(tmp_path / "job.txt", header, table)
    assert volumes(job.graph(plan.ranks.count)) == expected
    assert [list(groups) for groups in job.groups(plan.ranks.count).values()] == [
        list(plan.ranks.groups(group)) for group in job.groups(plan.ranks.count)
    ]


@pytest.mark.parametrize("name", MODELS)
def test_a_text_of_aicb_is_read_as_simai_reads_it(name: str, tmp_path: Path) -> None:
    """`test_step` holds this graph against what SimAI prints of the step."""
    fields = [f"{column}_{what}" for column in ("fwd", "input_grad", "weight_grad") for what in ("ns", "comm", "bytes")]
    table = [
        [row["layer"], "-1", *(row[field] for field in fields), "100"]
        for row in rows("layers_aicb.csv")
        if row["model"] == name
        for _ in range(int(row["calls_per_step"]))
    ]
    job = written(tmp_path / "job.txt", header_of(name), table)
    here, there = job.graph(MODELS[name]["world"]), aicb_graph(name, dp=True)
    plan = reference_plan(name)
    spoken = Counter({key: calls for key, calls in volumes(there).items() if plan.ranks.group_size(key[1]) > 1})
    assert Counter({key: calls for key, calls in volumes(here).items() if key[1] != "pp"}) == spoken
    for phase in ("forward", "backward", "step"):
        seconds = sum(work.calls * work.flop / 1e9 for work in there.computations if work.phase == phase)
        assert sum(work.seconds for work in here.computations if work.phase == phase) == pytest.approx(seconds)


def test_the_sample_of_aicb_runs_and_names_what_it_leaves_out() -> None:
    """Two of its attention columns have a ReduceScatter of 0 bytes; three rows an AllToAll in both passes."""
    fabric = design(FABRICS / "gpu1024.yml")
    job, _ = load_any_job(REFERENCE / "aicb_mixtral_8x7b_head.txt")
    step = estimate(job, fabric.intent, fabric.topology)
    assert (step.gpus, dict(step.not_modelled)) == (128, {"operations of 0 bytes": 2})
    assert step.bubble_s == pytest.approx(0.0, abs=1e-12)
    experts = [turn for turn in step.collectives if turn.op == "alltoall"]
    assert [(turn.group, turn.ranks, turn.calls, turn.size_bytes) for turn in experts] == [("ep", 8, 6, 16777216)]
    assert step.step_s == pytest.approx(step.compute_s + sum(step.exposed_s.values()))


def test_stages_do_not_interleave_where_their_micro_batches_are_no_multiple(tmp_path: Path) -> None:
    """As in AICB's text of DeepSeek-V3, with 30 on 16 stages; the stages would wait for each other."""
    fabric = design(FABRICS / "gpu1024.yml")
    times = []
    for number, vpp in enumerate((1, 2)):
        stated = HEAD.replace("pp: 1 vpp: 1 ga: 1", f"pp: 4 vpp: {vpp} ga: 10")
        path = tmp_path / f"job{number}.txt"
        path.write_text(f"{stated}\n1\n{ROW}\n")
        times.append(estimate(load_any_job(path)[0], fabric.intent, fabric.topology).step_s)
    assert times[0] == times[1] > 0


def test_a_microbenchmark_is_of_all_gpus(tmp_path: Path) -> None:
    fabric = design(FABRICS / "pod64.yml")
    row = ["one", "-1", *NOTHING, *NOTHING, "1", "ALLTOALL", "64000000", "1"]
    job = written(tmp_path / "micro.txt", "MICRO", [row])
    phases = [{"collective": {"op": "alltoall", "bytes": "64MB", "group": "all"}}]
    same = Job.model_validate({"version": 1, "job": "made", "phases": phases})
    here, there = (estimate(each, fabric.intent, fabric.topology).collectives for each in (job, same))
    assert [(turn.ranks, turn.call_s) for turn in here] == [(turn.ranks, turn.call_s) for turn in there]


ROW = "attention_row\t-1\t10\tALLREDUCE\t1024\t10\tNONE\t0\t10\tNONE\t0\t100"
HEAD = "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 8 ep: 1 pp: 1 vpp: 1 ga: 1 all_gpus: 64"
FAULTS = {
    "another order": ("HYBRID_DLRM 3\n1\n" + ROW, "job.txt:1: the order of layers of HYBRID_DLRM is not modelled"),
    "no count": (HEAD, "job.txt:2: the number of rows is '', which is no whole number from 0 up"),
    "cut off": (f"{HEAD}\n2\n{ROW}\n", "job.txt:2: 2 rows are stated, and 1 follow. Generate the file again if"),
    "a row too many": (f"{HEAD}\n1\n{ROW}\n{ROW}\n", "job.txt:2: 1 rows are stated, and 2 follow"),
    "a row cut off": (f"{HEAD}\n1\n{ROW[:-9]}\n", "job.txt:3: the row has 10 fields, and 12 are expected"),
    "an operation": (f"{HEAD}\n1\n{ROW.replace('ALLREDUCE', 'ALLREDUCEALLTOALL')}\n", "job.txt:3: 'ALLREDUCEALL"),
    "NaN": (f"{HEAD}\n1\n{ROW.replace('1024', 'nan')}\n", "job.txt:3: 'nan' is no whole number from 0 up"),
    "infinite": (f"{HEAD}\n1\n{ROW.replace('1024', 'inf')}\n", "job.txt:3: 'inf' is no whole number"),
    "negative": (f"{HEAD}\n1\n{ROW.replace('1024', '-5')}\n", "job.txt:3: '-5' is no whole number"),
    "no pipeline": (f"{HEAD.replace('pp: 1', 'pp: 0', 1)}\n1\n{ROW}\n", "job.txt:1: pp is 0. State 1 or more"),
    "GPUs": (f"{HEAD.replace('64', '128')}\n1\n{ROW}\n", "job.txt:1: all_gpus is 128, and the fabric has 64 GPUs"),
    "ranks": (
        f"{HEAD.replace('64', '60')}\n1\n{ROW}\n",
        "job.txt:1: model_parallel_NPU_group 8 x ep 1 x pp 1 does not divide 60 GPUs. State all_gpus as a mult",
    ),
    "nothing": (f"{HEAD}\n0\n", "job.txt: nothing takes any time"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_text_that_is_wrong_is_one_line(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text, message = FAULTS[name]
    fabric = design(FABRICS / "pod64.yml")
    monkeypatch.chdir(tmp_path)
    Path("job.txt").write_text(text)
    with pytest.raises(RailfabError) as raised:
        estimate(load_any_job(Path("job.txt"))[0], fabric.intent, fabric.topology)
    assert str(raised.value).startswith(message)
    assert "\n" not in str(raised.value)
