"""The documents of a roll-out: rack positions, cabling, addresses, bill of materials, and the routes of hosts."""

from railfab.documents.addresses import addresses, as_numbers
from railfab.documents.bill import bill_of_materials
from railfab.documents.cabling import cabling, label
from railfab.documents.failures import failure_table
from railfab.documents.folder import write_documents
from railfab.documents.growth import Room, growth, largest_gpus
from railfab.documents.host_routes import BATCH_HEADING, host_batches
from railfab.documents.overview import (
    LISTED,
    ROLES,
    CableKind,
    Overview,
    RailBlock,
    SwitchPorts,
    overview,
)
from railfab.documents.plan import Plan, planned
from railfab.documents.plan_json import document
from railfab.documents.power import power
from railfab.documents.prefixes import subnets
from railfab.documents.sentences import between, capacity_words, division, headline, heat, watts
from railfab.documents.sizing import gpu_count
from railfab.documents.table import Cell, Table
from railfab.topology.optics import link_media, media_name
from railfab.topology.racks import Position, rack_findings, racks

__all__ = [
    "BATCH_HEADING",
    "LISTED",
    "ROLES",
    "CableKind",
    "Cell",
    "Overview",
    "Plan",
    "Position",
    "RailBlock",
    "Room",
    "SwitchPorts",
    "Table",
    "addresses",
    "as_numbers",
    "between",
    "bill_of_materials",
    "cabling",
    "capacity_words",
    "division",
    "document",
    "failure_table",
    "gpu_count",
    "growth",
    "headline",
    "heat",
    "host_batches",
    "label",
    "largest_gpus",
    "link_media",
    "media_name",
    "overview",
    "planned",
    "power",
    "rack_findings",
    "racks",
    "subnets",
    "watts",
    "write_documents",
]
