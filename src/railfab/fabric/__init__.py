"""The design of a fabric (intent, topology, device models, findings), and the endpoints of its switches."""

from railfab.fabric.audit import configuration_findings
from railfab.fabric.design import Design, NotAccepted, Say, design
from railfab.fabric.endpoints import resolve_endpoints
from railfab.fabric.limit import group_names, limited

__all__ = [
    "Design",
    "NotAccepted",
    "Say",
    "configuration_findings",
    "design",
    "group_names",
    "limited",
    "resolve_endpoints",
]
