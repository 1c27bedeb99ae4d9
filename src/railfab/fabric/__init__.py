"""The design of a fabric (intent, topology, device models, findings), and the endpoints of its switches."""

from railfab.fabric.buffers import PortThresholds, SwitchBuffers, all_buffer_findings, switch_buffers
from railfab.fabric.design import Design, NotAccepted, Say, design, render_text
from railfab.fabric.endpoints import resolve_endpoints
from railfab.fabric.limit import group_names, limited

__all__ = [
    "Design",
    "NotAccepted",
    "PortThresholds",
    "Say",
    "SwitchBuffers",
    "all_buffer_findings",
    "design",
    "group_names",
    "limited",
    "render_text",
    "resolve_endpoints",
    "switch_buffers",
]
