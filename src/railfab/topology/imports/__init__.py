"""What exists, read from where it is kept: containerlab's topology files, and NetBox."""

from railfab.topology.imports.containerlab import read_containerlab
from railfab.topology.imports.found import FoundLink, FoundNode, FoundPort, FoundTopology, SourceError, as_found
from railfab.topology.imports.netbox import NetBox, read_netbox

__all__ = [
    "FoundLink",
    "FoundNode",
    "FoundPort",
    "FoundTopology",
    "NetBox",
    "SourceError",
    "as_found",
    "read_containerlab",
    "read_netbox",
]
