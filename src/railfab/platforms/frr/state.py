"""Live state of a Linux switch with FRR, from JSON of vtysh and iproute2."""

from __future__ import annotations

import json
from ipaddress import IPv4Address, IPv4Interface
from typing import Any

from railfab.device import Observed, ObservedBgpSession, ObservedInterface
from railfab.errors import DeviceError

UP = frozenset({"UP", "UNKNOWN"})
"""Values of operstate that count as up: drivers without link detection report UNKNOWN."""


def observed_state(name: str, *, neighbors: str, addresses: str) -> Observed:
    """Interfaces and BGP sessions. neighbors, addresses: JSON of the commands of dialect.yml. Raises DeviceError."""
    links = [link for link in _json(name, addresses, "ip -j addr show") if "LOOPBACK" not in link["flags"]]
    peers = _json(name, neighbors, "show bgp neighbors json") if neighbors.lstrip().startswith("{") else {}
    sessions = ((peer, found) for peer, found in peers.items() if isinstance(found, dict) and "bgpState" in found)
    return Observed(
        interfaces=tuple(_interface(link) for link in links),
        sessions=tuple(_session(links, peer, found) for peer, found in sessions),
    )


def _json(name: str, text: str, source: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        first_line = (text.strip().splitlines() or ["nothing"])[0]
        raise DeviceError(
            name, f"`{source}` returns {first_line!r} instead of JSON", "Check that FRR is running"
        ) from None


def _interface(link: dict[str, Any]) -> ObservedInterface:
    enabled = "UP" in link["flags"]
    up = link["operstate"] in UP and enabled
    return ObservedInterface(name=link["ifname"], oper_up=up, enabled=enabled, mtu_bytes=link["mtu"])


def _session(links: list[dict[str, Any]], peer: str, found: dict[str, Any]) -> ObservedBgpSession:
    """neighbor_device is known once the peer has sent FRR's hostname capability."""
    bfd = found.get("peerBfdInfo")
    return ObservedBgpSession(
        interface=_interface_of(links, peer),
        state=found["bgpState"].lower(),
        remote_as=found.get("remoteAs"),
        neighbor_device=found.get("hostname"),
        bfd_up=bfd["status"] == "Up" if bfd else None,
    )


def _interface_of(links: list[dict[str, Any]], peer: str) -> str:
    """The interface named as the peer when unnumbered, otherwise the one in whose subnet the peer is."""
    try:
        address = IPv4Address(peer)
    except ValueError:
        return peer
    near = (link["ifname"] for link in links if any(address in network for network in _networks(link)))
    return next(near, peer)


def _networks(link: dict[str, Any]) -> list[Any]:
    inet = [found for found in link.get("addr_info", ()) if found["family"] == "inet"]
    return [IPv4Interface(f"{found['local']}/{found['prefixlen']}").network for found in inet]
