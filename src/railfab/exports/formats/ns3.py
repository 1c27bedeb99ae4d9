"""ns-3 with HPCC's model of RDMA, which ASTRA-sim's ns-3 back end reads too: the topology file, and flows of a job.

Nodes are NICs, in the order of ranks, then switches. The file knows no comment; a table says which NIC a node is.
Flows begin at times that the file states: those of a phase where the phases before it end if nothing slows them.
Sources: HPCC simulation/mix and astra-network-ns3 8fd3604, topology files and third.cc.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from railfab.errors import RailfabError
from railfab.exports.contract import ExportFormat
from railfab.exports.graph import BackendGraph, Nic, backend_graph, delay_ns, nic_table
from railfab.fabric import Design
from railfab.fabric.file_sets import Content, Document
from railfab.fabric.host_names import HostNames
from railfab.intent import Job
from railfab.topology import PortKey
from railfab.units import NS_PER_S, bytes_per_s
from railfab.workload import Transfer, stages

ERROR_RATE = "0"
MOST_BYTES = 2**32 - 1
"""Of a flow: HPCC reads its size into 32 bits."""
PRIORITY, PORT = 3, 100
"""Priority without a lossless class, and UDP port, as in HPCC's own files."""


def documents(design: Design, names: HostNames) -> Iterator[Document]:
    """The topology, and the NIC of each node."""
    graph = backend_graph(design)
    yield "ns3/topology.txt", _topology(graph)
    yield "ns3/nodes.csv", nic_table(graph, names)


def of_job(design: Design, names: HostNames, job: Job) -> Iterator[Content]:  # noqa: ARG001 (flows name nodes)
    """The flows of one step of a job of phases. Raises IntentError for a job that does not fit."""
    if job.model is not None:
        problem = "transfers of a training step wait for each other, and flows of HPCC begin at times that are stated"
        raise RailfabError(job.job, problem, "Use railfab export chakra, or a job of phases")
    yield "ns3/flow.txt", _flows(backend_graph(design), design, job)


EXPORT = ExportFormat(
    help="the topology of HPCC's ns-3, also for ASTRA-sim, with the NIC of each node, and flows of a job",
    documents=documents,
    of_job=of_job,
)


def _flows(graph: BackendGraph, design: Design, job: Job) -> str:
    """The number of flows, then a flow a line: ends, priority, port, bytes and start [s]."""
    lossless = design.intent.profile.lossless
    priority = PRIORITY if lossless is None else lossless.priority
    rails = {(link.a.node, link.a.name): link.a.rail for link in graph.links if link.a.rail is not None}
    lines, start_s = [], 0.0
    for stage in stages(job, design.topology, design.intent):
        start_s += stage.compute_ns / NS_PER_S
        for transfer in stage.transfers:
            source, target = (graph.numbers[Nic(end[0], rails[end])] for end in (transfer.source, transfer.target))
            size_bytes = max(1, round(transfer.payload_bytes))
            if size_bytes > MOST_BYTES:
                problem = f"a flow has {size_bytes:,} bytes, and HPCC reads {MOST_BYTES:,} at most"
                raise RailfabError(job.job, problem, "Use fewer bytes")
            lines.append(f"{source} {target} {priority} {PORT} {size_bytes} {start_s:.9f}")
        start_s += _longest_s(stage.transfers, design)
    return "\n".join((str(len(lines)), *lines, ""))


def _longest_s(transfers: Sequence[Transfer], design: Design) -> float:
    """How long the port with most bytes needs, sending or receiving [s]."""
    sent: Counter[PortKey] = Counter()
    received: Counter[PortKey] = Counter()
    for transfer in transfers:
        sent[transfer.source] += round(transfer.payload_bytes)
        received[transfer.target] += round(transfer.payload_bytes)
    most = max((*sent.values(), *received.values()), default=0)
    return most / bytes_per_s(design.intent.hosts.port_gbps)


def _topology(graph: BackendGraph) -> str:
    """The numbers of nodes, switches and links, then the switches, then a link a line: ends, rate, delay and errors."""
    lines = [
        f"{len(graph.numbers)} {len(graph.switches)} {len(graph.links)}",
        " ".join(str(graph.numbers[switch.name]) for switch in graph.switches),
    ]
    lines += link_lines(graph)
    return "\n".join((*lines, ""))


def link_lines(graph: BackendGraph) -> Iterator[str]:
    for lower, upper, link in graph.numbered():
        yield f"{lower} {upper} {link.rate_gbps}Gbps {milliseconds(delay_ns(link))} {ERROR_RATE}"


def milliseconds(nanoseconds: float) -> str:
    return f"{nanoseconds / 1e6:.9f}".rstrip("0").rstrip(".") + "ms"
