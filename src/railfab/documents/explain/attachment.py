"""Attachment of hosts to rail switches: VLANs, subnets, summaries and LAGs."""

from __future__ import annotations

from collections.abc import Iterator

from railfab.documents.explain.formats import joined, numbered
from railfab.documents.explain.subject import Subject
from railfab.platforms.admission import MAC_SEGMENT
from railfab.platforms.registry import has_platform, platform
from railfab.text.counted import counted
from railfab.topology import Bond, Gateway, Net
from railfab.topology.attachment import VNI_BASE, VNIS_PER_LEAF, Attachment

WHY = {
    "routed": "Each NIC port is routed: it and the switch port have the two addresses of a {link}. A host has a route "
    "and a source rule for each port, so that traffic from an address of a rail stays on the rail.",
    "vlan": "The ports of a rail on a switch are in one VLAN, and this switch is its only gateway.",
    "mlag": "The two ports of a NIC form one LAG to a pair of switches (MLAG); both are gateways with the same "
    "address.",
    "esi": "The two ports of a NIC form one LAG to two switches (EVPN multihoming); both are gateways with the same "
    "address.",
}
LINKS = {"ipv4": "/31 (RFC 3021)", "ipv6": "/127 (RFC 6164)"}


def attachment(subject: Subject) -> Iterator[str]:
    """Describe the attachment that the intent chooses."""
    yield WHY[subject.intent.hosts.attach].format(link=LINKS[subject.intent.profile.family])
    if subject.intent.hosts.attach != "routed":
        own = Attachment(subject.dimensions)
        yield _vlans(subject, own)
        yield from _subnets(subject, own)
        yield _summary(subject, own)
        yield from _bonds(subject)
        yield from _overlay(subject)


def _vlans(subject: Subject, own: Attachment) -> str:
    vlans = sorted({gateway.vlan for gateway in _gateways(subject)})
    second = "" if own.paired or vlans[-1] - vlans[0] < 100 else ", and 100 more on the second of its switches"
    return f"Rail r has VLAN {own.subnets.first_vlan - 1} + r{second}: {numbered('VLAN', vlans)}."


def _gateways(subject: Subject) -> list[Gateway]:
    """The gateways of rails."""
    return [gateway for gateway in subject.topology.gateways if gateway.rail is not None]


def _subnets(subject: Subject, own: Attachment) -> Iterator[str]:
    subnets, first = own.subnets, _gateways(subject)[0]
    rails = max(len(rails) for rails in subject.dimensions.rails_of.values())
    who = "pair of rail switches" if own.paired else "rail switch"
    length = f"a /{subnets.switch_prefix}"
    if subnets.rails == "own":
        yield (
            f"Each rail of a {who} has its own /{subnets.switch_prefix} from {subnets.pool}, of which a "
            f"/{own.rail_prefix} "
            f"is used; a {who} uses {own.stride:,} addresses, selected by its number in the fabric."
        )
    else:
        shares = "used by its rail" if rails == 1 else f"divided among its {rails} rails, a /{own.rail_prefix} each"
        yield f"Each {who} has {length} from {subnets.pool} by its number in the fabric, {shares}."
    yield (
        f"A /{own.rail_prefix} has {1 << 32 - own.rail_prefix} addresses: network, gateway and broadcast, "
        f"and enough for {counted(own.hosts_of_subnet(), 'host')}. Rail {first.rail} on {first.node}: {first.subnet}, "
        f"gateway {first.address.ip}, first host {first.address.ip + 1}."
    )


def _summary(subject: Subject, own: Attachment) -> str:
    found = [one for one in subject.topology.summaries if subject.topology.node(one.node).net is Net.BACKEND]
    if not found:
        alone = subject.intent.backend.spines is None
        why = "there are no spines" if alone else "a switch has only one rail"
        return f"No summary is announced: {why}."
    first = found[0]
    return (
        f"Spines learn one prefix per {'switch' if not own.paired else 'switch of a pair'} instead of "
        f"{len(first.contributors)}: {first.prefix} from {first.node}. It is withdrawn when the switch has no route to "
        "any contributor, so that it attracts no traffic that it would drop."
    )


def _bonds(subject: Subject) -> Iterator[str]:
    bonds = [bond for bond in subject.topology.bonds if bond.rail is not None]
    if bonds:
        first = bonds[0]
        yield (
            f"{counted(len(bonds), 'LAG')}, one per NIC: {first.name} of {first.host} is {joined(first.ports)}, "
            f"on {joined(first.switches)} port channel {first.bundle}, with address {first.address}."
        )
        yield from _segment(first, subject)


def _segment(bond: Bond, subject: Subject) -> Iterator[str]:
    name = subject.topology.by_name[bond.switches[0]].platform
    own = platform(name).capabilities.segment_type if has_platform(name) else 0
    if bond.esi is not None and own == MAC_SEGMENT:
        yield (
            f"Its Ethernet segment is of type {own} (RFC 7432) on {name}: the MAC address that {joined(bond.switches)} "
            f"have in common, and the number of the LAG, {bond.bundle}."
        )
    elif bond.esi is not None:
        octets = [int(octet, 16) for octet in bond.esi.split(":")]
        pod, segment, host = (octets[place] << 8 | octets[place + 1] for place in (2, 4, 6))
        yield (
            f"Its Ethernet segment is {bond.esi}, of type {octets[0]} (RFC 7432): pod {pod}, segment {segment}, "
            f"host {host}, rail {octets[9]}."
        )


def _overlay(subject: Subject) -> Iterator[str]:
    first = _gateways(subject)[0]
    if first.vni is not None:
        number, block = divmod(first.vni - VNI_BASE, VNIS_PER_LEAF)
        yield (
            f"In VXLAN each subnet has a VNI, {VNI_BASE:,} + {VNIS_PER_LEAF} x the number of its switch or pair + the "
            f"number of its rail there, from 0: {first.vni} is {VNI_BASE} + {VNIS_PER_LEAF} x {number} + {block}."
        )
