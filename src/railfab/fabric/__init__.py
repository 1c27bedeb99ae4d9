"""A designed fabric: intent, topology, device models; and the endpoints of its switches."""

from railfab.fabric.buffers import PortThresholds, SwitchBuffers, all_buffer_findings, switch_buffers
from railfab.fabric.design import Design, design, refusals, render_text
from railfab.fabric.targets import resolve_endpoints

__all__ = [
    "Design",
    "PortThresholds",
    "SwitchBuffers",
    "all_buffer_findings",
    "design",
    "refusals",
    "render_text",
    "resolve_endpoints",
    "switch_buffers",
]
