"""A valid configuration with one value spoilt: of no type, a reference without its target, there twice, or missing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.platforms.sonic.row_lines import every_field

from railfab.platforms.sonic.schema import OF_HARDWARE, Type, fits, schema
from railfab.platforms.sonic.tables import SEPARATOR, Row, Tables, key

NOWHERE = {
    **{"PORT": "Ethernet996", "PORTCHANNEL": "PortChannel996", "LOOPBACK_INTERFACE": "Loopback996"},
    **{"VLAN": "Vlan3996", "VRF": "Vrfnowhere", "VNET": "Vnetnowhere", "BGP_GLOBALS": "Vrfnowhere"},
    **{"MCLAG_DOMAIN": "4000", "NTP_KEY": "60000"},
}
"""Keys that no row has, for tables that do not take every text."""

WRONG = ("10.0.0.1", "2001:db8::1", "10.0.0.0/33", "no value of any type!", "4321", "-1", str(2**65), "", "x" * 5000)


def spoilt() -> Iterator[tuple[str, Tables]]:
    """Such configurations, each with its place: of each key and field that a rendered row may have."""
    seen: set[tuple[str, int]] = set()
    for table, rows in every_field().items():
        for row, fields in rows.items():
            known = schema().of_row(table, row)
            if (table, id(known)) not in seen and known is not None:
                seen.add((table, id(known)))
                for name, changed_row, changed_fields in _of_row(table, row, fields, known):
                    yield f"{key(table, row)} {name}", _with(table, changed_row, changed_fields)


def _of_row(table: str, row: str, fields: Row, known: Any) -> Iterator[tuple[str, str, Row]]:
    parts = row.split(SEPARATOR)
    for place, (name, number) in enumerate(known.get("keys", {}).items()):
        for wrong in _wrong(number):
            yield f"key {name}", key(*parts[:place], wrong, *parts[place + 1 :]), {}
    for name, number in known.get("fields", {}).items():
        if isinstance(number, list):
            stated = fields.get(name)
            yield from ((name, row, {**fields, name: [wrong]}) for wrong in _wrong(number[0]))
            if stated:
                yield f"{name} twice", row, {**fields, name: [stated[0], stated[0]]}
        else:
            yield name, row, {**fields, name: next(iter(_wrong(number)), ["one", "two"])}
    for number, where in zip(known.get("map", ()), ("name", "value"), strict=False):
        for wrong in _wrong(number):
            yield where, row, {wrong: "3"} if where == "name" else {"3": wrong}
    for name in known.get("mandatory", ()):
        if name not in OF_HARDWARE.get(table, ()):
            yield f"no {name}", row, {field: value for field, value in fields.items() if field != name}


def _wrong(number: int) -> list[str]:
    """A value that is none of a type; none for a type that takes every text."""
    kind = schema().types[number]
    if kind["type"] == "reference":
        return [NOWHERE.get(kind["table"], "nowhere")]
    return [value for value in WRONG if not _takes(kind, value)][:1]


def _takes(kind: Type, value: str) -> bool:
    if kind["type"] == "union":
        return any(_takes(member, value) for member in kind["members"])
    return kind["type"] != "reference" and fits(value, kind)


def _with(table: str, row: str, fields: Row) -> Tables:
    tree = every_field()
    return {**tree, table: {**tree[table], row: fields}}
