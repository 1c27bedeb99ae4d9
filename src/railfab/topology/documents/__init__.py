"""The documents that a roll-out needs: where everything stands, what is plugged into what, what is to be bought, and
what hosts are told."""

from railfab.topology.documents.addresses import addresses, as_numbers
from railfab.topology.documents.bill import bill_of_materials
from railfab.topology.documents.cabling import cabling, label, network
from railfab.topology.documents.failures import failure_table
from railfab.topology.documents.fittings import link_media, media_name
from railfab.topology.documents.growth import Room, growth, largest_gpus
from railfab.topology.documents.host_routes import BATCH_HEADING, host_batches
from railfab.topology.documents.overview import (
    LISTED,
    ROLES,
    CableKind,
    Overview,
    RailBlock,
    SwitchPorts,
    alike,
    overview,
)
from railfab.topology.documents.power import power
from railfab.topology.documents.prefixes import subnets
from railfab.topology.documents.racks import Position, rack_findings, racks
from railfab.topology.documents.sizing import gpu_count
from railfab.topology.documents.table import Cell, Table

__all__ = [
    "BATCH_HEADING",
    "LISTED",
    "ROLES",
    "CableKind",
    "Cell",
    "Overview",
    "Position",
    "RailBlock",
    "Room",
    "SwitchPorts",
    "Table",
    "addresses",
    "alike",
    "as_numbers",
    "bill_of_materials",
    "cabling",
    "failure_table",
    "gpu_count",
    "growth",
    "host_batches",
    "label",
    "largest_gpus",
    "link_media",
    "media_name",
    "network",
    "overview",
    "power",
    "rack_findings",
    "racks",
    "subnets",
]
