"""Sessions of SONiC's other management of FRR: bgpcfgd, which makes them from templates.

In the mode `separated` (the default of docker_routing_config_mode) bgpcfgd reads `BGP_NEIGHBOR|ADDRESS`; with
frr_mgmt_framework_config, frrcfgd reads `BGP_NEIGHBOR|VRF|ADDRESS`, and neither the rows of the other
(sonic-bgp-neighbor, BGP_NEIGHBOR_TEMPLATE_LIST and BGP_NEIGHBOR_LIST). The templates decide families, policies, paths
and BFD (docker-fpm-frr, bgpd/templates), so that a configuration does not show them.
"""

from __future__ import annotations

from ipaddress import ip_address, ip_interface

from railfab.device import DEFAULT_INSTANCE
from railfab.platforms.sonic.tables import SEPARATOR, Row, Tables, key, row

STATED = ("asn", "name", "local_addr", "holdtime", "keepalive", "admin_status")
"""Fields that the templates take from a row."""
MODE = ("docker_routing_config_mode", "frr_mgmt_framework_config")
"""Fields of the switch that choose the management."""
DECIDED = (
    *("BGP_GLOBALS", "BGP_GLOBALS_AF", "BGP_GLOBALS_AF_AGGREGATE_ADDR", "ROUTE_REDISTRIBUTE", "ROUTE_MAP"),
    *("ROUTE_MAP_SET", "PREFIX", "PREFIX_SET", "COMMUNITY_SET", "AS_PATH_SET"),
)
"""Tables that the templates replace."""
HOST, LOCAL_AS = "localhost", "bgp_asn"


def template_rows(tree: Tables) -> list[str]:
    """The keys of the sessions that bgpcfgd makes."""
    return [name for name in tree.get("BGP_NEIGHBOR", {}) if _is_address(name)]


def with_template_sessions(tree: Tables, wanted: Tables) -> Tables:
    """The tree with each session of a template as the intent has it, but for what its row states.

    Where the tree has no speaker of frrcfgd, it has that of the intent, with the AS number of the switch.
    """
    sessions = [name for name in template_rows(tree) if key(DEFAULT_INSTANCE, name) in wanted.get("BGP_NEIGHBOR", {})]
    if not sessions:
        return tree
    neighbors, families = dict(tree["BGP_NEIGHBOR"]), dict(tree.get("BGP_NEIGHBOR_AF", {}))
    for name in sessions:
        place = key(DEFAULT_INSTANCE, name)
        neighbors.setdefault(place, _session(tree["BGP_NEIGHBOR"][name], wanted, name))
        planned = wanted.get("BGP_NEIGHBOR_AF", {})
        families |= {at: planned[at] for at in planned.keys() - families.keys() if at.startswith(f"{place}{SEPARATOR}")}
    return {**tree, **_speaker(tree, wanted), "BGP_NEIGHBOR": neighbors, "BGP_NEIGHBOR_AF": families}


def _session(stated: Row, wanted: Tables, peer: str) -> Row:
    planned = row(wanted, "BGP_NEIGHBOR", DEFAULT_INSTANCE, peer)
    source = stated.get("local_addr")
    from_row = {name: stated[name] for name in STATED if name in stated}
    if source is not None and _is_source(str(source), planned, wanted, peer):
        from_row["local_addr"] = planned.get("local_addr")
    session = {
        **{name: value for name, value in planned.items() if name not in STATED},
        "admin_status": "up",
        **from_row,
    }
    return {name: value for name, value in session.items() if value is not None}


def _is_source(address: str, planned: Row, wanted: Tables, peer: str) -> bool:
    """Whether an address of this switch is that from which the planned session is: of its interface, or of the link."""
    interface = planned.get("local_addr")
    for table in ("INTERFACE", "PORTCHANNEL_INTERFACE", "VLAN_INTERFACE", "LOOPBACK_INTERFACE"):
        for name, _, prefix in (place.partition(SEPARATOR) for place in wanted.get(table, {})):
            if prefix and ip_interface(prefix).ip == _address(address):
                return name == interface if interface else _address(peer) in ip_interface(prefix).network
    return False


def _speaker(tree: Tables, wanted: Tables) -> Tables:
    """The tables of a switch whose speaker is of the templates."""
    host = row(tree, "DEVICE_METADATA", HOST)
    if row(tree, "BGP_GLOBALS", DEFAULT_INSTANCE) or host.get(MODE[0]) == row(wanted, "DEVICE_METADATA", HOST)[MODE[0]]:
        return {}
    decided = {table: wanted[table] for table in DECIDED if table in wanted and table not in tree}
    planned = row(wanted, "BGP_GLOBALS", DEFAULT_INSTANCE)
    speaker = {name: value for name, value in planned.items() if name != "local_asn"}
    if LOCAL_AS in host:
        speaker["local_asn"] = host[LOCAL_AS]
    modes = {name: value for name, value in row(wanted, "DEVICE_METADATA", HOST).items() if name in MODE}
    metadata = {**tree.get("DEVICE_METADATA", {}), HOST: {**host, **modes}}
    return {**decided, "BGP_GLOBALS": {DEFAULT_INSTANCE: speaker}, "DEVICE_METADATA": metadata}


def _is_address(text: str) -> bool:
    return _address(text) is not None


def _address(text: str) -> object:
    try:
        return ip_address(text)
    except ValueError:
        return None
