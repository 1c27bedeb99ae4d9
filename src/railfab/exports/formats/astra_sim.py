"""ASTRA-sim: the network of its analytical back ends, and the logical dimensions of its ns-3 one.

The analytical back ends have no Clos: a dimension is the scale-up network of a host, the other one a rail, in which
every host has the ports of its NIC (ASTRA-sim #207). `railfab export ns3` has what spines do.
Sources: ASTRA-sim 518bd51, inputs/network and the parsers of its back ends.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from railfab.exports.contract import ExportFormat
from railfab.exports.graph import METRES_PER_NS
from railfab.fabric import Design
from railfab.fabric.file_sets import Document
from railfab.fabric.host_names import HostNames
from railfab.topology import Net

SCALE_UP_NS = 250.0
"""Delay of a link of the scale-up network [ns], as in ASTRA-sim's example of rails; railfab's catalogue has none."""
GIB_PER_GBIT = 1e9 / 8 / 2**30
"""The back ends take a bandwidth of 1 for 2 ** 30 bytes/s."""


def documents(design: Design, names: HostNames) -> Iterator[Document]:  # noqa: ARG001 (a dimension has no hosts)
    """The network and the logical dimensions."""
    hosts, count = design.intent.hosts, len(design.topology.hosts())
    path_m = sum(cable_m for cable_m, _ in design.topology.longest_path(Net.BACKEND))
    rail_gbps = hosts.rate_gbps * hosts.nic_ports / hosts.gpus_per_nic
    link_ns = path_m / 2 / METRES_PER_NS
    if hosts.scale_up is None:
        dimensions = [(count * hosts.gpus, rail_gbps, link_ns)]
    else:
        dimensions = [(hosts.gpus, hosts.scale_up.gbps_per_gpu, SCALE_UP_NS), (count, rail_gbps, link_ns)]
    sizes, rates, delays = zip(*dimensions, strict=True)
    yield "astra-sim/network.yml", _network(sizes, rates, delays)
    yield "astra-sim/logical.json", json.dumps({"logical-dims": [str(size) for size in sizes]}) + "\n"


EXPORT = ExportFormat(
    help="the network of ASTRA-sim's analytical back ends, and the logical dimensions for its ns-3",
    documents=documents,
    equal="a dimension of ASTRA-sim's networks has equal hosts",
)


def _network(sizes: tuple[int, ...], rates_gbps: tuple[float, ...], delays_ns: tuple[float, ...]) -> str:
    """A switch a dimension: GPUs, bandwidth of each, and the delay of a link, of which a message takes two."""
    lines = {
        "topology": ["Switch"] * len(sizes),
        "npus_count": map(str, sizes),
        "bandwidth": (f"{rate * GIB_PER_GBIT:.9f}" for rate in rates_gbps),
        "latency": (f"{delay:g}" for delay in delays_ns),
    }
    written = [f"{key}: [ {', '.join(values)} ]" for key, values in lines.items()]
    rates = ", ".join(f"{rate:g}" for rate in rates_gbps)
    written[2] += f"  # GiB/s: {rates} Gb/s"
    written[3] += "  # ns"
    return "\n".join((*written, ""))
