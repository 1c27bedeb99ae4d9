"""Live state of a switch with EOS, from the JSON of its show commands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from ipaddress import ip_address
from typing import Any

from railfab.device import IpAddress, Observed, ObservedBgpSession, ObservedInterface
from railfab.platforms.eos.names import interface_name

Json = Mapping[str, Any]

DISABLED = frozenset({"disabled", "adminDown"})
"""Values of `interfaceStatus` of an interface that is shut down."""


UNMARKED = "-"
"""Counter of marked packets of a queue without ECN."""


def observed_state(answers: Mapping[str, Json]) -> Observed:
    """Interfaces with their neighbours, and BGP sessions.

    answers: by name of the verb in `dialect.yml`; without `arp` no resolved addresses are reported, and without
    `routes` no width of next-hop groups.
    """
    heard = answers["lldp"].get("lldpNeighbors", {})
    resolved = _resolved_by_port(answers) if "arp" in answers else None
    interfaces = answers["interfaces"].get("interfaces", {})
    marks = answers["ecn"].get("intfQueueCounters", {})
    return Observed(
        interfaces=tuple(
            _interface(
                name,
                shown,
                heard.get(name, {}),
                None if resolved is None else frozenset(resolved.get(name, ())),
                _marking(marks.get(name)),
            )
            for name, shown in interfaces.items()
        ),
        sessions=tuple(_sessions(answers["neighbors"], answers["bfd"])),
        next_hop_widths=_widths(answers["routes"], answers["routes6"]) if "routes" in answers else None,
    )


def _widths(ipv4: Json, ipv6: Json) -> Counter[int]:
    """Number of routes in the default VRF by the number of their next hops, from the answers of each family."""
    tables = (ipv4.get("vrfs", {}).get("default", {}), ipv6)
    return Counter(len(route.get("vias", ())) for table in tables for route in table.get("routes", {}).values())


def _interface(
    name: str, shown: Json, heard: Json, resolved: frozenset[IpAddress] | None, marking: frozenset[int] | None
) -> ObservedInterface:
    neighbor: Json = next(iter(heard.get("lldpNeighborInfo", ())), {})
    return ObservedInterface(
        name=interface_name(name),
        oper_up=shown.get("lineProtocolStatus") == "up",
        enabled=shown.get("interfaceStatus") not in DISABLED,
        mtu_bytes=shown.get("mtu"),
        neighbor_device=neighbor.get("systemName"),
        neighbor_interface=neighbor.get("neighborInterfaceInfo", {}).get("interfaceId_v2"),
        resolved_addresses=resolved,
        ecn=marking,
    )


def _marking(marks: Json | None) -> frozenset[int] | None:
    """Queues with a counter of marked packets; None for a port without such counters."""
    if marks is None:
        return None
    counters = marks.get("queueCounters", {})
    return frozenset(int(queue) for queue, count in counters.items() if count != UNMARKED)


def _resolved_by_port(answers: Mapping[str, Json]) -> dict[str, set[IpAddress]]:
    """Addresses by interface; an entry of an SVI names the port after it: `Vlan10, Ethernet1`."""
    addresses: dict[str, set[IpAddress]] = {}
    for answer, key in ((answers["arp"], "ipV4Neighbors"), (answers["nd"], "ipV6Neighbors")):
        for vrf in answer.get("vrfs", {"default": answer}).values():
            for entry in vrf.get(key, ()):
                for interface in entry["interface"].split(", "):
                    addresses.setdefault(interface, set()).add(ip_address(entry["address"].partition("%")[0]))
    return addresses


def _sessions(neighbors: Json, bfd: Json) -> Iterator[ObservedBgpSession]:
    for vrf, shown in neighbors.get("vrfs", {}).items():
        for peer in shown.get("peerList", ()):
            yield _session(vrf, peer, bfd.get("vrfs", {}).get(vrf, {}))


def _session(vrf: str, peer: Json, bfd: Json) -> ObservedBgpSession:
    address, zone = peer["peerAddress"].partition("%")[::2]
    interface = peer.get("ifName")
    name = interface_name(interface) if interface else None
    return ObservedBgpSession(
        peer=name if zone and name else ip_address(address),
        state=peer["state"].lower(),
        network_instance=vrf,
        interface=name,
        remote_as=_number(peer.get("asn")),
        bfd_up=_bfd_up(bfd, address, interface),
    )


def _bfd_up(bfd: Json, address: str, interface: str | None) -> bool | None:
    """Whether the BFD session of a peer is up, over its interface or several hops; None without one."""
    families = (bfd.get(family, {}).get(address, {}) for family in ("ipv4Neighbors", "ipv6Neighbors"))
    stats: dict[str, Any] = {}
    for family in families:
        stats.update(family.get("peerStats", {}))
    session = stats.get(interface or "", stats.get(""))
    return None if session is None else session.get("status") == "up"


def _number(asn: object) -> int | None:
    """An AS number, which EOS may show as text; None for one in dotted form that is none."""
    text = str(asn)
    if "." in text:
        high, _, low = text.partition(".")
        return (int(high) << 16) + int(low) if high.isdecimal() and low.isdecimal() else None
    return int(text) if text.isdecimal() else None
