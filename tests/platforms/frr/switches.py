"""A leaf and a spine, cabled to each other, with all that FRR is asked for: both kinds of session, BFD, policies."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import IPv4Address, IPv4Interface, IPv4Network

from railfab.device import BfdTimers, Bgp, BgpNeighbor, DeviceModel, Interface, PrefixRange
from railfab.platforms import platform

PORTS = ("swp1", "swp2", "swp3", "swp10")
PREFIXES = (
    PrefixRange(prefix=IPv4Network("10.254.0.0/15"), ge=32, le=32),
    PrefixRange(prefix=IPv4Network("10.16.0.0/12"), ge=31, le=31),
)
LINK = IPv4Interface("10.16.9.0/31"), IPv4Interface("10.16.9.1/31")


def switch(name: str, *, asn: int, peer_as: int, loopback: str, end: int) -> DeviceModel:
    """Two unnumbered sessions and one numbered; BFD is slow enough for a busy machine.

    swp10 sorts behind swp3 as a number only.
    """
    other = LINK[1 - end].ip
    interfaces = [Interface(name=port, description=f"other {port}", unnumbered=True) for port in PORTS]
    interfaces[2] = Interface(name="swp3", description="numbered", address=LINK[end])
    neighbors = [BgpNeighbor(interface=port, remote_as=peer_as) for port in PORTS if port != "swp2"]
    neighbors[1] = replace(neighbors[1], address=other)
    return DeviceModel(
        name=name,
        platform="frr",
        loopback=IPv4Address(loopback),
        breakouts=(),
        interfaces=tuple(interfaces),
        bgp=Bgp(
            asn=asn,
            router_id=IPv4Address(loopback),
            max_paths=64,
            keepalive_s=3,
            hold_s=9,
            import_prefixes=PREFIXES,
            export_prefixes=PREFIXES,
            neighbors=tuple(neighbors),
        ),
        bfd=BfdTimers(interval_ms=1000, multiplier=6),
        qos=None,
    )


LEAF = switch("rft-leaf", asn=4200001001, peer_as=65001, loopback="10.255.1.1", end=0)
SPINE = switch("rft-spine", asn=65001, peer_as=4200001001, loopback="10.254.1.1", end=1)


def text(model: DeviceModel) -> str:
    return platform("frr").text(platform("frr").render(model))
