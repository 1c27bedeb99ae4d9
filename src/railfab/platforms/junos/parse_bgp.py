"""Reads the BGP speaker of a configuration, with what each session has from its group or from all sessions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, ip_address, ip_network

from railfab.device import (
    DEFAULT_INSTANCE,
    Aggregate,
    BfdTimers,
    BgpNeighbor,
    BgpSpeaker,
    BgpTimers,
    Family,
    Interface,
    IpAddress,
    NextHop,
    Remote,
)
from railfab.platforms.junos.names import CLIENT_GROUP, FLAGS_OF_AS, NEXT_HOP_SELF, interface_name, summary_policy
from railfab.platforms.junos.parse_policy import is_prepared
from railfab.platforms.junos.render_bgp import OWN_CLUSTER, PATHS, UNICAST, path_limit
from railfab.platforms.shared.words import Words

DEFAULT_HOLD_S = 90
"""Hold time of a session that states none (Junos, hold-time)."""
DEFAULT_PATHS = 16
"""Equal next hops without `chassis maximum-ecmp` (Junos, maximum-ecmp)."""
DEFAULT_BFD_MULTIPLIER = 3


@dataclass(frozen=True, slots=True)
class SessionStatements:
    """The statements of one session: of the neighbour, of its group, and of every session of its instance."""

    neighbor: Words
    group: Words
    speaker: Words
    group_name: str
    instance: str

    def levels(self) -> tuple[Words, ...]:
        return self.neighbor, self.group, self.speaker

    def at(self, *words: str) -> Words:
        """The innermost level that has these words."""
        *above, last = words
        return next((level for level in self.levels() if last in level.at(*above)), self.neighbor)

    def text(self, *words: str) -> str | None:
        return self.at(*words).text(*words)

    def number(self, *words: str) -> int | None:
        return self.at(*words).number(*words)

    def has(self, *words: str) -> bool:
        *above, last = words
        return any(last in level.at(*above) for level in self.levels())


def speakers_of(root: Words) -> Mapping[str, Words]:
    """`protocols bgp` of each network instance that has it."""
    protocols = {DEFAULT_INSTANCE: root.at("protocols")}
    protocols |= {name: words.at("protocols") for name, words in root.entries("routing-instances")}
    return {name: words.at("bgp") for name, words in protocols.items() if "bgp" in words}


def _number_of_as(root: Words) -> int:
    """The AS number of the switch, without the words beside it; 0 where none is stated."""
    stated = [text for text in root.texts("routing-options", "autonomous-system") if text not in FLAGS_OF_AS]
    if stated and stated[-1].isdecimal():
        return int(stated[-1])
    return root.number("routing-options", "autonomous-system") or 0


def bgp_of(root: Words, interfaces: Sequence[Interface]) -> tuple[BgpSpeaker | None, bool]:
    """The speaker, and whether it is drained."""
    speakers = speakers_of(root)
    if not speakers:
        return None, False
    speaker = speakers.get(DEFAULT_INSTANCE) or next(iter(speakers.values()))
    sessions = [session for name, words in speakers.items() for session in _sessions(name, words)]
    asn = _number_of_as(root)
    neighbors = [_neighbor(session, root, interfaces) for session in sessions]
    multipath = _multipath(speaker)
    paths = _paths(root, speaker, multipath)
    ipv6_next_hops = all(map(_has_ipv6_next_hops, sessions))
    bgp = BgpSpeaker(
        asn=asn,
        router_id=root.value(IPv4Address, "an IPv4 address", "routing-options", "router-id"),
        max_paths=paths,
        neighbors=tuple(neighbor for neighbor in neighbors if neighbor is not None),
        multiple_as=bool(multipath) and all("multiple-as" in words for words in multipath),
        advertise_ipv6_next_hops=ipv6_next_hops,
        receive_ipv6_next_hops=ipv6_next_hops,
        requires_policy=set(speaker.texts("defaults", "ebgp", "no-policy")) >= {"receive", "advertise"},
        cluster_id=None if OWN_CLUSTER in speaker.at("apply-macro") else _cluster(speakers),
        aggregates=tuple(_aggregates(root)),
    )
    return bgp.with_one_number_of_paths(), "sender" in speaker.at("graceful-shutdown")


def _multipath(speaker: Words) -> tuple[Words, ...]:
    """`multipath` as every session has it: of its group, else of all sessions; none where one has it not."""
    groups = [words for _, words in speaker.entries("group")] or [speaker]
    levels = [next((level for level in (words, speaker) if "multipath" in level), None) for words in groups]
    return tuple(level.at("multipath") for level in levels if level is not None) if all(levels) else ()


def _paths(root: Words, speaker: Words, multipath: Sequence[Words]) -> int:
    """Equal next hops: 1 without `multipath`, else the limit of the switch, or the number that it was made from."""
    if not multipath or any("disable" in words for words in multipath):
        return 1
    limit = root.number("chassis", "maximum-ecmp") or DEFAULT_PATHS
    intended = speaker.number("apply-macro", PATHS, "max-paths")
    return intended if intended is not None and intended > 1 and path_limit(intended) == limit else limit


def _cluster(speakers: Mapping[str, Words]) -> IPv4Address | None:
    """The cluster of the first group or session that has one."""
    for words in speakers.values():
        for _, group in words.entries("group"):
            if "cluster" in group:
                return group.value(IPv4Address, "an IPv4 address", "cluster")
    return None


def _aggregates(root: Words) -> Iterator[Aggregate]:
    """The aggregates of every instance; a bad prefix is a problem."""
    places = [(DEFAULT_INSTANCE, root)] + [(name, words) for name, words in root.entries("routing-instances")]
    for instance, words in places:
        policy = root.at("policy-options", "policy-statement", summary_policy(instance))
        hidden = {prefix for _, term in policy.entries("term") for prefix in term.texts("from", "route-filter")}
        options = words.at("routing-options")
        for table in (options, *(below for _, below in options.entries("rib"))):
            for prefix, route in table.entries("aggregate", "route"):
                try:
                    network = ip_network(prefix, strict=False)
                except ValueError:
                    route.problem("is not a prefix", "Use a prefix")
                    continue
                yield Aggregate(prefix=network, summary_only=prefix in hidden, network_instance=instance)


def _sessions(instance: str, speaker: Words) -> Iterator[SessionStatements]:
    """The numbered sessions of each group, and those over its interfaces."""
    for name, group in speaker.entries("group"):
        for _, neighbor in group.entries("neighbor"):
            yield SessionStatements(neighbor, group, speaker, name, instance)
        for _, dynamic in group.entries("dynamic-neighbor"):
            discovery = dynamic.at("peer-auto-discovery")
            yield from (
                SessionStatements(below, group, speaker, name, instance) for _, below in discovery.entries("interface")
            )


def _peer(session: SessionStatements) -> IpAddress | str | None:
    """The address of a session, or the interface over which its peer is found; None for a bad address."""
    *_, kind, name = session.neighbor.path
    if kind == "interface":
        return interface_name(name)
    try:
        return ip_address(name)
    except ValueError:
        session.neighbor.problem("is not an IP address", "Use the address of the neighbour")
        return None


def _has_ipv6_next_hops(session: SessionStatements) -> bool:
    """Whether a session can carry the IPv4 routes that it carries: over IPv6 it needs a statement."""
    peer = session.neighbor.path[-1]
    over_ipv6 = session.neighbor.path[-2] == "interface" or ":" in peer
    unicast = session.at("family", "inet").at("family", "inet", "unicast")
    return not over_ipv6 or not session.has("family", "inet") or "extended-nexthop" in unicast


def _neighbor(session: SessionStatements, root: Words, interfaces: Sequence[Interface]) -> BgpNeighbor | None:
    peer = _peer(session)
    if peer is None:
        return None
    unchanged, hops = session.has("multihop", "no-nexthop-change"), session.number("multihop", "ttl")
    exports = session.at("export").texts("export")
    direct = hops is None or (hops == 1 and unchanged)
    return BgpNeighbor(
        peer=peer,
        remote_as=_remote_as(session, root),
        timers=_timers(session),
        network_instance=session.instance,
        description=_own(session, "description"),
        enabled=not session.has("shutdown"),
        update_source=_source(session, interfaces),
        multihop_ttl=None if direct else hops,
        families=_families(session),
        import_policies=tuple(filter(_is_name, session.at("import").texts("import"))),
        export_policies=tuple(name for name in exports if _is_name(name) and not is_prepared(name)),
        reflector_client=session.group_name == CLIENT_GROUP or session.has("cluster"),
        next_hop=_next_hop(exports, unchanged),
        bfd=_bfd(session),
        prefix_limit=_prefix_limit(session),
    )


def _own(session: SessionStatements, leaf: str) -> str:
    """A text of the session itself; that of an unnumbered one is its group's, which has no other session."""
    level = session.group if session.neighbor.path[-2] == "interface" else session.neighbor
    return level.text(leaf) or ""


def _is_name(text: str) -> bool:
    """Whether a policy is named; an expression, `( A && B )`, is unmodelled."""
    return text not in ("(", ")", "&&", "||", "!") and not text.startswith("(")


def _remote_as(session: SessionStatements, root: Words) -> int | Remote:
    """The AS number of the peer, by itself or as the only one of a list; 0 where none is stated."""
    stated = session.number("peer-as")
    if stated is not None:
        return stated
    if session.text("type") == "internal":
        return Remote.INTERNAL
    name = session.text("peer-as-list") or ""
    members = root.texts("policy-options", "as-list", name, "members")
    return int(members[0]) if len(members) == 1 and members[0].isdecimal() else 0


def _timers(session: SessionStatements) -> BgpTimers:
    """Junos sends keepalives at a third of the hold time."""
    hold_s = session.number("hold-time")
    hold_s = DEFAULT_HOLD_S if hold_s is None else hold_s
    return BgpTimers(keepalive_s=hold_s // 3, hold_s=hold_s, advertisement_interval_s=session.number("out-delay"))


def _source(session: SessionStatements, interfaces: Sequence[Interface]) -> str | None:
    """The interface with the address from which a session is opened."""
    address = session.text("local-address")
    names = (
        interface.name for interface in interfaces if any(str(local.ip) == address for local in interface.addresses)
    )
    return next(names, None)


def _families(session: SessionStatements) -> tuple[Family, ...]:
    """The address families; without any, that of IPv4."""
    names = {"inet": Family.IPV4, "inet6": Family.IPV6, "evpn": Family.EVPN}
    stated = next((level for level in session.levels() if "family" in level), session.neighbor)
    families = tuple(names[name] for name in stated.texts("family") if name in names)
    return families or (Family.IPV4,)


def _next_hop(exports: Sequence[str], unchanged: bool) -> NextHop:
    if NEXT_HOP_SELF in exports:
        return NextHop.SELF
    return NextHop.UNCHANGED if unchanged else NextHop.DEFAULT


def _prefix_limit(session: SessionStatements) -> int | None:
    limits = (session.number("family", family, "unicast", "prefix-limit", "maximum") for family in UNICAST.values())
    return next((limit for limit in limits if limit is not None), None)


def _bfd(session: SessionStatements) -> BfdTimers | None:
    """BFD of a session; None without an interval."""
    words = session.at("bfd-liveness-detection").at("bfd-liveness-detection")
    interval, multiplier = words.number("minimum-interval"), words.number("multiplier") or DEFAULT_BFD_MULTIPLIER
    sent, received = words.number("transmit-interval", "minimum-interval"), words.number("minimum-receive-interval")
    if interval is not None:
        return BfdTimers(interval_ms=interval, multiplier=multiplier)
    if sent is None:
        return None
    return BfdTimers(interval_ms=sent, multiplier=multiplier, receive_ms=received)
