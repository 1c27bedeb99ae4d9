"""Rows that others name: profiles, maps, schedulers, policies. Their names are free."""

from __future__ import annotations

from collections.abc import Mapping

from railfab.platforms.sonic.tables import SEPARATOR, Row, Tables

PROFILE, SCHEDULER, POLICY, PREFIXES = "BUFFER_PROFILE", "SCHEDULER", "ROUTE_MAP_SET", "PREFIX_SET"
REFERENCES: Mapping[str, Mapping[str, str]] = {
    "QUEUE": {"scheduler": SCHEDULER, "wred_profile": "WRED_PROFILE"},
    "BUFFER_PG": {"profile": PROFILE},
    "BUFFER_QUEUE": {"profile": PROFILE},
    "BUFFER_PORT_INGRESS_PROFILE_LIST": {"profile_list": PROFILE},
    "BUFFER_PORT_EGRESS_PROFILE_LIST": {"profile_list": PROFILE},
    "BUFFER_PROFILE": {"pool": "BUFFER_POOL"},
    "PORT_QOS_MAP": {
        "dscp_to_tc_map": "DSCP_TO_TC_MAP",
        "dot1p_to_tc_map": "DOT1P_TO_TC_MAP",
        "tc_to_queue_map": "TC_TO_QUEUE_MAP",
        "tc_to_pg_map": "TC_TO_PRIORITY_GROUP_MAP",
        "tc_to_dscp_map": "TC_TO_DSCP_MAP",
        "pfc_to_queue_map": "MAP_PFC_PRIORITY_TO_QUEUE",
        "pfc_to_pg_map": "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP",
        "scheduler": SCHEDULER,
    },
    "BGP_NEIGHBOR_AF": {
        **dict.fromkeys(("route_map_in", "route_map_out", "default_rmap", "unsuppress_map_name"), POLICY),
        **dict.fromkeys(("prefix_list_in", "prefix_list_out"), PREFIXES),
        **dict.fromkeys(("filter_list_in", "filter_list_out"), "AS_PATH_SET"),
    },
    "BGP_GLOBALS_AF": {"route_download_filter": POLICY, "import_vrf_route_map": POLICY},
    "BGP_GLOBALS_AF_AGGREGATE_ADDR": {"policy": POLICY},
    "BGP_GLOBALS_AF_NETWORK": {"policy": POLICY},
    "BGP_GLOBALS_LISTEN_PREFIX": {"peer_group": "BGP_PEER_GROUP"},
    "ROUTE_REDISTRIBUTE": {"route_map": POLICY},
    "ROUTE_MAP": {
        "match_prefix_set": PREFIXES,
        "match_ipv6_prefix_set": PREFIXES,
        "match_community": "COMMUNITY_SET",
        "match_as_path": "AS_PATH_SET",
        "call_route_map": POLICY,
    },
}
"""Tables that name rows, by table and field: those of the YANG models."""

PARTS: Mapping[str, str] = {"ROUTE_MAP": POLICY, "PREFIX": PREFIXES}
"""Tables of which a key begins with the name of a row: they are parts of it."""

NAMED = frozenset(target for fields in REFERENCES.values() for target in fields.values()) | PARTS.keys()
"""Tables of rows that do nothing by themselves."""


def is_of_intent(tree: Tables, table: str, row: str) -> bool:
    """Whether a tree has a row, or that of which it is a part."""
    return row in tree.get(table, {}) or row.partition(SEPARATOR)[0] in tree.get(PARTS.get(table, ""), {})


def target_of(tree: Tables, table: str, field: str, value: object) -> Row:
    """The row that a field names; empty where it names none."""
    target = REFERENCES.get(table, {}).get(field)
    return tree.get(target, {}).get(str(value), {}) if target else {}
