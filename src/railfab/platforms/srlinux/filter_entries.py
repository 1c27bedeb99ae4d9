"""Packets that a fabric needs (BGP, BFD, neighbor discovery, LLDP, RoCE), and entries of filters of SR Linux that match
them.

Sources: Nokia's YANG 25.3.1, srl_nokia-acl and srl_nokia-packet-match-types; releases before 24.3 have the conditions
of an entry in one container.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Any

from railfab.platforms.shared.json_tree import Json, is_list

Address = IPv4Address | IPv6Address

PROTOCOLS: Mapping[str, int] = {"icmp": 1, "tcp": 6, "udp": 17, "icmp6": 58}
PORT_NUMBERS: Mapping[str, int] = {"bgp": 179, "bfd": 3784, "bfd-echo": 3785, "multihop-bfd": 4784}
ICMP6_TYPES: Mapping[str, int] = {"router-advertise": 134, "neighbor-solicit": 135, "neighbor-advertise": 136}
ETHERTYPES: Mapping[str, int] = {"ipv4": 0x0800, "arp": 0x0806, "ipv6": 0x86DD, "lldp": 0x88CC}
"""Names of numbers in entries; of ports, those that a fabric uses."""
ROCE, ROCE_PORT = "roce", 4791
EPHEMERAL = 50000
"""A port of the end that began a session (RFC 6056; RFC 5881, section 4)."""
LINK_LOCAL = ip_address("fe80::1")
UNSPLIT = ("fragment", "first-fragment")
"""Conditions that no packet of the fabric meets, as none is larger than the MTU."""
PARTIAL = ("dscp-set", "vlan", "destination-mac", "source-mac")
"""Conditions that some packets of a kind can meet and others not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FabricPacket:
    """A packet that a fabric needs. family: of the filters that see it. source: None where it is not known."""

    name: str
    family: str
    protocol: int | None = None
    source_port: int | None = None
    destination_port: int | None = None
    icmp6_type: int | None = None
    ethertype: int | None = None
    source: Address | None = None


def fabric_packets(peers: Sequence[Address]) -> Iterator[FabricPacket]:
    """The packets that a switch with these neighbours needs; IPv6 ones are of unnumbered sessions where none has an
    IPv6 address."""
    for family, version, unnumbered in (("ipv4", 4, None), ("ipv6", 6, LINK_LOCAL)):
        sources: Sequence[Address | None] = [peer for peer in peers if peer.version == version]
        for source in sources or [unnumbered]:
            yield from _of_session(family, source)
        yield FabricPacket(name=ROCE, family=family, protocol=17, source_port=EPHEMERAL, destination_port=ROCE_PORT)
    for number in ICMP6_TYPES.values():
        yield FabricPacket(name="neighbor-discovery", family="ipv6", protocol=58, icmp6_type=number, source=LINK_LOCAL)
    for ethertype, name in {"lldp": "lldp", "ipv4": ROCE, "ipv6": "bgp", "arp": "neighbor-discovery"}.items():
        yield FabricPacket(name=name, family="mac", ethertype=ETHERTYPES[ethertype])


def _of_session(family: str, peer: Address | None) -> Iterator[FabricPacket]:
    """Packets of BGP, whichever end began the connection, and of BFD."""
    for source, destination in ((EPHEMERAL, 179), (179, EPHEMERAL)):
        yield FabricPacket(
            name="bgp", family=family, protocol=6, source_port=source, destination_port=destination, source=peer
        )
    for port, name in {"bfd": "bfd", "multihop-bfd": "bfd", "bfd-echo": "bfd-echo"}.items():
        yield FabricPacket(
            name=name,
            family=family,
            protocol=17,
            source_port=EPHEMERAL,
            destination_port=PORT_NUMBERS[port],
            source=peer,
        )


def is_match(entry: Json, packet: FabricPacket, addresses: Sequence[Address]) -> bool:
    """Whether an entry decides about a packet: one that drops or polices some packets of its kind does, one that
    accepts them does if it accepts all. addresses: of this switch."""
    match = _conditions(entry)
    harms = at(entry, "action", "drop") is not None or at(entry, "action", "accept", "rate-limit") is not None
    return (
        (harms or not _is_partial(match, packet))
        and not any(match.get(name) for name in UNSPLIT)
        and match.get("network-instance") != "mgmt"
        and "type" not in _container(match.get("icmp"))
        and _is_number(match.get("protocol", match.get("next-header")), PROTOCOLS, packet.protocol)
        and _is_number(match.get("ethertype"), ETHERTYPES, packet.ethertype)
        and _is_number(at(match, "icmp6", "type"), ICMP6_TYPES, packet.icmp6_type)
        and _is_port(_container(match.get("destination-port")), packet.destination_port, harms=harms)
        and _is_port(_container(match.get("source-port")), packet.source_port, harms=harms)
        and _is_address(_container(match.get("source-ip")), [packet.source] if packet.source else [], harms=harms)
        and _is_address(_container(match.get("destination-ip")), _receivers(addresses, packet), harms=harms)
    )


def _conditions(entry: Json) -> Json:
    """The conditions of an entry without the containers of layers."""
    match = _container(entry.get("match"))
    layers = (_container(match.get(layer)) for layer in ("l2", "ipv4", "ipv6", "transport"))
    return {name: value for part in (match, *layers) for name, value in part.items()}


def _is_partial(match: Json, packet: FabricPacket) -> bool:
    is_tcp = packet.protocol == PROTOCOLS["tcp"]
    return any(match.get(name) for name in PARTIAL) or (is_tcp and bool(match.get("tcp-flags")))


def _receivers(addresses: Sequence[Address], packet: FabricPacket) -> Sequence[Address]:
    """Addresses to which a packet can be sent; none where they are not known, as of RoCE."""
    if packet.source is None:
        return ()
    if packet.source.is_link_local:
        return (LINK_LOCAL,)
    return [address for address in addresses if address.version == packet.source.version]


def _is_number(stated: object, names: Mapping[str, int], actual: int | None) -> bool:
    return stated is None or number_of(stated, names) == actual


def _is_port(stated: Json, actual: int | None, *, harms: bool) -> bool:
    """Whether a condition on ports holds; one in words that are not known holds where the entry does harm."""
    lowest, highest = _bounds(stated)
    if (lowest, highest) == ANY_PORT:
        return True
    if lowest is None or highest is None or actual is None:
        return harms and actual is not None
    return lowest <= actual <= highest


ANY_PORT = (0, 65535)


def _bounds(stated: Json) -> tuple[int | None, int | None]:
    """The range of ports of a condition; None for a bound that has a name which is not known."""
    if window := _container(stated.get("range")):
        first, last = (window.get(name, limit) for name, limit in zip(("start", "end"), ANY_PORT, strict=True))
        return number_of(first, PORT_NUMBERS), number_of(last, PORT_NUMBERS)
    if "value" not in stated:
        return ANY_PORT
    value, operator = number_of(stated["value"], PORT_NUMBERS), stated.get("operator", "eq")
    if value is None and operator == "eq":
        return NO_PORT
    return (value if operator != "le" else ANY_PORT[0]), (value if operator != "ge" else ANY_PORT[1])


NO_PORT = (1, 0)
"""Range of a name that is none of PORT_NUMBERS."""


def _is_address(stated: Json, actual: Sequence[Address], *, harms: bool) -> bool:
    """Whether a condition on addresses holds for any of these; where they are not known, it does for a prefix that
    can be of the fabric if the entry does harm."""
    if not stated:
        return True
    try:
        network = ip_network(str(stated.get("prefix", f"{stated.get('address')}/{stated.get('mask')}")), strict=False)
    except ValueError:
        return harms
    if not actual:
        return harms and not (network.is_loopback or network.is_multicast or network.is_reserved)
    return any(address in network for address in actual)


def number_of(stated: object, names: Mapping[str, int]) -> int | None:
    """A number, in decimals, as 0x88cc, or by its name; None for a name that is not known."""
    text = str(stated)
    try:
        return names[text] if text in names else int(text, 0)
    except ValueError:
        return None


def _container(node: object) -> Json:
    return node if isinstance(node, dict) else {}


def at(tree: Any, *steps: str) -> Any:
    """The node below containers; None where the text has something else there."""
    for step in steps:
        tree = tree.get(step) if isinstance(tree, dict) else None
    return tree


def listed(tree: Any, *steps: str) -> Sequence[Json]:
    """The entries of a list below containers; none where the text has something else there."""
    entries = at(tree, *steps)
    return entries if is_list(entries) else ()
