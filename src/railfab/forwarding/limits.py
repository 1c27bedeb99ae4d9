"""Configurations that convergence cannot compute, each refused by its name instead of giving wrong routes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from railfab.device import (
    DEFAULT_INSTANCE,
    BgpNeighbor,
    DeviceModel,
    Family,
    Interface,
    Lag,
    PolicyRule,
    Port,
    Svi,
    interfaces_of_peers,
)
from railfab.errors import ConfigError, RailfabError, UnsupportedFeature, raise_all
from railfab.forwarding.attributes import GRACEFUL_SHUTDOWN
from railfab.forwarding.links import LinkTable
from railfab.forwarding.policies import as_path_pattern
from railfab.forwarding.qos import qos_errors


def refuse(model: DeviceModel, links: LinkTable) -> None:
    """Raise UnsupportedFeature, ConfigError or Problems for everything in a model that cannot be computed."""
    found: list[RailfabError] = []
    for interface in model.interfaces:
        found.extend(_interface(model.name, interface, links))
    for neighbor in model.neighbors:
        found.extend(_neighbor(model, neighbor))
    for policy in model.policies:
        for rule in policy.rules:
            found.extend(_rule(f"{model.name}: policy {policy.name}", rule))
    found.extend(_switch(model))
    if model.qos is not None:
        found.extend(qos_errors(model.name, model.qos))
    raise_all(found)


def _unsupported(where: str, feature: str, remedy: str) -> UnsupportedFeature:
    return UnsupportedFeature(where, f"the twin does not compute {feature}", remedy)


def _interface(device: str, interface: Interface, links: LinkTable) -> Iterator[RailfabError]:
    where = f"{device} {interface.name}"
    if isinstance(interface, Lag):
        yield _unsupported(where, "LAGs", "Route over its members")
    if isinstance(interface, Svi):
        yield _unsupported(where, "VLANs and SVIs", "Use routed ports")
    if isinstance(interface, Port) and interface.vlans is not None:
        yield _unsupported(where, "VLANs and SVIs", "Use routed ports")
    elsewhere = interface.network_instance not in (None, DEFAULT_INSTANCE)
    if elsewhere and (device, interface.name) in links.egress:
        feature = f"VRFs, here {interface.network_instance}"
        yield _unsupported(where, feature, f"Use the network instance {DEFAULT_INSTANCE}")


def _neighbor(model: DeviceModel, neighbor: BgpNeighbor) -> Iterator[RailfabError]:
    where = f"{model.name}: BGP neighbour {neighbor.peer}"
    if neighbor.network_instance != DEFAULT_INSTANCE:
        feature = f"VRFs, here {neighbor.network_instance}"
        yield _unsupported(where, feature, f"Use the network instance {DEFAULT_INSTANCE}")
    if Family.EVPN in neighbor.families:
        yield _unsupported(where, "EVPN", "Use IPv4 and IPv6 unicast")
    if neighbor.multihop_ttl is not None:
        yield _unsupported(where, "sessions over several hops", "Use a directly connected neighbour")
    source = neighbor.update_source
    if source is not None and source != interfaces_of_peers(model).get(neighbor.key):
        yield _unsupported(where, "sessions from another interface", "Leave the update source out")


def _rule(where: str, rule: PolicyRule) -> Iterator[RailfabError]:
    """Local preference beside graceful shutdown: with it the routes may have several stable states."""
    if rule.set_local_preference is not None and rule.communities != (GRACEFUL_SHUTDOWN,):
        remedy = "Prepend the AS path, or use the community graceful-shutdown"
        yield _unsupported(where, f"local preference {rule.set_local_preference}", remedy)
    if rule.as_path is not None:
        try:
            as_path_pattern(rule.as_path)
        except re.error as error:
            yield ConfigError(where, f"{rule.as_path!r} is no regular expression: {error}", "Correct the AS path")


def _switch(model: DeviceModel) -> Iterator[RailfabError]:
    if model.mlag is not None:
        yield _unsupported(f"{model.name}: MLAG", "MLAG", "Use routed ports")
    if model.vtep is not None:
        yield _unsupported(f"{model.name}: VTEP", "VXLAN", "Use routed ports")
    for aggregate in model.bgp.aggregates if model.bgp else ():
        if aggregate.network_instance != DEFAULT_INSTANCE:
            where = f"{model.name}: aggregate {aggregate.prefix}"
            feature = f"VRFs, here {aggregate.network_instance}"
            yield _unsupported(where, feature, f"Use the network instance {DEFAULT_INSTANCE}")
