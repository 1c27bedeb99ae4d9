"""The documents of a roll-out: cabling, addresses, bill of materials, power, growth, and the routes of hosts."""

from railfab.documents.addresses import addresses, as_numbers
from railfab.documents.bill import bill_of_materials
from railfab.documents.cabling import cabling
from railfab.documents.folder import write_documents
from railfab.documents.growth import growth, largest_gpus
from railfab.documents.host_routes import host_batches
from railfab.documents.overview import RailBlock, SwitchPorts, overview
from railfab.documents.plan import Plan, planned
from railfab.documents.plan_json import document
from railfab.documents.power import power
from railfab.documents.prefixes import subnets
from railfab.documents.sentences import between, capacity_words, division, headline, heat, watts
from railfab.documents.sizing import gpu_count
from railfab.documents.table import Table

__all__ = [
    "Plan",
    "RailBlock",
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
    "gpu_count",
    "growth",
    "headline",
    "heat",
    "host_batches",
    "largest_gpus",
    "overview",
    "planned",
    "power",
    "subnets",
    "watts",
    "write_documents",
]
