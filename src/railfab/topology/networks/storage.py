"""Storage: hosts and storage servers on the same leaves, each NIC port routed with a /31."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from railfab.intent import Storage
from railfab.topology.model import Net, Node, Role
from railfab.topology.networks.access import AccessNetwork
from railfab.topology.networks.members import host_cables, server_cables
from railfab.topology.networks.parts import Part, access_links, routed, switches, uplinks


def storage_part(network: AccessNetwork, storage: Storage, hosts: Sequence[Node], *, numbered: bool) -> Part:
    servers = tuple(_servers(storage))
    ports = tuple(f"store-p{port}" for port in range(storage.server_ports))
    cables = chain(host_cables(network, hosts), server_cables(network, servers, ports))
    links = (*access_links(network, cables, routed(network)), *uplinks(network, numbered=numbered))
    return Part(nodes=(*servers, *switches(network, links, reflectors=None)), links=links)


def _servers(storage: Storage) -> Iterator[Node]:
    for server in range(1, storage.servers + 1):
        name = f"store-server{server}"
        yield Node(name=name, role=Role.SERVER, pod=0, segment=None, index=server, net=Net.STORAGE)
