"""BGP and routing policies as hypothesis draws them: sessions of every kind, with policies, timers and families."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from ipaddress import IPv4Network, IPv6Network
from typing import TypeVar

from hypothesis import strategies as st

from railfab.device import (
    DEFAULT_INSTANCE,
    Action,
    Aggregate,
    BfdTimers,
    BgpNeighbor,
    BgpSpeaker,
    BgpTimers,
    Family,
    IpAddress,
    IpNetwork,
    LinkBandwidth,
    NextHop,
    Policy,
    PolicyRule,
    PrefixRange,
    Remote,
    SecretReference,
)
from railfab.testing.able import most
from railfab.testing.reuse import either, optional, reused
from railfab.testing.words import asns, descriptions, ipv4_addresses, ipv6_addresses, words

T = TypeVar("T")
ANY = -1
_RETRIES = optional(st.integers(1, 60))
_ORIGINATED = st.sampled_from([(Family.IPV4, Family.IPV6), (Family.IPV4,), (Family.IPV6,), ()])
_ACTIONS = st.sampled_from(Action)
_AS_PATHS = st.none() | st.sampled_from(("^65001_", "_65009$", "^$", "65[0-9]+"))
_LINK_BANDWIDTHS = st.none() | st.sampled_from(LinkBandwidth)


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnPeer:
    """The peer of a session in a network instance: the far end of a link, or (far) a switch beyond it."""

    peer: IpAddress | str
    network_instance: str = DEFAULT_INSTANCE
    far: bool = False


@reused
@st.composite
def policy_lists(draw: st.DrawFn, able: Collection[str]) -> tuple[Policy, ...]:
    """Up to three policies. able: names of features."""
    names = draw(st.lists(words, max_size=3, unique=True))
    return tuple(
        Policy(
            name=name,
            rules=tuple(draw(st.lists(_rules(able), max_size=3))),
            default=draw(st.sampled_from([*Action, *([None] if "policy_without_default" in able else [])])),
        )
        for name in names
    )


@reused
@st.composite
def _rules(draw: st.DrawFn, able: Collection[str]) -> PolicyRule:
    """A rule; only one that permits sets anything."""
    action = draw(_ACTIONS)
    permits = action is Action.PERMIT

    def maybe(feature: str, strategy: st.SearchStrategy[T], nothing: T) -> T:
        return draw(either(nothing, strategy)) if feature in able else nothing

    return PolicyRule(
        action=action,
        prefixes=tuple(draw(st.lists(_ranges(able), max_size=3, unique=True))),
        communities=maybe("policy_communities", _communities(), ()),
        as_path=maybe("policy_as_path", _AS_PATHS, None),
        set_communities=maybe("policy_set_communities", _communities(), ()) if permits else (),
        set_local_preference=_number(draw, able, "policy_set_local_preference") if permits else None,
        set_med=_number(draw, able, "policy_set_med") if permits else None,
        set_link_bandwidth=(maybe("policy_set_link_bandwidth", _LINK_BANDWIDTHS, None) if permits else None),
        prepend=maybe("policy_prepend", st.integers(1, 5), 0) if permits else 0,
    )


def _number(draw: st.DrawFn, able: Collection[str], feature: str) -> int | None:
    return draw(optional(st.integers(0, 4294967295))) if feature in able else None


@reused
def _communities() -> st.SearchStrategy[tuple[str, ...]]:
    """Communities; those of AS 65535, which are well known (RFC 1997), by name only."""
    pairs = st.tuples(st.integers(1, 65534), st.integers(1, 65535)).map(lambda pair: f"{pair[0]}:{pair[1]}")
    named = st.sampled_from(("graceful-shutdown", "no-export"))
    return st.lists(pairs | named, min_size=1, max_size=2, unique=True).map(tuple)


@reused
def _ranges(able: Collection[str]) -> st.SearchStrategy[PrefixRange]:
    return _ranges_of(4) | _ranges_of(6) if "ipv6" in able else _ranges_of(4)


@reused
@st.composite
def _ranges_of(draw: st.DrawFn, version: int) -> PrefixRange:
    prefix = draw(networks(version))
    ge = draw(st.integers(prefix.prefixlen, prefix.max_prefixlen))
    return PrefixRange(prefix=prefix, ge=ge, le=draw(st.integers(ge, prefix.max_prefixlen)))


@reused
@st.composite
def networks(draw: st.DrawFn, version: int) -> IpNetwork:
    if version == 4:
        return IPv4Network((draw(ipv4_addresses), draw(st.integers(8, 31))), strict=False)
    return IPv6Network((draw(ipv6_addresses), draw(st.integers(48, 127))), strict=False)


@st.composite
def bgp_speakers(
    draw: st.DrawFn, peers: Sequence[DrawnPeer], loopback: str, policies: Sequence[Policy], able: Collection[str]
) -> BgpSpeaker:
    """A speaker with a session to each peer. loopback: the source of those to far peers."""
    asn = draw(asns)
    versions = (4, 6) if "ipv6" in able else (4,)
    aggregates = st.lists(_aggregates(versions), max_size=2, unique_by=lambda aggregate: aggregate.prefix)
    reflects = "route_reflector" in able and draw(st.booleans())
    next_hops = st.booleans() if "no_ipv6_next_hops" in able else st.just(True)
    retries = {instance: draw(_RETRIES) for instance in dict.fromkeys(peer.network_instance for peer in peers)}
    if "connect_retry_per_session" in able:
        retries = {}
    neighbors = [draw(_neighbors(peer, asn, loopback, policies, able, retries)) for peer in peers]
    if "next_hop_unchanged" in able and "next_hop_unchanged_per_session" not in able and draw(st.booleans()):
        neighbors = [_keeping_next_hops(neighbor) for neighbor in neighbors]
    speaker = BgpSpeaker(
        asn=asn,
        router_id=draw(ipv4_addresses),
        max_paths=draw(st.integers(1, 64)),
        max_paths_internal=draw(st.integers(1, 64)) if "ibgp" in able else 1,
        neighbors=tuple(neighbors),
        advertise_ipv6_next_hops=draw(next_hops),
        receive_ipv6_next_hops=draw(next_hops),
        rapid_withdrawal=draw(optional(st.booleans())) if "rapid_withdrawal" in able else None,
        cluster_id=draw(ipv4_addresses) if reflects else None,
        aggregates=tuple(draw(aggregates)) if "aggregate" in able else (),
    )
    return speaker.with_originated(draw(_ORIGINATED)) if "not_originated" in able else speaker


@reused
@st.composite
def _aggregates(draw: st.DrawFn, versions: Sequence[int]) -> Aggregate:
    return Aggregate(prefix=draw(networks(draw(st.sampled_from(versions)))), summary_only=draw(st.booleans()))


@st.composite
def _neighbors(
    draw: st.DrawFn,
    peer: DrawnPeer,
    asn: int,
    loopback: str,
    policies: Sequence[Policy],
    able: Collection[str],
    retries: Mapping[str, int | None],
) -> BgpNeighbor:
    """A session; a peer that is not at the far end of a link is reached from the loopback, over several hops.

    retries: the connect retry time of each network instance whose sessions share one.
    """
    remote_as = draw(_remotes(asn, able))
    internal = remote_as is Remote.INTERNAL
    unnumbered = isinstance(peer.peer, str)
    families = draw(_families(peer, able))

    def maybe(feature: str, strategy: st.SearchStrategy[T], nothing: T) -> T:
        return draw(either(nothing, strategy)) if feature in able else nothing

    return BgpNeighbor(
        peer=peer.peer,
        remote_as=remote_as,
        timers=draw(_timers(retries.get(peer.network_instance, ANY))),
        network_instance=peer.network_instance,
        description="" if unnumbered and "unnumbered_description" not in able else draw(either("", descriptions)),
        enabled=draw(st.booleans()),
        update_source=loopback if peer.far and "update_source" in able else None,
        multihop_ttl=draw(st.integers(2, 255)) if peer.far and not internal and "multihop" in able else None,
        families=families,
        import_policies=draw(_policies(policies, able)),
        export_policies=draw(_policies(policies, able)),
        reflector_client=internal and maybe("route_reflector", st.booleans(), False),
        next_hop=maybe("next_hop", st.sampled_from(_next_hops(able)), NextHop.DEFAULT),
        bfd=None if peer.far else maybe("bfd", bfd_timers(able), None),
        prefix_limit=None
        if Family.EVPN in families
        else maybe("prefix_limit", optional(st.integers(1, 100_000)), None),
        password=None if unnumbered else maybe("bgp_password", _secrets(), None),
    )


def _next_hops(able: Collection[str]) -> list[NextHop]:
    return [
        next_hop
        for next_hop in NextHop
        if next_hop is not NextHop.UNCHANGED or "next_hop_unchanged_per_session" in able
    ]


def _keeping_next_hops(neighbor: BgpNeighbor) -> BgpNeighbor:
    """An EVPN session that keeps next hops, where all of a switch do; other sessions as they are."""
    return replace(neighbor, next_hop=NextHop.UNCHANGED) if neighbor.families == (Family.EVPN,) else neighbor


@st.composite
def _remotes(draw: st.DrawFn, asn: int, able: Collection[str]) -> int | Remote:
    """Another AS number, or a keyword where the platform has one."""
    keywords = [Remote.INTERNAL] * ("ibgp" in able) + [Remote.EXTERNAL] * ("remote_as_external" in able)
    numbers = asns.filter(lambda number: number != asn)
    return draw(numbers | st.sampled_from(keywords)) if keywords else draw(numbers)


@reused
@st.composite
def _timers(draw: st.DrawFn, connect_retry_s: int | None) -> BgpTimers:
    """connect_retry_s: of the session; ANY to draw it."""
    keepalive = draw(st.integers(1, 60))
    return BgpTimers(
        keepalive_s=keepalive,
        hold_s=3 * keepalive,
        connect_retry_s=draw(_RETRIES) if connect_retry_s == ANY else connect_retry_s,
        advertisement_interval_s=draw(optional(st.integers(1, 60))),
    )


def _families(peer: DrawnPeer, able: Collection[str]) -> st.SearchStrategy[tuple[Family, ...]]:
    known = [Family.IPV4, *([Family.IPV6] if "ipv6" in able else [])]
    if "evpn" in able and peer.network_instance == DEFAULT_INSTANCE:
        known.append(Family.EVPN)
    return st.lists(st.sampled_from(known), min_size=1, unique=True).map(tuple)


def _policies(policies: Sequence[Policy], able: Collection[str]) -> st.SearchStrategy[tuple[str, ...]]:
    if not policies:
        return st.just(())
    most = 2 if "several_policies" in able else 1
    names = st.sampled_from([policy.name for policy in policies])
    return st.lists(names, max_size=most, unique=True).map(tuple)


@reused
@st.composite
def bfd_timers(draw: st.DrawFn, able: Collection[str]) -> BfdTimers:
    longest = most(able, "bfd_interval_ms", 5000)
    interval_ms = draw(st.integers(50, longest))
    other = st.none() | st.integers(50, longest).filter(lambda receive_ms: receive_ms != interval_ms)
    return BfdTimers(
        interval_ms=interval_ms,
        multiplier=draw(st.integers(3, 20)),
        receive_ms=draw(other) if "bfd_receive" in able else None,
    )


@reused
def _secrets() -> st.SearchStrategy[SecretReference]:
    return words.map(lambda word: SecretReference(variable=word.upper()))
