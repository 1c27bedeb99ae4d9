"""The fields in which two configurations differ, with the row that each is in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from railfab.device import DEFAULT_INSTANCE
from railfab.platforms.differences import Difference, Side
from railfab.platforms.setting_patterns import ABSENT
from railfab.platforms.sonic.canonical import canonical
from railfab.platforms.sonic.references import NAMED, is_of_intent, target_of
from railfab.platforms.sonic.tables import SEPARATOR, Row, Tables, key, tree_of, value_text

KEYS: dict[str, tuple[tuple[str, ...], ...]] = {
    "ACL_RULE": (("table", "rule"),),
    "BGP_GLOBALS_AF": (("vrf", "family"),),
    "BGP_NEIGHBOR": (("vrf", "neighbor"),),
    "BGP_NEIGHBOR_AF": (("vrf", "neighbor", "family"),),
    "BUFFER_PG": (("port", "number"),),
    "BUFFER_QUEUE": (("port", "number"),),
    "INTERFACE": (("name",), ("name", "prefix")),
    "LOOPBACK_INTERFACE": (("name",), ("name", "prefix")),
    "NEIGH": (("port", "neighbor"),),
    "PORTCHANNEL_INTERFACE": (("name",), ("name", "prefix")),
    "PORTCHANNEL_MEMBER": (("lag", "port"),),
    "PORT_STORM_CONTROL": (("port", "type"),),
    "PREFIX": (("set", "prefix", "lengths"),),
    "QUEUE": (("port", "number"),),
    "ROUTE_MAP": (("policy", "entry"),),
    "STATIC_ROUTE": (("prefix",), ("vrf", "prefix")),
    "VLAN_INTERFACE": (("name",), ("name", "prefix")),
    "VLAN_MEMBER": (("vlan", "port"),),
}
"""Names of the parts of a key in the values of a difference, `TABLE.PART`, for each number of parts; a row of another
number, or of a table that is not here, has `TABLE.key`."""

ENABLED = "admin_status"
LISTS = {"pfc_enable", "pfcwd_sw_enable"}
"""Fields of several numbers with commas between them."""

OF_INSTANCE = {"BGP_GLOBALS", "BGP_GLOBALS_AF"}
OF_PORT = {
    **dict.fromkeys(("INTERFACE", "PORTCHANNEL", "PORTCHANNEL_INTERFACE", "QUEUE", "BUFFER_PG", "BUFFER_QUEUE"), 0),
    **dict.fromkeys(("PORT_QOS_MAP", "PFC_WD"), 0),
    "VLAN_MEMBER": 1,
}
"""Place of a port or LAG in the keys of tables."""
OTHERS = "/other"
"""Beginning of the paths of rows that are judged elsewhere."""
TEMPLATES = "/template"
"""Beginning of the paths of sessions that bgpcfgd makes from templates."""


def differences(text: str, rendered: str) -> tuple[Difference, ...]:
    """Every field in which a configuration differs from a rendered one, sorted. Raises ConfigError for broken JSON."""
    configured, wanted = canonical(tree_of(text)), canonical(tree_of(rendered))
    pair = TreePair(configured, wanted)
    places = {(table, row) for tree in (configured, wanted) for table, rows in tree.items() for row in rows}
    different = [difference for table, row in places for difference in pair.of_row(table, row)]
    return tuple(sorted(different, key=lambda difference: difference.text))


@dataclass(frozen=True, slots=True)
class TreePair:
    """A configuration and the rendered one."""

    configured: Tables
    wanted: Tables

    def of_row(self, table: str, row: str) -> list[Difference]:
        stated, intended = (tree.get(table, {}).get(row) for tree in (self.configured, self.wanted))
        if stated == intended:
            return []
        fields = {**(stated or {}), **(intended or {})}
        changed = [name for name in fields if (stated or {}).get(name) != (intended or {}).get(name)]
        if table == "BGP_NEIGHBOR" and stated and ENABLED not in stated and (intended or {}).get(ENABLED) == "up":
            changed.remove(ENABLED)  # the default (frrcfgd.py, BGP_NEIGHBOR)
            if not changed:
                return []
        if not changed or ((stated is None or intended is None) and not fields):
            return [self._difference(table, row, None)]
        return [self._difference(table, row, name) for name in changed]

    def _place(self, table: str, row: str) -> str:
        """The beginning of a path."""
        if table == "BGP_NEIGHBOR" and SEPARATOR not in row:
            return TEMPLATES
        return OTHERS if self._is_other(table, row) else ""

    def _is_other(self, table: str, row: str) -> bool:
        """Whether a row is judged elsewhere: where it is named, or where its session is missing."""
        if table == "BGP_NEIGHBOR_AF":
            return row.rpartition(SEPARATOR)[0] not in self.configured.get("BGP_NEIGHBOR", {})
        return self._is_spare(table, row) or (table in NAMED and not is_of_intent(self.wanted, table, row))

    def _is_spare(self, table: str, row: str) -> bool:
        """Whether a row is of a port or LAG that the intent does not have, or of BGP in another routing table."""
        parts = row.split(SEPARATOR)
        if table in OF_INSTANCE:
            known = {DEFAULT_INSTANCE, *(vrf.partition(SEPARATOR)[0] for vrf in self.wanted.get("BGP_GLOBALS", {}))}
            return parts[0] not in known
        place = OF_PORT.get(table, len(parts))
        if place >= len(parts) or not parts[place].startswith(("Ethernet", "PortChannel")):
            return False
        return not any(parts[place] in self.wanted.get(ports, {}) for ports in ("PORT", "PORTCHANNEL"))

    def _difference(self, table: str, name: str, field: str | None) -> Difference:
        """A difference in a field, or in a row without fields that only one side has."""
        stated, intended_row = (tree.get(table, {}).get(name) for tree in (self.configured, self.wanted))
        mine = (stated or {}).get(field) if field else None
        intended = (intended_row or {}).get(field) if field else None
        there, wanted = (
            (mine is not None, intended is not None) if field else (stated is not None, intended_row is not None)
        )
        side = Side.CHANGED if there and wanted else Side.ADDED if there else Side.MISSING
        place = key(table, name) + (f" {field}" if field else "")
        shown = f"{place} {value_text(mine)}" if there and field else place
        return Difference(
            side=side,
            path=f"{self._place(table, name)}/{table}" + (f"/{field}" if field else ""),
            text=f"delete {place}" if side is Side.MISSING else f"set {shown}",
            section=table,
            values={
                "value": mine if there else ABSENT,
                "intended": intended,
                "field": field or ABSENT,
                "row": ABSENT if stated is None else "present",
                **_keys(table, name),
                **_numbers(field, mine, intended),
                **self._targets(table, field, mine, intended),
            },
            entry=_entry(stated if stated is not None else {}),
        )

    def _targets(self, table: str, field: str | None, mine: Any, intended: Any) -> dict[str, Any]:
        """The fields of the rows that a field names: `target.FIELD`, and `intended_target.FIELD`."""
        named = target_of(self.configured, table, field or "", mine)
        planned = target_of(self.wanted, table, field or "", intended)
        return {
            **{f"target.{name}": value for name, value in named.items()},
            **{f"intended_target.{name}": value for name, value in planned.items()},
        }


def _numbers(field: str | None, mine: Any, intended: Any) -> dict[str, Any]:
    """Numbers that a list lacks, and those that it has more."""
    if field not in LISTS:
        return {}
    stated, wanted = (set(str(value or "").split(",")) - {""} for value in (mine, intended))
    return {"lost": sorted(wanted - stated) or ABSENT, "more": sorted(stated - wanted) or ABSENT}


def _keys(table: str, row: str) -> dict[str, str]:
    parts = row.split(SEPARATOR)
    names = next((names for names in KEYS.get(table, ()) if len(names) == len(parts)), None)
    if names is None:
        return {f"{table}.key": row}
    return {f"{table}.{name}": part for name, part in zip(names, parts, strict=True)}


def _entry(row: Row) -> dict[str, Any]:
    return dict(row)
