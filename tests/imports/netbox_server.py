"""A small NetBox: a real HTTP server that answers the endpoints of a comparison as NetBox documents them.

Shapes: NetBox's repository, docs/integrations/rest-api.md and {dcim,ipam}/api/serializers_ (August 2026). It takes GET
alone: whatever else arrives is answered with 405, kept in `refused`, and no test should leave any there.
"""

from __future__ import annotations

import json
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from railfab.topology import Topology

TOKEN = "0123456789abcdef0123456789abcdef01234567"
V2_TOKEN = "nbt_shortkey1234.0123456789abcdef0123456789abcdef01234567"
SITE, TAG = "lab-1", "gpu-fabric"
Json = dict[str, Any]
ENDPOINTS = ("dcim/devices", "dcim/interfaces", "dcim/cables", "ipam/ip-addresses", "ipam/asns")


@dataclass
class World:
    """What a NetBox holds, and how it misbehaves.

    page: the most records of an answer. answers: status codes (and bodies) by path that are given instead. slow: paths
    that take so long [s]. spoiled: records by endpoint and id that it gives in another shape. asked: paths with their
    queries, in order. origin: what it believes its own address to be.
    """

    records: dict[str, list[Json]] = field(default_factory=lambda: {endpoint: [] for endpoint in ENDPOINTS})
    version: str = "4.6.2"
    page: int = 1000
    login_required: bool = True
    answers: dict[str, tuple[int, str]] = field(default_factory=dict)
    slow: dict[str, float] = field(default_factory=dict)
    spoiled: dict[tuple[str, int], Any] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    origin: str = ""

    def device(self, name: str) -> Json:
        return next(device for device in self.records["dcim/devices"] if device["name"] == name)

    def interface(self, device: str, name: str) -> Json:
        return next(
            interface
            for interface in self.records["dcim/interfaces"]
            if (interface["device"]["name"], interface["name"]) == (device, name)
        )

    def cable(self, device: str, name: str) -> Json:
        """The cable in an interface."""
        key = self.interface(device, name)["id"]
        return next(
            cable
            for cable in self.records["dcim/cables"]
            if key in [end["object_id"] for end in cable["a_terminations"] + cable["b_terminations"]]
        )


def nested(kind: str, key: int, **fields: Any) -> Json:
    return {"id": key, "url": f"http://netbox/api/{kind}/{key}/", "display": str(key), **fields}


def choice(value: str) -> Json:
    return {"value": value, "label": value.title()}


def device(key: int, name: str | None, role: str, model: str, **fields: Any) -> Json:
    return {
        **nested("dcim/devices", key, name=name),
        "device_type": nested("dcim/device-types", 1, model=model, slug=model.lower().replace(" ", "-")),
        "role": nested("dcim/device-roles", 1, name=role.title(), slug=role),
        "platform": None,
        "site": nested("dcim/sites", 7, name="Lab 1", slug=SITE),
        "status": choice("active"),
        "tags": [nested("extras/tags", 3, name="GPU fabric", slug=TAG)],
        "custom_fields": {},
        **fields,
    }


def interface(key: int, owner: Json, name: str, type_: str, speed_kbps: int | None = None) -> Json:
    return {
        **nested("dcim/interfaces", key, name=name),
        "device": nested("dcim/devices", owner["id"], name=owner["name"]),
        "type": choice(type_),
        "enabled": True,
        "speed": speed_kbps,
        "cable": None,
        "cable_end": "",
        "connected_endpoints": None,
        "connected_endpoints_type": None,
        "connected_endpoints_reachable": None,
        "tags": [],
        "custom_fields": {},
    }


def termination(end: Json, kind: str = "dcim.interface") -> Json:
    """A cable's end: GenericObjectSerializer."""
    brief = {key: end[key] for key in ("id", "url", "display", "device", "name")}
    return {"object_type": kind, "object_id": end["id"], "object": brief}


def cable(key: int, a: list[Json], z: list[Json], status: str = "connected") -> Json:
    return {
        **nested("dcim/cables", key),
        "type": "aoc",
        "a_terminations": a,
        "b_terminations": z,
        "status": choice(status),
        "label": "",
        "length": 5.0,
        "length_unit": choice("m"),
        "tags": [],
        "custom_fields": {},
    }


def ip_address(key: int, address: str, end: Json) -> Json:
    return {
        **nested("ipam/ip-addresses", key, address=address),
        "family": {"value": 4, "label": "IPv4"},
        "status": choice("active"),
        "assigned_object_type": "dcim.interface",
        "assigned_object_id": end["id"],
        "assigned_object": {key: end[key] for key in ("id", "url", "display", "device", "name")},
    }


ROLE_SLUGS = {
    "host": "gpu-server",
    "leaf": "leaf",
    "spine": "spine-switch",
    "super": "super-spine",
    "server": "storage-server",
}


def world_of(topology: Topology) -> World:
    """A NetBox that holds a fabric as it is intended."""
    world = World()
    for key, node in enumerate(topology.nodes, start=1):
        platform = None if node.platform is None else nested("dcim/platforms", 1, name="OS", slug=node.platform)
        record = device(key, node.name, ROLE_SLUGS[node.role], node.model or "GPU Server 8", platform=platform)
        record["custom_fields"] = {"asn": node.asn}
        world.records["dcim/devices"].append(record)
        if node.loopback is not None:
            lo = interface(len(world.records["dcim/interfaces"]) + 1, record, "system0", "virtual")
            world.records["dcim/interfaces"].append(lo)
            _assign(world, f"{node.loopback}/32", lo)
    for link in topology.links:
        ends = []
        for port in (link.a, link.z):
            key = len(world.records["dcim/interfaces"]) + 1
            end = interface(key, world.device(port.node), port.name, "800gbase-x-osfp", port.rate_gbps * 1_000_000)
            world.records["dcim/interfaces"].append(end)
            ends.append(end)
            if port.address is not None:
                _assign(world, str(port.address), end)
        connect(world, ends[0], ends[1])
    for asn in sorted({node.asn for node in topology.nodes if node.asn is not None}):
        world.records["ipam/asns"].append({**nested("ipam/asns", asn % 10_000), "asn": asn, "rir": None})
    return world


def _assign(world: World, address: str, end: Json) -> None:
    world.records["ipam/ip-addresses"].append(ip_address(len(world.records["ipam/ip-addresses"]) + 1, address, end))


def connect(world: World, a: Json, z: Json) -> Json:
    """A cable between two interfaces, as NetBox then shows it at both."""
    made = cable(len(world.records["dcim/cables"]) + 1, [termination(a)], [termination(z)])
    world.records["dcim/cables"].append(made)
    for here, there, side in ((a, z, "A"), (z, a, "B")):
        here["cable"] = {key: made[key] for key in ("id", "url", "display", "label")}
        here["cable_end"] = side
        trace(here, [there])
    return made


def trace(end: Json, far: list[Json]) -> None:
    """What NetBox has found at the other end of an interface's path."""
    end["connected_endpoints"] = [{key: one[key] for key in ("id", "url", "display", "device", "name")} for one in far]
    end["connected_endpoints_type"] = "dcim.interface"
    end["connected_endpoints_reachable"] = True


class Handler(BaseHTTPRequestHandler):
    world: World

    def do_GET(self) -> None:
        address = urlsplit(self.path)
        path, query = address.path, parse_qs(address.query)
        self.world.asked.append(self.path)
        time.sleep(self.world.slow.get(path, 0.0))
        if path in self.world.answers:
            code, body = self.world.answers[path]
            return self.send(code, body)
        if (refusal := self.refusal()) is not None:
            return self.send(403, json.dumps({"detail": refusal}))
        if path == "/api/status/":
            return self.send(200, json.dumps({"netbox-version": self.world.version, "plugins": {}}))
        endpoint = path.removeprefix("/api/").rstrip("/")
        if endpoint not in self.world.records:
            return self.send(404, json.dumps({"detail": "Not found."}))
        wrong = self.wrong_choice(query)
        return self.send(400, json.dumps(wrong)) if wrong else self.send(200, json.dumps(self._page(endpoint, query)))

    def other(self) -> None:
        self.world.refused.append(f"{self.command} {self.path}")
        self.send(405, json.dumps({"detail": f'Method "{self.command}" not allowed.'}))

    def refusal(self) -> str | None:
        scheme, _, value = self.headers.get("Authorization", "").partition(" ")
        if not scheme:
            return "Authentication credentials were not provided." if self.world.login_required else None
        if (scheme, value) in (("Token", TOKEN), ("Bearer", V2_TOKEN)):
            return None
        return f"Invalid v{2 if scheme == 'Bearer' else 1} token"

    def wrong_choice(self, query: dict[str, list[str]]) -> Json | None:
        for name, known in (("site", self.sites()), ("tag", [TAG])):
            for value in query.get(name, []):
                if value not in known:
                    return {name: [f"Select a valid choice. {value} is not one of the available choices."]}
        return None

    def sites(self) -> list[str]:
        return [SITE]

    def _page(self, endpoint: str, query: dict[str, list[str]]) -> Json:
        chosen = [record for record in self.world.records[endpoint] if _is_chosen(endpoint, record, query)]
        offset = int(query.get("offset", ["0"])[0])
        limit = min(int(query.get("limit", ["50"])[0]) or self.world.page, self.world.page)
        more = {**query, "limit": [str(limit)], "offset": [str(offset + limit)]}
        next_page = f"{self.world.origin}/api/{endpoint}/?{urlencode(more, doseq=True)}"
        return {
            "count": len(chosen),
            "next": next_page if offset + limit < len(chosen) else None,
            "previous": None,
            "results": [self.world.spoiled.get((endpoint, one["id"]), one) for one in chosen[offset : offset + limit]],
        }

    def send(self, code: int, body: str) -> None:
        content = body.encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json" if body[:1] in "{[" else "text/html")
        if 300 <= code < 400:
            self.send_header("Location", body)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


def _is_chosen(endpoint: str, record: Json, query: dict[str, list[str]]) -> bool:
    """Whether a record passes the filters; interfaces, cables and addresses go by their devices."""
    if endpoint == "dcim/devices":
        slugs = [tag["slug"] for tag in record["tags"]]
        return all(slug in slugs for slug in query.get("tag", [])) and record["site"]["slug"] in (
            query.get("site", [record["site"]["slug"]])
        )
    if endpoint == "dcim/racks":
        return record["site"]["slug"] in query.get("site", [record["site"]["slug"]])
    if "device_id" not in query:
        return True
    keys = {int(key) for key in query["device_id"]}
    if endpoint == "dcim/cables":
        ends = record["a_terminations"] + record["b_terminations"]
        return any(end["object"]["device"]["id"] in keys for end in ends)
    owner = record["assigned_object"] if endpoint == "ipam/ip-addresses" else record
    return owner["device"]["id"] in keys


@contextmanager
def served(world: World, identity: Path | None = None, kind: type[Handler] | None = None) -> Iterator[str]:
    """The URL of a server that answers from a world. identity: PEM file with its certificate and key, for HTTPS."""
    kind, verbs = kind or Handler, ("POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")
    others = {f"do_{verb}": Handler.other for verb in verbs if not hasattr(kind, f"do_{verb}")}
    handler = type("Answers", (kind,), {"world": world, **others})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    if identity is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(identity)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    url = f"{'http' if identity is None else 'https'}://127.0.0.1:{server.server_address[1]}"
    if not world.origin.startswith("http://192.0.2."):
        world.origin = url
    try:
        yield url
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
