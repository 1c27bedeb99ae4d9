"""Names of Junos for what a device model has: interfaces, units, and the objects that railfab adds by itself."""

from __future__ import annotations

import re
from collections.abc import Mapping

from railfab.device import LOOPBACK, lag_name, svi_name

LOOPBACK_DEVICE = "lo0"
LAG_DEVICE = "ae"
SVI_DEVICE = "irb"
PORT = re.compile(r"(?:et|xe|ge)-\d+/\d+/\d+(?::\d+)?")
LAG = re.compile(rf"{LAG_DEVICE}\d+")
SUB_PORTS = "number-of-sub-ports"
WILDCARD = re.compile(r"[*\[<?]")
"""Marks of a name that stands for several interfaces."""

LOAD_BALANCE = "LOAD-BALANCE"
"""Policy of the forwarding table: without it the switch installs one of the equal paths."""
SUMMARY = "SUMMARY"
"""Policy before every export policy: it rejects the contributors of the aggregates that stand for them."""
NEXT_HOP_SELF = "NEXT-HOP-SELF"
"""Policy before an export policy: the switch is the next hop."""
TYPE_5 = "TYPE-5"
"""Policy of the routes of a VRF that are announced as EVPN prefixes (type 5)."""
MAC_VRF = "MAC-VRF"
"""Instance with all VLANs of a switch with VXLAN."""
AS_LIST = "AS-"
PREPARED = frozenset({LOAD_BALANCE, NEXT_HOP_SELF, TYPE_5})
"""Policies that railfab adds, besides those whose names begin with SUMMARY."""

FLAGS_OF_AS = ("asdot-notation", "independent-domain", "loops")
"""Words beside the AS number of a switch, which do not take its place."""
EXTERNAL_GROUP, INTERNAL_GROUP, CLIENT_GROUP = "FABRIC", "FABRIC-INTERNAL", "FABRIC-CLIENTS"
"""Groups of the sessions with other switches: external, internal, and internal to clients of this route reflector."""
UNNUMBERED_GROUP = "FABRIC-"
"""Before the interface of an unnumbered session, which has a group of its own."""

NETWORK_CONTROL, NETWORK_CONTROL_QUEUE = "network-control", 7
"""Class and queue of the packets that the switch itself sends for BGP, BFD and LLDP (Juniper, Understanding Default CoS
Settings)."""
LOSSLESS_BY_DEFAULT: Mapping[int, str] = {3: "fcoe", 4: "no-loss"}
"""Classes of a switch that are lossless unless they are defined without `no-loss`, by their queues (Juniper,
Understanding Default CoS Settings; class, Forwarding Classes)."""

MANAGEMENT_INSTANCE = "mgmt_junos"
ETHERNET_HEADER_BYTES = 14
"""In the MTU of a port beyond the largest IP packet: addresses and type, without the checksum (Juniper, media MTU)."""
ANYCAST_MAC = "00:00:5e:00:01:01"
"""MAC address of anycast gateways where the model states none: Junos's own for virtual gateways of IPv4."""

_CANONICAL = re.compile(r"(lag|vlan)(\d+)")
_DEVICE = re.compile(rf"{LAG_DEVICE}(\d+)")

TABLES = {"ipv4-unicast": "inet.0", "ipv6-unicast": "inet6.0"}
"""Routing tables of the default instance by family."""


def device_name(name: str) -> str:
    """Junos's name of a port, LAG or loopback of a model: `ae1` of `lag1`, `lo0` of `loopback0`."""
    if name == LOOPBACK:
        return LOOPBACK_DEVICE
    match = _CANONICAL.fullmatch(name)
    if match is None:
        return name
    return f"{LAG_DEVICE if match[1] == 'lag' else SVI_DEVICE}{match[2] if match[1] == 'lag' else ''}"


def unit_name(name: str) -> str:
    """Junos's name of the logical interface that routes or bridges: `et-0/0/1.0`, `irb.101`."""
    match = _CANONICAL.fullmatch(name)
    unit = match[2] if match and match[1] == "vlan" else "0"
    return f"{device_name(name)}.{unit}"


def interface_name(device: str) -> str:
    """The name in every model of an interface that Junos names so, with or without a unit."""
    physical, _, unit = device.partition(".")
    if physical == LOOPBACK_DEVICE:
        return LOOPBACK
    if physical == SVI_DEVICE and unit.isdecimal():
        return svi_name(int(unit))
    match = _DEVICE.fullmatch(physical)
    return lag_name(int(match[1])) if match else physical


def summary_policy(instance: str) -> str:
    """The policy of the aggregates of a network instance."""
    return SUMMARY if instance == "default" else f"{SUMMARY}-{instance}"


def unnumbered_group(interface: str) -> str:
    """The group of the session over an interface."""
    return f"{UNNUMBERED_GROUP}{device_name(interface)}"


def is_unnumbered_group(name: str) -> bool:
    return name.startswith(UNNUMBERED_GROUP) and name not in (INTERNAL_GROUP, CLIENT_GROUP)


def as_list_name(asn: int) -> str:
    """The list with the AS number that the peer of an unnumbered session has."""
    return f"{AS_LIST}{asn}"


def community_name(community: str) -> str:
    """The definition of a community: `COMMUNITY-65000-1` of `65000:1`."""
    return f"COMMUNITY-{community.replace(':', '-')}"
