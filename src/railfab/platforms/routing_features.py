"""Features of a device model: network instances, the overlay, BGP, BFD and routing policies."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from railfab.device import (
    LOOPBACK,
    BgpNeighbor,
    BgpSpeaker,
    DeviceModel,
    Family,
    NextHop,
    PolicyRule,
    Remote,
    interfaces_of_peers,
)
from railfab.platforms import removals
from railfab.platforms.feature import Feature, Used


def _any_neighbor(has: Callable[[BgpNeighbor], bool]) -> Used:
    return lambda model: any(map(has, model.neighbors))


def _any_rule(has: Callable[[PolicyRule], bool]) -> Used:
    return lambda model: any(has(rule) for policy in model.policies for rule in policy.rules)


def _bgp(has: Callable[[BgpSpeaker], bool]) -> Used:
    return lambda model: model.bgp is not None and has(model.bgp)


def _has_bfd_of_a_session(model: DeviceModel) -> bool:
    """Whether a session has BFD without an interface, or other BFD timers than another session of its interface."""
    sessions = [neighbor for neighbor in model.neighbors if neighbor.bfd is not None]
    connected = interfaces_of_peers(model) if sessions else {}
    timers = [(connected.get(session.key) or session.update_source, session.bfd) for session in sessions]
    return any(name is None for name, _ in timers) or len({*timers}) > len({name for name, _ in timers})


def _keeps_next_hops_of_some(bgp: BgpSpeaker) -> bool:
    """Whether a session keeps next hops that is not an EVPN session, or some EVPN sessions do and others do not."""
    overlay = {
        neighbor.next_hop is NextHop.UNCHANGED for neighbor in bgp.neighbors if neighbor.families == (Family.EVPN,)
    }
    others = (neighbor for neighbor in bgp.neighbors if neighbor.families != (Family.EVPN,))
    return len(overlay) > 1 or any(neighbor.next_hop is NextHop.UNCHANGED for neighbor in others)


def _has_source_without_address(model: DeviceModel) -> bool:
    """Whether the source interface of a session has no address of the version of the peer's."""
    versions = {interface.name: {address.version for address in interface.addresses} for interface in model.interfaces}
    return any(
        neighbor.update_source is not None
        and not isinstance(neighbor.peer, str)
        and neighbor.peer.version not in versions.get(neighbor.update_source, ())
        for neighbor in model.neighbors
    )


def _has_other_connect_retry(model: DeviceModel) -> bool:
    """Whether two sessions of a network instance have different times."""
    retries = {(neighbor.network_instance, neighbor.timers.connect_retry_s) for neighbor in model.neighbors}
    return len(retries) > len({instance for instance, _ in retries})


ROUTING_FEATURES: Mapping[str, Feature] = {
    "bfd": Feature("BFD on BGP sessions", _any_neighbor(lambda neighbor: neighbor.bfd is not None), key="profile.bfd"),
    "bfd_per_session": Feature("BFD timers that the sessions of an interface do not share", _has_bfd_of_a_session),
    "bfd_receive": Feature(
        "BFD with another interval of receiving than of sending",
        _any_neighbor(lambda neighbor: neighbor.bfd is not None and neighbor.bfd.receive_ms is not None),
    ),
    "vrf": Feature("VRFs", lambda model: bool(model.network_instances), removals.vrf_members),
    "vrf_without_bgp": Feature(
        "RD, targets and router ID of a VRF on a switch without BGP",
        lambda model: model.bgp is None and any(map(removals.belongs_to_bgp, model.network_instances)),
        removals.vrf_without_bgp,
        optional=True,
    ),
    "vxlan": Feature(
        "VXLAN",
        lambda model: model.vtep is not None or any(vlan.vni is not None for vlan in model.vlans),
        removals.vxlan,
        key="profile.data_plane",
    ),
    "evpn": Feature(
        "BGP EVPN", _any_neighbor(lambda neighbor: Family.EVPN in neighbor.families), key="profile.control_plane"
    ),
    "vtep_loopback": Feature(
        "a loopback of its own for VXLAN",
        lambda model: model.vtep is not None and model.vtep.source != LOOPBACK,
        removals.vxlan,
    ),
    "several_route_targets": Feature(
        "several route targets for one direction",
        lambda model: any(
            max(len(instance.import_targets), len(instance.export_targets)) > 1 for instance in model.network_instances
        ),
    ),
    "connect_retry_per_session": Feature(
        "connect retry times that the sessions of a network instance do not share", _has_other_connect_retry
    ),
    "ibgp": Feature(
        "internal BGP sessions",
        _bgp(lambda bgp: any(neighbor.is_internal(bgp.asn) for neighbor in bgp.neighbors)),
        key="profile.control_plane",
    ),
    "remote_as_external": Feature(
        "any external AS", _any_neighbor(lambda neighbor: neighbor.remote_as is Remote.EXTERNAL)
    ),
    "route_reflector": Feature(
        "route reflection", _any_neighbor(lambda neighbor: neighbor.reflector_client), key="profile.control_plane"
    ),
    "update_source": Feature(
        "source interface of a BGP session",
        _any_neighbor(lambda neighbor: neighbor.update_source is not None),
        key="profile.control_plane",
    ),
    "update_source_without_address": Feature(
        "source interface of a BGP session without an address of its family", _has_source_without_address
    ),
    "multihop": Feature(
        "external BGP over several hops",
        _any_neighbor(lambda neighbor: neighbor.multihop_ttl is not None),
        key="profile.control_plane",
    ),
    "next_hop": Feature(
        "next hop other than the default",
        _any_neighbor(lambda neighbor: neighbor.next_hop is not NextHop.DEFAULT),
        key="profile.control_plane",
    ),
    "next_hop_unchanged": Feature(
        "next hop unchanged of EVPN sessions",
        _any_neighbor(lambda neighbor: neighbor.next_hop is NextHop.UNCHANGED and neighbor.families == (Family.EVPN,)),
        removals.evpn_next_hops,
        key="profile.control_plane",
    ),
    "next_hop_unchanged_per_session": Feature(
        "next hop unchanged of unicast routes, or of some EVPN sessions only",
        _bgp(_keeps_next_hops_of_some),
        key="profile.control_plane",
    ),
    "unnumbered_description": Feature(
        "description of an unnumbered session",
        _any_neighbor(lambda neighbor: neighbor.unnumbered and bool(neighbor.description)),
    ),
    "bgp_password": Feature("password of a BGP session", _any_neighbor(lambda neighbor: neighbor.password is not None)),
    "no_ipv6_next_hops": Feature(
        "IPv4 routes that do not take IPv6 next hops, in one direction or both",
        _bgp(lambda bgp: not (bgp.advertise_ipv6_next_hops and bgp.receive_ipv6_next_hops)),
    ),
    "rapid_withdrawal": Feature(
        "withdrawals that do not wait for the advertisement interval",
        _bgp(lambda bgp: bgp.rapid_withdrawal is not None),
    ),
    "prefix_limit": Feature(
        "limit of the prefixes of a neighbour",
        _any_neighbor(lambda neighbor: neighbor.prefix_limit is not None),
        key="profile.bgp.prefix_limit",
    ),
    "evpn_prefix_limit": Feature(
        "limit of the EVPN routes of a neighbour",
        _any_neighbor(lambda neighbor: neighbor.prefix_limit is not None and Family.EVPN in neighbor.families),
    ),
    "keepalive": Feature(
        "keepalive that is not a third of the hold time",
        _any_neighbor(lambda neighbor: neighbor.timers.keepalive_s != neighbor.timers.hold_s // 3),
        key="profile.bgp.keepalive_s",
    ),
    "connect_retry": Feature(
        "time between attempts to connect a session",
        _any_neighbor(lambda neighbor: neighbor.timers.connect_retry_s is not None),
        removals.timer("connect_retry_s"),
        optional=True,
    ),
    "advertisement_interval": Feature(
        "time between updates to a neighbour",
        _any_neighbor(lambda neighbor: neighbor.timers.advertisement_interval_s is not None),
        removals.timer("advertisement_interval_s"),
        optional=True,
    ),
    "max_paths_internal": Feature(
        "another number of paths of internal than of external routes",
        _bgp(lambda bgp: bgp != bgp.with_one_number_of_paths()),
        removals.max_paths_internal,
        optional=True,
    ),
    "several_policies": Feature(
        "several policies for one direction",
        _any_neighbor(lambda neighbor: max(len(neighbor.import_policies), len(neighbor.export_policies)) > 1),
    ),
    "policy_without_default": Feature(
        "policies that leave routes to the next one",
        lambda model: any(policy.default is None for policy in model.policies),
    ),
    "aggregate": Feature("aggregates", _bgp(lambda bgp: bool(bgp.aggregates))),
    "aggregate_contributors": Feature(
        "stated contributors of an aggregate",
        _bgp(lambda bgp: any(aggregate.contributors for aggregate in bgp.aggregates)),
    ),
    "not_originated": Feature(
        "connected routes of a family that are not originated",
        _bgp(lambda bgp: not bgp.originates_all),
    ),
    "policy_communities": Feature("match of communities", _any_rule(lambda rule: bool(rule.communities))),
    "policy_as_path": Feature("match of the AS path", _any_rule(lambda rule: rule.as_path is not None)),
    "policy_set_communities": Feature("setting of communities", _any_rule(lambda rule: bool(rule.set_communities))),
    "policy_set_local_preference": Feature(
        "setting of the local preference", _any_rule(lambda rule: rule.set_local_preference is not None)
    ),
    "policy_set_med": Feature("setting of the MED", _any_rule(lambda rule: rule.set_med is not None)),
    "policy_set_link_bandwidth": Feature(
        "link bandwidth of announced routes, for weighted ECMP",
        _any_rule(lambda rule: rule.set_link_bandwidth is not None),
        key="profile.bgp.weighted_ecmp",
    ),
    "policy_prepend": Feature("AS path prepending", _any_rule(lambda rule: bool(rule.prepend))),
    "drain": Feature("maintenance drain", lambda model: model.drain),
}
