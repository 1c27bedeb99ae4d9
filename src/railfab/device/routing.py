"""BGP, BFD and routing policy of a switch."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from ipaddress import IPv4Address, IPv4Network, IPv6Network

from railfab.device.interfaces import DEFAULT_INSTANCE, IpAddress, IpNetwork


class Action(StrEnum):
    PERMIT = "permit"
    DENY = "deny"


@dataclass(frozen=True, slots=True, kw_only=True)
class PrefixRange:
    """Prefixes inside `prefix` whose length is between ge and le, both included."""

    prefix: IpNetwork
    ge: int
    le: int

    def matches(self, network: IpNetwork) -> bool:
        """Whether it contains a prefix; never one of the other family."""
        if isinstance(network, IPv4Network) and isinstance(self.prefix, IPv4Network):
            return self.ge <= network.prefixlen <= self.le and network.subnet_of(self.prefix)
        if isinstance(network, IPv6Network) and isinstance(self.prefix, IPv6Network):
            return self.ge <= network.prefixlen <= self.le and network.subnet_of(self.prefix)
        return False


class LinkBandwidth(StrEnum):
    """The value of the link bandwidth community (RFC 10005) that a rule sets: the number of equal next hops of the
    route, each as a unit of bandwidth, or the sum of the values that they were received with.

    A switch whose equal next hops all have a value gives each a share of the flows in proportion to it.
    """

    NEXT_HOPS = "next-hops"
    CUMULATIVE = "cumulative"


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyRule:
    """One rule of a policy: a route that matches every condition is permitted, with the settings, or denied.

    prefixes: any of these, sorted. communities: any of these, as `65000:1`; a well-known one (RFC 1997) by its name,
    as `graceful-shutdown`. as_path: a regular expression. An empty condition matches every route.
    prepend: number of times that the own AS number is prepended.
    """

    action: Action
    prefixes: tuple[PrefixRange, ...] = ()
    communities: tuple[str, ...] = ()
    as_path: str | None = None
    set_communities: tuple[str, ...] = ()
    set_local_preference: int | None = None
    set_med: int | None = None
    set_link_bandwidth: LinkBandwidth | None = None
    prepend: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """A routing policy: the first rule that matches a route decides.

    default: what happens to all other routes. None leaves them to the next policy of the neighbour; after the last one
    an internal neighbour permits them, and an external one unless `BgpSpeaker.requires_policy`.
    """

    name: str
    rules: tuple[PolicyRule, ...]
    default: Action | None = Action.DENY


class Family(StrEnum):
    """Address families of BGP, as OpenConfig names them in lower case."""

    IPV4 = "ipv4-unicast"
    IPV6 = "ipv6-unicast"
    EVPN = "l2vpn-evpn"


class Remote(StrEnum):
    """A remote AS that is not stated as a number."""

    INTERNAL = "internal"
    EXTERNAL = "external"


class NextHop(StrEnum):
    """The next hop announced to a neighbour: as the protocol defines it, the switch itself, or as received.

    SELF is also that of reflected routes.
    """

    DEFAULT = "default"
    SELF = "self"
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True, kw_only=True)
class BfdTimers:
    """BFD of one end of a session (RFC 5880), from which both ends negotiate.

    interval_ms: the shortest between packets that it sends. receive_ms: between those that it can take; None is
    interval_ms. multiplier: packets that the far end must miss.
    """

    interval_ms: int
    multiplier: int
    receive_ms: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BgpTimers:
    """Timers of a session [s] (RFC 4271, section 10); None is the platform's default."""

    keepalive_s: int
    hold_s: int
    connect_retry_s: int | None = None
    advertisement_interval_s: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretReference:
    """Place of a secret: the name of an environment variable, or the path of a file. Never the secret."""

    variable: str | None = None
    file: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BgpNeighbor:
    """One BGP session, keyed by (network_instance, peer).

    peer: an address, or the name of the interface of an unnumbered session. remote_as: INTERNAL where it is the own
    AS number; 0 where none is stated, so that the session does not come up. update_source: an interface.
    multihop_ttl: None for a directly connected peer. import_policies, export_policies: names, evaluated in order until
    one decides; none accepts or announces everything, unless `BgpSpeaker.requires_policy`. bfd: None without BFD.
    prefix_limit: prefixes of one unicast family beyond which the switch logs a warning; the session stays up.
    """

    peer: IpAddress | str
    remote_as: int | Remote
    timers: BgpTimers
    network_instance: str = DEFAULT_INSTANCE
    description: str = ""
    enabled: bool = True
    update_source: str | None = None
    multihop_ttl: int | None = None
    families: tuple[Family, ...] = (Family.IPV4,)
    import_policies: tuple[str, ...] = ()
    export_policies: tuple[str, ...] = ()
    reflector_client: bool = False
    next_hop: NextHop = NextHop.DEFAULT
    bfd: BfdTimers | None = None
    password: SecretReference | None = None
    prefix_limit: int | None = None

    @property
    def key(self) -> str:
        """Its key as text: the peer, with the network instance where that is not the default one."""
        return str(self.peer) if self.network_instance == DEFAULT_INSTANCE else f"{self.network_instance} {self.peer}"

    @property
    def unnumbered(self) -> bool:
        return isinstance(self.peer, str)

    def is_internal(self, asn: int) -> bool:
        """Whether the session is iBGP for a speaker with this AS number."""
        return self.remote_as in (Remote.INTERNAL, asn)


@dataclass(frozen=True, slots=True, kw_only=True)
class Aggregate:
    """A prefix that is announced while there is a route to a contributor. summary_only: its contributors are not.

    contributors: the prefixes that count; without any, every longer one inside it.
    """

    prefix: IpNetwork
    contributors: tuple[IpNetwork, ...] = ()
    summary_only: bool = True
    network_instance: str = DEFAULT_INSTANCE


@dataclass(frozen=True, slots=True, kw_only=True)
class BgpSpeaker:
    """The BGP speaker of a switch. It originates connected routes; the policies decide to which neighbours.

    originated: families whose connected routes it originates, among them those that none of its sessions carries.
    max_paths, max_paths_internal: equal-cost next hops used of eBGP and of iBGP routes. multiple_as: AS paths of equal
    length count as equal (multipath relax). advertise_ipv6_next_hops, receive_ipv6_next_hops: of IPv4 routes (RFC
    8950); an end sends such routes where the far end can receive them.
    requires_policy: a session without policy accepts and announces nothing (RFC 8212).
    rapid_withdrawal: withdrawals do not wait for the advertisement interval; None is the platform's default.
    neighbors: by network instance; those over an interface in the order of the interfaces, then the others by address.
    """

    asn: int
    router_id: IPv4Address | None
    max_paths: int
    neighbors: tuple[BgpNeighbor, ...]
    max_paths_internal: int = 1
    multiple_as: bool = True
    advertise_ipv6_next_hops: bool = True
    receive_ipv6_next_hops: bool = True
    requires_policy: bool = True
    rapid_withdrawal: bool | None = None
    cluster_id: IPv4Address | None = None
    aggregates: tuple[Aggregate, ...] = ()
    originated: tuple[Family, ...] = (Family.IPV4, Family.IPV6)

    @property
    def carried(self) -> frozenset[Family]:
        """Families that sessions of the default network instance carry."""
        neighbors = (neighbor for neighbor in self.neighbors if neighbor.network_instance == DEFAULT_INSTANCE)
        return frozenset(family for neighbor in neighbors for family in neighbor.families)

    @property
    def originates_all(self) -> bool:
        """Whether it originates the connected routes of every family that its sessions carry."""
        return self.carried & {Family.IPV4, Family.IPV6} <= {*self.originated}

    def with_originated(self, stated: Iterable[Family]) -> BgpSpeaker:
        """The speaker that originates these families, and those that none of its sessions carries."""
        families = {*stated} | ({Family.IPV4, Family.IPV6} - self.carried)
        return replace(self, originated=tuple(each for each in (Family.IPV4, Family.IPV6) if each in families))

    def with_one_number_of_paths(self) -> BgpSpeaker:
        """The speaker of a switch with one number for eBGP and iBGP: `max_paths` with internal sessions, else 1."""
        internal = any(neighbor.is_internal(self.asn) for neighbor in self.neighbors)
        return replace(self, max_paths_internal=self.max_paths if internal else 1)
