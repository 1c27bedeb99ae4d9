"""Renders BGP and BFD: `/network-instance/protocols/bgp` and `/bfd`.

Neighbours with equal settings share a peer group, because a session over an interface has all its settings from one.

SR Linux never changes the next hop of an EVPN route at an eBGP hop (Nokia, learn.srlinux.dev, blog 2024,
srlinux-asymmetric-routing, "BGP underlay"). A switch that has no VRF or VLAN that imports a route drops it, and has
nothing to pass on, unless `inter-as-vpn` is true (same page; srl_nokia-bgp 25.3.1, afi-safi evpn). So a route server
of EVPN, all of whose EVPN sessions keep the next hop, is a switch with that leaf.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from railfab.device import (
    BfdTimers,
    BgpNeighbor,
    BgpSpeaker,
    BgpTimers,
    DeviceModel,
    Family,
    NextHop,
    Remote,
    interfaces_of_peers,
)
from railfab.platforms.shared.json_tree import Json, bare
from railfab.platforms.srlinux.names import subinterface

GROUP = "fabric"
FAMILIES = {
    Family.IPV4: "srl_nokia-common:ipv4-unicast",
    Family.IPV6: "srl_nokia-common:ipv6-unicast",
    Family.EVPN: "srl_nokia-common:evpn",
}
ANY_AS = "1..4294967295"
US_PER_MS = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class PeerGroup:
    """Settings that neighbours share. enabled: stated by the group for sessions over an interface only."""

    timers: BgpTimers
    families: tuple[Family, ...]
    imports: tuple[str, ...]
    exports: tuple[str, ...]
    bfd: bool
    enabled: bool = True
    local_address: str | None = None
    multihop_ttl: int | None = None
    reflector_client: bool = False
    next_hop_self: bool = False
    prefix_limit: int | None = None

    @property
    def kind(self) -> str:
        """Name of the most used group with such settings; others get a number too."""
        clients = "-clients" if self.reflector_client else ""
        overlay = "-evpn" if self.families == (Family.EVPN,) else ""
        return f"{GROUP}{overlay}{clients}" + ("" if self.bfd else "-without-bfd")


def group_of(neighbor: BgpNeighbor) -> PeerGroup:
    """The settings that a neighbour has from its group."""
    return PeerGroup(
        timers=neighbor.timers,
        families=neighbor.families,
        imports=neighbor.import_policies,
        exports=neighbor.export_policies,
        bfd=neighbor.bfd is not None,
        enabled=neighbor.enabled or not neighbor.unnumbered,
        local_address=neighbor.update_source,
        multihop_ttl=neighbor.multihop_ttl,
        reflector_client=neighbor.reflector_client,
        next_hop_self=neighbor.next_hop is NextHop.SELF,
        prefix_limit=neighbor.prefix_limit,
    )


def named_groups(neighbors: Sequence[BgpNeighbor]) -> dict[str, tuple[PeerGroup, list[BgpNeighbor]]]:
    """Groups and their members, by name: the most used one of a kind has the kind's, the next one a 2 behind it."""
    members: dict[PeerGroup, list[BgpNeighbor]] = {}
    for neighbor in neighbors:
        members.setdefault(group_of(neighbor), []).append(neighbor)
    names: dict[str, tuple[PeerGroup, list[BgpNeighbor]]] = {}
    seen: Counter[str] = Counter()
    for group, group_members in sorted(members.items(), key=lambda entry: len(entry[1]), reverse=True):
        seen[group.kind] += 1
        name = group.kind if seen[group.kind] == 1 else f"{group.kind}-{seen[group.kind]}"
        names[name] = group, group_members
    return names


def render_bgp(bgp: BgpSpeaker, instance: str, router_id: str | None) -> Json:
    """The BGP speaker of one network instance."""
    neighbors = [neighbor for neighbor in bgp.neighbors if neighbor.network_instance == instance]
    groups = named_groups(neighbors)
    group_of_peer = {neighbor.peer: name for name, (_, members) in groups.items() for neighbor in members}
    used = {Family.IPV4, *(family for neighbor in neighbors for family in neighbor.families)}
    families = [family for family in Family if family in used]
    tree: Json = {
        "admin-state": "enable",
        "autonomous-system": bgp.asn,
        "ebgp-default-policy": {"import-reject-all": bgp.requires_policy, "export-reject-all": bgp.requires_policy},
        "afi-safi": [_family(family, bgp, passes_on=_passes_on(neighbors)) for family in families],
    }
    if bgp.rapid_withdrawal is not None:
        tree["route-advertisement"] = {"rapid-withdrawal": bgp.rapid_withdrawal}
    if router_id is not None:
        tree["router-id"] = router_id
    if bgp.cluster_id is not None:
        tree["route-reflector"] = {"cluster-id": str(bgp.cluster_id)}
    if groups:
        tree["group"] = [_group(name, group, families) for name, (group, _) in groups.items()]
    unnumbered = [
        _dynamic(neighbor, group_of_peer[neighbor.peer], bgp.asn) for neighbor in neighbors if neighbor.unnumbered
    ]
    numbered = [
        _static(neighbor, group_of_peer[neighbor.peer], bgp.asn) for neighbor in neighbors if not neighbor.unnumbered
    ]
    if unnumbered:
        tree["dynamic-neighbors"] = {"interface": unnumbered}
    return tree | ({"neighbor": numbered} if numbered else {})


def _passes_on(neighbors: Sequence[BgpNeighbor]) -> bool:
    """Whether EVPN routes that the switch does not import are passed on, with their next hops."""
    return any(neighbor.families == (Family.EVPN,) and neighbor.next_hop is NextHop.UNCHANGED for neighbor in neighbors)


def _family(family: Family, bgp: BgpSpeaker, *, passes_on: bool) -> Json:
    tree: Json = {"afi-safi-name": FAMILIES[family], "admin-state": "enable"}
    if family is Family.EVPN:
        return tree | ({"evpn": {"inter-as-vpn": True}} if passes_on else {})
    multipath: Json = {"allow-multiple-as": bgp.multiple_as, "ebgp": {"maximum-paths": bgp.max_paths}}
    if bgp.max_paths_internal > 1:
        multipath["ibgp"] = {"maximum-paths": bgp.max_paths_internal}
    tree["multipath"] = multipath
    if family is Family.IPV4:
        tree["ipv4-unicast"] = {
            "advertise-ipv6-next-hops": bgp.advertise_ipv6_next_hops,
            "receive-ipv6-next-hops": bgp.receive_ipv6_next_hops,
        }
    return tree


def _group(name: str, group: PeerGroup, families: Sequence[Family]) -> Json:
    tree: Json = {
        "group-name": name,
        "admin-state": "enable" if group.enabled else "disable",
        "failure-detection": {"enable-bfd": group.bfd},
        "timers": _timers(group.timers),
    }
    if group.imports:
        tree["import-policy"] = list(group.imports)
    if group.exports:
        tree["export-policy"] = list(group.exports)
    if afi_safis := [afi_safi for family in families if (afi_safi := _family_of_group(family, group))]:
        tree["afi-safi"] = afi_safis
    if group.local_address is not None:
        tree["transport"] = {"local-address": subinterface(group.local_address)}
    if group.multihop_ttl is not None:
        tree["multihop"] = {"admin-state": "enable", "maximum-hops": group.multihop_ttl}
    if group.reflector_client:
        tree["route-reflector"] = {"client": True}
    return tree | ({"next-hop-self": True} if group.next_hop_self else {})


def _family_of_group(family: Family, group: PeerGroup) -> Json | None:
    """Settings of a family in a group: that it does not have it, or the limit of its prefixes; None without either."""
    name: Json = {"afi-safi-name": FAMILIES[family]}
    if family not in group.families:
        return name | {"admin-state": "disable"}
    if group.prefix_limit is None:
        return None
    limit = {"max-received-routes": group.prefix_limit, "prevent-teardown": True}
    return name | {bare(FAMILIES[family]): {"prefix-limit-received": limit}}


def _timers(timers: BgpTimers) -> Json:
    tree: Json = {"keepalive-interval": timers.keepalive_s, "hold-time": timers.hold_s}
    if timers.connect_retry_s is not None:
        tree["connect-retry"] = timers.connect_retry_s
    if timers.advertisement_interval_s is not None:
        tree["minimum-advertisement-interval"] = timers.advertisement_interval_s
    return tree


def _dynamic(neighbor: BgpNeighbor, group: str, own_as: int) -> Json:
    allowed = ANY_AS if neighbor.remote_as is Remote.EXTERNAL else str(_as_number(neighbor, own_as))
    return {
        "interface-name": subinterface(str(neighbor.peer)),
        "peer-group": group,
        "allowed-peer-as": [allowed],
    }


def _static(neighbor: BgpNeighbor, group: str, own_as: int) -> Json:
    tree: Json = {
        "peer-address": str(neighbor.peer),
        "peer-group": group,
        "peer-as": _as_number(neighbor, own_as),
    }
    if not neighbor.enabled:
        tree["admin-state"] = "disable"
    return tree | ({"description": neighbor.description} if neighbor.description else {})


def _as_number(neighbor: BgpNeighbor, own_as: int) -> int:
    return own_as if isinstance(neighbor.remote_as, Remote) else neighbor.remote_as


def render_bfd(model: DeviceModel) -> Json | None:
    """BFD timers of the subinterface of every session with BFD; the peer group decides whether a session uses it."""
    timers = dict(_bfd_timers(model))
    if not timers:
        return None
    return {"subinterface": [_bfd(subinterface(name), timer) for name, timer in timers.items()]}


def _bfd_timers(model: DeviceModel) -> Iterator[tuple[str, BfdTimers]]:
    """Interface of every session with BFD, and its timers; a session to a remote peer has its update source's."""
    interfaces = interfaces_of_peers(model)
    for neighbor in model.neighbors:
        name = bfd_interface(neighbor, interfaces.get(neighbor.key))
        if neighbor.bfd is not None and name is not None:
            yield name, neighbor.bfd


def bfd_interface(neighbor: BgpNeighbor, connected: str | None) -> str | None:
    """The interface whose BFD timers a session has. connected: the one in whose subnet its peer is."""
    return connected or neighbor.update_source


def _bfd(name: str, timers: BfdTimers) -> Json:
    receive_ms = timers.interval_ms if timers.receive_ms is None else timers.receive_ms
    return {
        "id": name,
        "admin-state": "enable",
        "desired-minimum-transmit-interval": timers.interval_ms * US_PER_MS,
        "required-minimum-receive": receive_ms * US_PER_MS,
        "detection-multiplier": timers.multiplier,
    }
