"""Existing topologies, from files of containerlab and DSX Air and from NetBox, and their comparison with an intent."""

from railfab.imports.air import is_air, read_air
from railfab.imports.containerlab import read_containerlab
from railfab.imports.existing import (
    ExistingLink,
    ExistingNode,
    ExistingPort,
    ExistingTopology,
    SourceError,
    existing_topology,
)
from railfab.imports.netbox import read_netbox
from railfab.netbox import NetBox

__all__ = [
    "ExistingLink",
    "ExistingNode",
    "ExistingPort",
    "ExistingTopology",
    "NetBox",
    "SourceError",
    "existing_topology",
    "is_air",
    "read_air",
    "read_containerlab",
    "read_netbox",
]
