"""Chakra: the graph of a job for each of its ranks, which ASTRA-sim, Chakra's tools and `railfab simulate` read.

Source: mlcommons/chakra 1.0.0 (21585d8).
"""

from __future__ import annotations

from collections.abc import Iterator

from railfab.exports.contract import ExportFormat
from railfab.fabric import Design
from railfab.fabric.file_sets import Content, Document
from railfab.fabric.host_names import HostNames
from railfab.intent import Job
from railfab.workload.job_hosts import hosts_of


def documents(design: Design, names: HostNames) -> Iterator[Document]:  # noqa: ARG001 (a graph is that of a job)
    """None without a job."""
    return iter(())


def of_job(design: Design, names: HostNames, job: Job) -> Iterator[Content]:
    """A file a rank, and the host and GPU of each."""
    from railfab.workload.job_traces import job_traces
    from railfab.workload.recorded.written import trace_bytes

    for rank, nodes in enumerate(job_traces(job, design.intent, design.topology)):
        yield f"chakra/{job.job}.{rank}.et", trace_bytes(nodes)
    gpus = range(design.intent.hosts.gpus)
    places = ((host, gpu) for host in hosts_of(job, design.topology) for gpu in gpus)
    rows = (f"{rank},{names[host]},{gpu}" for rank, (host, gpu) in enumerate(places))
    yield "chakra/ranks.csv", "\n".join(("rank,host,gpu", *rows, ""))


EXPORT = ExportFormat(
    help="the graph of a job for each rank, as Chakra execution traces",
    documents=documents,
    of_job=of_job,
    only_jobs=True,
)
