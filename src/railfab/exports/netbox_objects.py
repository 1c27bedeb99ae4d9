"""The objects of a fabric in NetBox: payloads of its REST API, by endpoint and in the order of their creation.

An object names others by their attributes, as NetBox takes them. The interface of an address and the ends of a cable
are named alike, in place of the numbers that these need and that only a NetBox knows (see `netbox_push`).
Source: NetBox 4.7.3, dcim and ipam, api/serializers_ and choices.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from railfab.fabric import Design
from railfab.fabric.host_names import HostNames
from railfab.topology import CabledPort, Net, Node, Role
from railfab.topology.equipment import host_of
from railfab.topology.model import link_network
from railfab.topology.optics import SERVER_UNITS
from railfab.topology.racks import RACK_UNITS, Position, racks

Payload = dict[str, Any]
ROLES = {
    Role.HOST: ("GPU server", "gpu-server"),
    Role.SERVER: ("Storage server", "storage-server"),
    Role.LEAF: ("Leaf", "leaf"),
    Role.SPINE: ("Spine", "spine"),
    Role.SUPER: ("Super-spine", "super-spine"),
}
COLOUR = "607d8b"
TYPES = {
    1: "1000base-t",
    10: "10gbase-x-sfpp",
    25: "25gbase-x-sfp28",
    40: "40gbase-x-qsfpp",
    50: "50gbase-x-sfp56",
    100: "100gbase-x-qsfp28",
    200: "200gbase-x-qsfp56",
    400: "400gbase-x-qsfpdd",
    800: "800gbase-x-osfp",
}
"""Types of interfaces by their speed [Gb/s]; of other speeds `other`."""
KBPS_PER_GBPS = 1_000_000
GENERIC, STORAGE_SERVER, PRIVATE = "Generic", "storage-server", "private-as-numbers"
LOOPBACK = "lo"
STATUS = "planned"


@dataclass(frozen=True, slots=True)
class NetBoxObjects:
    """Objects that are created together. name: of the group; endpoint: `dcim.devices`."""

    name: str
    endpoint: str
    payloads: tuple[Payload, ...]


def netbox_objects(design: Design, names: HostNames, site: str) -> Iterator[NetBoxObjects]:
    """The groups in the order of creation: none names an object of a later one. site: its slug."""
    fabric = _Fabric(design, names, site)
    groups: tuple[tuple[str, str, Callable[[], Iterator[Payload]]], ...] = (
        ("manufacturers", "dcim.manufacturers", fabric.manufacturers),
        ("device-types", "dcim.device_types", fabric.device_types),
        ("roles", "dcim.device_roles", fabric.roles),
        ("platforms", "dcim.platforms", fabric.platforms),
        ("sites", "dcim.sites", lambda: iter([_named(design.topology.fabric, site)])),
        ("racks", "dcim.racks", fabric.racks),
        ("devices", "dcim.devices", fabric.devices),
        ("lags", "dcim.interfaces", fabric.lags),
        ("interfaces", "dcim.interfaces", fabric.interfaces),
        ("rirs", "ipam.rirs", lambda: iter([{**_named("Private AS numbers", PRIVATE), "is_private": True}])),
        ("asns", "ipam.asns", fabric.asns),
        ("addresses", "ipam.ip_addresses", fabric.addresses),
        ("cables", "dcim.cables", fabric.cables),
    )
    for name, endpoint, payloads in groups:
        yield NetBoxObjects(name, endpoint, tuple(payloads()))


class _Fabric:
    """The payloads of a fabric."""

    def __init__(self, design: Design, names: HostNames, site: str) -> None:
        self._intent, self._topology, self._names = design.intent, design.topology, names
        self._site = {"slug": site}
        self._devices = {node.name: {"name": names[node.name], "site": self._site} for node in design.topology.nodes}
        self._positions = racks(design.topology, design.intent)
        host = host_of(design.intent.hosts)
        models = design.topology.models.values()
        units = {(GENERIC, host.name): host.units, (GENERIC, STORAGE_SERVER): SERVER_UNITS}
        units |= {(model.vendor, model.name): model.units for model in models}
        self._vendors = {model.name: model.vendor for model in models} | {host.name: GENERIC, STORAGE_SERVER: GENERIC}
        used = {self._model(node) for node in design.topology.nodes}
        self._models = {place: height for place, height in units.items() if place[1] in used}

    def manufacturers(self) -> Iterator[Payload]:
        for vendor in dict.fromkeys(vendor for vendor, _ in self._models):
            yield _named(vendor, _slug(vendor))

    def device_types(self) -> Iterator[Payload]:
        for (vendor, model), units in self._models.items():
            yield {"manufacturer": {"slug": _slug(vendor)}, "model": model, "slug": _slug(model), "u_height": units}

    def roles(self) -> Iterator[Payload]:
        for role in dict.fromkeys(node.role for node in self._topology.nodes):
            yield {**_named(*ROLES[role]), "color": COLOUR}

    def platforms(self) -> Iterator[Payload]:
        for platform in dict.fromkeys(node.platform for node in self._topology.nodes if node.platform):
            yield _named(platform, platform)

    def racks(self) -> Iterator[Payload]:
        for rack in dict.fromkeys(position.rack for position in self._positions.values()):
            yield {"name": rack, "site": self._site, "u_height": RACK_UNITS, "status": STATUS}

    def devices(self) -> Iterator[Payload]:
        for node in self._topology.nodes:
            yield self._device(node, self._positions[node.name])

    def lags(self) -> Iterator[Payload]:
        """The LAGs of hosts; those of switches have names of their platforms."""
        for bond in self._topology.bonds:
            yield {"device": self._of(bond.host), "name": bond.name, "type": "lag"}

    def interfaces(self) -> Iterator[Payload]:
        """Loopbacks, and the cabled ports."""
        for node in self._topology.nodes:
            if node.loopback is not None:
                yield {"device": self._of(node.name), "name": LOOPBACK, "type": "virtual"}
        bonds = {(bond.host, port): bond.name for bond in self._topology.bonds for port in bond.ports}
        nodes = self._topology.by_name
        for link in self._topology.links:
            upper = nodes[link.z.node]
            managed = link_network(nodes[link.a.node], upper) is Net.MANAGEMENT
            for port in (link.a, link.z):
                payload = self._interface(port)
                if managed and not port.cage:
                    payload["mgmt_only"] = True
                if port.rail is not None:
                    payload["description"] = f"rail {port.rail}, plane {upper.plane}"
                if (bond := bonds.get((port.node, port.name))) is not None:
                    payload["lag"] = {"device": self._of(port.node), "name": bond}
                yield payload

    def asns(self) -> Iterator[Payload]:
        for asn in dict.fromkeys(node.asn for node in self._topology.nodes if node.asn is not None):
            yield {"asn": asn, "rir": {"slug": PRIVATE}}

    def addresses(self) -> Iterator[Payload]:
        """Of loopbacks, ports and LAGs; the addresses of switches in VLANs are on interfaces of their platforms."""
        for node in self._topology.nodes:
            if node.loopback is not None:
                yield self._address(f"{node.loopback}/{node.loopback.max_prefixlen}", node.name, LOOPBACK)
        for link in self._topology.links:
            for port, _ in link.ends():
                if port.address is not None:
                    yield self._address(str(port.address), port.node, port.name)
        for bond in self._topology.bonds:
            if bond.address is not None:
                yield self._address(str(bond.address), bond.host, bond.name)

    def cables(self) -> Iterator[Payload]:
        for link in self._topology.links:
            yield {
                "a_terminations": [self._end(link.a.node, link.a.name)],
                "b_terminations": [self._end(link.z.node, link.z.name)],
                "status": STATUS,
                "length": link.cable_m,
                "length_unit": "m",
            }

    def _device(self, node: Node, position: Position) -> Payload:
        return {
            "name": self._names[node.name],
            "device_type": {"slug": _slug(self._model(node)), "manufacturer": {"slug": self._vendor(node)}},
            "role": {"slug": ROLES[node.role][1]},
            "platform": None if node.platform is None else {"slug": node.platform},
            "site": self._site,
            "rack": {"name": position.rack, "site": self._site},
            "position": position.unit,
            "face": "front",
            "status": STATUS,
        }

    def _model(self, node: Node) -> str:
        if node.role is Role.HOST:
            return self._intent.hosts.model
        return STORAGE_SERVER if node.model is None else node.model

    def _vendor(self, node: Node) -> str:
        return _slug(self._vendors[self._model(node)])

    def _of(self, node: str) -> Payload:
        return self._devices[node]

    def _end(self, node: str, port: str) -> Payload:
        return {"object_type": "dcim.interface", "object": {"device": self._of(node), "name": port}}

    def _address(self, address: str, node: str, port: str) -> Payload:
        end = self._end(node, port)
        place = {"assigned_object_type": end["object_type"], "assigned_object": end["object"]}
        return {"address": address, "status": "active", **place}

    def _interface(self, port: CabledPort) -> Payload:
        return {
            "device": self._of(port.node),
            "name": port.name,
            "type": TYPES.get(port.rate_gbps, "other"),
            "speed": port.rate_gbps * KBPS_PER_GBPS,
        }


def _named(name: str, slug: str) -> Payload:
    return {"name": name, "slug": slug}


def _slug(name: str) -> str:
    return "-".join("".join(letter if letter.isalnum() else " " for letter in name.lower()).split())
