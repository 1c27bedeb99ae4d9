"""ns-3 with HPCC's model of RDMA, which ASTRA-sim's ns-3 back end reads too: the topology file.

Nodes are NICs, in the order of ranks, then switches. The file knows no comment; a table says which NIC a node is.
Sources: HPCC simulation/mix and astra-network-ns3 8fd3604, topology files and third.cc.
"""

from __future__ import annotations

from collections.abc import Iterator

from railfab.exports.contract import ExportFormat
from railfab.exports.graph import BackendGraph, backend_graph, delay_ns, nic_table
from railfab.fabric import Design
from railfab.fabric.file_sets import Document
from railfab.fabric.host_names import HostNames

ERROR_RATE = "0"


def documents(design: Design, names: HostNames) -> Iterator[Document]:
    """The topology, and the NIC of each node."""
    graph = backend_graph(design)
    yield "ns3/topology.txt", _topology(graph)
    yield "ns3/nodes.csv", nic_table(graph, names)


EXPORT = ExportFormat(
    help="the topology of HPCC's ns-3, also for ASTRA-sim, with the NIC of each node", documents=documents
)


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
