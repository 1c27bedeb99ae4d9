"""The services of each network of a cluster, and the units that lose them when a switch or cable fails.

A network is measured in its own words. GPUs need bandwidth to each other, to storage and to the frontend; storage
servers need bandwidth to hosts. The management network carries functions: the operating system of a host, its BMC and
the CPU of a switch are reached by separate ports, none of which stands in for another, and a path is enough for each.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from railfab.intent import Hosts
from railfab.topology.exposure import Exposure
from railfab.topology.model import Link, Net, Role
from railfab.topology.networks.describe import MANAGED_PORTS


class Unit(StrEnum):
    """What is counted."""

    GPU = "GPU"
    HOST = "host"
    SERVER = "storage server"
    SWITCH = "switch"


class Service(StrEnum):
    """What a unit loses, as the end of a sentence: `24 GPUs lose 50 % of the bandwidth to storage`."""

    EVERY_GPU = "the bandwidth to every GPU"
    OTHER_LEAVES = "the bandwidth to GPUs behind other leaves"
    OTHER_PODS = "the bandwidth to GPUs of other pods"
    FRONTEND = "the bandwidth to the frontend"
    FRONTEND_LEAVES = "the bandwidth to the frontend behind other leaves"
    STORAGE = "the bandwidth to storage"
    STORAGE_LEAVES = "the bandwidth to storage behind other leaves"
    HOSTS = "the bandwidth to hosts"
    HOSTS_LEAVES = "the bandwidth to hosts behind other leaves"
    OPERATING_SYSTEM = "the access to the operating system (mgmt0)"
    BMC = "the access to power control and console (BMC)"
    SWITCH_CPU = "the out-of-band access (mgmt0)"


class AccessKind(StrEnum):
    """The links of units to leaves."""

    HOST = "host link"
    SERVER = "server link"
    MGMT0 = "mgmt0 link"
    BMC = "BMC link"
    SWITCH = "switch management link"


@dataclass(frozen=True, slots=True, kw_only=True)
class Population:
    """Units of one kind that lose the same service.

    network: with their links as members. access: their links. weighted: whether equal next hops are weighted by
    bandwidth. has_nics: whether their ports form NICs that can fail.
    near, far, farther: the service by failures up to a leaf, of uplinks of leaves, and of uplinks of spines.
    """

    network: Exposure
    unit: Unit
    access: AccessKind
    weighted: bool
    has_nics: bool
    near: Service
    far: Service
    farther: Service


def populations(network: Exposure, hosts: Hosts, *, weighted: bool) -> tuple[Population, ...]:
    """The units of a network by the service that they lose. Of the management network, those that have links."""
    if network.net is not Net.MANAGEMENT:
        return tuple(_on_data_network(network, hosts, weighted=weighted))
    return tuple(population for population in _on_management(network) if population.network.members)


_GPU_SERVICES = {
    Net.BACKEND: (Service.EVERY_GPU, Service.OTHER_LEAVES, Service.OTHER_PODS),
    Net.FRONTEND: (Service.FRONTEND, Service.FRONTEND_LEAVES, Service.FRONTEND_LEAVES),
    Net.STORAGE: (Service.STORAGE, Service.STORAGE_LEAVES, Service.STORAGE_LEAVES),
}


def _on_data_network(network: Exposure, hosts: Hosts, *, weighted: bool) -> Iterator[Population]:
    servers = _links(network, Role.SERVER) if network.net is Net.STORAGE else ()
    members = _links(network, Role.HOST) if servers else network.access
    near, far, farther = _GPU_SERVICES[network.net]
    yield Population(
        network=replace(network, members=members, units_per_node=hosts.gpus, units_per_nic=hosts.gpus_per_nic),
        unit=Unit.GPU,
        access=AccessKind.HOST,
        weighted=weighted,
        has_nics=True,
        near=near,
        far=far,
        farther=farther,
    )
    if servers:
        yield Population(
            network=replace(network, members=servers),
            unit=Unit.SERVER,
            access=AccessKind.SERVER,
            weighted=weighted,
            has_nics=False,
            near=Service.HOSTS,
            far=Service.HOSTS_LEAVES,
            farther=Service.HOSTS_LEAVES,
        )


def _on_management(network: Exposure) -> Iterator[Population]:
    mgmt0, bmc = MANAGED_PORTS
    for unit, role in ((Unit.HOST, Role.HOST), (Unit.SERVER, Role.SERVER)):
        links = _links(network, role)
        for port, access, service in (
            (mgmt0, AccessKind.MGMT0, Service.OPERATING_SYSTEM),
            (bmc, AccessKind.BMC, Service.BMC),
        ):
            yield _managed(network, tuple(link for link in links if link.a.name == port), unit, access, service)
    switches = tuple(link for link in network.access if network.nodes[link.a.node].role not in (Role.HOST, Role.SERVER))
    yield _managed(network, switches, Unit.SWITCH, AccessKind.SWITCH, Service.SWITCH_CPU)


def _managed(
    network: Exposure, members: tuple[Link, ...], unit: Unit, access: AccessKind, service: Service
) -> Population:
    return Population(
        network=replace(network, members=members, needs_path=True),
        unit=unit,
        access=access,
        weighted=False,
        has_nics=False,
        near=service,
        far=service,
        farther=service,
    )


def _links(network: Exposure, role: Role) -> tuple[Link, ...]:
    return tuple(link for link in network.access if network.nodes[link.a.node].role is role)
