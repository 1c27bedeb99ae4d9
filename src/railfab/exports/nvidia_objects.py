"""What NVIDIA's operators for Kubernetes want of a fabric: settings of the NICs, and the addresses of each rail port.

One manifest: a NicConfigurationTemplate, since all NICs are set alike; a CIDRPool for each port of a host, whose
prefixes and gateways are those that the plan gives each host there; and a SpectrumXRailPoolConfig with these ports.
Sources: NIC Configuration Operator 8bfbeb3, NicConfigurationTemplate v1alpha1; NVIDIA IPAM 3ce4a34, CIDRPool v1alpha1
and cidrpool_validate.go; Network Operator b06827e, SpectrumXRailPoolConfig v1alpha2.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from railfab.fabric import Design
from railfab.fabric.host_names import HostNames
from railfab.hosts.catalogue import NicModel, needs_settings, nic_of
from railfab.hosts.ports import roce_ports
from railfab.hosts.settings import by_priority, tos
from railfab.intent import Lossless
from railfab.topology import Link
from railfab.topology.rail_prefixes import rail_prefixes

NAMESPACE = "nvidia-network-operator"
VFS = 1
VENDOR_FAMILY = "mlx5"


@dataclass(slots=True)
class _Pool:
    """The addresses of one port of every host. routes: prefixes of the rail switches that this port meets."""

    port: str
    length: int
    routes: dict[str, None] = field(default_factory=dict)
    allocations: list[str] = field(default_factory=list)


def nvidia_manifest(design: Design, names: HostNames, node_labels: dict[str, str]) -> str | None:
    """The manifest; None where the NICs are not NVIDIA's, or their ports have no addresses of their own."""
    nic, lossless = nic_of(design.intent), design.intent.profile.lossless
    if nic is None or nic.family != VENDOR_FAMILY or design.topology.pools is None:
        return None
    pools = _pools(design, names)
    if not pools:
        return None
    fabric = design.topology.fabric
    parts = [_pool_text(pool, fabric, str(design.topology.pools.hosts), node_labels) for pool in pools.values()]
    parts.append(_object(_rails(design, fabric, node_labels, [*pools])))
    if lossless is not None and needs_settings(design.intent):
        parts.insert(0, _object(_template(design, fabric, nic, lossless, node_labels)))
    return "".join(f"---\n{part}" for part in parts)


def _pools(design: Design, names: HostNames) -> dict[str, _Pool]:
    """The pool of each port of the backend that has an address, by its name."""
    topology, prefixes = design.topology, rail_prefixes(design.topology, design.intent)
    pools: dict[str, _Pool] = {}
    for link in topology.links:
        address, port = link.a.address, link.a
        if port.rail is None or address is None or link.z.address is None:
            continue
        pool = pools.setdefault(port.name, _Pool(port.name, address.network.prefixlen))
        prefix = prefixes.get((port.rail, link.z.node))
        if prefix is not None:
            pool.routes[str(prefix)] = None
        pool.allocations.append(_allocation(names[port.node], link))
    return pools


def _allocation(node: str, link: Link) -> str:
    assert link.a.address is not None
    assert link.z.address is not None
    prefix, gateway = link.a.address.network, link.z.address.ip
    return f'  - {{nodeName: {json.dumps(node)}, prefix: "{prefix}", gateway: "{gateway}"}}'


def _pool_text(pool: _Pool, fabric: str, cidr: str, node_labels: dict[str, str]) -> str:
    """A CIDRPool, with an allocation a line: a fabric has some for each host."""
    expressions = [{"key": key, "operator": "In", "values": [value]} for key, value in node_labels.items()]
    lines = [
        "apiVersion: nv-ipam.nvidia.com/v1alpha1",
        "kind: CIDRPool",
        f"metadata: {json.dumps({'name': f'{fabric}-{pool.port}', 'namespace': NAMESPACE})}",
        "spec:",
        f'  cidr: "{cidr}"',
        f"  perNodeNetworkPrefix: {pool.length}",
        "  gatewayIndex: 0",
        f"  nodeSelector: {json.dumps({'nodeSelectorTerms': [{'matchExpressions': expressions}]})}",
        "  routes:",
        *(f'  - {{dst: "{prefix}"}}' for prefix in pool.routes),
        "  staticAllocations:",
        *pool.allocations,
    ]
    return "\n".join((*lines, ""))


def _template(
    design: Design, fabric: str, nic: NicModel, lossless: Lossless, node_labels: dict[str, str]
) -> dict[str, Any]:
    cable_m = max(port.cable_m for port in roce_ports(design.topology, design.intent))
    qos = {
        "trust": "dscp",
        "pfc": ",".join(by_priority(lossless, roce=int(lossless.pfc), cnp=0, other=0)),
        "tos": tos(lossless),
        "cableLen": cable_m,
        "ecn": {"enabled": lossless.ecn is not False, "priority": lossless.priority},
        "pauseFrames": {"enabled": False},
    }
    return {
        "apiVersion": "configuration.net.nvidia.com/v1alpha1",
        "kind": "NicConfigurationTemplate",
        "metadata": {"name": fabric, "namespace": NAMESPACE},
        "spec": {
            "nodeSelector": node_labels,
            "nicSelector": {"nicType": nic.pci.partition(":")[2]},
            "template": {
                "numVfs": VFS,
                "linkType": "Ethernet",
                "roceOptimized": {"enabled": True, "roceMode": 2, "qos": qos},
            },
        },
    }


def _rails(design: Design, fabric: str, node_labels: dict[str, str], ports: list[str]) -> dict[str, Any]:
    mtus = {port.name: port.mtu for port in roce_ports(design.topology, design.intent)}
    topology = [
        {"name": port, "mtu": mtus[port], "nicSelector": {"pfNames": [port]}, "cidrPoolRef": f"{fabric}-{port}"}
        for port in ports
    ]
    return {
        "apiVersion": "spectrumx.nvidia.com/v1alpha2",
        "kind": "SpectrumXRailPoolConfig",
        "metadata": {"name": fabric, "namespace": NAMESPACE},
        "spec": {"nodeSelector": node_labels, "numVfs": VFS, "railTopology": topology},
    }


def _object(content: dict[str, Any]) -> str:
    import yaml

    return yaml.safe_dump(content, sort_keys=False, width=1_000_000)
