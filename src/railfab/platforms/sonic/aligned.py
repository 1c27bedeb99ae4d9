"""Names of rows that others name, which are free, as another configuration has them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from railfab.platforms.sonic.canonical import canonical
from railfab.platforms.sonic.references import PARTS, REFERENCES
from railfab.platforms.sonic.tables import SEPARATOR, Row, Tables, key, text, tree_of
from railfab.platforms.sonic.template_sessions import with_template_sessions

DEPTH = 3
"""Steps from a row in effect to the last that it leads to: session, policy, set of prefixes."""
DEFAULTS: Mapping[str, Mapping[str, str]] = {
    "BGP_GLOBALS": {"default_local_preference": "100"},
    "BGP_NEIGHBOR": {
        **{"desired_minimum_tx_interval": "300", "required_minimum_receive": "300", "detection_multiplier": "3"},
        **{"peer_port": "179", "capability_ext_nexthop": "true"},
        **{"min_adv_interval": "0"},
    },
    "BGP_NEIGHBOR_AF": {"weight": "0"},
    "PORTCHANNEL": {"min_links": "1"},
}
"""Fields of which a default has no effect: of FRR 8.4 (doc/user/bgp.rst, bfd.rst; IPv6 next hops are those of sessions
over link-local addresses; updates wait for no interval), and of teamd, a LAG of which is up with one member
(teamd.conf(5), runner.min_ports)."""


@dataclass(frozen=True, slots=True)
class RowReference:
    """A field that names a row, in both configurations. target: the table of the row."""

    table: str
    row: str
    field: str
    target: str
    name: str
    wanted: str


def aligned(configuration: str, rendered: str) -> tuple[str, tuple[str, ...]]:
    """The configuration with the names of the rendered one for the same uses, and every row that has another name.

    A row that stands for several of the other becomes several, and sessions of templates have what their rows do not
    state as the other has it. A default is stated where the other states it, too. Raises ConfigError.
    """
    stated, wanted = canonical(tree_of(configuration)), canonical(tree_of(rendered))
    tree = _with_same_defaults(with_template_sessions(stated, wanted), wanted)
    tree = _with_equal_rows(tree, wanted)
    renamed: dict[str, None] = {}
    for _ in range(DEPTH):
        uses = [*_renamed_uses(tree, wanted)]
        tree = _with_names(tree, uses) if uses else tree
        renamed |= dict.fromkeys(key(use.target, use.name) for use in uses)
    return (configuration, ()) if tree is stated else (text(tree), tuple(renamed))


def _with_same_defaults(tree: Tables, wanted: Tables) -> Tables:
    """The tree with the defaults that the other states and without others; the same tree where it has these alone."""
    changed = {
        table: {place: _with_defaults_of(fields, wanted.get(table, {}).get(place), defaults) for place, fields in rows}
        for table, defaults in DEFAULTS.items()
        if (rows := tuple(tree.get(table, {}).items()))
    }
    return tree if all(tree[table] == rows for table, rows in changed.items()) else {**tree, **changed}


def _with_defaults_of(fields: Row, planned: Row | None, defaults: Mapping[str, str]) -> Row:
    if planned is None:
        return fields
    stated = {field: value for field, value in fields.items() if field in planned or defaults.get(field) != value}
    return {field: default for field, default in defaults.items() if planned.get(field) == default} | stated


def _with_equal_rows(tree: Tables, wanted: Tables) -> Tables:
    """The tree with the row that the other names in place of one with the same fields; the same tree without such."""
    equal = [
        use
        for use in _uses(tree, wanted)
        if (use.target not in PARTS.values() and (rows := tree.get(use.target, {})).keys() >= {use.name, use.wanted})
        and rows[use.name] == rows[use.wanted]
    ]
    return _with_fields(tree, equal) if equal else tree


def _renamed_uses(tree: Tables, wanted: Tables) -> Iterator[RowReference]:
    """The uses whose name is to change: of several rows that stand for one, those of the most frequent."""
    uses = [
        use
        for use in _uses(tree, wanted)
        if use.name in tree.get(use.target, {}) and use.wanted not in tree.get(use.target, {})
    ]
    votes: dict[tuple[str, str], Counter[str]] = {}
    for use in uses:
        votes.setdefault((use.target, use.wanted), Counter())[use.name] += 1
    chosen = {place: counter.most_common(1)[0][0] for place, counter in votes.items()}
    yield from (use for use in uses if chosen[use.target, use.wanted] == use.name)


def _uses(tree: Tables, wanted: Tables) -> Iterator[RowReference]:
    """Single names that differ between the same fields of the two."""
    for table, fields in REFERENCES.items():
        for row, stated in tree.get(table, {}).items():
            intended = wanted.get(table, {}).get(row, {})
            for field, target in fields.items():
                name, renamed = (_single(values.get(field)) for values in (stated, intended))
                if name and renamed and name != renamed:
                    yield RowReference(table, row, field, target, name, renamed)


def _single(value: object) -> str | None:
    if isinstance(value, list):
        return str(value[0]) if len(value) == 1 else None
    return None if value is None else str(value)


def _with_fields(tree: Tables, uses: list[RowReference]) -> Tables:
    """A copy of the tree with the names that these uses are to have."""
    tables: Tables = {table: {row: dict(fields) for row, fields in rows.items()} for table, rows in tree.items()}
    for use in uses:
        value = tables[use.table][use.row][use.field]
        tables[use.table][use.row][use.field] = [use.wanted] if isinstance(value, list) else use.wanted
    return tables


def _with_names(tree: Tables, uses: list[RowReference]) -> Tables:
    tables = _with_fields(tree, uses)
    left = _names(tables)
    for target, name, wanted in dict.fromkeys((use.target, use.name, use.wanted) for use in uses):
        tables[target][wanted] = dict(tree[target][name])
        for part in (part for part, owner in PARTS.items() if owner == target):
            for row, fields in tree.get(part, {}).items():
                if row.partition(SEPARATOR)[0] == name:
                    tables[part][key(wanted, row.partition(SEPARATOR)[2])] = dict(fields)
    for target, name in {(use.target, use.name) for use in uses} - left:
        _remove(tables, target, name)
    return tables


def _names(tables: Tables) -> set[tuple[str, str]]:
    """Table and name of every row that a field names."""
    return {
        (target, str(name))
        for table, fields in REFERENCES.items()
        for stated in tables.get(table, {}).values()
        for field, target in fields.items()
        if field in stated
        for name in (stated[field] if isinstance(stated[field], list) else [stated[field]])
    }


def _remove(tables: Tables, target: str, name: str) -> None:
    del tables[target][name]
    for part in (part for part, owner in PARTS.items() if owner == target and part in tables):
        tables[part] = _without(tables[part], name)


def _without(rows: Mapping[str, dict[str, object]], name: str) -> dict[str, dict[str, object]]:
    return {row: fields for row, fields in rows.items() if row.partition(SEPARATOR)[0] != name}
