"""Who hangs on a network, and where: hosts, storage servers, and on management every switch of the others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from railfab.intent import AccessLeaves, AccessSpines, FabricIntent, SuperSpines
from railfab.topology.model import Net, Node, Role
from railfab.topology.networks.access import AccessNetwork, Place, Socket
from railfab.topology.networks.describe import MANAGED_PORTS, switch_places


class Cable(NamedTuple):
    """An access link to be: a member's port, and where it arrives."""

    node: str
    port: str
    place: Place
    socket: Socket


def host_cables(network: AccessNetwork, hosts: Iterable[Node]) -> Iterator[Cable]:
    """By host and port."""
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
    """Of rail switches, beside the hosts of their segment, and of spines: two of them take a host's place."""
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
class Kind:
    """Nodes that management reaches and that stand in no pod. count: how many there are."""

    net: Net
    role: Role
    port: str
    count: int


def kinds(intent: FabricIntent) -> tuple[Kind, ...]:
    """In the order in which they share the spare places: the first of each kind, then the second of each, and so on.

    All kinds are there, since a network or tier that comes later must move nothing.
    """
    frontend, storage, switch = intent.frontend, intent.storage, MANAGED_PORTS[0]
    supers, planes = intent.backend.super_spines, intent.backend.planes
    servers = storage.servers if storage else 0
    return (
        *(Kind(Net.STORAGE, Role.SERVER, port, servers) for port in MANAGED_PORTS),
        Kind(Net.FRONTEND, Role.LEAF, switch, _count(frontend.leaves if frontend else None)),
        Kind(Net.FRONTEND, Role.SPINE, switch, _count(frontend.spines if frontend else None)),
        Kind(Net.STORAGE, Role.LEAF, switch, _count(storage.leaves if storage else None)),
        Kind(Net.STORAGE, Role.SPINE, switch, _count(storage.spines if storage else None)),
        Kind(Net.BACKEND, Role.SUPER, switch, planes * _count(supers)),
    )


def _count(tier: AccessLeaves | AccessSpines | SuperSpines | None) -> int:
    return tier.count if tier else 0


def spare_cables(network: AccessNetwork, nodes: Iterable[Node], intent: FabricIntent) -> Iterator[Cable]:
    """Of all that stand in no pod, to management."""
    own = kinds(intent)
    ports: dict[tuple[Net, Role], list[tuple[int, str]]] = {}
    for turn, kind in enumerate(own):
        ports.setdefault((kind.net, kind.role), []).append((turn, kind.port))
    for node in nodes:
        for turn, port in ports.get((node.net, node.role), ()):
            place = network.spare_place(_number(node, intent) * len(own) + turn)
            yield Cable(node.name, port, place, network.spare_socket(place, 0))


def _number(node: Node, intent: FabricIntent) -> int:
    """Of a node among its kind, from 0."""
    supers = intent.backend.super_spines
    before = (node.plane - 1) * supers.count if node.role is Role.SUPER and supers else 0
    return before + node.index - 1
