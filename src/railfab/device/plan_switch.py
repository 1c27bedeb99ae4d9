"""One switch while its model is planned: its node, its ports, and the intent of the fabric."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from railfab.intent import FabricIntent, Profile
from railfab.topology import Link, Net, Node, Port, Role, Topology


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """A port of a switch, the port at the other end, the node there, and the link between them."""

    port: Port
    peer: Port
    peer_node: Node
    link: Link

    @property
    def to_switch(self) -> bool:
        return self.peer_node.role not in (Role.HOST, Role.SERVER)


@dataclass(frozen=True, kw_only=True)
class PlannedSwitch:
    """A switch of a topology, for the functions that plan the parts of its model."""

    node: Node
    topology: Topology
    intent: FabricIntent

    @property
    def profile(self) -> Profile:
        return self.intent.profile

    @cached_property
    def connections(self) -> tuple[Connection, ...]:
        """The front-panel ports in use, in their order; without the management port of the switch."""
        nodes = self.topology.by_name
        return tuple(
            Connection(port=port, peer=peer, peer_node=nodes[peer.node], link=link)
            for port, peer, link in self.topology.ports_of(self.node.name)
            if port.cage
        )

    @property
    def carries_roce(self) -> bool:
        """Whether its network has the lossless class."""
        storage = self.intent.storage
        return self.node.net is Net.BACKEND or (
            self.node.net is Net.STORAGE and storage is not None and storage.protocol == "roce"
        )
