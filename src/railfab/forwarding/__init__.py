"""Sessions, routes, next-hop groups and QoS of switches, computed from their configurations and the links. Pure."""

from railfab.forwarding.changed import changed_names
from railfab.forwarding.converge import FabricChange, converge, unconfigured
from railfab.forwarding.faults import Fibre, SwitchFault
from railfab.forwarding.flows import (
    Blocked,
    Connections,
    DropPlace,
    blocked,
    connection_ends,
    flow,
    obstacle,
    source_port,
)
from railfab.forwarding.limits import Uncomputed, refuse, uncomputed
from railfab.forwarding.links import LinkTable
from railfab.forwarding.pending import NOTHING_PENDING
from railfab.forwarding.sessions import BgpSession
from railfab.forwarding.sim_network import PortUse
from railfab.forwarding.state import TRAFFIC_CLASSES, ForwardingState, Marking
from railfab.forwarding.timed import begin, settle

__all__ = [
    "NOTHING_PENDING",
    "TRAFFIC_CLASSES",
    "BgpSession",
    "Blocked",
    "Connections",
    "DropPlace",
    "FabricChange",
    "Fibre",
    "ForwardingState",
    "LinkTable",
    "Marking",
    "PortUse",
    "SwitchFault",
    "Uncomputed",
    "begin",
    "blocked",
    "changed_names",
    "connection_ends",
    "converge",
    "flow",
    "obstacle",
    "refuse",
    "settle",
    "source_port",
    "uncomputed",
    "unconfigured",
]
