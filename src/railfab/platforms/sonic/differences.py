"""The fields in which two configurations differ, with the row that each is in."""

from __future__ import annotations

from typing import Any

from railfab.platforms.differences import Difference, Side
from railfab.platforms.setting_patterns import ABSENT
from railfab.platforms.sonic.tables import SEPARATOR, Row, Tables, key, tree_of, value_text

KEYS: dict[str, tuple[str, ...]] = {
    "BGP_GLOBALS_AF": ("vrf", "family"),
    "BGP_NEIGHBOR": ("vrf", "neighbor"),
    "BGP_NEIGHBOR_AF": ("vrf", "neighbor", "family"),
    "BUFFER_PG": ("port", "number"),
    "BUFFER_QUEUE": ("port", "number"),
    "PREFIX": ("set", "prefix", "lengths"),
    "QUEUE": ("port", "number"),
    "ROUTE_MAP": ("policy", "entry"),
    "VLAN_MEMBER": ("vlan", "port"),
}
"""Names of the parts of a key in the values of a difference, `TABLE.PART`; a table that is not here has `TABLE.key`."""


def differences(text: str, rendered: str) -> tuple[Difference, ...]:
    """Every field in which a configuration differs from a rendered one, sorted. Raises ConfigError for broken JSON."""
    configured, wanted = tree_of(text), tree_of(rendered)
    places = {(table, row) for tree in (configured, wanted) for table, rows in tree.items() for row in rows}
    different = [difference for table, row in places for difference in _of_row(table, row, configured, wanted)]
    return tuple(sorted(different, key=lambda difference: difference.text))


def _of_row(table: str, row: str, configured: Tables, wanted: Tables) -> list[Difference]:
    stated, intended = (tree.get(table, {}).get(row) for tree in (configured, wanted))
    if stated == intended:
        return []
    fields = {**(stated or {}), **(intended or {})}
    changed = [name for name in fields if (stated or {}).get(name) != (intended or {}).get(name)]
    if not changed or ((stated is None or intended is None) and not fields):
        return [_difference(table, row, None, stated, intended)]
    return [_difference(table, row, name, stated, intended) for name in changed]


def _difference(table: str, row: str, field: str | None, stated: Row | None, intended_row: Row | None) -> Difference:
    """A difference in a field, or in a row without fields that only one side has."""
    mine = (stated or {}).get(field) if field else None
    intended = (intended_row or {}).get(field) if field else None
    there, wanted = (
        (mine is not None, intended is not None) if field else (stated is not None, intended_row is not None)
    )
    side = Side.CHANGED if there and wanted else Side.ADDED if there else Side.MISSING
    place = key(table, row) + (f" {field}" if field else "")
    shown = f"{place} {value_text(mine)}" if there and field else place
    return Difference(
        side=side,
        path=f"/{table}/{field}" if field else f"/{table}",
        text=f"delete {place}" if side is Side.MISSING else f"set {shown}",
        section=table,
        values={"value": mine if there else ABSENT, "intended": intended, **_keys(table, row)},
        entry=_entry(stated if stated is not None else {}),
    )


def _keys(table: str, row: str) -> dict[str, str]:
    names = KEYS.get(table)
    parts = row.split(SEPARATOR)
    if names is None or len(names) != len(parts):
        return {f"{table}.key": row}
    return {f"{table}.{name}": part for name, part in zip(names, parts, strict=True)}


def _entry(row: Row) -> dict[str, Any]:
    return dict(row)
