"""Renders and parses load balancing: `system forwarding` and adaptive routing.

Adaptive routing works on physical ports of the default VRF only, and on an ECMP group of which every port has it
(nvue-reference Adaptive-Routing), so every port with a session of that VRF has it.
"""

from __future__ import annotations

from railfab.device import (
    DEFAULT_INSTANCE,
    BalancingMode,
    DeviceModel,
    HashField,
    LoadBalancing,
    Port,
    interfaces_of_peers,
)
from railfab.platforms.cumulus.names import device_name
from railfab.platforms.cumulus.nodes import ON, is_on, stated, switch
from railfab.platforms.shared.config_node import ConfigNode
from railfab.platforms.shared.json_tree import Json

FIELDS = {
    HashField.SOURCE_ADDRESS: "source-ip",
    HashField.DESTINATION_ADDRESS: "destination-ip",
    HashField.PROTOCOL: "ip-protocol",
    HashField.SOURCE_PORT: "source-port",
    HashField.DESTINATION_PORT: "destination-port",
    HashField.FLOW_LABEL: "ipv6-label",
    HashField.INGRESS_PORT: "ingress-interface",
}

DEFAULT_FIELDS = (*tuple(FIELDS)[:5], HashField.FLOW_LABEL)
"""The fields that are hashed where nothing is stated (Equal Cost Multipath Load Sharing, Custom Hashing)."""


def render_forwarding(model: DeviceModel) -> Json:
    """`system forwarding`: every field of the hash where the model states some, as the defaults differ by release."""
    balancing = model.load_balancing or LoadBalancing()
    fields = {word: switch(field in balancing.fields) for field, word in FIELDS.items()} if balancing.fields else None
    return stated(ecmp_hash=fields, hash_seed=balancing.seed)


def render_adaptive(model: DeviceModel, interfaces: Json) -> Json | None:
    """`router adaptive-routing`; that of the ports is added to the interfaces."""
    if model.load_balancing is None or model.load_balancing.mode is not BalancingMode.ADAPTIVE:
        return None
    for name in adaptive_ports(model):
        interfaces[device_name(name)]["router"] = {"adaptive-routing": {"state": ON}}
    return {"state": ON}


def adaptive_ports(model: DeviceModel) -> tuple[str, ...]:
    """The ports of the default VRF with a session."""
    used = set(interfaces_of_peers(model).values())
    return tuple(
        port.name
        for port in model.interfaces
        if isinstance(port, Port) and port.name in used and port.network_instance == DEFAULT_INSTANCE
    )


def parse_balancing(root: ConfigNode) -> LoadBalancing | None:
    """Load balancing; None where everything is the platform's default."""
    forwarding = root.at("system", "forwarding")
    hashed = forwarding.child("ecmp-hash")
    adaptive = is_on(root.at("router", "adaptive-routing"))
    balancing = LoadBalancing(
        mode=BalancingMode.ADAPTIVE if adaptive else BalancingMode.FLOW,
        fields=_fields(hashed),
        seed=forwarding.number("hash-seed"),
    )
    return None if balancing == LoadBalancing() else balancing


def _fields(hashed: ConfigNode) -> tuple[HashField, ...]:
    """The fields of the hash; none where they are the defaults of the switch, and some are not stated."""
    fields = tuple(field for field, word in FIELDS.items() if is_on(hashed, word, default=field in DEFAULT_FIELDS))
    return fields if set(FIELDS.values()) <= set(hashed.value) or fields != DEFAULT_FIELDS else ()
