"""CONFIG_DB in the form in which railfab writes it: other spellings with the same effect, one by one.

orchagent takes several ports in the key of a queue or a priority group, with commas between them, and a range of
numbers (sonic-swss, qosorch.cpp, bufferorch.cpp, orch.cpp: tokenize with list_item_delimiter, parseIndexRange). The
YANG models take no commas, so that the Generic Config Updater refuses what orchagent takes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import product

from railfab.platforms.sonic.tables import FALSE, SEPARATOR, TRUE, Row, Table, Tables, key

BRACKETS = re.compile(r"\[(?P<table>[A-Z0-9_]+)\|(?P<row>[^\[\]]+)\]")
"""A reference as images before 202106 have it; there may be several, with commas between them."""
BOOLEANS = {"True": TRUE, "False": FALSE}
TEXTS = frozenset({"description", "alias", "name", "hostname", "shutdown_message"})
"""Fields of free text."""
PORTS = ("QUEUE", "BUFFER_QUEUE", "BUFFER_PG", "PORT_QOS_MAP")
"""Tables of ports, of which a key may have several (and all but the last: with numbers)."""
COLOURS = ("yellow", "red")
RAMP = ("wred_{}_enable", "{}_min_threshold", "{}_max_threshold", "{}_drop_probability")
GROUPS = {"BGP_NEIGHBOR": "BGP_PEER_GROUP", "BGP_NEIGHBOR_AF": "BGP_PEER_GROUP_AF"}
PLACEHOLDER: Row = {"if_type": "PortChannel"}
"""Field of a LAG of two switches that says nothing, as all are LAGs (sonic-mclag, if_type)."""
ADDRESSES = ("INTERFACE", "VLAN_INTERFACE", "PORTCHANNEL_INTERFACE", "LOOPBACK_INTERFACE", "VLAN_SUB_INTERFACE")
"""Tables with the addresses of interfaces, by an interface and a prefix."""
SAID_BY_PREFIX = (("scope", "global"), ("family", "IPv4"), ("family", "IPv6"))
"""Fields of an address that intfmgrd sets itself, by the prefix (sonic-swss, intfmgr.cpp; sonic-interface)."""
TIMERS = ("keepalive", "holdtime")
"""Timers that are set together: of all sessions by `timers bgp`, of one by those of its own (frrcfgd.py)."""
NUMBERED_PARTS = 4
"""Parts of the key of a prefix with a number."""


def canonical(tree: Tables) -> Tables:
    """The plain tree, with settings of groups and of BGP in its sessions, the ramps of all colours, no needless numbers
    of prefixes, and nothing of an address that its prefix says.
    """
    tables = plain(tree)
    tables |= {name: dict(map(_address, tables[name].items())) for name in ADDRESSES if name in tables}
    if "WRED_PROFILE" in tables:
        tables["WRED_PROFILE"] = {name: _ramps(row) for name, row in tables["WRED_PROFILE"].items()}
    if "PREFIX" in tables:
        tables["PREFIX"] = _prefixes(tables["PREFIX"])
    if "MCLAG_INTERFACE" in tables:
        tables["MCLAG_INTERFACE"] = {name: PLACEHOLDER | row for name, row in tables["MCLAG_INTERFACE"].items()}
    grouped = _without_groups(tables) if "BGP_PEER_GROUP" in tables else tables
    return _with_own_timers(grouped)


def plain(tree: Tables) -> Tables:
    """The tree with a row for each port and number, and without brackets; a row that contradicts another stays."""
    return {name: _table(name, rows) for name, rows in tree.items()}


def _table(name: str, rows: Table) -> Table:
    table = {row: {field: _value(field, value) for field, value in fields.items()} for row, fields in rows.items()}
    for row in [row for row in table if name in PORTS and ("," in row or "-" in row)]:
        places = [*_places(row)]
        if row not in places and all(table.get(place, table[row]) == table[row] for place in places):
            fields = table.pop(row)
            table |= {place: dict(fields) for place in places}
    return table


def _value(field: str, value: object) -> object:
    if isinstance(value, list):
        return [_value(field, member) for member in value]
    if field in TEXTS or not isinstance(value, str):
        return value
    if value in BOOLEANS:
        return BOOLEANS[value]
    return BRACKETS.sub(r"\g<row>", value) if value.startswith("[") else value


def _places(row: str) -> Iterator[str]:
    """The keys of one port and number each that a key stands for. That of a chassis, with more parts, stays."""
    ports, *numbers = row.split(SEPARATOR)
    if len(numbers) > 1:
        yield row
        return
    yield from (key(*parts) for parts in product(ports.split(","), *(_range(number) for number in numbers)))


def _range(text: str) -> list[str]:
    first, _, last = text.partition("-")
    if not (first.isdecimal() and last.isdecimal() and int(first) < int(last) <= int(first) + 64):
        return [text]
    return [str(number) for number in range(int(first), int(last) + 1)]


def _ramps(row: Row) -> Row:
    """The ramps of the other colours where they are not stated: all packets are green, unless a meter colours them."""
    if not row.keys() >= {"green_min_threshold", "green_max_threshold"}:
        return row
    missing = [colour for colour in COLOURS if not any(field.format(colour) in row for field in RAMP)]
    return {
        **row,
        **{
            field.format(colour): row[field.format("green")]
            for colour in missing
            for field in RAMP
            if field.format("green") in row
        },
    }


def _prefixes(rows: Table) -> Table:
    """The prefixes of a list, without their numbers where all are permitted, so that their order does not matter."""
    denied = {row.partition(SEPARATOR)[0] for row, fields in rows.items() if fields.get("action") == "deny"}
    table: Table = {}
    for row, fields in rows.items():
        name, *parts = row.split(SEPARATOR)
        plain = key(name, *parts[1:]) if len(parts) == NUMBERED_PARTS - 1 and name not in denied else row
        table[plain] = fields
    return table


def _address(entry: tuple[str, Row]) -> tuple[str, Row]:
    """An address without its scope and its family, where these are what its prefix says."""
    row, fields = entry
    version = "IPv6" if ":" in row.partition(SEPARATOR)[2] else "IPv4"
    said = {field: value for field, value in SAID_BY_PREFIX if field == "scope" or value == version}
    return row, {field: value for field, value in fields.items() if said.get(field) != value}


def _with_own_timers(tree: Tables) -> Tables:
    """The tree with the timers of all sessions of a VRF in those that state none."""
    stated = {vrf: fields for vrf, fields in tree.get("BGP_GLOBALS", {}).items() if fields.keys() >= {*TIMERS}}
    if not stated:
        return tree
    timers = {vrf: {name: fields[name] for name in TIMERS} for vrf, fields in stated.items()}
    sessions = {
        row: fields if fields.keys() & {*TIMERS} else timers.get(row.partition(SEPARATOR)[0], {}) | fields
        for row, fields in tree.get("BGP_NEIGHBOR", {}).items()
    }
    speakers = {
        vrf: {name: value for name, value in fields.items() if vrf not in timers or name not in TIMERS}
        for vrf, fields in tree["BGP_GLOBALS"].items()
    }
    return tree | {"BGP_GLOBALS": speakers} | ({"BGP_NEIGHBOR": sessions} if sessions else {})


def _without_groups(tree: Tables) -> Tables:
    """Sessions with the settings of their groups. A group stays where no session is in it."""
    groups = tree["BGP_PEER_GROUP"]
    members = {
        neighbor: key(neighbor.partition(SEPARATOR)[0], fields["peer_group_name"])
        for neighbor, fields in tree.get("BGP_NEIGHBOR", {}).items()
        if key(neighbor.partition(SEPARATOR)[0], fields.get("peer_group_name", "")) in groups
    }
    families = tree.get("BGP_PEER_GROUP_AF", {})
    sessions = {
        neighbor: _of_group(fields, groups[members[neighbor]]) if neighbor in members else fields
        for neighbor, fields in tree.get("BGP_NEIGHBOR", {}).items()
    }
    of_families = dict(tree.get("BGP_NEIGHBOR_AF", {}))
    for neighbor, group in members.items():
        for row, fields in families.items():
            owner, _, family = row.rpartition(SEPARATOR)
            if owner == group:
                place = key(neighbor, family)
                of_families[place] = {**fields, **of_families.get(place, {})}
    left = set(members.values())
    return {
        **tree,
        "BGP_NEIGHBOR": sessions,
        **({"BGP_NEIGHBOR_AF": of_families} if of_families else {}),
        "BGP_PEER_GROUP": {row: fields for row, fields in groups.items() if row not in left},
        "BGP_PEER_GROUP_AF": {
            row: fields for row, fields in families.items() if row.rpartition(SEPARATOR)[0] not in left
        },
    }


def _of_group(fields: Row, group: Mapping[str, object]) -> Row:
    return {**group, **{name: value for name, value in fields.items() if name != "peer_group_name"}}


def bracketed(tree: Tables) -> list[str]:
    """The rows that name others in brackets."""
    return [
        key(name, row)
        for name, rows in tree.items()
        for row, fields in rows.items()
        if any(isinstance(value, str) and BRACKETS.match(value) for value in fields.values())
    ]


def joined(tree: Tables) -> list[str]:
    """The rows of several ports."""
    return [key(name, row) for name in PORTS for row in tree.get(name, {}) if "," in row.partition(SEPARATOR)[0]]
