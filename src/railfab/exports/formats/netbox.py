"""NetBox: payloads of its REST API, as pynetbox takes them, a file a kind of objects in the order of creation."""

from __future__ import annotations

import json
from collections.abc import Iterator

from railfab.exports.contract import ExportFormat
from railfab.exports.netbox_objects import netbox_objects
from railfab.fabric import Design
from railfab.fabric.file_sets import Document
from railfab.fabric.host_names import HostNames


def documents(design: Design, names: HostNames) -> Iterator[Document]:
    """A list of payloads a file, one a line. The site has the name of the fabric."""
    encoded = json.JSONEncoder(check_circular=False).encode
    for number, group in enumerate(netbox_objects(design, names, design.topology.fabric), start=1):
        lines = ",\n".join(map(encoded, group.payloads))
        yield f"netbox/{number:02}-{group.name}.json", f"[\n{lines}\n]\n"


EXPORT = ExportFormat(
    help="devices, interfaces, addresses and cables of NetBox, as payloads in the order of creation",
    documents=documents,
)
