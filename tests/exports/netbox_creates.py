"""A NetBox that creates objects, by the rules that payloads meet in NetBox 4.7.3.

What a payload names must be there, once. A second object of a name in its place, a second one of an address, and a
second cable of an interface are refused, and then nothing of a request is created.
"""

from __future__ import annotations

import json
from copy import deepcopy
from ipaddress import ip_interface
from typing import Any

from tests.imports.netbox_server import Handler, Json, World, choice, connect, nested

CREATED = (
    "dcim/manufacturers",
    "dcim/device-types",
    "dcim/device-roles",
    "dcim/platforms",
    "dcim/sites",
    "dcim/racks",
    "dcim/devices",
    "dcim/interfaces",
    "ipam/rirs",
    "ipam/asns",
    "ipam/ip-addresses",
    "dcim/cables",
)
UNIQUE: dict[str, tuple[str, ...]] = {
    "dcim/racks": ("name", "site"),
    "dcim/devices": ("name", "site"),
    "dcim/interfaces": ("name", "device"),
    "ipam/asns": ("asn",),
    "ipam/ip-addresses": ("address",),
    "dcim/cables": (),
}
NAMED = {
    "manufacturer": "dcim/manufacturers",
    "device_type": "dcim/device-types",
    "role": "dcim/device-roles",
    "platform": "dcim/platforms",
    "site": "dcim/sites",
    "rack": "dcim/racks",
    "device": "dcim/devices",
    "lag": "dcim/interfaces",
    "rir": "ipam/rirs",
}


class RefusedError(Exception):
    """What NetBox says of a payload."""


def empty() -> World:
    return World(records={endpoint: [] for endpoint in CREATED})


class CreatingHandler(Handler):
    """Answers GET as before, and POST of a list."""

    def sites(self) -> list[str]:
        return [site["slug"] for site in self.world.records["dcim/sites"]]

    def do_POST(self) -> None:
        endpoint = self.path.partition("?")[0].removeprefix("/api/").rstrip("/")
        payloads = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.world.asked.append(f"POST {endpoint} {len(payloads)}")
        if (refused := self.refusal()) is not None:
            return self.send(403, json.dumps({"detail": refused}))
        before = deepcopy(self.world.records)
        try:
            made = [_create(self.world, endpoint, payload) for payload in payloads]
        except RefusedError as error:
            self.world.records = before
            errors = [{"index": 0, "errors": {"__all__": [str(error)]}}]
            return self.send(400, json.dumps({"detail": "1 object could not be created.", "errors": errors}))
        return self.send(201, json.dumps(made))


def _create(world: World, endpoint: str, payload: Json) -> Json:
    key = len(world.records[endpoint]) + 1
    if endpoint == "dcim/cables":
        return _cable(world, payload)
    values = {name: _resolved(world, name, value) for name, value in payload.items()}
    record = {**nested(endpoint, key), **values}
    if endpoint == "dcim/devices":
        record |= {"tags": [], "custom_fields": {}}
    if endpoint == "dcim/interfaces":
        record |= {"cable": None, "connected_endpoints": None, "connected_endpoints_type": None}
    if endpoint == "ipam/ip-addresses":
        ip_interface(record["address"])
        assert record["assigned_object_type"] == "dcim.interface"
        record["assigned_object"] = world.records["dcim/interfaces"][record["assigned_object_id"] - 1]
    fields = UNIQUE.get(endpoint, ("slug",))
    place = [record[field] for field in fields]
    if any([other[field] for field in fields] == place for other in world.records[endpoint]):
        raise RefusedError(f"{endpoint} with this {' and '.join(fields)} already exists.")
    world.records[endpoint].append(record)
    return record


def _resolved(world: World, name: str, value: Any) -> Any:
    """A value as a record shows it: the object that it names, or a choice."""
    if isinstance(value, dict):
        named = [record for record in world.records[NAMED[name]] if _agrees(record, value)]
        if len(named) != 1:
            raise RefusedError(f"Related object not found using the provided attributes: {value}")
        return named[0]
    return choice(value) if name in ("status", "type") and value is not None else value


def _agrees(record: Json, attributes: Json) -> bool:
    return all(
        _agrees(record[name], value) if isinstance(value, dict) else record[name] == value
        for name, value in attributes.items()
    )


def _cable(world: World, payload: Json) -> Json:
    (a,), (z,) = payload["a_terminations"], payload["b_terminations"]
    ends = []
    for end in (a, z):
        assert end["object_type"] == "dcim.interface"
        interface = world.records["dcim/interfaces"][end["object_id"] - 1]
        if interface["cable"] is not None or interface["type"]["value"] in ("lag", "virtual"):
            raise RefusedError("Duplicate termination found")
        ends.append(interface)
    return connect(world, *ends)
