"""The documents of a roll-out: cabling, addresses, bill of materials, power, growth, and the routes of hosts.

Each document has a module, which is imported on use; here are the plan and what its summary on a terminal needs.
"""

from railfab.documents.bill import bill_of_materials
from railfab.documents.overview import RailBlock, SwitchPorts, overview
from railfab.documents.pause import headroom_text, is_configured, ramp_texts, xoff_text
from railfab.documents.plan import Plan, planned
from railfab.documents.power import power
from railfab.documents.sentences import between, capacity_words, division, headline, heat, watts
from railfab.documents.table import Table

__all__ = [
    "Plan",
    "RailBlock",
    "SwitchPorts",
    "Table",
    "between",
    "bill_of_materials",
    "capacity_words",
    "division",
    "headline",
    "headroom_text",
    "heat",
    "is_configured",
    "overview",
    "planned",
    "power",
    "ramp_texts",
    "watts",
    "xoff_text",
]
