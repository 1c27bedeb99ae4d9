"""The part of a running configuration that the intent speaks of, for a comparison of models.

A switch has more in CONFIG_DB than railfab configures: what its hardware and image give it, and what its operator adds.
"""

from __future__ import annotations

from railfab.platforms.sonic.tables import UP, Row, Table, Tables, text, tree_of

FABRIC = frozenset(
    {
        *("ARS_OBJECT", "ARS_PROFILE", "BGP_DEVICE_GLOBAL", "BGP_GLOBALS", "BGP_GLOBALS_AF"),
        *("BGP_GLOBALS_EVPN_VNI_RT", "BGP_NEIGHBOR"),
        *("BGP_GLOBALS_AF_AGGREGATE_ADDR", "BGP_NEIGHBOR_AF", "BGP_PEER_GROUP", "BGP_PEER_GROUP_AF", "AS_PATH_SET"),
        *("BREAKOUT_CFG", "BUFFER_PG", "BUFFER_POOL", "BUFFER_PROFILE", "BUFFER_QUEUE", "CABLE_LENGTH"),
        *("COMMUNITY_SET", "DEVICE_METADATA", "DSCP_TO_TC_MAP", "EVPN_ETHERNET_SEGMENT", "INTERFACE"),
        *("LOOPBACK_INTERFACE", "MAP_PFC_PRIORITY_TO_QUEUE", "MCLAG_DOMAIN", "MCLAG_INTERFACE", "MCLAG_UNIQUE_IP"),
        "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP",
        *("PFC_WD", "PORT", "PORTCHANNEL", "PORTCHANNEL_INTERFACE", "PORTCHANNEL_MEMBER", "PORT_QOS_MAP", "PREFIX"),
        *("PREFIX_SET", "QUEUE", "ROUTE_MAP", "ROUTE_MAP_SET", "ROUTE_REDISTRIBUTE", "SAG", "SCHEDULER"),
        *("SWITCH_HASH", "SWITCH_TRIMMING", "TC_TO_PRIORITY_GROUP_MAP", "TC_TO_QUEUE_MAP", "VLAN", "VLAN_INTERFACE"),
        *("VLAN_MEMBER", "VRF", "VXLAN_EVPN_NVO", "VXLAN_TUNNEL", "VXLAN_TUNNEL_MAP", "WRED_PROFILE"),
    }
)
"""Tables of the fabric, which are railfab's on every switch; others are where the intent states them."""

PORT_FIELDS = frozenset({"admin_status", "description", "fec", "mtu", "speed", "index"})
"""Fields of a port that railfab reads; the others are those of its hardware."""

HARDWARE_FEC = "rs"
"""The error correction that factory configurations have on ports of 100 Gb/s and more."""

HOST = "localhost"
UNSPLIT = "1x"


def scoped(configuration: str, intended: str) -> str:
    """A configuration text without what is not the fabric's and not in the text of the intent."""
    configured, wanted = tree_of(configuration), tree_of(intended)
    kept = {name: _kept(name, table, wanted) for name, table in configured.items() if name in FABRIC or name in wanted}
    return text({name: table for name, table in kept.items() if table})


def _kept(name: str, table: Table, wanted: Tables) -> Table:
    if name == "DEVICE_METADATA":
        intended = wanted.get(name, {}).get(HOST, {})
        return {HOST: {field: value for field, value in table.get(HOST, {}).items() if field in intended}}
    if name == "FEATURE":
        return {row: fields for row, fields in table.items() if row in wanted.get(name, {})}
    if name == "BREAKOUT_CFG":
        return {row: fields for row, fields in table.items() if not str(fields.get("brkout_mode")).startswith(UNSPLIT)}
    if name == "PORT":
        return dict(_port(row, fields, wanted) for row, fields in table.items() if _is_used(row, fields, wanted))
    return table


def _is_used(port: str, fields: Row, wanted: Tables) -> bool:
    """Whether a port belongs to the fabric, or is up without being of it."""
    return port in wanted.get("PORT", {}) or fields.get("admin_status") == UP


def _port(port: str, fields: Row, wanted: Tables) -> tuple[str, Row]:
    """A port; the speed and error correction that the intent leaves to the hardware are not stated.

    An error correction that is not that of the hardware differs from what the other end of the link has.
    """
    intended = wanted.get("PORT", {}).get(port, {})
    stated = {"fec", "speed", "mtu"} - intended.keys()
    if fields.get("fec", HARDWARE_FEC) != HARDWARE_FEC:
        stated.discard("fec")
    return port, {field: value for field, value in fields.items() if field in PORT_FIELDS - stated - {"index"}}
