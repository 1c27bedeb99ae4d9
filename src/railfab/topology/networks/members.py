"""Members of an access network and their ports: hosts, storage servers, and on management every other switch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from railfab.intent import AccessLeaves, AccessSpines, FabricIntent, SuperSpines
from railfab.topology.model import Net, Node, Role
from railfab.topology.networks.access import AccessNetwork, Place, Socket
from railfab.topology.networks.describe import MANAGED_PORTS, switch_places


class Cable(NamedTuple):
    """A cable of a member: its port, its position, and its access port."""

    node: str
    port: str
    place: Place
    socket: Socket


def host_cables(network: AccessNetwork, hosts: Iterable[Node]) -> Iterator[Cable]:
    """The cables of hosts, ordered by host and port."""
    ports = tuple(enumerate(network.host_ports))
    for host in hosts:
        place = network.place(host.pod, host.segment or 1, host.index - 1)
        for link, port in ports:
            yield Cable(host.name, port, place, network.socket(place, link))


def server_cables(network: AccessNetwork, servers: Iterable[Node], ports: tuple[str, ...]) -> Iterator[Cable]:
    for server in servers:
        place = network.spare_place(server.index - 1)
        for link, port in enumerate(ports):
            yield Cable(server.name, port, place, network.spare_socket(place, link))


def pod_switch_cables(network: AccessNetwork, nodes: Iterable[Node], intent: FabricIntent) -> Iterator[Cable]:
    """The management cables of rail switches, after the hosts of their segment, and of spines; a slot has two."""
    backend = intent.backend
    switches = backend.segments.rail_switches
    hosts = network.segment_members - switch_places(switches * backend.planes)
    spines = backend.spines.count if backend.spines else 0
    for node in nodes:
        if node.net is not Net.BACKEND or node.role not in (Role.LEAF, Role.SPINE):
            continue
        if node.role is Role.LEAF:
            member, link = divmod((node.plane - 1) * switches + node.index - 1, len(network.host_ports))
            place = network.place(node.pod, node.segment or 1, hosts + member)
        else:
            member, link = divmod((node.plane - 1) * spines + node.index - 1, len(network.host_ports))
            place = network.pod_place(node.pod, member)
        yield Cable(node.name, MANAGED_PORTS[0], place, network.socket(place, link))


@dataclass(frozen=True, slots=True)
class SpareGroup:
    """Nodes of one role outside pods that connect to the management network. count: number of nodes."""

    net: Net
    role: Role
    port: str
    count: int


def spare_groups(intent: FabricIntent) -> tuple[SpareGroup, ...]:
    """The groups in the order of their spare ports: the first node of each group, then the second of each, and so on.

    Every group is listed, since a network or tier that is added later must move no cable.
    """
    frontend, storage, switch = intent.frontend, intent.storage, MANAGED_PORTS[0]
    supers, planes = intent.backend.super_spines, intent.backend.planes
    servers = storage.servers if storage else 0
    return (
        *(SpareGroup(Net.STORAGE, Role.SERVER, port, servers) for port in MANAGED_PORTS),
        SpareGroup(Net.FRONTEND, Role.LEAF, switch, _count(frontend.leaves if frontend else None)),
        SpareGroup(Net.FRONTEND, Role.SPINE, switch, _count(frontend.spines if frontend else None)),
        SpareGroup(Net.STORAGE, Role.LEAF, switch, _count(storage.leaves if storage else None)),
        SpareGroup(Net.STORAGE, Role.SPINE, switch, _count(storage.spines if storage else None)),
        SpareGroup(Net.BACKEND, Role.SUPER, switch, planes * _count(supers)),
    )


def _count(tier: AccessLeaves | AccessSpines | SuperSpines | None) -> int:
    return tier.count if tier else 0


def spare_cables(network: AccessNetwork, nodes: Iterable[Node], intent: FabricIntent) -> Iterator[Cable]:
    """The management cables of nodes outside pods."""
    groups = spare_groups(intent)
    ports: dict[tuple[Net, Role], list[tuple[int, str]]] = {}
    for turn, group in enumerate(groups):
        ports.setdefault((group.net, group.role), []).append((turn, group.port))
    for node in nodes:
        for turn, port in ports.get((node.net, node.role), ()):
            place = network.spare_place(_number(node, intent) * len(groups) + turn)
            yield Cable(node.name, port, place, network.spare_socket(place, 0))


def _number(node: Node, intent: FabricIntent) -> int:
    """Number of a node in its group, from 0."""
    supers = intent.backend.super_spines
    before = (node.plane - 1) * supers.count if node.role is Role.SUPER and supers else 0
    return before + node.index - 1
