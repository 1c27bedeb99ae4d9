"""Read a topology from NetBox: devices, cables, interfaces, addresses and AS numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING

from railfab.imports import netbox_records as records
from railfab.imports.existing import ExistingTopology, SourceError
from railfab.netbox import NetBox, Record

if TYPE_CHECKING:
    from railfab.netbox.client import Client

AT_ONCE = 100
"""Devices per request, since their ids are in its URL."""


def read_netbox(netbox: NetBox) -> ExistingTopology:
    """The topology of a site, of the devices with a tag, or of all devices in a NetBox.

    Raises SourceError or NetBoxError if NetBox cannot be read.
    """
    from railfab.netbox.client import Client

    with Client(netbox) as client:
        devices = _devices(client, netbox)
        addresses = records.addresses(_of(devices, client, "ipam.ip_addresses"))
        interfaces = records.interfaces(_of(devices, client, "dcim.interfaces"), addresses)
        links = records.links(_of(devices, client, "dcim.cables"), interfaces)
        site = {"site": netbox.site} if netbox.site else {}
        return ExistingTopology(
            source=netbox.url,
            nodes=records.nodes(devices.values(), interfaces.values()),
            links=links,
            ports=tuple(interface.port for interface in interfaces.values() if interface.port.addresses),
            asns=records.asns(client.records("ipam.asns", site)),
        )


def _devices(client: Client, netbox: NetBox) -> Mapping[int, Record]:
    """The devices by id; those without a name cannot be compared."""
    found = dict(records.devices(client.records("dcim.devices", netbox.filters())))
    if not found:
        raise SourceError(netbox.url, f"has no {netbox.devices}", "Check the slugs of --site and --tag")
    seen: set[str] = set()
    for device in found.values():
        if device["name"] in seen:
            problem = f"has more than one {netbox.devices} named {device['name']}"
            raise SourceError(netbox.url, problem, "Choose one site with --site, or mark one with a tag for --tag")
        seen.add(device["name"])
    return found


def _of(devices: Iterable[int], client: Client, endpoint: str) -> Iterator[Record]:
    """The records of an endpoint that belong to these devices."""
    rest = iter(devices)
    while some := list(islice(rest, AT_ONCE)):
        yield from client.records(endpoint, {"device_id": some})
