"""Check of a device model against the capabilities of its platform, before rendering."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

from railfab.device import (
    DEFAULT_INSTANCE,
    BalancingMode,
    ClassThresholds,
    DeviceModel,
    Family,
    Interface,
    IpAddress,
    IpInterface,
    IpNetwork,
    Lag,
    LoadBalancing,
    Loopback,
    NextHop,
    Port,
    Remote,
    Svi,
    number_of,
)
from railfab.errors import RailfabError, UnsupportedFeature, raise_all
from railfab.platforms.contract import Support

if TYPE_CHECKING:
    from railfab.platforms.contract import Platform


def features_of(model: DeviceModel) -> dict[str, bool]:
    """Feature name to whether the model uses it."""
    interfaces, neighbors, balancing = model.interfaces, model.neighbors, model.load_balancing or LoadBalancing()
    ports = [interface for interface in interfaces if isinstance(interface, Port)]
    lags = [interface for interface in interfaces if isinstance(interface, Lag)]
    svis = [interface for interface in interfaces if isinstance(interface, Svi)]
    rules = [rule for policy in model.policies for rule in policy.rules]
    bgp, qos, management = model.bgp, model.qos, model.management
    qos_ports, thresholds = qos.ports if qos else (), tuple(_thresholds(model))
    return {
        "bfd": any(neighbor.bfd is not None for neighbor in neighbors),
        "breakout": bool(model.breakouts),
        "mtu": any(interface.mtu_bytes is not None for interface in interfaces),
        "port_speed": any(port.rate_gbps is not None for port in ports),
        "fec": any(port.fec is not None for port in ports),
        "unnumbered": any(interface.unnumbered for interface in interfaces),
        "numbered": any(interface.addresses for interface in interfaces if not isinstance(interface, Loopback)),
        "ipv6": any(address.version == 6 for address in _addresses(model)),
        "several_loopbacks": sum(isinstance(interface, Loopback) for interface in interfaces) > 1,
        "lag": bool(lags),
        "vlan": bool(model.vlans),
        "bridged_port": any(found.vlans is not None for kind in (ports, lags) for found in kind),
        "svi": bool(svis),
        "anycast_gateway": any(svi.gateways for svi in svis),
        "mlag": model.mlag is not None or any(lag.mlag_id is not None for lag in lags),
        "esi": any(lag.esi is not None for lag in lags),
        "vrf": bool(model.network_instances),
        "vxlan": model.vtep is not None or any(vlan.vni is not None for vlan in model.vlans),
        "evpn": any(Family.EVPN in neighbor.families for neighbor in neighbors),
        "ibgp": bgp is not None and any(found.remote_as in (Remote.INTERNAL, bgp.asn) for found in neighbors),
        "remote_as_external": any(neighbor.remote_as is Remote.EXTERNAL for neighbor in neighbors),
        "route_reflector": any(neighbor.reflector_client for neighbor in neighbors),
        "update_source": any(neighbor.update_source is not None for neighbor in neighbors),
        "multihop": any(neighbor.multihop_ttl is not None for neighbor in neighbors),
        "next_hop": any(neighbor.next_hop is not NextHop.DEFAULT for neighbor in neighbors),
        "bgp_password": any(neighbor.password is not None for neighbor in neighbors),
        "several_policies": any(
            len(side) > 1 for found in neighbors for side in (found.import_policies, found.export_policies)
        ),
        "aggregate": bgp is not None and bool(bgp.aggregates),
        "aggregate_contributors": bgp is not None and any(found.contributors for found in bgp.aggregates),
        "policy_communities": any(rule.communities for rule in rules),
        "policy_as_path": any(rule.as_path is not None for rule in rules),
        "policy_set_communities": any(rule.set_communities for rule in rules),
        "policy_set_local_preference": any(rule.set_local_preference is not None for rule in rules),
        "policy_set_med": any(rule.set_med is not None for rule in rules),
        "policy_prepend": any(rule.prepend for rule in rules),
        "drain": model.drain,
        "pfc": any(port.pfc for port in qos_ports),
        "ecn": any(port.ecn for port in qos_ports),
        "pfc_watchdog": qos is not None and qos.watchdog is not None,
        "several_lossless_classes": qos is not None and len(qos.lossless()) > 1,
        "several_classifiers": qos is not None and len(qos.classifiers) > 1,
        "dynamic_threshold": any(found.alpha is not None for found in thresholds),
        "queue_limit": any(found.limit_bytes is not None for found in thresholds),
        "load_balancing_flowlet": balancing.mode is BalancingMode.FLOWLET,
        "load_balancing_packet": balancing.mode is BalancingMode.PACKET,
        "load_balancing_adaptive": balancing.mode is BalancingMode.ADAPTIVE,
        "hash_fields": bool(balancing.fields),
        "hash_seed": balancing.seed is not None,
        "management": management is not None,
        "ntp": management is not None and bool(management.ntp),
        "syslog": management is not None and bool(management.syslog),
        "aaa": management is not None and bool(management.aaa),
    }


def _thresholds(model: DeviceModel) -> Iterator[ClassThresholds]:
    profiles = model.qos.profiles if model.qos else ()
    return chain.from_iterable(profile.thresholds for profile in profiles)


def _addresses(model: DeviceModel) -> Iterator[IpAddress | IpInterface | IpNetwork]:
    """Every address and prefix of interfaces, neighbours, policies and aggregates."""
    for interface in model.interfaces:
        yield from interface.addresses
        yield from interface.gateways if isinstance(interface, Svi) else ()
    for neighbor in model.neighbors:
        if not isinstance(neighbor.peer, str):
            yield neighbor.peer
    for policy in model.policies:
        yield from (found.prefix for rule in policy.rules for found in rule.prefixes)
    for aggregate in model.bgp.aggregates if model.bgp else ():
        yield aggregate.prefix


def measures_of(model: DeviceModel) -> dict[str, int]:
    """Values of a model that a platform may limit, by the name of the limit."""
    interfaces, bgp, qos = model.interfaces, model.bgp, model.qos
    watchdog = qos.watchdog if qos else None
    return {
        "interfaces": sum(isinstance(interface, Port) for interface in interfaces),
        "ip_mtu_bytes": max((interface.mtu_bytes or 0 for interface in interfaces), default=0),
        "lag_number": max((number_of(found.name) for found in interfaces if isinstance(found, Lag)), default=0),
        "max_paths": max(bgp.max_paths, bgp.max_paths_internal) if bgp else 0,
        "queue_weight": max((found.weight or 0 for found in qos.classes), default=0) if qos else 0,
        "watchdog_ms": max(watchdog.detect_ms, watchdog.recover_ms) if watchdog else 0,
    }


def admit(model: DeviceModel, platform: Platform) -> DeviceModel:
    """The model as this platform configures it, without settings that the operating system below makes.

    Raises UnsupportedFeature or Problems for every feature and limit that the platform does not support.
    """
    features = platform.capabilities.features
    refused: list[RailfabError] = [
        UnsupportedFeature(
            model.name,
            f"platform {platform.name} does not support {feature}",
            f"Choose another platform or remove {feature} from the intent",
        )
        for feature, used in features_of(model).items()
        if used and features.get(feature, Support.NO) is Support.NO
    ]
    refused += [
        UnsupportedFeature(
            model.name, f"{name} {value} is above platform {platform.name}'s limit of {limit}", f"Use {limit} or less"
        )
        for name, value in measures_of(model).items()
        if (limit := platform.capabilities.limits.get(name)) is not None and value > limit
    ]
    raise_all(refused)
    external = {feature for feature, support in features.items() if support is Support.EXTERNAL}
    members = {name for found in model.interfaces if isinstance(found, Lag) for name in found.members}
    return replace(
        model,
        interfaces=tuple(_configured(found, external, is_member=found.name in members) for found in model.interfaces),
        vlans=() if "vlan" in external else model.vlans,
        load_balancing=_configured_balancing(model.load_balancing, external),
    )


def _configured(interface: Interface, external: Collection[str], *, is_member: bool) -> Interface:
    """An interface without what the operating system sets: MTU, speed, FEC, members of a LAG, VLANs of a port."""
    if "mtu" in external:
        interface = replace(interface, mtu_bytes=None)
    if isinstance(interface, Port):
        speed, fec = "port_speed" in external, "fec" in external
        interface = replace(
            interface, rate_gbps=None if speed else interface.rate_gbps, fec=None if fec else interface.fec
        )
    if isinstance(interface, Port | Lag) and "bridged_port" in external and interface.vlans is not None:
        interface = replace(interface, vlans=None, network_instance=DEFAULT_INSTANCE)
    if "lag" in external and is_member:
        interface = replace(interface, network_instance=DEFAULT_INSTANCE)
    if "lag" in external and isinstance(interface, Lag):
        interface = replace(interface, members=(), lacp=True)
    return interface


def _configured_balancing(balancing: LoadBalancing | None, external: Collection[str]) -> LoadBalancing | None:
    """Load balancing without the hash settings of the operating system; None where nothing is left."""
    if balancing is None:
        return None
    fields, seed = "hash_fields" in external, "hash_seed" in external
    left = replace(balancing, fields=() if fields else balancing.fields, seed=None if seed else balancing.seed)
    return None if left == LoadBalancing() else left
