"""The vendor-neutral model of one switch, how it is planned, and how two models differ."""

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
from railfab.device.observed import Observed, ObservedInterface, ObservedSession

__all__ = [
    "BfdTimers",
    "Bgp",
    "BgpNeighbor",
    "BreakoutPort",
    "DeviceModel",
    "Interface",
    "Observed",
    "ObservedInterface",
    "ObservedSession",
    "PfcWatchdog",
    "PortProfile",
    "PortQos",
    "PrefixRange",
    "Qos",
    "Scheduling",
    "TrafficClass",
]
