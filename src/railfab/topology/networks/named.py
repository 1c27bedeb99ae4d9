"""The networks of a cluster with their purposes and bandwidths, for summaries and explanations."""

from __future__ import annotations

from dataclasses import dataclass

from railfab.intent import FabricIntent, Frontend, Management, ScaleUp, Storage
from railfab.topology.model import Net


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedNetwork:
    """One network of a cluster.

    net: None for scale-up, whose switches are inside the hosts. about: its purpose, and the attachment of hosts.
    ports: of a host. gpus: of a host. gbps_per_host: bandwidth of a host [Gb/s]. lossless: its links carry the RoCE
    class. ratio: largest oversubscription; None if none is stated. reaches: networks that it may reach.
    """

    name: str
    net: Net | None
    about: str
    gpus: int
    gbps_per_host: int
    ports: tuple[str, ...] = ()
    lossless: bool = False
    ratio: float | None = None
    reaches: tuple[str, ...] = ()

    @property
    def gbps_per_gpu(self) -> float:
        """Bandwidth per GPU [Gb/s]."""
        return self.gbps_per_host / self.gpus


def networks_of(intent: FabricIntent) -> tuple[NamedNetwork, ...]:
    """Scale-out, scale-up, frontend, storage and management, if the intent has them, in this order."""
    gpus, lossless = intent.hosts.gpus, intent.profile.lossless is not None
    found = (
        _scale_out(intent, lossless=lossless),
        intent.hosts.scale_up and _scale_up(intent.hosts.scale_up, gpus),
        intent.frontend and _frontend(intent.frontend, gpus),
        intent.storage and _storage(intent.storage, gpus, lossless=lossless),
        intent.management_network and _management(intent.management_network, gpus),
    )
    return tuple(network for network in found if network)


ATTACHED = {
    "routed": "each NIC port routed, with a /31",
    "vlan": "a VLAN per rail",
    "mlag": "the ports of a NIC in a LAG to two switches (MLAG)",
    "esi": "the ports of a NIC in a LAG to two switches (EVPN multihoming)",
}


def _scale_out(intent: FabricIntent, *, lossless: bool) -> NamedNetwork:
    hosts, backend = intent.hosts, intent.backend
    ports = tuple(f"rail{rail}-p{port}" for rail in range(1, hosts.nics + 1) for port in range(hosts.nic_ports))
    return NamedNetwork(
        name="scale-out",
        net=Net.BACKEND,
        about=f"GPUs of different hosts, {ATTACHED[hosts.attach]}",
        gpus=hosts.gpus,
        gbps_per_host=len(ports) * hosts.rate_gbps,
        ports=ports,
        lossless=lossless,
        ratio=backend.oversubscription,
        reaches=backend.reaches,
    )


def _scale_up(own: ScaleUp, gpus: int) -> NamedNetwork:
    about = f"GPUs of one host, over {own.name}"
    return NamedNetwork(name="scale-up", net=None, about=about, gpus=gpus, gbps_per_host=gpus * own.gbps_per_gpu)


def _frontend(own: Frontend, gpus: int) -> NamedNetwork:
    tenants = f", tenants {', '.join(own.tenants)} in EVPN/VXLAN" if own.tenants else ""
    return NamedNetwork(
        name="frontend",
        net=Net.FRONTEND,
        about=f"users, schedulers and the outside, {ATTACHED[own.attach]}{tenants}",
        gpus=gpus,
        gbps_per_host=own.nic_ports * own.rate_gbps,
        ports=tuple(f"front-p{port}" for port in range(own.nic_ports)),
        ratio=own.oversubscription,
        reaches=own.reaches,
    )


def _storage(own: Storage, gpus: int, *, lossless: bool) -> NamedNetwork:
    protocol = {"roce": "RoCE", "nvme-tcp": "NVMe-oF over TCP"}[own.protocol]
    return NamedNetwork(
        name="storage",
        net=Net.STORAGE,
        about=f"datasets and checkpoints by {protocol}, {ATTACHED['routed']}",
        gpus=gpus,
        gbps_per_host=own.nic_ports * own.rate_gbps,
        ports=tuple(f"store-p{port}" for port in range(own.nic_ports)),
        lossless=lossless and own.protocol == "roce",
        ratio=own.oversubscription,
        reaches=own.reaches,
    )


def _management(own: Management, gpus: int) -> NamedNetwork:
    isolation = {"vrf": "in a separate VRF", "vlans": "in a VLAN per purpose"}[own.isolation]
    services = [name for name, servers in own.services if servers]
    offered = f", with {', '.join(services)}" if services else ""
    return NamedNetwork(
        name="management",
        net=Net.MANAGEMENT,
        about=f"hosts, BMCs and switches {isolation}{offered}",
        gpus=gpus,
        gbps_per_host=2 * own.rate_gbps,
        ports=("mgmt0", "bmc"),
        reaches=own.reaches,
    )
