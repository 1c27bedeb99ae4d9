"""What convergence does not compute of a configuration. A switch accepts it: it is kept, and named here.

What depends on it carries no traffic: a port or LAG in a VRF or in VLANs does not route, a LAG without LACP is down, a
session in a VRF or from another interface has no routes.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from railfab.device import (
    DEFAULT_INSTANCE,
    BgpNeighbor,
    DeviceModel,
    Family,
    Interface,
    Lag,
    PolicyRule,
    Port,
    Qos,
    Scheduling,
    Svi,
    interfaces_of_peers,
)
from railfab.errors import UnsupportedFeature, raise_all
from railfab.sim import QUEUES
from railfab.text.counted import listed
from railfab.text.folding import folded_sets


class Uncomputed(NamedTuple):
    """A part of a configuration that is not computed. remedy: for an intent that asks for it."""

    where: str
    feature: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.where}: {self.feature}"


def refuse(models: Iterable[DeviceModel]) -> None:
    """Raise UnsupportedFeature or Problems for everything in the models of an intent that is not computed: each feature
    once, with its places.

    For intents, whose fabric would not carry what it is made for; a switch accepts the same from a client.
    """
    places: dict[tuple[str, str], list[str]] = defaultdict(list)
    for model in models:
        for part in uncomputed(model):
            places[part.feature, part.remedy].append(f"{model.name} {part.where}".strip())
    raise_all(
        [
            UnsupportedFeature(listed([*folded_sets(names)]), f"the twin does not compute {feature}", remedy)
            for (feature, remedy), names in places.items()
        ]
    )


def uncomputed(model: DeviceModel) -> tuple[Uncomputed, ...]:
    """Everything in a model that is not computed."""
    return tuple(_all(model))


def _all(model: DeviceModel) -> Iterator[Uncomputed]:
    for interface in model.interfaces:
        yield from _interface(interface)
    interfaces = interfaces_of_peers(model)
    for neighbor in model.neighbors:
        yield from _neighbor(neighbor, interfaces.get(neighbor.key))
    for policy in model.policies:
        for rule in policy.rules:
            yield from _rule(f"policy {policy.name}", rule)
    yield from _switch(model)
    if model.qos is not None:
        yield from _qos(model.qos)


def _interface(interface: Interface) -> Iterator[Uncomputed]:
    if isinstance(interface, Lag) and not interface.lacp:
        yield Uncomputed(interface.name, "LAGs without LACP", "Use LACP")
    if isinstance(interface, Svi) or (isinstance(interface, Port | Lag) and interface.vlans is not None):
        yield Uncomputed(interface.name, "VLANs and SVIs", "Use `attach: routed`")
    elif isinstance(interface, Port | Lag) and interface.network_instance is not None:
        yield from _vrf(interface.name, interface.network_instance)


def _vrf(where: str, instance: str) -> Iterator[Uncomputed]:
    if instance != DEFAULT_INSTANCE:
        yield Uncomputed(where, f"VRFs, here {instance}", f"Use the network instance {DEFAULT_INSTANCE}")


def _neighbor(neighbor: BgpNeighbor, interface: str | None) -> Iterator[Uncomputed]:
    """interface: over which it is directly connected."""
    where = f"BGP neighbour {neighbor.peer}"
    yield from _vrf(where, neighbor.network_instance)
    if Family.EVPN in neighbor.families:
        yield Uncomputed(where, "EVPN", "Use IPv4 and IPv6 unicast")
    if neighbor.multihop_ttl is not None and interface is None:
        yield Uncomputed(where, "sessions over several hops", "Use a directly connected neighbour")
    if neighbor.update_source not in (None, interface):
        yield Uncomputed(where, "sessions from another interface", "Leave the update source out")


def _rule(where: str, rule: PolicyRule) -> Iterator[Uncomputed]:
    if rule.as_path is not None:
        try:
            re.compile(rule.as_path)
        except re.error as error:
            yield Uncomputed(where, f"{rule.as_path!r}, which is no regular expression: {error}", "Correct the AS path")


def _switch(model: DeviceModel) -> Iterator[Uncomputed]:
    if model.mlag is not None:
        yield Uncomputed("", "MLAG", "Use `attach: routed`")
    if model.vtep is not None:
        yield Uncomputed("", "VXLAN", "Use `attach: routed`")
    for aggregate in model.bgp.aggregates if model.bgp else ():
        yield from _vrf(f"aggregate {aggregate.prefix}", aggregate.network_instance)


def _qos(qos: Qos) -> Iterator[Uncomputed]:
    for found in qos.classes:
        where = f"class {found.name}"
        if found.queue not in range(QUEUES):
            yield Uncomputed(where, f"queue {found.queue}", f"Use queues 0 to {QUEUES - 1}")
        if found.rate_percent is not None and found.scheduling is Scheduling.WEIGHTED:
            yield Uncomputed(where, f"a rate of {found.rate_percent} % of the port", "Leave the rate out")
        for priority in {found.pfc_priority, found.obeyed_priority} - {None, *range(QUEUES)}:
            yield Uncomputed(where, f"priority {priority}", f"Use priorities 0 to {QUEUES - 1}")
