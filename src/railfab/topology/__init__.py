"""Nodes, ports, links, rails, addresses and AS numbers of a fabric; the catalogue of switches; the cabling plan."""

from railfab.topology.addresses import HOST_LINKS, LOOPBACKS
from railfab.topology.cabling import cabling_csv
from railfab.topology.catalogue import SwitchModel, catalogue, switch_model
from railfab.topology.checks import Capacity, capacities, findings
from railfab.topology.model import (
    TIERS,
    Address,
    Bond,
    Breakout,
    Gateway,
    Interface,
    Link,
    LinkKind,
    Net,
    Network,
    Node,
    Pools,
    Port,
    Role,
    Summary,
    Topology,
    link_kind,
)
from railfab.topology.wiring import wire

__all__ = [
    "HOST_LINKS",
    "LOOPBACKS",
    "TIERS",
    "Address",
    "Bond",
    "Breakout",
    "Capacity",
    "Gateway",
    "Interface",
    "Link",
    "LinkKind",
    "Net",
    "Network",
    "Node",
    "Pools",
    "Port",
    "Role",
    "Summary",
    "SwitchModel",
    "Topology",
    "cabling_csv",
    "capacities",
    "catalogue",
    "findings",
    "link_kind",
    "switch_model",
    "wire",
]
