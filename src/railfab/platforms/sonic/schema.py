"""The schema of CONFIG_DB: tables, keys, fields, types and references between tables.

`schema.json` is generated from sonic-yang-models of August 2026 by `python -m tests.oracles.sonic_schema`, whose
docstrings give its format. What the models say between fields is in `constraints`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache, partial
from importlib.resources import files
from ipaddress import ip_address
from typing import Any

from railfab.device import DEFAULT_INSTANCE
from railfab.platforms.contract import Refusal
from railfab.platforms.sonic.canonical import bracketed, joined, plain
from railfab.platforms.sonic.constraints import BELOW_INTERVAL, violations
from railfab.platforms.sonic.tables import FALSE, SEPARATOR, TRUE, Row, Tables, key, tree_of, values
from railfab.platforms.sonic.template_sessions import template_rows
from railfab.text.counted import counted
from railfab.topology.grouping import grouped
from railfab.yaml_reader.packaged import packaged

RELEASE = "SONiC of August 2026"
BOOLEANS = (TRUE, FALSE, "True", "False")
"""Values that SonicYang takes for a boolean (sonic_yang_ext.py)."""

MAC = re.compile(r"[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}")
OF_HARDWARE = {"PORT": ("lanes", "speed")}
"""Mandatory fields that the switch has from its hardware SKU: a rendered configuration is laid over them."""

Type = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class SonicSchema:
    """types: of keys and fields, by their number. tables: see `tests.oracles.sonic_schema.Compact`."""

    types: tuple[Type, ...]
    tables: Mapping[str, Any]

    def of_row(self, table: str, row: str) -> Any:
        """Schema of a row of a table; None for a key that the table does not take."""
        known = self.tables[table]
        if row in known.get("named", {}):
            return known["named"][row]
        parts = row.split(SEPARATOR)
        return next((variant for variant in known.get("lists", ()) if len(variant["keys"]) == len(parts)), None)


@cache
def schema() -> SonicSchema:
    document = json.loads(files(__package__ or "").joinpath("schema.json").read_text())
    return SonicSchema(types=tuple(document["types"]), tables=document["tables"])


@cache
def fabric_tables() -> frozenset[str]:
    """The tables of the fabric, of `sections.yml`."""
    sections = packaged(__package__, "sections.yml")["fabric"]
    return frozenset(path.split("/")[1] for entry in sections for path in entry["path"])


def refusals(text: str) -> tuple[Refusal, ...]:
    """Rows and fields that the models do not know or take, and what they refuse together: one for each cause. Raises
    ConfigError."""
    tree = tree_of(text)
    old, several = bracketed(tree), joined(tree)
    refused = tree_refusals(_with_templates(plain(tree) if old or several else tree))
    return (*_of_spelling(old, several), *map(_foreign, _by_cause(tree, refused)))


def _foreign(refusal: Refusal) -> Refusal:
    """The refusal, as one of the operator's where its table is no part of the fabric: the image has what it lacks."""
    is_of_fabric = refusal.where.partition(" ")[0].partition(SEPARATOR)[0] in fabric_tables()
    return refusal if is_of_fabric else replace(refusal, is_foreign=True)


def _with_templates(tree: Tables) -> Tables:
    """The tree in which families of a session find it, though it is of the other management: a hazard says so."""
    rows, families = tree.get("BGP_NEIGHBOR", {}), tree.get("BGP_NEIGHBOR_AF", {})
    named = {place.rpartition(SEPARATOR)[0] for place in families}
    places = [key(DEFAULT_INSTANCE, name) for name in template_rows(tree)]
    added: dict[str, Row] = {place: {} for place in places if place in named and place not in rows}
    return {**tree, "BGP_NEIGHBOR": {**rows, **added}} if added else tree


def _of_spelling(old: Sequence[str], several: Sequence[str]) -> Iterator[Refusal]:
    """One for all references of old images, and one for all rows of several ports, which only orchagent takes."""
    if old:
        problem = f"names a row as [TABLE|row]{_more(old)}, as images before 202106 did, and {RELEASE} by its key alone"
        yield Refusal(where=old[0], problem=problem)
    if several:
        problem = f"is of several ports{_more(several)}, which orchagent takes, and config replace refuses"
        yield Refusal(where=several[0], problem=problem, is_unknown=True, is_foreign=True)


def _more(rows: Sequence[str]) -> str:
    return f" (and {counted(len(rows) - 1, 'row')} more)" if len(rows) > 1 else ""


def _by_cause(tree: Tables, refused: Iterable[Refusal]) -> Iterator[Refusal]:
    """Refusals of the rows of a table as one; times of ports below the polling interval as one."""
    below = [refusal for refusal in refused if refusal.problem.endswith(BELOW_INTERVAL)]
    others = (refusal for refusal in refused if refusal not in below)
    for same in grouped(others, lambda refusal: (refusal.where.partition(SEPARATOR)[0], refusal.problem)):
        yield replace(same[0], problem=same[0].problem + _more([refusal.where for refusal in same]))
    stated = tree.get("PFC_WD", {}).get("GLOBAL", {}).get("POLL_INTERVAL")
    where = "PFC_WD|GLOBAL POLL_INTERVAL"
    if below and not any(refusal.where == where for refusal in refused):
        places = list(dict.fromkeys(refusal.where for refusal in below))
        yield Refusal(where=where, problem=f"is {stated}, above a time of {places[0]}{_more(places)}")


def tree_refusals(tree: Tables) -> tuple[Refusal, ...]:
    """Likewise, of CONFIG_DB as a tree."""
    checked = Checker(tree)
    return (*checked.refusals(), *(Refusal(where=where, problem=problem) for where, problem in violations(tree)))


class Checker:
    """Checks of one configuration, with the references between its tables."""

    def __init__(self, tree: Tables) -> None:
        self._tree = tree
        self._schema = schema()
        self._targets: dict[tuple[str, ...], frozenset[tuple[str, ...]]] = {}
        self._keys: Mapping[str, str] = {}

    def refusals(self) -> Iterator[Refusal]:
        for table, rows in self._tree.items():
            if table not in self._schema.tables:
                yield Refusal(where=table, problem=f"is no table of {RELEASE}", is_unknown=True, is_foreign=True)
                continue
            yield from self._too_many(table, rows)
            for row, fields in rows.items():
                yield from self._row(table, row, fields)

    def _too_many(self, table: str, rows: Mapping[str, Row]) -> Iterator[Refusal]:
        for variant in self._schema.tables[table].get("lists", ()):
            matching = [row for row in rows if len(row.split(SEPARATOR)) == len(variant["keys"])]
            if len(matching) > variant.get("rows", len(matching)):
                yield Refusal(where=table, problem=f"has {len(matching)} rows, and takes {variant['rows']}")

    def _row(self, table: str, row: str, fields: Row) -> Iterator[Refusal]:
        where, known = key(table, row), self._schema.of_row(table, row)
        if known is None:
            yield Refusal(where=where, problem=f"has a key that {table} does not take", is_unknown=True)
            return
        self._keys = dict(zip(known.get("keys", {}), row.split(SEPARATOR), strict=False))
        for name, part in self._keys.items():
            yield from self._value(where, f"key {name}", part, known["keys"][name])
        for name, value in fields.items():
            yield from self._field(where, name, value, known)
        exempt = OF_HARDWARE.get(table, ())
        for name in known.get("mandatory", ()):
            if name not in fields and name not in exempt:
                yield Refusal(where=where, problem=f"has no {name}, which is mandatory")

    def _field(self, where: str, name: str, value: Any, known: Mapping[str, Any]) -> Iterator[Refusal]:
        if "map" in known and name not in known.get("fields", {}):
            of_name, of_value = known["map"]
            yield from self._value(where, f"name {name}", name, of_name)
            yield from self._value(where, name, value, of_value)
            return
        number = known.get("fields", {}).get(name)
        if number is None:
            yield Refusal(where=f"{where} {name}", problem=f"is unknown to {RELEASE}", is_unknown=True)
        elif isinstance(number, list):
            yield from self._values(where, name, values(where, name, value), *number)
        else:
            yield from self._value(where, name, value, number)

    def _values(
        self, where: str, name: str, stated: Sequence[str], number: int, most: int | None = None
    ) -> Iterator[Refusal]:
        """Faults of the values of a leaf-list, of which each is there once."""
        for value in stated:
            yield from self._value(where, name, value, number)
        if most is not None and len(stated) > most:
            yield Refusal(where=f"{where} {name}", problem=f"has {len(stated)} values, and takes {most}")
        if len(set(stated)) < len(stated):
            yield Refusal(where=f"{where} {name}", problem="has a value twice")

    def _value(self, where: str, name: str, value: Any, number: int) -> Iterator[Refusal]:
        kind = self._schema.types[number]
        if isinstance(value, list):
            yield Refusal(where=f"{where} {name}", problem="is a list, and takes one value")
        elif not self._fits(value, kind):
            yield Refusal(where=f"{where} {name}", problem=f"is {value!r}, which is not {meaning(kind)}")

    def _fits(self, value: str, kind: Type) -> bool:
        if kind["type"] == "union":
            return any(self._fits(value, member) for member in kind["members"])
        if kind["type"] == "reference":
            same = kind.get("same", [])
            return (*(self._keys.get(key, "") for key in same), value) in self._target(kind, (*same, kind["key"]))
        return fits(value, kind)

    def _target(self, kind: Type, names: tuple[str, ...]) -> frozenset[tuple[str, ...]]:
        """Targets of a reference: keys and fields of these names, of all rows of its table that have its keys."""
        table, keys = kind["table"], kind["keys"]
        place = (table, *keys, *names)
        if place not in self._targets:
            rows = self._tree.get(table, {}).items()
            known = (
                {**fields, **dict(zip(keys, row.split(SEPARATOR), strict=False))}
                for row, fields in rows
                if not keys or len(row.split(SEPARATOR)) == len(keys)
            )
            self._targets[place] = frozenset(tuple(str(values.get(name, "")) for name in names) for values in known)
        return self._targets[place]


def fits(value: str, kind: Type) -> bool:
    """Whether a text is a value of a type that is neither a union nor a reference."""
    name = kind["type"]
    if name in CHECKS:
        return CHECKS[name][1](value)
    if "names" in kind:
        return value in kind["names"]
    if "int" in name:
        return _is_whole(value) and any(low <= int(value) <= high for low, high in kind["range"])
    lengths = kind.get("length", ())
    within = not lengths or any(low <= len(value) <= high for low, high in lengths)
    return within and all(_pattern(text).fullmatch(value) for text in kind.get("patterns", ()))


def _is_whole(value: str) -> bool:
    return value.lstrip("-").isdecimal() and value.count("-") <= 1


def _address(text: str, versions: Collection[int] = (4, 6)) -> bool:
    try:
        return ip_address(text).version in versions
    except ValueError:
        return False


def _prefix(text: str, versions: Collection[int] = (4, 6)) -> bool:
    address, _, length = text.partition("/")
    bits = 32 if ":" not in address else 128
    return _address(address, versions) and length.isdecimal() and int(length) <= bits


def _mac(text: str) -> bool:
    return MAC.fullmatch(text) is not None


CHECKS: Mapping[str, tuple[str, Callable[[str], bool]]] = {
    "address": ("an IP address", _address),
    "ipv4-address": ("an IPv4 address", partial(_address, versions=(4,))),
    "ipv6-address": ("an IPv6 address", partial(_address, versions=(6,))),
    "prefix": ("a prefix", _prefix),
    "ipv4-prefix": ("an IPv4 prefix", partial(_prefix, versions=(4,))),
    "ipv6-prefix": ("an IPv6 prefix", partial(_prefix, versions=(6,))),
    "mac": ("a MAC address", _mac),
    "boolean": ("true or false", BOOLEANS.__contains__),
}
"""Types that are no text, each in words: those of RFC 6991, and booleans."""


@lru_cache(maxsize=1024)
def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text)


def meaning(kind: Type) -> str:
    """A type in words."""
    if kind["type"] == "reference":
        return f"a row of {kind['table']}"
    if kind["type"] == "union":
        return " or ".join(dict.fromkeys(map(meaning, kind["members"])))
    if "names" in kind:
        return f"one of {', '.join(kind['names'])}"
    if "range" in kind:
        return " or ".join(f"{low} to {high}" for low, high in kind["range"])
    if "patterns" in kind:
        return f"like {kind['patterns'][0]}"
    return CHECKS[kind["type"]][0] if kind["type"] in CHECKS else "a text of a permitted length"
