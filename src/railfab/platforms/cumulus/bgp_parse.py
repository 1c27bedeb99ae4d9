"""Parses BGP and the VRFs of a tree in today's spelling."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from ipaddress import IPv4Address, ip_address, ip_network

from railfab.device import (
    DEFAULT_INSTANCE,
    MANAGEMENT_VRF,
    Aggregate,
    BfdTimers,
    BgpNeighbor,
    BgpSpeaker,
    BgpTimers,
    Family,
    IpAddress,
    NetworkInstance,
    NextHop,
    Remote,
)
from railfab.platforms.cumulus.bgp import NO_POLICY, UNICAST
from railfab.platforms.cumulus.names import allowed, given, model_name
from railfab.platforms.cumulus.nodes import OFF, ON, entries, is_on, keys, only_key
from railfab.platforms.cumulus.spelling import ASN
from railfab.platforms.shared.config_node import ConfigNode

DEFAULT_KEEPALIVE_S, DEFAULT_HOLD_S = 3, 9
DEFAULT_PATHS = 64
"""Equal-cost paths of either kind (nvue-reference BGP, multipaths)."""
DEFAULT_BFD = BfdTimers(interval_ms=300, multiplier=3)
OWN_VRFS = {DEFAULT_INSTANCE, MANAGEMENT_VRF}
"""VRFs that every switch has."""


def parse_vrfs(root: ConfigNode) -> Iterator[NetworkInstance]:
    """The VRFs of a model."""
    for name, node in entries(root, "vrf"):
        if name in OWN_VRFS:
            continue
        bgp, vni = node.at("router", "bgp"), only_key(node.child("evpn"), "vni")
        yield NetworkInstance(
            name=given(name),
            rd=bgp.text("rd"),
            import_targets=keys(bgp.at("route-import", "from-evpn"), "route-target"),
            export_targets=keys(bgp.at("route-export", "to-evpn"), "route-target"),
            vni=int(vni) if vni and vni.isdecimal() else None,
            router_id=_router_id(bgp),
        )


def _router_id(node: ConfigNode) -> IPv4Address | None:
    return None if node.text("router-id") in ("auto", "none", None) else node.router_id("router-id")


def parse_bgp(root: ConfigNode) -> BgpSpeaker | None:
    """The speaker; None without an AS number, or where it is off."""
    speaker, default = root.at("router", "bgp"), root.at("vrf", DEFAULT_INSTANCE, "router", "bgp")
    asn = next((node.number(ASN) for node in (default, speaker) if (node.text(ASN) or "").isdecimal()), None)
    if asn is None or not is_on(speaker, default=True):
        return None
    neighbors = tuple(_neighbors(root))
    families = [default.at("address-family", str(family)) for family in UNICAST]
    multipaths = next(
        (node.child("multipaths") for node in families if "multipaths" in node.value), ConfigNode({}, "", [])
    )
    next_hops = all(_takes_ipv6_next_hops(root, neighbor) for neighbor in neighbors)
    return BgpSpeaker(
        asn=asn,
        router_id=_router_id(speaker) or _router_id(default),
        max_paths=_paths(multipaths, "ebgp"),
        max_paths_internal=_paths(multipaths, "ibgp"),
        neighbors=tuple(_without_denial(neighbor) for neighbor in neighbors),
        multiple_as=is_on(default.at("path-selection", "multipath"), "aspath-ignore"),
        advertise_ipv6_next_hops=next_hops,
        receive_ipv6_next_hops=next_hops,
        requires_policy=_requires_policy(neighbors, asn),
        cluster_id=_cluster(default.child("route-reflection")),
        aggregates=tuple(_aggregates(root)),
    ).with_originated(
        family
        for family in UNICAST
        if is_on(default.at("address-family", str(family), "redistribute", "connected"), default=False)
    )


def is_drained(root: ConfigNode) -> bool:
    """Whether the switch announces every route as one to avoid."""
    return is_on(root.at("router", "bgp"), "graceful-shutdown")


def _paths(multipaths: ConfigNode, leaf: str) -> int:
    number = multipaths.number(leaf)
    return DEFAULT_PATHS if number is None else number


def _cluster(node: ConfigNode) -> IPv4Address | None:
    return node.router_id("cluster-id") if is_on(node) else None


def _requires_policy(neighbors: tuple[BgpNeighbor, ...], asn: int) -> bool:
    """Whether no external session lacks a policy; then it makes no difference, and is as in a design."""
    external = [neighbor for neighbor in neighbors if neighbor.enabled and not neighbor.is_internal(asn)]
    return all(neighbor.import_policies and neighbor.export_policies for neighbor in external)


def _without_denial(neighbor: BgpNeighbor) -> BgpNeighbor:
    """The session without the route map that stands for no policy."""
    if NO_POLICY not in (*neighbor.import_policies, *neighbor.export_policies):
        return neighbor
    kept = (
        tuple(name for name in names if name != NO_POLICY)
        for names in (neighbor.import_policies, neighbor.export_policies)
    )
    imported, exported = kept
    return replace(neighbor, import_policies=imported, export_policies=exported)


def _takes_ipv6_next_hops(root: ConfigNode, neighbor: BgpNeighbor) -> bool:
    """Whether a session can carry the IPv4 routes that it carries: one to an IPv6 address needs a capability."""
    if neighbor.unnumbered or Family.IPV4 not in neighbor.families or ":" not in str(neighbor.peer):
        return True
    node = root.at("vrf", allowed(neighbor.network_instance), "router", "bgp", "neighbor", str(neighbor.peer))
    return is_on(node.child("capabilities"), "extended-nexthop")


def _aggregates(root: ConfigNode) -> Iterator[Aggregate]:
    for instance, vrf in entries(root, "vrf"):
        for family in UNICAST:
            node = vrf.at("router", "bgp", "address-family", str(family))
            for prefix, settings in entries(node, "aggregate-route"):
                try:
                    network = ip_network(prefix, strict=False)
                except ValueError:
                    settings.problem(f"{prefix!r} is not an IP prefix", "Use one, as 10.0.0.0/16")
                    continue
                yield Aggregate(
                    prefix=network, summary_only=is_on(settings, "summary-only"), network_instance=given(instance)
                )


def _neighbors(root: ConfigNode) -> Iterator[BgpNeighbor]:
    """The sessions of every VRF."""
    for instance, vrf in entries(root, "vrf"):
        for peer, node in entries(vrf.at("router", "bgp"), "neighbor"):
            if (neighbor := _neighbor(instance, peer, node, root)) is not None:
                yield neighbor


def _neighbor(vrf: str, peer: str, node: ConfigNode, root: ConfigNode) -> BgpNeighbor | None:
    """A session; None over an interface that a model has no name for."""
    address = _address(peer)
    name = model_name(peer) if address is None else None
    if address is None and name is None:
        return None
    active = tuple(family for family in Family if _is_active(node, family))
    families = [node.at("address-family", str(family)) for family in active]
    ttl, source = node.text("multihop-ttl"), node.text("update-source")
    return BgpNeighbor(
        peer=name if address is None else address,  # type: ignore[arg-type]
        remote_as=_remote(node),
        timers=_timers([node.child("timers"), root.at("vrf", vrf, "router", "bgp", "timers")]),
        network_instance=given(vrf),
        description=node.text("description") or "",
        enabled=node.text("shutdown") != ON and node.text("state") != OFF,
        update_source=(model_name(source) or source) if source not in (None, "auto") else None,
        multihop_ttl=int(ttl) if ttl and ttl.isdecimal() else None,
        families=active,
        import_policies=_policies(families, "inbound"),
        export_policies=_policies(families, "outbound"),
        reflector_client=any(is_on(family, "route-reflector-client") for family in families),
        next_hop=_next_hop(families),
        bfd=_bfd(root, node.child("bfd")),
        prefix_limit=_limit(families),
    )


def _address(peer: str) -> IpAddress | None:
    try:
        return ip_address(peer)
    except ValueError:
        return None


def _text(nodes: list[ConfigNode], leaf: str) -> str | None:
    """The first value of a leaf."""
    return next((text for node in nodes if (text := node.text(leaf)) is not None), None)


def _number(nodes: list[ConfigNode], leaf: str) -> int | None:
    """The first number of a leaf; `auto` and `none` are the platform's default."""
    for node in nodes:
        if node.text(leaf) not in ("auto", "none", None):
            return node.number(leaf)
    return None


def _is_active(node: ConfigNode, family: Family) -> bool:
    return is_on(node.at("address-family", str(family)), default=family is Family.IPV4)


def _remote(node: ConfigNode) -> int | Remote:
    """The AS of the neighbour; 0 where none is stated."""
    asn = node.text("remote-as")
    if asn in (Remote.INTERNAL, Remote.EXTERNAL):
        return Remote(asn)
    return _number([node], "remote-as") or 0


def _timers(nodes: list[ConfigNode]) -> BgpTimers:
    keepalive, hold = _number(nodes, "keepalive"), _number(nodes, "hold")
    return BgpTimers(
        keepalive_s=DEFAULT_KEEPALIVE_S if keepalive is None else keepalive,
        hold_s=DEFAULT_HOLD_S if hold is None else hold,
        connect_retry_s=_number(nodes, "connection-retry"),
        advertisement_interval_s=_number(nodes, "route-advertisement"),
    )


def _bfd(root: ConfigNode, node: ConfigNode) -> BfdTimers | None:
    """The timers of the profile of a session, or of the session itself as in 5.14; None where it has no BFD."""
    profile = node.text("profile")
    if profile is not None and is_on(root.at("router", "bfd")):
        node = root.at("router", "bfd", "profile", profile)
    elif node.text("enable") != "on":
        return None
    sent, received = (_number([node], f"min-{way}-interval") for way in ("tx", "rx"))
    interval_ms = DEFAULT_BFD.interval_ms if sent is None else sent
    receive_ms = DEFAULT_BFD.interval_ms if received is None else received
    return BfdTimers(
        interval_ms=interval_ms,
        multiplier=_number([node], "detect-multiplier") or DEFAULT_BFD.multiplier,
        receive_ms=receive_ms if receive_ms != interval_ms else None,
    )


def _policies(nodes: list[ConfigNode], direction: str) -> tuple[str, ...]:
    route_map = _text([node.at("policy", direction) for node in nodes], "route-map")
    return () if route_map in (None, "none") else (given(route_map),)


def _next_hop(nodes: list[ConfigNode]) -> NextHop:
    if any(node.text("nexthop-setting") == "force" for node in nodes):
        return NextHop.SELF
    if any(node.child("attribute-mod").text("nexthop") == OFF for node in nodes):
        return NextHop.UNCHANGED
    return NextHop.DEFAULT


def _limit(nodes: list[ConfigNode]) -> int | None:
    """The largest number of prefixes before a warning; one that ends the session is not a model's."""
    inbound = [node.at("prefix-limits", "inbound") for node in nodes]
    return _number([node for node in inbound if is_on(node, "warning-only")], "maximum")
