"""NCCL and RCCL: the environment that fits the fabric, as a configuration file for all hosts.

Sources: NCCL 2.30.7 (5067397), misc/param.cc and misc/utils.cc; RCCL's documentation of its environment.
"""

from __future__ import annotations

from collections.abc import Iterator

from railfab.exports.contract import ExportFormat
from railfab.fabric import Design
from railfab.fabric.file_sets import Document
from railfab.fabric.host_names import HostNames
from railfab.hosts import needs_settings
from railfab.hosts.environment import devices, environment
from railfab.hosts.ports import roce_ports
from railfab.intent import FabricIntent

NAME = "nccl/nccl.conf"
WITHOUT_DEVICES = "# NCCL_IB_HCA is missing: the plan knows the RDMA devices of a host by hosts.rdma_devices."
ON_A_HOST = "# hosts/nic.py --env reads them on a host."
ULTRA_ETHERNET = "# The transport is Ultra Ethernet: NCCL has it in a network plugin, and NCCL_IB_* are of RoCE."


def documents(design: Design, names: HostNames) -> Iterator[Document]:  # noqa: ARG001 (all hosts are cabled alike)
    """One file for all hosts. NCCL reads the lines with an equals sign of a file; older versions in comments, too."""
    topology, intent = design.topology, design.intent
    ports = roce_ports(topology, intent)
    lines = [
        f"# NCCL on every host of {topology.fabric}: /etc/nccl.conf (RCCL: /etc/rccl.conf), or",
        "# `set -a; . ./nccl.conf`.",
        *_notes(intent),
    ]
    for variable in (*environment(topology, intent, ports), *devices(intent, ports)):
        lines += [f"# {variable.reason} ({variable.source})", f"{variable.name}={variable.value}"]
    yield NAME, "\n".join((*lines, ""))


EXPORT = ExportFormat(
    help="the environment of NCCL and RCCL for all hosts: traffic class, queue pairs, rails and planes",
    documents=documents,
    with_plan=True,
)


def _notes(intent: FabricIntent) -> tuple[str, ...]:
    if intent.profile.transport != "rocev2":
        return (ULTRA_ETHERNET,)
    if intent.hosts.rdma_devices:
        return ()
    return (WITHOUT_DEVICES, ON_A_HOST) if needs_settings(intent) else (WITHOUT_DEVICES,)
