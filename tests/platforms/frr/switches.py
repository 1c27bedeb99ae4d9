"""Switches with all that FRR is asked for.

LEAF and SPINE are cabled to each other: both kinds of session, BFD, policies. RICH has every line that a model can ask
for: both families, iBGP with a reflector, policies with every condition and setting, aggregates, drain.
"""

from __future__ import annotations

from dataclasses import replace
from ipaddress import IPv4Address, IPv4Interface, ip_address, ip_interface, ip_network
from typing import Any

from railfab.device import (
    LOOPBACK,
    Action,
    Aggregate,
    BfdTimers,
    BgpNeighbor,
    BgpSpeaker,
    BgpTimers,
    DeviceModel,
    Family,
    Lag,
    Loopback,
    NetworkInstance,
    NextHop,
    Policy,
    PolicyRule,
    Port,
    PrefixRange,
    Remote,
    Svi,
    in_order,
)
from railfab.platforms import platform

PORTS = ("swp1", "swp2", "swp3", "swp10")
LINK = IPv4Interface("10.16.9.0/31"), IPv4Interface("10.16.9.1/31")
TIMERS = BgpTimers(keepalive_s=3, hold_s=9)
BFD = BfdTimers(interval_ms=1000, multiplier=6)
"""Slow enough for a busy machine."""


def inside(prefix: str, ge: int, le: int | None = None) -> PrefixRange:
    return PrefixRange(prefix=ip_network(prefix), ge=ge, le=ge if le is None else le)


def permits(name: str, *ranges: PrefixRange) -> Policy:
    """A policy that permits each of the ranges by a rule of its own."""
    return Policy(name=name, rules=tuple(PolicyRule(action=Action.PERMIT, prefixes=(found,)) for found in ranges))


RANGES = inside("10.254.0.0/15", 32), inside("10.16.0.0/12", 31)


def switch(name: str, *, asn: int, peer_as: int, loopback: str, end: int) -> DeviceModel:
    """Two unnumbered sessions and one numbered. swp10 sorts behind swp3 as a number only."""
    ports = [Port(name=port, description=f"other {port}", unnumbered=True) for port in PORTS]
    ports[2] = Port(name="swp3", description="numbered", addresses=(LINK[end],))
    peers = ("swp1", LINK[1 - end].ip, "swp10")
    return DeviceModel(
        name=name,
        platform="frr",
        breakouts=(),
        interfaces=(*ports, Loopback(name=LOOPBACK, addresses=(IPv4Interface(loopback),))),
        bgp=BgpSpeaker(
            asn=asn,
            router_id=IPv4Address(loopback),
            max_paths=64,
            neighbors=tuple(
                BgpNeighbor(
                    peer=peer,
                    remote_as=peer_as,
                    timers=TIMERS,
                    import_policies=("fabric-import",),
                    export_policies=("fabric-export",),
                    bfd=BFD,
                )
                for peer in peers
            ),
        ),
        policies=(permits("fabric-export", *RANGES), permits("fabric-import", *RANGES)),
        qos=None,
    )


LEAF = switch("rft-leaf", asn=4200001001, peer_as=65001, loopback="10.255.1.1", end=0)
SPINE = switch("rft-spine", asn=65001, peer_as=4200001001, loopback="10.254.1.1", end=1)

_FABRIC = Policy(
    name="fabric",
    rules=(
        PolicyRule(
            action=Action.PERMIT,
            prefixes=(inside("10.0.0.0/8", 8), inside("10.0.0.0/8", 24, 32), inside("fd00:255::/32", 128)),
            communities=("65000:1", "graceful-shutdown"),
            as_path="^65000_[0-9]+$",
            set_communities=("65000:7", "65001:5", "no-export"),
            set_local_preference=200,
            set_med=50,
            prepend=2,
        ),
        PolicyRule(action=Action.DENY, prefixes=(inside("fd00:16::/32", 64, 127),)),
        PolicyRule(action=Action.PERMIT, communities=("65000:3",)),
    ),
    default=Action.PERMIT,
)
_REFLECTED = BgpNeighbor(
    peer=ip_address("10.255.0.2"),
    remote_as=Remote.INTERNAL,
    timers=TIMERS,
    update_source=LOOPBACK,
    import_policies=("fabric",),
    export_policies=("nothing",),
    reflector_client=True,
    next_hop=NextHop.SELF,
    bfd=BfdTimers(interval_ms=300, multiplier=3),
)
RICH = in_order(
    DeviceModel(
        name="rich",
        platform="frr",
        breakouts=(),
        interfaces=(
            Port(name="swp1", enabled=False, addresses=(ip_interface("10.1.0.0/31"), ip_interface("fd00:1::/127"))),
            Port(name="swp2", description="to a spine", unnumbered=True),
            Loopback(name=LOOPBACK, addresses=(ip_interface("10.255.0.1/32"), ip_interface("fd00:255::1/128"))),
            Loopback(name="loopback1", addresses=(ip_interface("10.255.9.1/32"),)),
            Lag(name="lag1", members=(), addresses=(ip_interface("10.1.9.0/31"),)),
            Svi(name="vlan10", vlan=10, addresses=(ip_interface("10.16.10.1/24"), ip_interface("fd00:16::1/64"))),
        ),
        bgp=BgpSpeaker(
            asn=4200000001,
            router_id=IPv4Address("10.255.0.1"),
            max_paths=64,
            max_paths_internal=16,
            requires_policy=False,
            cluster_id=IPv4Address("10.255.0.9"),
            neighbors=(
                BgpNeighbor(
                    peer="swp2",
                    remote_as=Remote.EXTERNAL,
                    description="to a spine",
                    enabled=False,
                    timers=BgpTimers(keepalive_s=5, hold_s=15, connect_retry_s=7, advertisement_interval_s=0),
                    families=(Family.IPV4, Family.IPV6),
                    import_policies=("fabric",),
                    bfd=BFD,
                ),
                _REFLECTED,
                replace(_REFLECTED, peer=ip_address("fd00:255::2"), families=(Family.IPV4, Family.IPV6)),
                replace(_REFLECTED, peer=ip_address("fd00:255::3"), families=(Family.IPV6,), bfd=None),
                BgpNeighbor(
                    peer=ip_address("10.9.0.1"),
                    remote_as=65001,
                    timers=TIMERS,
                    multihop_ttl=3,
                    next_hop=NextHop.UNCHANGED,
                    export_policies=("fabric",),
                ),
                replace(_REFLECTED, peer=ip_address("10.255.0.4"), families=(Family.EVPN,), bfd=None),
                BgpNeighbor(
                    peer=ip_address("10.255.0.5"),
                    remote_as=65002,
                    timers=TIMERS,
                    update_source=LOOPBACK,
                    multihop_ttl=3,
                    families=(Family.EVPN,),
                    import_policies=("fabric",),
                    export_policies=("fabric",),
                ),
            ),
            aggregates=(
                Aggregate(prefix=ip_network("10.16.0.0/16")),
                Aggregate(prefix=ip_network("10.17.0.0/16"), summary_only=False),
                Aggregate(prefix=ip_network("fd00:16::/32")),
            ),
        ),
        policies=(_FABRIC, Policy(name="nothing", rules=())),
        network_instances=(
            NetworkInstance(name="plain"),
            NetworkInstance(
                name="research",
                rd="10.255.0.1:100",
                import_targets=("100:10100", "65000:7"),
                export_targets=("100:10100",),
                vni=20100,
                router_id=IPv4Address("10.255.0.1"),
            ),
        ),
        drain=True,
        qos=None,
    )
)


def text(model: DeviceModel) -> str:
    return platform("frr").text(platform("frr").render(model))


def with_bgp(model: DeviceModel, **changes: Any) -> DeviceModel:
    """The switch with other settings of its BGP speaker."""
    assert model.bgp is not None
    return replace(model, bgp=replace(model.bgp, **changes))


def with_neighbors(model: DeviceModel, **changes: Any) -> DeviceModel:
    """The switch with other settings of every neighbour."""
    return with_bgp(model, neighbors=tuple(replace(neighbor, **changes) for neighbor in model.neighbors))


_FIRST, *_OTHERS = LEAF.neighbors
SLOWER = with_bgp(LEAF, max_paths=2, neighbors=(replace(_FIRST, timers=BgpTimers(keepalive_s=5, hold_s=15)), *_OTHERS))
"""Another model of the leaf, whose change resets no session. frr-reload.py starts a program for each line less."""
