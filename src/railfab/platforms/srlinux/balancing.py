"""Renders and parses how equal-cost paths are chosen: `/system/load-balancing`."""

from __future__ import annotations

from railfab.device import HashField, LoadBalancing
from railfab.platforms.shared.config_node import ConfigNode
from railfab.platforms.shared.json_tree import Json

LEAVES = {
    HashField.SOURCE_ADDRESS: "source-address",
    HashField.DESTINATION_ADDRESS: "destination-address",
    HashField.PROTOCOL: "protocol",
    HashField.SOURCE_PORT: "source-port",
    HashField.DESTINATION_PORT: "destination-port",
    HashField.FLOW_LABEL: "ipv6-flow-label",
    HashField.VLAN: "vlan",
}
NOT_BY_DEFAULT = HashField.FLOW_LABEL
"""The field that SR Linux does not take unless configured (srl_nokia-load-balancing 25.3.1)."""


def render_balancing(balancing: LoadBalancing | None) -> Json | None:
    """The hash options; None where everything is the default."""
    options: Json = {}
    if balancing is not None and balancing.fields:
        options = {leaf: field in balancing.fields for field, leaf in LEAVES.items()}
    if balancing is not None and balancing.seed is not None:
        options["hash-seed"] = balancing.seed
    return {"hash-options": options} if options else None


def parse_balancing(root: ConfigNode) -> LoadBalancing | None:
    """The hash options; None where everything is the default."""
    node = root.at("system", "load-balancing", "hash-options")
    fields: tuple[HashField, ...] = ()
    if any(leaf in node.value for leaf in LEAVES.values()):
        fields = tuple(field for field, leaf in LEAVES.items() if node.flag(leaf, default=field is not NOT_BY_DEFAULT))
    seed = node.number("hash-seed") if node.value.get("hash-seed") != "generate-from-mac" else None
    balancing = LoadBalancing(fields=tuple(sorted(fields, key=list(HashField).index)), seed=seed)
    return None if balancing == LoadBalancing() else balancing
