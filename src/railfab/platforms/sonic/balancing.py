"""Load balancing (sonic-hash; sonic-ars of master 53f72b0, which is newer than August 2026): rendered and parsed."""

from __future__ import annotations

from railfab.device import BalancingMode, HashField, LoadBalancing
from railfab.errors import RailfabError
from railfab.platforms.shared.config_node import ConfigNode
from railfab.platforms.sonic.tables import TRUE, Tables, row, stated

GLOBAL, PROFILE, OBJECT = "GLOBAL", "default", "fabric"
FIELDS = {
    HashField.SOURCE_ADDRESS: "SRC_IP",
    HashField.DESTINATION_ADDRESS: "DST_IP",
    HashField.PROTOCOL: "IP_PROTOCOL",
    HashField.SOURCE_PORT: "L4_SRC_PORT",
    HashField.DESTINATION_PORT: "L4_DST_PORT",
    HashField.FLOW_LABEL: "IPV6_FLOW_LABEL",
    HashField.INGRESS_PORT: "IN_PORT",
    HashField.VLAN: "VLAN_ID",
    HashField.QUEUE_PAIR: "RDMA_BTH_DEST_QP",
}
"""sonic-hash, hash-field; the queue pair is of master 3fa9f2c. Packets without one are hashed by the other fields
(sonic-net/SONiC, doc/hash/hash-design.md)."""

MODES = {BalancingMode.FLOWLET: "per_flowlet_quality", BalancingMode.ADAPTIVE: "per_packet_quality"}
"""sonic-ars, assign_mode: each flowlet or packet takes the port with the least load. There is no mode at random
(sonic-swss, orchagent/arsorch.cpp, knows these two)."""

_FIELDS = {text: field for field, text in FIELDS.items()}
_MODES = {text: mode for mode, text in MODES.items()}


def render_balancing(balancing: LoadBalancing | None) -> Tables:
    if balancing is None:
        return {}
    fields = [FIELDS[field] for field in balancing.fields]
    tables: Tables = {"SWITCH_HASH": {GLOBAL: {"ecmp_hash": fields, "lag_hash": [*fields]}} if fields else {}}
    if balancing.mode in MODES:
        tables |= _adaptive(balancing)
    return tables


def _adaptive(balancing: LoadBalancing) -> Tables:
    """Adaptive routing of all groups of next hops and of all LAGs."""
    profile = stated(
        algorithm="ewma",
        ars_nhg_path_selector_mode="global",
        ars_lag_path_selector_mode="global",
        default_ars_object=OBJECT,
        ipv4_enable=TRUE,
        ipv6_enable=TRUE,
    )
    assigned = stated(assign_mode=MODES[balancing.mode], flowlet_idle_time=balancing.flowlet_gap_us)
    return {"ARS_PROFILE": {PROFILE: profile}, "ARS_OBJECT": {OBJECT: assigned}}


def parse_balancing(tree: Tables, problems: list[RailfabError]) -> LoadBalancing | None:
    """The hash, and the mode of the object that the profile has as its default. None of the platform's defaults."""
    words = ConfigNode(row(tree, "SWITCH_HASH", GLOBAL), "SWITCH_HASH|GLOBAL", problems).words("ecmp_hash")
    known = {_FIELDS[word] for word in words if word in _FIELDS}
    profile = next(iter(tree.get("ARS_PROFILE", {}).values()), {})
    name = profile.get("default_ars_object", "")
    node = ConfigNode(row(tree, "ARS_OBJECT", name), f"ARS_OBJECT|{name}", problems)
    mode = _MODES.get(node.text("assign_mode") or "", BalancingMode.FLOW)
    balancing = LoadBalancing(
        mode=mode,
        fields=tuple(sorted(known, key=list(HashField).index)),
        flowlet_gap_us=node.number("flowlet_idle_time") if mode is BalancingMode.FLOWLET else None,
    )
    return None if balancing == LoadBalancing() else balancing
