"""The vendor-neutral model of one switch, its planning, and the differences between two models."""

from railfab.device.agreement import disagreements
from railfab.device.diff import Change, changes
from railfab.device.model import (
    BfdTimers,
    Bgp,
    BgpNeighbor,
    BreakoutPort,
    DeviceModel,
    Interface,
    PfcWatchdog,
    PortProfile,
    PortQos,
    PrefixRange,
    Qos,
    Scheduling,
    TrafficClass,
)
from railfab.device.observed import Observed, ObservedBgpSession, ObservedInterface
from railfab.device.plan import plan
from railfab.device.supported import unsupported

__all__ = [
    "BfdTimers",
    "Bgp",
    "BgpNeighbor",
    "BreakoutPort",
    "Change",
    "DeviceModel",
    "Interface",
    "Observed",
    "ObservedBgpSession",
    "ObservedInterface",
    "PfcWatchdog",
    "PortProfile",
    "PortQos",
    "PrefixRange",
    "Qos",
    "Scheduling",
    "TrafficClass",
    "changes",
    "disagreements",
    "plan",
    "unsupported",
]
