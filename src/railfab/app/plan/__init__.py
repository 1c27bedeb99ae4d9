"""`railfab plan`: a fabric expanded, checked and documented, before anything is configured."""

from railfab.app.plan.buffers import SwitchBuffers
from railfab.app.plan.compose import Plan, planned
from railfab.app.plan.document import document
from railfab.app.plan.documents import write_documents
from railfab.app.plan.words import between, capacity_words, division, headline, heat, watts

__all__ = [
    "Plan",
    "SwitchBuffers",
    "between",
    "capacity_words",
    "division",
    "document",
    "headline",
    "heat",
    "planned",
    "watts",
    "write_documents",
]
