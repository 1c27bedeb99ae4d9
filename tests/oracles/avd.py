"""A device model as structured configuration of Arista's AVD (PyAVD, `eos_cli_config_gen`), and what AVD makes of it.

AVD validates the structured configuration by its schema and renders it to EOS's lines. It is written from the model,
without our own rendering, so that both ways to the lines are independent; only names that are ours to choose (of peer
groups, lists, QoS profiles) are taken from there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from fractions import Fraction
from ipaddress import IPv4Address
from typing import Any

from railfab.device import (
    DEFAULT_INSTANCE,
    BalancingMode,
    BgpNeighbor,
    BgpSpeaker,
    DeviceModel,
    Family,
    Fec,
    HashField,
    Interface,
    Lag,
    LoadBalancing,
    Loopback,
    ManagementAccess,
    NextHop,
    PolicyRule,
    Port,
    Qos,
    Remote,
    Scheduling,
    Svi,
    interfaces_of_peers,
)
from railfab.platforms.eos.bgp import PeerGroups, groups_of
from railfab.platforms.eos.names import SEVERITIES, native_name, queue_section, speed_name
from railfab.platforms.eos.peer_link import addresses_of
from railfab.platforms.eos.qos import Variant, service_profiles, variants_of
from railfab.platforms.shared.line_tree import Line
from railfab.platforms.shared.route_map_lines import all_entries
from railfab.platforms.shared.route_maps import Entry

Structure = dict[str, Any]

ABSENT = {
    r"link-debounce time \d+ 0": "ethernet_interfaces[] has no key for it",
}
"""Lines that AVD's model has no words for, and why."""


def without_none(value: Any) -> Any:
    """A structure without keys that are None, and without empty lists and mappings."""
    if isinstance(value, dict):
        kept = {key: without_none(found) for key, found in value.items()}
        return {key: found for key, found in kept.items() if found is not None and found not in ([], {})}
    return [without_none(found) for found in value] if isinstance(value, list) else value


def structured(model: DeviceModel) -> Structure:
    """The structured configuration of a switch."""
    found: Structure = {
        "hostname": model.name or None,
        "service_routing_protocols_model": "multi-agent",
        "lldp": _lldp(model),
        "vlans": _vlans(model),
        "vrfs": _vrfs(model),
        "port_channel_interfaces": [_lag(found, model) for found in model.interfaces if isinstance(found, Lag)],
        "ethernet_interfaces": list(_ports(model)),
        "loopback_interfaces": [_loopback(found) for found in model.interfaces if isinstance(found, Loopback)],
        "vlan_interfaces": list(_svis(model)),
        "vxlan_interface": _vxlan(model),
        "ip_virtual_router_mac_address": _gateway_mac(model),
        **_routing(model),
        **_policies(model),
        "maintenance": {"units": [{"name": "System", "quiesce": True}]} if model.drain else None,
        **_mlag(model),
        **_management(model.management or ManagementAccess()),
        **(_qos(model.qos, model.silicon) if model.qos else {}),
        **_balancing(model),
        "router_bgp": _bgp(model, model.bgp) if model.bgp else None,
    }
    cleaned: Structure = without_none(found)
    return cleaned


def _lldp(model: DeviceModel) -> Structure:
    lldp = model.lldp
    return {
        "timer": lldp.hello_s if lldp.hello_s != 30 else None,
        "holdtime": lldp.hold_s if lldp.hold_s != 120 else None,
        "run": None if lldp.enabled else False,
    }


def _vlans(model: DeviceModel) -> list[Structure]:
    found: list[Structure] = [{"id": vlan.vlan_id, "name": vlan.name or None} for vlan in model.vlans]
    if model.mlag is not None:
        found.append({"id": 4094, "name": "MLAG", "trunk_groups": ["MLAG"]})
    return found


def _vrfs(model: DeviceModel) -> list[Structure]:
    found: list[Structure] = [
        {
            "name": instance.name,
            "ip_routing": None if _over_ipv6(model, instance.name) else True,
            "ip_routing_ipv6_interfaces": _over_ipv6(model, instance.name) or None,
            "ipv6_routing": _has_ipv6(model, instance.name) or None,
        }
        for instance in model.network_instances
    ]
    servers = model.management.network_instance if model.management else DEFAULT_INSTANCE
    known = {DEFAULT_INSTANCE, *(instance.name for instance in model.network_instances)}
    return found if servers in known else [*found, {"name": servers}]


def _over_ipv6(model: DeviceModel, instance: str) -> bool:
    return any(found.unnumbered and found.network_instance == instance for found in model.interfaces)


def _has_ipv6(model: DeviceModel, instance: str) -> bool:
    own = (found for found in model.interfaces if found.network_instance == instance)
    return _over_ipv6(model, instance) or any(
        address.version == 6
        for found in own
        for address in (*found.addresses, *(found.gateways if isinstance(found, Svi) else ()))
    )


def _routing(model: DeviceModel) -> Structure:
    over_ipv6 = _over_ipv6(model, DEFAULT_INSTANCE)
    return {
        "ip_routing": None if over_ipv6 else True,
        "ip_routing_ipv6_interfaces": over_ipv6 or None,
        "ipv6_unicast_routing": _has_ipv6(model, DEFAULT_INSTANCE) or None,
    }


# Interfaces


def _common(found: Interface) -> Structure:
    first, *others = [str(address) for address in found.addresses if address.version == 4] or [None]
    instance = found.network_instance
    return {
        "description": found.description or None,
        "shutdown": None if found.enabled else True,
        "mtu": found.mtu_bytes,
        "vrf": None if instance in (None, DEFAULT_INSTANCE) else instance,
        "ip_address": first,
        "ip_address_secondaries": others,
        "ipv6_enable": found.unnumbered or None,
        "ipv6_addresses": [str(address) for address in found.addresses if address.version == 6],
    }


def _switchport(found: Port | Lag, peer_link: bool = False) -> Structure:
    if found.vlans is None:
        return {"enabled": False}
    untagged, tagged = found.vlans.untagged, [*found.vlans.tagged, *([4094] if peer_link else [])]
    if not tagged:
        return {"access_vlan": untagged}
    carried = sorted({*tagged, *([untagged] if untagged is not None else [])})
    trunk = {"native_vlan": untagged, "allowed_vlan": _ranges(carried), "groups": ["MLAG"] if peer_link else []}
    return {"mode": "trunk", "trunk": trunk}


def _ranges(numbers: list[int]) -> str:
    """`10,20-22`."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ",".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)


FECS = {
    Fec.OFF: {"enabled": False},
    Fec.BASE_R: {"fire_code": True},
    Fec.RS_528: {"reed_solomon": True},
}


EDGE = {"spanning_tree_portfast": "edge", "spanning_tree_bpduguard": "enabled"}


def _ports(model: DeviceModel) -> Iterator[Structure]:
    lags = {name: lag for lag in model.interfaces if isinstance(lag, Lag) for name in lag.members}
    profiles, speeds = service_profiles(model.qos), _breakout_speeds(model)
    for port in model.interfaces:
        if isinstance(port, Port):
            lag, silent = lags.get(port.name), port.name in model.lldp.silent
            yield {
                "name": port.name,
                **_common(port),
                "speed": speeds.pop(port.name, None) or (speed_name(port.rate_gbps) if port.rate_gbps else None),
                "error_correction_encoding": FECS[port.fec] if port.fec else None,
                "switchport": None if lag else _switchport(port),
                "channel_group": _channel_group(lag),
                "lldp": {"transmit": False, "receive": False} if silent else None,
                "service_profile": profiles.get(port.name),
                **(EDGE if port.vlans and not lag else {}),
            }
    yield from ({"name": name, "speed": speed} for name, speed in speeds.items())


def _breakout_speeds(model: DeviceModel) -> dict[str, str]:
    """The speed of each port of a split cage of eight lanes, by the name of its first lane."""
    found = {}
    for cage in model.breakouts:
        lanes = 8 // cage.lanes
        for place in range(cage.lanes):
            found[f"{cage.cage.rpartition('/')[0]}/{1 + place * lanes}"] = speed_name(cage.rate_gbps, lanes)
    return found


def _channel_group(lag: Lag | None) -> Structure | None:
    return None if lag is None else {"id": int(lag.name[3:]), "mode": "active" if lag.lacp else "on"}


def _lag(lag: Lag, model: DeviceModel) -> Structure:
    octets = lag.esi.split(":") if lag.esi else []
    return {
        "name": native_name(lag.name),
        **_common(lag),
        "switchport": _switchport(lag, model.mlag is not None and model.mlag.peer_link == lag.name),
        "mlag": lag.mlag_id,
        "evpn_ethernet_segment": {
            "identifier": ":".join(octets[at] + octets[at + 1] for at in range(0, 10, 2)),
            "route_target": ":".join(octets[4:]),
        }
        if octets
        else None,
        "lacp_id": _dotted(lag.system_mac) if lag.system_mac else None,
        "service_profile": service_profiles(model.qos).get(lag.name),
        **(EDGE if lag.vlans and lag.name != (model.mlag and model.mlag.peer_link) else {}),
    }


def _dotted(mac: str) -> str:
    digits = mac.replace(":", "")
    return f"{digits[:4]}.{digits[4:8]}.{digits[8:]}"


def _loopback(found: Loopback) -> Structure:
    return {"name": native_name(found.name), **_common(found)}


def _svis(model: DeviceModel) -> Iterator[Structure]:
    for found in model.interfaces:
        if isinstance(found, Svi):
            gateways = {version: [str(x) for x in found.gateways if x.version == version] for version in (4, 6)}
            yield {
                "name": native_name(found.name),
                **_common(found),
                "ip_address_virtual": next(iter(gateways[4]), None),
                "ipv6_address_virtuals": gateways[6],
            }
    if model.mlag is not None:
        own, _ = addresses_of(model, model.mlag)
        fields = {
            "description": "MLAG peer link",
            "no_autostate": True,
            "ip_address": None if own is None else str(own),
        }
        yield {"name": "Vlan4094", **fields}


def _vxlan(model: DeviceModel) -> Structure | None:
    vlans = [{"id": vlan.vlan_id, "vni": vlan.vni} for vlan in model.vlans if vlan.vni is not None]
    vrfs = [{"name": found.name, "vni": found.vni} for found in model.network_instances if found.vni is not None]
    if model.vtep is None and not vlans and not vrfs:
        return None
    qos = ("ecn_propagation", "dscp_propagation_encapsulation", "map_dscp_to_traffic_class_decapsulation")
    tunnel = {
        "source_interface": native_name(model.vtep.source) if model.vtep else None,
        "vlans": vlans,
        "vrfs": vrfs,
        "qos": dict.fromkeys(qos, True),
    }
    return {"vxlan1": {"vxlan": tunnel}}


def _gateway_mac(model: DeviceModel) -> str | None:
    svis = [found for found in model.interfaces if isinstance(found, Svi) and found.gateways]
    return next((found.gateway_mac for found in svis if found.gateway_mac), "00:1c:73:00:00:99") if svis else None


# Policies


def _policies(model: DeviceModel) -> Structure:
    entries = all_entries(model)
    prefixes = {version: [_prefixes(one) for one in entries if one.version == version] for version in (4, 6)}
    as_paths = [one for one in entries if one.rule.as_path is not None]
    return {
        "prefix_lists": prefixes[4],
        "ipv6_prefix_lists": prefixes[6],
        "ip_community_lists": [_communities(one) for one in entries if one.rule.communities],
        "as_path": {"access_lists": [_as_path(one) for one in as_paths]},
        "route_maps": [_route_map(model, policy.name, entries) for policy in model.policies],
    }


def _prefixes(entry: Entry) -> Structure:
    own = [found for found in entry.rule.prefixes if found.prefix.version == entry.version]
    actions = []
    for found in own:
        length, longest = found.prefix.prefixlen, found.prefix.max_prefixlen
        if found.ge == found.le:
            bounds = "" if found.ge == length else f" eq {found.ge}"
        elif found.le == longest:
            bounds = f" ge {found.ge}"
        else:
            bounds = f"{'' if found.ge == length else f' ge {found.ge}'} le {found.le}"
        actions.append(f"permit {found.prefix}{bounds}")
    numbered = [{"sequence": 10 * place, "action": action} for place, action in enumerate(actions, start=1)]
    return {"name": entry.list_name, "sequence_numbers": numbered}


def _communities(entry: Entry) -> Structure:
    words = [{"graceful-shutdown": "GSHUT"}.get(found, found) for found in entry.rule.communities]
    return {"name": entry.list_name, "entries": [{"action": "permit", "communities": [word]} for word in words]}


def _as_path(entry: Entry) -> Structure:
    return {
        "name": entry.list_name,
        "entries": [{"type": "permit", "match": entry.rule.as_path, "origin": "any"}],
    }


def _route_map(model: DeviceModel, name: str, entries: Iterable[Entry]) -> Structure:
    policy = model.policy(name)
    assert policy is not None
    found = [
        {
            "sequence": entry.sequence,
            "type": str(entry.rule.action),
            "match": _matches(entry),
            "set": _sets(entry.rule),
        }
        for entry in entries
        if entry.policy == name
    ]
    if policy.default == "permit" or not policy.rules:
        found.append({"sequence": 65535, "type": str(policy.default)})
    return {"name": name, "sequence_numbers": found}


def _matches(entry: Entry) -> list[str]:
    name, rule = entry.list_name, entry.rule
    found = [f"as-path {name}"] * (rule.as_path is not None) + [f"community {name}"] * bool(rule.communities)
    return found + [f"{'ip' if entry.version == 4 else 'ipv6'} address prefix-list {name}"] * (
        entry.version is not None
    )


def _sets(rule: PolicyRule) -> list[str]:
    communities = " ".join({"graceful-shutdown": "GSHUT"}.get(found, found) for found in rule.set_communities)
    return [
        *([f"as-path prepend{' auto' * rule.prepend}"] if rule.prepend else []),
        *([f"community {communities}"] if communities else []),
        *([f"local-preference {rule.set_local_preference}"] if rule.set_local_preference is not None else []),
        *([f"metric {rule.set_med}"] if rule.set_med is not None else []),
    ]


# BGP


def _bgp(model: DeviceModel, bgp: BgpSpeaker) -> Structure:
    groups = groups_of(bgp)
    plain = [] if bgp.multiple_as else ["no bgp bestpath as-path multipath-relax"]
    if bgp.requires_policy:
        plain += [f"bgp missing-policy direction {direction} action deny" for direction in ("in", "out")]
    return {
        "as": str(bgp.asn),
        "router_id": str(bgp.router_id) if bgp.router_id else None,
        "bgp": {"default": {"ipv4_unicast": False}},
        "bgp_cluster_id": str(bgp.cluster_id) if bgp.cluster_id else None,
        "maximum_paths": {"paths": bgp.max_paths, "ecmp": bgp.max_paths} if bgp.max_paths > 1 else None,
        "bgp_defaults": plain,
        "peer_groups": [_group(first, bgp.asn, name) for name, first in groups.firsts.items()],
        **_sessions(bgp, DEFAULT_INSTANCE, groups),
        "vlans": _mac_vrfs(model, bgp),
        "address_family_evpn": {"peer_groups": _active(groups, Family.EVPN)},
        "address_family_ipv4": _unicast(bgp, Family.IPV4, groups),
        "address_family_ipv6": _unicast(bgp, Family.IPV6, groups),
        "vrfs": [_vrf(model, bgp, name, groups) for name in sorted(found.name for found in model.network_instances)],
    }


def _unicast(bgp: BgpSpeaker, family: Family, groups: PeerGroups) -> Structure:
    """An address family; with its connected routes where those of the router are not of all families."""
    is_stated = not bgp.originates_all and family in bgp.carried.intersection(bgp.originated)
    return {
        "peer_groups": _active(groups, family),
        "redistribute": {"connected": {"enabled": True}} if is_stated else None,
    }


def _group(first: BgpNeighbor, asn: int, name: str) -> Structure:
    """The peer group of a neighbour."""
    timers, bfd = (first.timers.keepalive_s, first.timers.hold_s), first.bfd
    return {
        "name": name,
        "description": (first.description if first.unnumbered else "") or None,
        "next_hop_self": (first.next_hop is NextHop.SELF) or None,
        "next_hop_unchanged": (first.next_hop is NextHop.UNCHANGED) or None,
        "shutdown": None if first.enabled else True,
        "update_source": native_name(first.update_source) if first.update_source else None,
        "bfd": bfd is not None or None,
        "bfd_timers": {
            "interval": bfd.interval_ms,
            "min_rx": bfd.receive_ms or bfd.interval_ms,
            "multiplier": bfd.multiplier,
        }
        if bfd
        else None,
        "ebgp_multihop": None if first.is_internal(asn) else first.multihop_ttl,
        "route_reflector_client": first.reflector_client or None,
        "timers": None if timers == (60, 180) else f"{timers[0]} {timers[1]}",
        "route_map_in": next(iter(first.import_policies), None),
        "route_map_out": next(iter(first.export_policies), None),
        "send_community": "all",
        "maximum_routes": first.prefix_limit or 0,
        "maximum_routes_warning_only": first.prefix_limit is not None or None,
    }


def _sessions(bgp: BgpSpeaker, instance: str, groups: PeerGroups) -> Structure:
    """Neighbours, aggregates and connected routes of a network instance."""
    own = [found for found in bgp.neighbors if found.network_instance == instance]
    return {
        "neighbors": [_neighbor(found, bgp, groups) for found in own if not found.unnumbered],
        "neighbor_interfaces": [_over_interface(found, bgp, groups) for found in own if found.unnumbered],
        "aggregate_addresses": [
            {"prefix": str(found.prefix), "summary_only": found.summary_only or None}
            for found in bgp.aggregates
            if found.network_instance == instance
        ],
        "redistribute": {"connected": {"enabled": True}}
        if instance != DEFAULT_INSTANCE or bgp.originates_all
        else None,
    }


def _neighbor(found: BgpNeighbor, bgp: BgpSpeaker, groups: PeerGroups) -> Structure:
    return {
        "ip_address": str(found.peer),
        "peer_group": groups.members[found.key],
        "remote_as": _remote_as(found, bgp),
        "description": found.description or None,
    }


def _over_interface(found: BgpNeighbor, bgp: BgpSpeaker, groups: PeerGroups) -> Structure:
    return {
        "name": native_name(str(found.peer)),
        "peer_group": groups.members[found.key],
        "remote_as": _remote_as(found, bgp),
    }


def _remote_as(found: BgpNeighbor, bgp: BgpSpeaker) -> str | None:
    return str(bgp.asn) if found.remote_as is Remote.INTERNAL else str(found.remote_as or "") or None


def _mac_vrfs(model: DeviceModel, bgp: BgpSpeaker) -> list[Structure]:
    return [
        {
            "id": vlan.vlan_id,
            "rd": f"{bgp.router_id}:{vlan.vlan_id}" if bgp.router_id else None,
            "route_targets": {"both": [f"65000:{vlan.vni}"]},
            "redistribute_routes": ["learned"],
        }
        for vlan in model.vlans
        if vlan.vni is not None
    ]


def _active(groups: PeerGroups, family: Family) -> list[Structure]:
    found = []
    for name, first in groups.firsts.items():
        if family in first.families:
            originates = family is Family.IPV4 and not isinstance(first.peer, IPv4Address)
            next_hop = {"address_family_ipv6": {"enabled": True, "originate": True}} if originates else None
            found.append({"name": name, "activate": True, "next_hop": next_hop})
    return found


def _vrf(model: DeviceModel, bgp: BgpSpeaker, name: str, groups: PeerGroups) -> Structure:
    instance = next(found for found in model.network_instances if found.name == name)
    directions = {"import": instance.import_targets, "export": instance.export_targets}
    return {
        "name": name,
        "rd": instance.rd,
        "route_targets": {
            direction: [{"address_family": "evpn", "route_targets": list(targets)}] if targets else []
            for direction, targets in directions.items()
        },
        "router_id": str(instance.router_id) if instance.router_id else None,
        **_sessions(bgp, name, groups),
    }


# MLAG and management


def _mlag(model: DeviceModel) -> Structure:
    mlag = model.mlag
    if mlag is None:
        return {}
    _, peer = addresses_of(model, mlag)
    heartbeat = None
    if mlag.keepalive is not None:
        vrf = mlag.keepalive.network_instance
        heartbeat = {"peer_ip": str(mlag.keepalive.peer), "vrf": None if vrf == DEFAULT_INSTANCE else vrf}
    return {
        "spanning_tree": {"no_spanning_tree_vlan": "4094"},
        "mlag_configuration": {
            "domain_id": mlag.domain,
            "local_interface": "Vlan4094",
            "peer_address": None if peer is None else str(peer),
            "peer_address_heartbeat": heartbeat,
            "peer_link": native_name(mlag.peer_link),
            "dual_primary_detection_delay": None if mlag.keepalive is None else 10,
            "reload_delay_mlag": "300",
            "reload_delay_non_mlag": "330",
        },
    }


def _management(found: ManagementAccess) -> Structure:
    vrf = None if found.network_instance == DEFAULT_INSTANCE else found.network_instance
    level = found.syslog[0].level if found.syslog else "informational"
    hosts = [
        {
            "name": server.address,
            "ports": [server.port] if server.port != 514 else [],
            "protocol": None if server.protocol == "udp" else server.protocol,
        }
        for server in found.syslog
    ]
    servers = {protocol: [x.address for x in found.aaa if x.protocol == protocol] for protocol in ("tacacs", "radius")}
    served = found.ntp or found.syslog or found.aaa or found.gnmi
    used = [f"group {word}" for protocol, word in (("tacacs", "tacacs+"), ("radius", "radius")) if servers[protocol]]
    grpc = (
        {"name": "default", "port": found.gnmi.port, "ssl_profile": found.gnmi.tls_profile, "vrf": vrf}
        if found.gnmi
        else None
    )
    return {
        "ntp": {"vrf": vrf, "servers": [{"name": server} for server in found.ntp]} if found.ntp else None,
        "logging": {
            "trap": None if level == "informational" else SEVERITIES[level],
            "vrfs": [{"name": vrf or "default", "hosts": hosts}] if hosts else [],
        },
        "tacacs_servers": {"hosts": [{"host": address, "vrf": vrf} for address in servers["tacacs"]]},
        "radius_server": _in_vrf(vrf, [{"host": address} for address in servers["radius"]]),
        "aaa_authentication": {"login": {"default": f"{' '.join(used)} local"}} if used else None,
        "management_api_gnmi": {"provider": "eos-native", "transport": {"grpc": [grpc]}} if grpc else None,
        "management_ssh": {"vrfs": [{"name": vrf, "enable": True}]} if vrf and served else None,
        "banners": {"login": found.banner},
    }


def _in_vrf(vrf: str | None, servers: list[Structure]) -> Structure:
    """Servers by their VRF."""
    if vrf is None or not servers:
        return {"servers": servers}
    return {"vrfs": [{"name": vrf, "servers": servers}]}


# QoS and load balancing


def _qos(qos: Qos, silicon: str) -> Structure:
    section = queue_section(silicon).replace("-", "_") + "s"
    queues = {found.name: found.queue for found in qos.classes}
    default = queues[qos.default_class]
    points: dict[int, list[str]] = {}
    for classifier in qos.classifiers:
        named = dict(classifier.dscp)
        for point in range(64):
            points.setdefault(queues[named[point]] if point in named else default, []).append(str(point))
    return {
        "qos": {
            "map": {
                "cos": [f"0 to traffic-class {default}"],
                "dscp": [f"{' '.join(found)} to traffic-class {queue}" for queue, found in points.items()],
            }
        },
        "qos_profiles": [_profile(qos, variant, name, section) for variant, name in variants_of(qos).items()],
        "priority_flow_control": _watchdog(qos),
        "platform": {"trident": {"mmu": _buffers(qos)}},
    }


def _profile(qos: Qos, variant: Variant, name: str, section: str) -> Structure:
    return {
        "name": name,
        "trust": "dscp" if variant.trust else "disabled",
        section: [_queue(qos, variant, found.name) for found in qos.classes],
        "priority_flow_control": {
            "enabled": bool(variant.pfc) or None,
            "priorities": [{"priority": priority, "no_drop": True} for priority in variant.pfc],
            "watchdog": {"enabled": True} if variant.pfc and qos.watchdog else None,
        },
    }


def _queue(qos: Qos, variant: Variant, name: str) -> Structure:
    found, profile = qos.traffic_class(name), qos.profile(variant.profile)
    thresholds = profile.of(name) if profile else None
    ramp = thresholds.ecn if thresholds and name in variant.ecn else None
    threshold = ramp and {
        "units": "bytes",
        "min": ramp.kmin_bytes,
        "max": ramp.kmax_bytes,
        "max_probability": ramp.pmax_percent,
        "weight": 0,
    }
    strict = found.scheduling is Scheduling.STRICT
    return {
        "id": found.queue,
        "priority": "priority strict" if strict else "no priority",
        "bandwidth_percent": found.weight,
        "shape": {"rate": f"{found.rate_percent} percent"} if found.rate_percent is not None else None,
        "random_detect": {"ecn": {"count": True, "threshold": threshold}} if ramp else None,
    }


def _watchdog(qos: Qos) -> Structure | None:
    if qos.watchdog is None:
        return None
    detect, recover = qos.watchdog.detect_ms, qos.watchdog.recover_ms
    polling = max(5, min(detect, recover) // 2)
    seconds = {"timeout": detect, "recovery_time": recover, "polling_interval": polling}
    return {"watchdog": {"action": "drop", **{name: f"{ms / 1000:g}" for name, ms in seconds.items()}}}


def _buffers(qos: Qos) -> Structure:
    stated = list(qos.profiles[0].thresholds) if qos.profiles else []
    alphas = {qos.traffic_class(one.traffic_class): one.alpha for one in stated if one.alpha is not None}
    headroom = next((one.headroom_bytes for one in stated if one.headroom_bytes is not None), None)
    resume = next((one.xon_offset_bytes for one in stated if one.xon_offset_bytes is not None), None)
    groups = [{"id": one.queue, "threshold": str(Fraction(alpha))} for one, alpha in alphas.items() if one.lossless]
    egress = [{"id": one.queue, "threshold": str(Fraction(alpha))} for one, alpha in alphas.items() if not one.lossless]
    ingress = {
        "headroom": {"unit": "bytes", "memory": headroom} if headroom is not None else None,
        "resume": resume,
        "priority_groups": groups,
    }
    profile = without_none({"name": "FABRIC", "ingress": ingress, "unicast_queues": egress})
    pool = qos.headroom_pool_bytes
    return {
        "queue_profiles": [profile] if len(profile) > 1 else [],
        "active_profile": "FABRIC" if len(profile) > 1 else None,
        "headroom_pool": {"unit": "bytes", "limit": pool} if pool is not None else None,
    }


def _balancing(model: DeviceModel) -> Structure:
    found = model.load_balancing or LoadBalancing()
    flowlets = {"fib": {"load_balance_distribution": {"dynamic": {"enabled": True}}}}
    queue_pairs = [{"name": "default", "fields": {"udp": {"dst_port": 4791, "payload_bytes": "5-7"}}}]
    return {
        "ip_hardware": flowlets if found.mode is BalancingMode.FLOWLET else None,
        "load_balance": {
            "policies": {"sand_profiles": queue_pairs if HashField.QUEUE_PAIR in found.fields else []},
            "cluster": _cluster(model) if found.mode is BalancingMode.COLLECTIVE else None,
        },
    }


def _cluster(model: DeviceModel) -> Structure:
    peers = set(interfaces_of_peers(model).values())
    hosts = [
        port.name
        for port in model.interfaces
        if isinstance(port, Port) and port.name not in peers and (port.vlans is not None or port.addresses)
    ]
    overlay = model.vtep is not None
    return {
        "forwarding_type": "bridged encapsulation vxlan ipv4" if overlay else "routed ipv4",
        "destination_grouping": "vtep" if overlay else "prefix length",
        "prefix_length": None if overlay else 32,
        "load_balance_method_flow_round_robin": True,
        "flow": {"source_learning_aging_timeout": 30},
        "port_groups": [{"group": name.replace("/", "-"), "interface": name} for name in hosts],
    }


# Comparison


def paths(lines: tuple[Line, ...], above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Every line after the sections that it is in."""
    for line in lines:
        yield (*above, line.text)
        yield from paths(line.children, (*above, line.text))


def differing(ours: tuple[Line, ...], theirs: tuple[Line, ...]) -> list[str]:
    """Lines that only one of two configurations has, ours with `+` and theirs with `-`."""
    mine, other = Counter(paths(ours)), Counter(paths(theirs))
    found = [f"+ {': '.join(path)}" for path in (mine - other).elements()]
    return found + [f"- {': '.join(path)}" for path in (other - mine).elements()]
