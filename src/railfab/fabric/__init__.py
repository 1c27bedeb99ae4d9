"""The design of a fabric (intent, topology, device models, findings), and the endpoints of its switches."""

from railfab.fabric.design import Design, NotAccepted, Say, design
from railfab.fabric.endpoints import present_endpoints, require_sessions, resolve_endpoints, session_endpoints
from railfab.fabric.limit import group_names, limited

__all__ = [
    "Design",
    "NotAccepted",
    "Say",
    "design",
    "group_names",
    "limited",
    "present_endpoints",
    "require_sessions",
    "resolve_endpoints",
    "session_endpoints",
]
