"""A virtual SONiC switch: factory configuration, CONFIG_DB over gNMI, and the parts of paths that no label carries.

gNMI reaches CONFIG_DB under the origin `sonic-db` as `/CONFIG_DB/localhost/TABLE/ROW/FIELD` (sonic-gnmi, README).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from railfab.device import DeviceModel
from railfab.errors import ConfigError, RailfabError, raise_all
from railfab.gnmi.target import YangModel
from railfab.platforms.shared import json_tree
from railfab.platforms.shared.default_mtu import with_default_mtu
from railfab.platforms.shared.json_datastore import JsonDatastore
from railfab.platforms.shared.json_tree import Json
from railfab.platforms.sonic.flex_counters import uncounted, without_marks
from railfab.platforms.sonic.parse import parse_tree
from railfab.platforms.sonic.qos import ethernet_number
from railfab.platforms.sonic.schema import tree_refusals
from railfab.platforms.sonic.shell import logins
from railfab.platforms.sonic.tables import Row, Tables, merged, normal, text, tree_of
from railfab.platforms.twin_face import TwinFace

DATABASE, HOST = "CONFIG_DB", "localhost"
ORIGINS = ("sonic-db",)
LANES = 8
"""Electrical lanes of a cage. Which lanes a port has means nothing in a twin."""

HARDWARE: Row = {"hwsku": "railfab-twin", "platform": "x86_64-kvm_x86_64-r0", "mac": "02:00:00:00:00:01"}
ALL_PORTS = "Ethernet*"
"""Element of a path for all ports, in the answer of a switch too (sonic-gnmi, virtual_db.go)."""


def factory(name: str, rendered: Tables) -> Tables:
    """The configuration of a switch that has its name and the ports of its hardware SKU, disabled."""
    host = {"DEVICE_METADATA": {HOST: {**HARDWARE, "hostname": name}}}
    return merged((host, {"PORT": {port: _hardware(port) for port in rendered.get("PORT", {})}}))


def _hardware(port: str) -> Row:
    number = ethernet_number(port)
    cage, lane = divmod(number, LANES)
    return {"lanes": str(number + 1), "alias": f"Eth{cage + 1}/{lane + 1}", "index": str(cage + 1)}


class ConfigDb(JsonDatastore):
    """CONFIG_DB of a virtual switch, in its place among the databases."""

    def merged(self, tree: Tables) -> Json:
        return super().merged(_placed(tree))

    def replaced(self, text: str) -> Json:
        return super().replaced(json_tree.text(_placed(tree_of(text))))

    def text(self, configuration: Json) -> str:
        return text(_tables(configuration))


def _placed(tree: Tables) -> Json:
    return {DATABASE: {HOST: tree}}


def _tables(configuration: Json) -> Tables:
    """The tables of a datastore. Raises ConfigError for one that is no CONFIG_DB."""
    database = configuration.get(DATABASE, {})
    return normal(database.get(HOST, {}) if isinstance(database, dict) else database)


def _datastore(device: str, rendered: Tables) -> ConfigDb:
    given = factory(device, rendered)

    def parse(configuration: Json) -> DeviceModel:
        return parse_tree(_without(without_marks(_tables(configuration)), given))

    return ConfigDb(
        device,
        lambda _name, _entry: (),
        factory=_placed(given),
        rendered=_placed(rendered),
        configured=lambda configuration: "LOOPBACK_INTERFACE" in _tables(configuration),
        parse=parse,
        check=_check,
    )


def _check(configuration: Json) -> None:
    """Raise what SONiC's models refuse.

    A Set is a patch of the generic config updater (sonic-gnmi, mixed_db_client.go, ApplyPatchDb). This takes no table
    without a model (sonic-utilities, generic_updater.py), and no key or field that the model lacks (sonic-buildimage,
    sonic_yang_ext.py, "All Keys are not parsed").
    """
    refused: list[RailfabError] = [
        ConfigError(refusal.where, refusal.problem, "Correct or remove it")
        for refusal in tree_refusals(_tables(configuration))
    ]
    raise_all(refused)


def _without(tree: Tables, given: Tables) -> Tables:
    """A configuration without what the hardware gives every switch of this kind."""
    return {
        table: {row: _left(fields, given.get(table, {}).get(row, {})) for row, fields in rows.items()}
        for table, rows in tree.items()
    }


def _left(fields: Row, given: Row) -> Row:
    return {name: value for name, value in fields.items() if name == "hostname" or given.get(name) != value}


def wildcard(_device: str, _key: str, pattern: str, _labels: Mapping[str, str]) -> str | None:
    """The element for all ports, which stands before the name of one."""
    return ALL_PORTS if pattern == "*" else None


DEFAULT_MTU_BYTES = 9100
"""MTU of a routed port (sonic-port, mtu)."""


@cache
def twin() -> TwinFace:
    """The face of a virtual SONiC switch."""
    models: tuple[Any, ...] = (YangModel("sonic-db", "SONiC", "0.1.0"),)
    return TwinFace(
        datastore=_datastore,
        models=models,
        wildcard=wildcard,
        origins=ORIGINS,
        cli=logins,
        saves=lambda _configuration: False,
        release="railfab-twin",
        in_effect=lambda model, _configuration: with_default_mtu(model, DEFAULT_MTU_BYTES),
        uncounted=lambda configuration: uncounted(configuration.get(DATABASE, {}).get(HOST, {})),
    )
