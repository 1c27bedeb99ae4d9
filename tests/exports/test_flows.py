"""Flows for HPCC's ns-3, read by its rules (4b78df6, scratch/third.cc): those of a twin, each phase in turn."""

from __future__ import annotations

from collections import Counter

import pytest
from tests.documents.designs import FABRICS

from railfab.errors import RailfabError
from railfab.exports import HostNames, export_named
from railfab.fabric import Design, design
from railfab.intent import Job, load_job
from railfab.workload import stages

NS3 = export_named("ns3")
JOBS = FABRICS.parent / "jobs"


@pytest.fixture(scope="module")
def pod64() -> Design:
    return design(FABRICS / "pod64.yml")


def flows(fabric: Design, job: Job) -> list[tuple[str, str, int, float]]:
    """Source and target (host and rail), bytes and start of each flow; in the order of starts, as HPCC wants."""
    assert NS3.of_job is not None
    files = {**dict(NS3.documents(fabric, HostNames())), **dict(NS3.of_job(fabric, HostNames(), job))}
    rows = [line.split(",") for line in files["ns3/nodes.csv"].splitlines()[1:]]
    nics = {int(node): f"{host} {rail}" for node, host, rail in rows}
    count, *lines = files["ns3/flow.txt"].splitlines()
    assert int(count) == len(lines)
    read = []
    for line in lines:
        source, target, priority, port, size, start = line.split()
        assert (priority, port) == (str(fabric.intent.profile.lossless.priority), "100")
        assert 0 < int(size) < 2**32
        read.append((nics[int(source)], nics[int(target)], int(size), float(start)))
    assert [start for *_, start in read] == sorted(start for *_, start in read)
    return read


def planned(fabric: Design, job: Job) -> Counter[tuple[str, str, int]]:
    rails = {(link.a.node, link.a.name): f"{link.a.node} {link.a.rail}" for link in fabric.topology.links}
    return Counter(
        (rails[transfer.source], rails[transfer.target], round(transfer.payload_bytes))
        for stage in stages(job, fabric.topology, fabric.intent)
        for transfer in stage.transfers
    )


@pytest.mark.parametrize("name", ["ring", "incast"])
def test_the_flows_are_those_of_the_job_between_the_nics_of_the_plan(name: str, pod64: Design) -> None:
    job = load_job(JOBS / f"{name}.yml")
    read = flows(pod64, job)
    assert Counter(flow[:3] for flow in read) == planned(pod64, job)
    assert {start for *_, start in read} == {job.phases[0].compute.ms / 1000}


def test_a_phase_begins_where_those_before_it_end(pod64: Design) -> None:
    """A ring of 8 hosts at 2 x 100 Gb/s: each port sends 7/4 of its half of the bytes."""
    ring = {"collective": {"op": "allreduce", "algorithm": "ring", "bytes": 10**9}}
    phases = [{"compute": {"ms": 5}}, ring, {"compute": {"ms": 7}}, ring]
    job = Job.model_validate({"version": 1, "job": "two", "phases": phases})
    starts = sorted({start for *_, start in flows(pod64, job)})
    assert starts == [0.005, pytest.approx(0.005 + 0.007 + 1.75 * 10**9 / 2 * 8 / 100e9, abs=1e-8)]


def test_what_hpcc_cannot_have_is_one_line(pod64: Design) -> None:
    assert NS3.of_job is not None
    with pytest.raises(RailfabError, match=r"^llama3-70b: transfers of a training step wait .+ a job of phases\.$"):
        list(NS3.of_job(pod64, HostNames(), load_job(JOBS / "llama3-70b.yml")))
    traffic = {"pattern": "incast", "senders": 1, "bytes": 2**32}
    job = Job.model_validate({"version": 1, "job": "big", "phases": [{"traffic": traffic}]})
    with pytest.raises(RailfabError, match=r"^big: a flow has 4,294,967,296 bytes, and HPCC reads 4,294,967,295 at "):
        list(NS3.of_job(pod64, HostNames(), job))
