"""The compact schema of CONFIG_DB: `python -m tests.oracles.sonic_schema` writes it from SONiC's models.

`schema.json` of the platform has facts alone: tables, keys, fields, types, ranges, patterns, enumerations, references
between tables, mandatory fields and numbers of rows. `must` statements are written by hand, in `constraints` of the
platform.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from functools import cached_property
from pathlib import Path
from typing import Any

from tests.oracles.sonic import ARCHIVE, NEWER, SonicModels
from tests.oracles.yang import Modules, SchemaNode, Type

ROOT = Path(__file__).parents[2]
FILE = ROOT / "src" / "railfab" / "platforms" / "sonic" / "schema.json"
IETF = {
    "ietf-inet-types": {
        **dict.fromkeys(
            ("ip-address", "ipv4-address", "ipv6-address", "ip-prefix", "ipv4-prefix", "ipv6-prefix"), "string"
        ),
        **dict.fromkeys(("host", "domain-name", "uri"), "string"),
        **dict.fromkeys(("ip-address-no-zone", "ipv4-address-no-zone", "ipv6-address-no-zone"), "string"),
        **{"port-number": "uint16", "as-number": "uint32"},
    },
    "ietf-yang-types": {
        **dict.fromkeys(("mac-address", "date-and-time", "xpath1.0", "hex-string", "uuid"), "string"),
        **dict.fromkeys(("counter32", "gauge32", "timestamp"), "uint32"),
        **dict.fromkeys(("counter64", "gauge64"), "uint64"),
    },
}
"""Typedefs of RFC 6991, which yanglint has itself: names, and what is left of them here."""

ADDRESSES = {
    **{"ip-address": "address", "ipv4-address": "ipv4-address", "ipv6-address": "ipv6-address"},
    **{"ip-prefix": "prefix", "ipv4-prefix": "ipv4-prefix", "ipv6-prefix": "ipv6-prefix", "mac-address": "mac"},
}
"""Kinds of the typedefs of RFC 6991 that a checker knows."""

PREDICATE = re.compile(r"\[(?:[\w-]+:)?(?P<key>[\w-]+)\s*=\s*current\(\)/\.\./(?:[\w-]+:)?(?P=key)\]")
"""A predicate of a path to rows that share a key with the row that refers; the models have no others."""

NEWER_FIELDS: dict[str, dict[str, Any]] = {
    "BGP_NEIGHBOR": {
        "desired_minimum_tx_interval": {"type": "uint32", "range": [[50, 60000]]},
        "required_minimum_receive": {"type": "uint32", "range": [[50, 60000]]},
        "detection_multiplier": {"type": "uint8", "range": [[2, 255]]},
    },
    "BGP_GLOBALS_AF": {
        "route-distinguisher": {"type": "string"},
        "import-rts": [{"type": "string"}],
        "export-rts": [{"type": "string"}],
        "advertise-ipv4-unicast": {"type": "boolean"},
        "advertise-ipv6-unicast": {"type": "boolean"},
    },
}
ARS_OBJECT = {"type": "reference", "table": "ARS_OBJECT", "keys": ["ars_obj_name"], "key": "ars_obj_name"}
WHOLE = {"type": "uint32", "range": [[0, 2**32 - 1]]}
MODE = {"type": "enumeration", "names": ["global", "interface", "nexthop"]}
NEWER_TABLES: dict[str, tuple[tuple[str, ...], dict[str, Any]]] = {
    "ARS_PROFILE": (
        ("profile_name",),
        {
            "algorithm": {"type": "enumeration", "names": ["ewma"]},
            "ars_nhg_path_selector_mode": MODE,
            "ars_lag_path_selector_mode": {"type": "enumeration", "names": ["global", "interface"]},
            "default_ars_object": ARS_OBJECT,
            "max_flows": WHOLE,
            "sampling_interval": WHOLE,
            **{
                f"{load}_load_{value}": {"type": "uint16", "range": [[0, 65535]]}
                for load in ("past", "future", "current")
                for value in ("min_value", "max_value", "weight")
                if (load, value) != ("current", "weight")
            },
            "ipv4_enable": {"type": "boolean"},
            "ipv6_enable": {"type": "boolean"},
        },
    ),
    "ARS_OBJECT": (
        ("ars_obj_name",),
        {
            "assign_mode": {"type": "enumeration", "names": ["per_flowlet_quality", "per_packet_quality"]},
            "flowlet_idle_time": {"type": "uint16", "range": [[2, 2047]]},
            "max_flows": WHOLE,
            "primary_path_threshold": WHOLE,
            "alternative_path_cost": WHOLE,
        },
    ),
    "BGP_GLOBALS_EVPN_VNI_RT": (
        ("vrf_name", "afi_safi", "vni", "route_target"),
        {"route-target-type": {"type": "enumeration", "names": ["import", "export", "both"]}},
    ),
}
"""What `tests.oracles.sonic.NEWER` names, with its types: sonic-ars 53f72b0, sonic-bgp-common 022dec1f, frrcfgd."""


class Compact:
    """A schema as JSON.

    `types` are descriptions; a field has the number of its type, a leaf-list that in an array, with the largest number
    of its values after it. A table has `lists`, each with the types of its `keys` by name, its `fields`, the
    `mandatory` ones, the largest number of `rows`, and `map` with the types of name and value where the fields are
    free; and `named`, rows with fields of their own. A reference has the `keys` of the rows that it may name, and the
    one that it names; the keys in `same` are those of its own row.
    """

    def __init__(self, models: SonicModels) -> None:
        self._models = models
        texts = [*models.texts.values(), *map(_ietf, IETF)]
        self._modules = Modules(texts, lambda _feature: True, lambda name: name not in IETF)
        self._types: dict[str, int] = {}

    def document(self) -> dict[str, Any]:
        tables = {name: self._table(node) for name, node in self._tables.items()}
        for name, fields in NEWER_FIELDS.items():
            tables[name]["lists"][-1]["fields"] |= {field: self._given(kind) for field, kind in fields.items()}
        for name, (keys, fields) in NEWER_TABLES.items():
            own = {field: self._given(kind) for field, kind in fields.items()}
            tables[name] = {"lists": [{"keys": {key: self._given({"type": "string"}) for key in keys}, "fields": own}]}
        assert set(NEWER) == {*NEWER_FIELDS, *NEWER_TABLES}
        return {"types": [json.loads(text) for text in self._types], "tables": dict(sorted(tables.items()))}

    @cached_property
    def _tables(self) -> dict[str, SchemaNode]:
        """Every table by its name."""
        tops = sorted(self._modules.tree.children.items())
        return {
            name: node
            for module, top in tops
            if not module.startswith("sonic-events") and module != "sonic-dash"
            for name, node in sorted(top.children.items())
            if node.kind == "container"
        }

    def _given(self, kind: Any) -> Any:
        return [self._number(kind[0])] if isinstance(kind, list) else self._number(kind)

    def _number(self, described: Any) -> int:
        return self._types.setdefault(json.dumps(described, sort_keys=True), len(self._types))

    def _table(self, node: SchemaNode) -> dict[str, Any]:
        lists = [self._list(child) for child in node.children.values() if child.kind == "list"]
        named = {name: self._fields(child) for name, child in node.children.items() if child.kind == "container"}
        return {**({"lists": lists} if lists else {}), **({"named": named} if named else {})}

    def _list(self, node: SchemaNode) -> dict[str, Any]:
        found = self._fields(node)
        fields = found["fields"]
        found["keys"] = {name: fields.pop(name) for name in node.keys}
        found["mandatory"] = [name for name in found.get("mandatory", []) if name not in node.keys]
        found["rows"] = _most(node)
        return {name: value for name, value in found.items() if value}

    def _fields(self, node: SchemaNode) -> dict[str, Any]:
        leaves = {name: child for name, child in node.children.items() if child.kind in ("leaf", "leaf-list")}
        found: dict[str, Any] = {"fields": {name: self._leaf(child) for name, child in leaves.items()}}
        needed = [name for name, child in leaves.items() if child.statement.first("mandatory") == "true"]
        found["mandatory"] = needed
        for child in node.children.values():
            if child.kind == "list":
                (key,), (value,) = child.keys, [name for name in child.children if name not in child.keys]
                found["map"] = [self._leaf(child.children[name]) for name in (key, value)]
        return {name: value for name, value in found.items() if value or name == "fields"}

    def _leaf(self, node: SchemaNode) -> Any:
        number = self._number(self._type(self._modules.type_of(node)))
        most = _most(node)
        return number if node.kind == "leaf" else [number] if most is None else [number, most]

    def _reference(self, path: str) -> dict[str, Any]:
        """A reference to the rows of a list. A predicate says which of their keys are those of the row that refers."""
        steps = [step for step in (found.rpartition(":")[2] for found in PREDICATE.sub("", path).split("/")) if step]
        *above, of_rows, name = [step for step in steps if step != ".."]
        table = above[-1] if above else of_rows.removesuffix("_LIST")
        same = [predicate["key"] for predicate in PREDICATE.finditer(path)]
        keys = list(self._tables[table].children[of_rows].keys)
        return {"type": "reference", "table": table, "keys": keys, "key": name, **({"same": same} if same else {})}

    def _type(self, found: Type) -> dict[str, Any]:
        if found.alias in ADDRESSES:
            return {"type": ADDRESSES[found.alias]}
        if found.name == "leafref":
            return self._reference(found.path)
        described: dict[str, Any] = {"type": found.name}
        if found.ranges:
            described["range"] = [list(ends) for ends in found.ranges]
        if found.names:
            described["names"] = list(found.names)
        if found.lengths:
            described["length"] = [list(ends) for ends in found.lengths]
        if found.patterns:
            described["patterns"] = [pattern for pattern, matches in found.patterns if matches]
        if found.members:
            described["members"] = [self._type(member) for member in found.members]
        return described


def _most(node: SchemaNode) -> int | None:
    """The largest number of entries of a list or leaf-list, if there is one."""
    most = node.statement.first("max-elements")
    return None if most in (None, "unbounded") else int(most)


def _ietf(module: str) -> str:
    types = " ".join(f"typedef {name} {{ type {base}; }}" for name, base in IETF[module].items())
    return f'module {module} {{ namespace "urn:{module}"; prefix {module}; {types} }}'


def document(archive: Path) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        return Compact(SonicModels(archive, Path(folder))).document()


def text_of(document: dict[str, Any]) -> str:
    """One type and one table a line, for diffs that can be read."""
    types = ",\n".join(json.dumps(one, sort_keys=True) for one in document["types"])
    tables = ",\n".join(f"{json.dumps(name)}: {json.dumps(one)}" for name, one in document["tables"].items())
    return f'{{"types": [\n{types}\n],\n"tables": {{\n{tables}\n}}}}\n'


if __name__ == "__main__":
    oracles = Path(os.environ.get("RAILFAB_ORACLES", ROOT.parent / "shared" / "oracles"))
    FILE.write_text(text_of(document(oracles / ARCHIVE)))
