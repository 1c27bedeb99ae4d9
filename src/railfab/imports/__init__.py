"""What exists, read from where it is kept: containerlab's topology files, and NetBox."""

from railfab.imports.containerlab import read_containerlab
from railfab.imports.found import FoundLink, FoundNode, FoundPort, FoundTopology, SourceError, as_found
from railfab.imports.netbox import NetBox, read_netbox

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
