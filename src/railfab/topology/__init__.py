"""Nodes, ports, links, rails, addresses and AS numbers of a fabric; the catalogue of switches; checks."""

from railfab.topology.catalogue import SwitchModel, catalogue, switch_model
from railfab.topology.checks import Capacity, capacities, drain_alternatives, drain_findings, findings
from railfab.topology.failures import FailureDomain, FailureKind, failure_domains
from railfab.topology.model import (
    TIERS,
    Address,
    Bond,
    Breakout,
    CabledPort,
    Gateway,
    Interface,
    Link,
    LinkKind,
    Net,
    Network,
    Node,
    Pools,
    PortKey,
    Role,
    Summary,
    Topology,
    link_kind,
)
from railfab.topology.wiring import wire

__all__ = [
    "TIERS",
    "Address",
    "Bond",
    "Breakout",
    "CabledPort",
    "Capacity",
    "FailureDomain",
    "FailureKind",
    "Gateway",
    "Interface",
    "Link",
    "LinkKind",
    "Net",
    "Network",
    "Node",
    "Pools",
    "PortKey",
    "Role",
    "Summary",
    "SwitchModel",
    "Topology",
    "capacities",
    "catalogue",
    "drain_alternatives",
    "drain_findings",
    "failure_domains",
    "findings",
    "link_kind",
    "switch_model",
    "wire",
]
