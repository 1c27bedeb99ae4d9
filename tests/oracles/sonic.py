"""SONiC's YANG as an oracle: which configurations a switch takes. Needs yanglint.

CONFIG_DB is no YANG data: a table is a container, a row an entry of the list in it whose keys are as many as the parts
of the row's key, or a container of that name. This is the conversion of sonic-buildimage's src/sonic-yang-mgmt,
sonic_yang_ext.py, written again.
"""

from __future__ import annotations

import re
import tarfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from tests.oracles.archives import DATA_FILTER
from tests.oracles.yang import Modules, SchemaNode
from tests.oracles.yanglint import Yanglint

from railfab.platforms.sonic.tables import values

ARCHIVE = "sonic-yang-2026-08.tar.xz"
TEMPLATE = re.compile(r"\{% if yang_model_type == \"cvl\" %\}.*?(?:\{% else %\}(?P<py>.*?))?\{% endif %\}", re.DOTALL)
"""What the templates of the models say for the two users of them; SonicYang takes the part for `py`."""

NAMESPACE = re.compile(r"\bnamespace\s+\"?([^\s\";]+)")
Tables = Mapping[str, Mapping[str, Mapping[str, Any]]]

NEWER = {
    "ARS_PROFILE": None,
    "ARS_OBJECT": None,
    "BGP_GLOBALS_EVPN_VNI_RT": None,
    "BGP_NEIGHBOR": {"desired_minimum_tx_interval", "required_minimum_receive", "detection_multiplier"},
    "BGP_GLOBALS_AF": {
        *("route-distinguisher", "import-rts", "export-rts"),
        *("advertise-ipv4-unicast", "advertise-ipv6-unicast"),
    },
}
"""Tables (None), and fields of tables, that SONiC has and these models lack: sonic-ars of sonic-buildimage 53f72b0, and
sonic-bgp-common of 022dec1f, are newer; EVPN fields of a VRF, and targets of VNIs, are read by frrcfgd without one."""

_PACKETS = ("ipv4", "ipv6", "ipnip", "ipv4_rdma", "ipv6_rdma")
_BY_PACKET = (
    f"leaf-list {hashed}_hash_{kind} {{ type hash:hash-field; ordered-by user; }}"
    for hashed in ("ecmp", "lag")
    for kind in _PACKETS
)
NEWER_TEXTS = {
    "enum IPV6_FLOW_LABEL;": "enum IPV6_FLOW_LABEL; enum RDMA_BTH_OPCODE; enum RDMA_BTH_DEST_QP;",
    "leaf ecmp_hash_algorithm {": f"{' '.join(_BY_PACKET)} leaf ecmp_hash_algorithm {{",
}
"""Fields of packets, and hashes by the kind of packet, that sonic-hash of sonic-buildimage 3fa9f2c has and these models
lack: where they are, and what is there then."""


@dataclass(frozen=True)
class Found:
    """A table of the models. module: of its top container. node: of the table."""

    module: str
    node: SchemaNode


class SonicModels:
    """The models of one release."""

    def __init__(self, archive: Path, folder: Path) -> None:
        published = folder / "published"
        with tarfile.open(archive) as packed:
            packed.extraction_filter = DATA_FILTER
            packed.extractall(published)
        self.folder = folder / "plain"
        self.folder.mkdir()
        for path in published.rglob("*.yang*"):
            text = TEMPLATE.sub(lambda found: found["py"] or "", path.read_text())
            for before, newer in NEWER_TEXTS.items():
                text = text.replace(before, newer)
            (self.folder / path.name.removesuffix(".j2")).write_text(text)

    @cached_property
    def texts(self) -> dict[str, str]:
        return {path.stem: path.read_text() for path in sorted(self.folder.glob("*.yang"))}

    @cached_property
    def modules(self) -> Modules:
        return Modules(self.texts.values(), lambda _feature: True, lambda _module: True)

    @cached_property
    def tables(self) -> dict[str, Found]:
        """Every table by its name; those of the later of two modules of one name win."""
        return {
            name: Found(module, node)
            for module, top in self.modules.tree.children.items()
            for name, node in top.children.items()
            if node.kind == "container"
        }

    def complaints_of_each(self, configurations: Iterable[Tables], folder: Path) -> list[list[str]]:
        """What the models say against each configuration: what they do not know of it, and libyang's first error.

        folder: for files of their YANG data.
        """
        files, unknown = [], []
        for number, tables in enumerate(map(without_newer, configurations)):
            problems = [f"no table {name}" for name in tables if name not in self.tables]
            file = folder / f"{number}.xml"
            file.write_text("\n".join(self.xml(tables, problems)))
            files.append(file)
            unknown.append(problems)
        said = self._yanglint.complaints_of_each(files)
        return [[*problems, *lines] for problems, lines in zip(unknown, said, strict=True)]

    @cached_property
    def _yanglint(self) -> Yanglint:
        return Yanglint(self.folder, " ".join(sorted({table.module for table in self.tables.values()})))

    def xml(self, tables: Tables, problems: list[str]) -> Iterator[str]:
        """A configuration as YANG data. problems: grows by rows and fields that the models do not know."""
        tops: dict[str, list[str]] = {}
        for name, rows in tables.items():
            found = self.tables.get(name)
            if found is not None:
                inside = "".join(self._row(found.node, row, fields, problems) for row, fields in rows.items())
                tops.setdefault(found.module, []).append(f"<{name}>{inside}</{name}>")
        for module, texts in tops.items():
            namespace = NAMESPACE.search(self.texts[module])
            assert namespace is not None
            yield f'<{module} xmlns="{namespace[1]}">{"".join(texts)}</{module}>'

    def _row(self, table: SchemaNode, row: str, fields: Mapping[str, Any], problems: list[str]) -> str:
        where = f"{table.name}|{row}"
        own = table.children.get(row)
        if own is not None and own.kind == "container":
            return f"<{row}>{_leaves(own, where, fields, problems)}</{row}>"
        parts = row.split("|")
        lists = [node for node in table.children.values() if node.kind == "list" and len(node.keys) == len(parts)]
        if not lists:
            problems.append(f"no list of {table.name} has the key {row}")
            return ""
        keys = "".join(_leaf(name, part) for name, part in zip(lists[0].keys, parts, strict=True))
        return f"<{lists[0].name}>{keys}{_leaves(lists[0], where, fields, problems)}</{lists[0].name}>"


def _leaves(node: SchemaNode, where: str, fields: Mapping[str, Any], problems: list[str]) -> str:
    """The fields of a row; those of a map are entries of the list in it, with a key and a value."""
    maps = [child for child in node.children.values() if child.kind == "list"]
    if maps:
        (key,), (value,) = maps[0].keys, [name for name in maps[0].children if name not in maps[0].keys]
        pairs = (f"{_leaf(key, name)}{_leaf(value, text)}" for name, text in fields.items())
        return "".join(f"<{maps[0].name}>{pair}</{maps[0].name}>" for pair in pairs)
    problems += [f"{where} has no field {name}" for name in fields if name not in node.children]
    known = {name: values(where, name, value) for name, value in fields.items() if name in node.children}
    return "".join(_leaf(name, text) for name, texts in known.items() for text in texts)


def _leaf(name: str, text: Any) -> str:
    return f"<{name}>{escape(str(text))}</{name}>"


def without_newer(tables: Tables) -> dict[str, dict[str, dict[str, Any]]]:
    """A configuration without what SONiC has and the models lack."""
    return {
        name: {
            row: {field: value for field, value in fields.items() if field not in (NEWER.get(name) or ())}
            for row, fields in rows.items()
        }
        for name, rows in tables.items()
        if NEWER.get(name, ()) is not None
    }
