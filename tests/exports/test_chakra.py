"""Chakra: the traces of a job have its computations and bytes, for railfab's reader and for that of mlc-chakra."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import pytest
from tests.commands import run
from tests.documents.designs import FABRICS

from railfab.errors import RailfabError
from railfab.exports import HostNames, export_named
from railfab.fabric import Design, design
from railfab.intent import Job, load_job
from railfab.workload import estimate
from railfab.workload.job_hosts import hosts_of
from railfab.workload.job_traces import job_traces
from railfab.workload.recorded import load_any_job
from railfab.workload.recorded.nodes import NodeKind
from railfab.workload.training_work import training_work

JOBS = FABRICS.parent / "jobs"
CHAKRA = export_named("chakra")
US = 1e-6
SMALL_MODEL = {
    "version": 1,
    "job": "small",
    "model": {
        "layers": 8,
        "hidden": 1024,
        "heads": 8,
        "ffn": 4096,
        "vocabulary": 32000,
        "sequence": 1024,
    },
    "parallelism": {"tp": 4, "pp": 2, "micro_batches": 4},
}


@pytest.fixture(scope="module")
def pod64() -> Design:
    return design(FABRICS / "pod64.yml")


def named(name: str) -> Job:
    return load_job(JOBS / f"{name}.yml")


def small_model() -> Job:
    return Job.model_validate(SMALL_MODEL)


def written(folder: Path, fabric: Design, job: Job) -> Path:
    """The prefix of the traces of a job, written into a folder."""
    assert CHAKRA.of_job is not None
    for name, content in CHAKRA.of_job(fabric, HostNames(), job):
        if isinstance(content, bytes):
            (folder / Path(name).name).write_bytes(content)
    return folder / job.job


@pytest.mark.parametrize("job", [named("ring"), named("alltoall"), small_model()], ids=lambda job: job.job)
def test_what_is_read_back_is_the_step_node_by_node(job: Job, pod64: Design, tmp_path: Path) -> None:
    recorded, _ = load_any_job(written(tmp_path, pod64, job))
    planned = job_traces(job, pod64.intent, pod64.topology)
    assert len(recorded.traces) == len(planned) == len(hosts_of(job, pod64.topology)) * pod64.intent.hosts.gpus
    for read, trace in zip(recorded.traces, planned, strict=True):
        assert [replace(node, seconds=0.0) for node in read] == [
            replace(node, seconds=0.0, size_bytes=0 if node.kind is NodeKind.RECEIVE else node.size_bytes)
            for node in trace
        ]
        assert all(abs(a.seconds - b.seconds) <= US for a, b in zip(read, trace, strict=True))
    assert recorded.not_modelled == {}


@pytest.mark.parametrize("name", ["ring", "alltoall"])
def test_a_job_of_collectives_takes_as_long_as_its_traces(name: str, pod64: Design, tmp_path: Path) -> None:
    recorded, _ = load_any_job(written(tmp_path, pod64, named(name)))
    job, traces = (estimate(each, pod64.intent, pod64.topology) for each in (named(name), recorded))
    assert traces.step_s == pytest.approx(job.step_s, rel=1e-9)
    assert traces.compute_s == pytest.approx(job.compute_s)


def test_a_training_step_has_the_bytes_and_computations_of_each_stage(pod64: Design) -> None:
    job = small_model()
    work = training_work(job, pod64.intent, hosts_of(job, pod64.topology))
    traces = job_traces(job, pod64.intent, pod64.topology)
    ranks = work.plan.ranks
    for stage, graph in enumerate(work.graphs):
        trace = next(traces[rank] for rank in range(ranks.count) if ranks.place(rank)["pp"] == stage)
        seconds = sum(node.seconds for node in trace)
        assert seconds == pytest.approx(sum(work_.calls * work_.flop / work.flop_per_s for work_ in graph.computations))
        planned, moved = Counter(), Counter()
        for talk in graph.communications:
            if talk.group != "pp":
                planned[talk.op] += talk.calls * talk.size_bytes
        for node in trace:
            if node.kind is NodeKind.COLLECTIVE:
                group = len({rank for rank, each in enumerate(traces) if any(n.group == node.group for n in each)})
                moved[node.op] += node.size_bytes * (group if node.op == "allgather" else 1)
        assert moved.keys() == planned.keys()
        assert all(moved[op] == pytest.approx(planned[op], rel=1e-5) for op in planned)
        sends = [node for node in trace if node.kind is NodeKind.SEND]
        assert len(sends) == work.plan.parallelism.micro_batches
        assert {ranks.place(node.peer)["pp"] for node in sends} == {1 - stage}


def test_a_step_of_a_model_takes_about_as_long_as_its_traces(pod64: Design, tmp_path: Path) -> None:
    """Operations of a pass that are alike are one in a trace, without the latencies of the others."""
    job = small_model()
    recorded, _ = load_any_job(written(tmp_path, pod64, job))
    planned, traces = (estimate(each, pod64.intent, pod64.topology).step_s for each in (job, recorded))
    assert 0.5 * planned <= traces <= planned * 1.02


@pytest.mark.parametrize("job", [named("ring"), named("incast"), small_model()], ids=lambda job: job.job)
def test_the_reader_of_chakra_takes_the_traces(job: Job, pod64: Design, tmp_path: Path) -> None:
    et = pytest.importorskip("chakra.schema.protobuf.et_def_pb2", reason="needs mlc-chakra; run: make oracle-deps")
    protolib = pytest.importorskip("chakra.src.third_party.utils.protolib")
    prefix = written(tmp_path, pod64, job)
    types = {"compute": et.COMP_NODE, "collective": et.COMM_COLL_NODE, "send": et.COMM_SEND_NODE}
    types |= {"receive": et.COMM_RECV_NODE}
    comm_types = {"allreduce": et.ALL_REDUCE, "allgather": et.ALL_GATHER, "reducescatter": et.REDUCE_SCATTER}
    comm_types |= {"alltoall": et.ALL_TO_ALL, "broadcast": et.BROADCAST}
    for rank, planned in enumerate(job_traces(job, pod64.intent, pod64.topology)):
        file = BytesIO(Path(f"{prefix}.{rank}.et").read_bytes())
        metadata, node, nodes = et.GlobalMetadata(), et.Node(), []
        assert protolib.decodeMessage(file, metadata)
        assert metadata.version == "1.0.0"
        while protolib.decodeMessage(file, node):
            copied = et.Node()
            copied.CopyFrom(node)
            nodes.append(copied)
        assert [each.type for each in nodes] == [types[each.kind] for each in planned]
        assert [tuple(each.data_deps) for each in nodes] == [each.after for each in planned]
        for each, expected in zip(nodes, planned, strict=True):
            values = {attribute.name: attribute for attribute in each.attr}
            if expected.kind is NodeKind.COLLECTIVE:
                assert values["comm_type"].int64_val == comm_types[expected.op]
                assert values["comm_size"].int64_val == expected.size_bytes
            if expected.kind is NodeKind.SEND:
                assert (values["comm_dst"].int64_val, values["comm_size"].int64_val) == (
                    expected.peer,
                    expected.size_bytes,
                )


def test_ranks_are_the_gpus_of_the_hosts_of_the_job(pod64: Design) -> None:
    assert CHAKRA.of_job is not None
    job = Job.model_validate({**SMALL_MODEL, "hosts": ["pod1-seg2-host1", "pod1-seg1-host1"]})
    files = dict(CHAKRA.of_job(pod64, HostNames({"pod1-seg1-host1": "gpu01"}), job))
    rows = files["chakra/ranks.csv"].splitlines()
    assert rows[:2] == ["rank,host,gpu", "0,pod1-seg2-host1,0"]
    assert rows[9] == "8,gpu01,0"
    assert len(rows) == 17 == len(files)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("chakra",), "chakra: is of a job. Name it with --job."),
        (("slurm", "--job", JOBS / "ring.yml"), "slurm: has no job. Leave out --job."),
        (("chakra", "--job", JOBS / "ring.yml"), "chakra/ring.0.et: is no text. Give a folder with -o."),
        (("chakra", "--job", "missing.yml"), "missing.yml: "),
        (("chakra", "--job", "large.yml"), "large.yml:3: "),
        (("chakra", "--job", "beside.yml"), "beside.yml:3: "),
    ],
)
def test_a_job_that_does_not_fit_is_one_line(arguments: tuple[str | Path, ...], expected: str, tmp_path: Path) -> None:
    phases = "phases: [{compute: {ms: 1}}]"
    (tmp_path / "large.yml").write_text(f"version: 1\njob: large\nhosts: 9\n{phases}\n")
    (tmp_path / "beside.yml").write_text(f"version: 1\njob: beside\nbackground: {{roce: 10}}\n{phases}\n")
    done = run("export", arguments[0], FABRICS / "pod64.yml", *arguments[1:], cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"railfab: {expected}")
    assert done.stderr.count("\n") == 1


def test_a_trace_with_too_many_nodes_is_refused(pod64: Design, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("railfab.workload.job_traces.MOST_NODES", 100)
    with pytest.raises(RailfabError, match=r"more than 100 nodes\. Use fewer hosts or micro-batches\.$"):
        job_traces(named("ring"), pod64.intent, pod64.topology)
