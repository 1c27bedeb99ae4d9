"""CONFIG_DB as a tree: tables of rows of fields, as `config_db.json` has them (SONiC Configuration.md).

The key of a row is one text, with `|` between its parts. Every value is a text, or a list of texts.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from railfab.bounded_json import load_json
from railfab.errors import ConfigError
from railfab.platforms.shared import json_tree
from railfab.platforms.shared.config_node import ConfigNode
from railfab.platforms.shared.json_tree import leaf_text

Row = dict[str, Any]
Table = dict[str, Row]
Tables = dict[str, Table]

SEPARATOR = "|"
NOTHING = "NULL"
"""Field of a row without fields, as Redis has it."""
WHAT = "config_db.json"
JOINED = {
    **dict.fromkeys((("PORT", "adv_speeds"), ("PORT", "adv_interface_types"), ("MIRROR_SESSION", "src_ip")), ","),
    **dict.fromkeys((("BGP_ALLOWED_PREFIXES", "prefixes_v4"), ("BGP_ALLOWED_PREFIXES", "prefixes_v6")), ","),
    ("BUFFER_PORT_EGRESS_PROFILE_LIST", "profile_list"): ",",
    ("BUFFER_PORT_INGRESS_PROFILE_LIST", "profile_list"): ",",
    ("NTP", "src_intf"): ";",
}
"""Leaf-lists that CONFIG_DB has as one text, and what is between their values (sonic-yang-mgmt, sonic_yang_ext.py,
LEAF_LIST_WITH_STRING_VALUE_DICT)."""

TRUE, FALSE = "true", "false"
UP, DOWN = "up", "down"


def key(*parts: object) -> str:
    return SEPARATOR.join(map(str, parts))


def boolean(value: bool) -> str:
    return TRUE if value else FALSE


def stated(**fields: Any) -> Row:
    """A row of the fields that have a value, as texts."""
    return {name: _value(value) for name, value in fields.items() if value is not None}


def _value(value: Any) -> Any:
    return [str(member) for member in value] if isinstance(value, (list, tuple)) else leaf_text(value)


def text(tree: Tables) -> str:
    """The tree as JSON; equal trees give equal text."""
    return json_tree.text(tree, indent="    ")


def tree_of(text: str) -> Tables:
    """The tree of a configuration text. Raises ConfigError."""
    try:
        tree = load_json(text)
    except ValueError as error:
        raise ConfigError(WHAT, f"is not JSON ({error})", "Pass the configuration as JSON") from None
    return normal(tree)


def normal(tree: Any) -> Tables:
    """A tree whose values are texts. Raises ConfigError for one that has other levels than table, row and field."""
    return {name: _table(name, table) for name, table in _members(tree, WHAT, "tables").items()}


def _table(name: str, rows: Any) -> Table:
    return {row: _row(key(name, row), fields) for row, fields in _members(rows, name, "rows").items()}


def _row(where: str, fields: Any) -> Row:
    return {
        name: _field(f"{where} {name}", value)
        for name, value in _members(fields, where, "fields").items()
        if name != NOTHING
    }


def _field(where: str, value: Any) -> Any:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and not any(isinstance(member, (dict, list)) for member in value):
        return [leaf_text(member) for member in value]
    if isinstance(value, (dict, list)) or value is None:
        raise ConfigError(where, f"{json.dumps(value)} is no value", "Use a text, or a list of texts")
    return leaf_text(value)


def _members(node: Any, where: str, what: str) -> Mapping[str, Any]:
    if not isinstance(node, dict):
        raise ConfigError(where, f"{json.dumps(node)} is no object", f"Use a JSON object of {what}")
    return node


def nodes(tree: Tables, table: str, problems: list[Any]) -> Iterator[tuple[tuple[str, ...], ConfigNode]]:
    """The rows of a table, each with the parts of its key and as a node that notes its problems."""
    for row, fields in tree.get(table, {}).items():
        yield tuple(row.split(SEPARATOR)), ConfigNode(fields, key(table, row), problems)


def row(tree: Tables, table: str, *parts: object) -> Row:
    """A row by its key; empty when there is none."""
    return tree.get(table, {}).get(key(*parts), {})


def merged(trees: Iterable[Tables]) -> Tables:
    """Several trees as one; a table without rows is left out. Rows of one key have all their fields together."""
    tables: Tables = {}
    for tree in trees:
        for name, table in tree.items():
            for row_key, fields in table.items():
                tables.setdefault(name, {}).setdefault(row_key, {}).update(fields)
    return tables


def values(where: str, name: str, value: Any) -> list[Any]:
    """The values of a leaf-list. where: `TABLE|key` of its row."""
    if isinstance(value, list):
        return value
    between = JOINED.get((where.partition(SEPARATOR)[0], name))
    return [value] if between is None else [part.strip() for part in value.split(between)]


def value_text(value: Any) -> str:
    """A value as one text: a list as `[ a b ]`."""
    return f"[ {' '.join(value)} ]" if isinstance(value, list) else str(value)


def lines(tree: Tables) -> Iterator[str]:
    """Every field as a line, `TABLE|key field value`, and every row without fields, `TABLE|key`."""
    for name, table in tree.items():
        for row_key, fields in table.items():
            where = key(name, row_key)
            if not fields:
                yield where
            yield from (f"{where} {field} {value_text(value)}" for field, value in fields.items())


def deviations(configured: Tables, rendered: Tables) -> list[str]:
    """The lines that only the first tree has, and those that only the second has, after `no`; sorted."""
    if configured == rendered:
        return []
    configured_lines, wanted = set(lines(configured)), set(lines(rendered))
    return sorted([*(configured_lines - wanted), *(f"no {line}" for line in wanted - configured_lines)])
