"""Features of a device model: load balancing over equal paths."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from railfab.device import (
    BalancingMode,
    DeviceModel,
    HashField,
    Interface,
    Lag,
    LoadBalancing,
    interfaces_of_peers,
)
from railfab.platforms import removals
from railfab.platforms.feature import Feature, Used
from railfab.platforms.hazard_facts import FACTS


def _balancing(has: Callable[[LoadBalancing], bool]) -> Used:
    return lambda model: model.load_balancing is not None and has(model.load_balancing)


ADAPTIVE_GBPS = 200, 400
"""Speeds of the ports over which every chip with adaptive routing has it."""


def _adaptive_interfaces(model: DeviceModel) -> tuple[Interface, ...]:
    """The interfaces with a session of a switch with adaptive routing."""
    if model.load_balancing is None or model.load_balancing.mode is not BalancingMode.ADAPTIVE:
        return ()
    used = set(interfaces_of_peers(model).values())
    return tuple(interface for interface in model.interfaces if interface.name in used)


def _routes_adaptively_over_lags(model: DeviceModel) -> bool:
    return any(isinstance(lag, Lag) for lag in _adaptive_interfaces(model))


def _routes_adaptively_at_other_speeds(model: DeviceModel) -> bool:
    rates = {FACTS["rate_gbps"](model, interface.name) for interface in _adaptive_interfaces(model)}
    return bool(rates - {None, *ADAPTIVE_GBPS})


HASH_FIELD_SETS = (
    frozenset({HashField.SOURCE_ADDRESS, HashField.DESTINATION_ADDRESS}),
    frozenset(HashField) - {HashField.QUEUE_PAIR, HashField.FLOW_LABEL, HashField.INGRESS_PORT, HashField.VLAN},
)
"""Fields that every switch hashes: both addresses, and these with the protocol and both ports."""


QUEUE_PAIR_FIELDS = HASH_FIELD_SETS[1] | {HashField.QUEUE_PAIR}
"""Fields of a hash by flows of RDMA: those of a flow of UDP, and the destination queue pair (InfiniBand, BTH)."""


def _has_hash_fields(balancing: LoadBalancing) -> bool:
    """Fields without the queue pair; with it they are what `hash_queue_pair` asks for."""
    return bool(balancing.fields) and {*balancing.fields} != QUEUE_PAIR_FIELDS


def _has_other_hash_fields(balancing: LoadBalancing) -> bool:
    return _has_hash_fields(balancing) and {*balancing.fields} not in HASH_FIELD_SETS


BALANCING_FEATURES: Mapping[str, Feature] = {
    "load_balancing_flowlet": Feature(
        "flowlets", _balancing(lambda balancing: balancing.mode is BalancingMode.FLOWLET), key="profile.ecmp"
    ),
    "flowlet_gap": Feature(
        "idle time after which a flow may take another path",
        _balancing(lambda balancing: balancing.flowlet_gap_us is not None),
        removals.flowlet_gap,
        key="profile.hash.flowlet_gap_us",
        optional=True,
    ),
    "load_balancing_packet": Feature(
        "packet spraying, whatever the load of the paths",
        _balancing(lambda balancing: balancing.mode is BalancingMode.PACKET),
        removals.packet_spraying,
        key="profile.ecmp",
        substitutes=True,
    ),
    "load_balancing_adaptive": Feature(
        "adaptive routing",
        _balancing(lambda balancing: balancing.mode is BalancingMode.ADAPTIVE),
        key="profile.ecmp",
    ),
    "adaptive_over_lags": Feature("adaptive routing over LAGs", _routes_adaptively_over_lags, key="profile.ecmp"),
    "adaptive_at_other_speeds": Feature(
        "adaptive routing over ports of other speeds than 200 and 400 Gb/s",
        _routes_adaptively_at_other_speeds,
        key="profile.ecmp",
    ),
    "load_balancing_collective": Feature(
        "load balancing by collectives",
        _balancing(lambda balancing: balancing.mode is BalancingMode.COLLECTIVE),
        key="profile.ecmp",
    ),
    "hash_fields": Feature(
        "fields of the ECMP hash",
        _balancing(_has_hash_fields),
        removals.hash_fields,
        key="profile.hash.fields",
    ),
    "hash_any_fields": Feature(
        "other fields of the ECMP hash than the addresses, or these with the protocol and the ports",
        _balancing(_has_other_hash_fields),
        key="profile.hash.fields",
    ),
    "hash_queue_pair": Feature(
        "queue pair in the ECMP hash, beside the addresses, the protocol and the ports",
        _balancing(lambda balancing: HashField.QUEUE_PAIR in balancing.fields),
        removals.hash_queue_pair,
        key="profile.hash.fields",
        substitutes=True,
    ),
    "hash_ingress_port": Feature(
        "ingress port in the ECMP hash",
        _balancing(lambda balancing: HashField.INGRESS_PORT in balancing.fields),
        key="profile.hash.fields",
    ),
    "hash_vlan": Feature(
        "VLAN in the ECMP hash",
        _balancing(lambda balancing: HashField.VLAN in balancing.fields),
        key="profile.hash.fields",
    ),
    "hash_seed": Feature(
        "seed of the ECMP hash",
        _balancing(lambda balancing: balancing.seed is not None),
        removals.hash_seed,
        key="profile.hash.seed",
    ),
}
