"""SimAI: the topology file of its ns-3, with an NVSwitch a host.

It differs from HPCC's in its first line, and has a link from each GPU to the NVSwitch of its host.
Sources: SimAI cef83f9, astra-sim-alibabacloud/inputs/topo and its generator.
"""

from __future__ import annotations

from collections.abc import Iterator

from railfab.errors import RailfabError
from railfab.exports.contract import ExportFormat
from railfab.exports.formats.ns3 import ERROR_RATE, milliseconds
from railfab.exports.graph import BackendGraph, backend_graph, delay_ns, nic_table
from railfab.fabric import Design
from railfab.fabric.file_sets import Document
from railfab.fabric.host_names import HostNames

GPU_TYPES = {2400: "A100", 3600: "H100"}
"""GPUs that SimAI knows, by their rate over NVLink [Gb/s]; of others it assumes nothing."""
NVLINK_NS = 25
"""Delay of a link to an NVSwitch, as SimAI's own topologies have it [ns]."""


def documents(design: Design, names: HostNames) -> Iterator[Document]:
    """The topology, and the NIC of each node. Raises RailfabError for hosts that SimAI cannot say."""
    hosts, remedy = design.intent.hosts, "Use railfab export ns3, whose nodes are NICs"
    if hosts.gpus_per_nic > 1:
        problem = f"{hosts.gpus_per_nic} GPUs share a NIC, and SimAI connects each GPU to its switch"
        raise RailfabError(design.document.where(("hosts", "nic_per")), problem, remedy)
    if hosts.scale_up is None:
        problem = "the hosts have no scale-up network, and SimAI connects each GPU to an NVSwitch"
        raise RailfabError(design.document.where(("hosts", "scale_up")), problem, remedy)
    graph = backend_graph(design)
    yield "simai/topology.txt", _topology(graph, len(graph.nics) // hosts.gpus, hosts.gpus, hosts.scale_up.gbps_per_gpu)
    yield "simai/nodes.csv", nic_table(graph, names)


EXPORT = ExportFormat(
    help="the topology of SimAI, with an NVSwitch a host and the NIC of each node", documents=documents
)


def _topology(graph: BackendGraph, hosts: int, gpus: int, nvlink_gbps: int) -> str:
    """Nodes are GPUs in the order of ranks, then NVSwitches, then rail switches, spines and super-spines."""
    nics, others = len(graph.nics), len(graph.switches)
    links = nics + len(graph.links)
    kind = GPU_TYPES.get(nvlink_gbps, "NONE")
    lines = [
        f"{nics + hosts + others} {gpus} {hosts} {others} {links} {kind}",
        " ".join(map(str, range(nics, nics + hosts + others))),
    ]
    nvlink = f"{nvlink_gbps}Gbps {milliseconds(NVLINK_NS)} {ERROR_RATE}"
    lines += [f"{nic} {nics + nic // gpus} {nvlink}" for nic in range(nics)]
    for lower, upper, link in graph.numbered():
        ends = (number + hosts if number >= nics else number for number in (lower, upper))
        lines.append(" ".join((*map(str, ends), f"{link.rate_gbps}Gbps", milliseconds(delay_ns(link)), ERROR_RATE)))
    return "\n".join((*lines, ""))
